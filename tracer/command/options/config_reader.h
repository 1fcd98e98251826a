/* config_reader.h - what the readers of TOML and of YAML share: a place in the text, and what has been read so far.
 *
 * Keys and values are copied one after another, each with a NUL. What separates them in the file takes at least as much room, and no
 * escape is shorter than what it means: as many bytes as the file has, and one more, are enough. */
#ifndef VPTRACE_TRACER_COMMAND_OPTIONS_CONFIG_READER_H
#define VPTRACE_TRACER_COMMAND_OPTIONS_CONFIG_READER_H

#include "tracer/command/options/config_file.h"

struct vtr_config_reader {
	const char *name;     /* of the file */
	const char *begin;    /* the text, which ends with NUL and has no other */
	const char *at, *end; /* the next byte, and the NUL */
	char *to;             /* where the next key or value goes */
	unsigned line;        /* of `at`, from 1 */
	struct vtr_config *out;
	size_t cap; /* of its values */
	struct vpt_err *err;
};

/* Each reads the whole text. 0, or the error that is then in r->err. */
int vtr_config_read_toml(struct vtr_config_reader *r);
int vtr_config_read_yaml(struct vtr_config_reader *r);

/* VPT_EINVAL: "NAME:LINE: expected WHAT, found the rest of the line". */
int vtr_config_fail(struct vtr_config_reader *r, const char *expected);

/* Past blanks and tabs. */
void vtr_config_skip_blanks(struct vtr_config_reader *r);

/* Takes the key without quotes at r->at; NULL if there is none. */
const char *vtr_config_bare_key(struct vtr_config_reader *r);

/* VPT_EINVAL if a value has this key. */
int vtr_config_check_once(struct vtr_config_reader *r, const char *key);

/* How a language writes texts in quotes. */
struct vtr_config_quotes {
	const char *letters, *meant; /* after a backslash, and the bytes that they mean */
	int is_yaml;                 /* in '...' two quotes are one, and \xXX is an escape */
	const char *end;             /* expected where a line ends before the quote */
};

/* A text from the quote at r->at to the next: in '...' as it stands, in "..." with escapes. VPT_EINVAL. */
int vtr_config_read_quoted(
	struct vtr_config_reader *r, const struct vtr_config_quotes *q, const char **out);

/* Adds a copy of the value. VPT_ENOMEM. */
int vtr_config_put(struct vtr_config_reader *r, const struct vtr_config_value *v);

#endif
