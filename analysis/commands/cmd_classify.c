/* cmd_classify.c - kernel names in, their families out: a filter for other programs and for trying
 * rules.
 *
 * Answers after every read, in order, so that a program can use it through a pair of pipes. Names may
 * contain any bytes but a line feed. */
#include "analysis/commands/base/analyzer_command.h"

#include "analysis/names/families.h"
#include "analysis/names/kernel_rules.h"
#include "formats/base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { RULES, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[RULES] = {"rules", '\0', VPT_INPUT, "FILE", NULL,
		"rules to try before the built-in table"},
};

struct input {
	char *data;
	size_t size, cap;
};

/* Appends the bytes that standard input has ready. 0, VPT_END or a failure. */
static int read_some(struct input *in, struct vpt_err *err)
{
	enum { BLOCK = 64 << 10, LINE_MAX_BYTES = 64 << 20 };
	ssize_t n;

	if (in->size > LINE_MAX_BYTES)
		return vpt_fail(err, VPT_EDATA, "standard input: a line is longer than %d MiB",
			LINE_MAX_BYTES >> 20);
	if (vpt_grow(&in->data, &in->cap, in->size + BLOCK, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for a line of standard input");
	do
		n = read(STDIN_FILENO, in->data + in->size, BLOCK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return vpt_fail(err, VPT_EIO, "standard input: cannot read");
	in->size += (size_t)n;
	return n ? VPT_OK : VPT_END;
}

static void answer(struct vpt_out *o, const struct vpa_rules *rules, const char *name, size_t len)
{
	struct vpa_kernel_class class;
	const char *family;

	vpa_rules_classify(rules, name, len, &class);
	family = vpa_family_name(class.family);
	vpt_out_bytes(o, family, strlen(family));
	vpt_out_bytes(o, "\t", 1);
	if (o->to_terminal)
		vpt_out_text(o, name, len);
	else
		vpt_out_bytes(o, name, len);
	vpt_out_bytes(o, "\n", 1);
}

/* Answers all complete lines, at the end also one without a line feed, and keeps the rest. */
static int answer_lines(struct input *in, size_t fresh, const struct vpa_rules *rules, int at_end,
	struct vpt_err *err)
{
	const char *begin = in->data, *end = in->data + in->size, *line_end;
	const char *search = in->data + fresh;
	struct vpt_out o;
	int rc = vpt_out_open(&o, "-", 0, err);

	if (rc)
		return rc;
	while (search < end && (line_end = memchr(search, '\n', (size_t)(end - search)))) {
		answer(&o, rules, begin, (size_t)(line_end - begin));
		begin = search = line_end + 1;
	}
	if (at_end && begin < end) {
		answer(&o, rules, begin, (size_t)(end - begin));
		begin = end;
	}
	in->size = (size_t)(end - begin);
	memmove(in->data, begin, in->size);
	return vpt_out_close(&o, 1, err);
}

static int filter(const struct vpa_rules *rules, struct vpt_err *err)
{
	struct input in = {0};
	int rc, end;

	do {
		size_t before = in.size;

		end = read_some(&in, err);
		rc = end < 0 ? end : answer_lines(&in, before, rules, end == VPT_END, err);
	} while (!rc && end != VPT_END);
	vpt_free(in.data);
	return rc;
}

static int run(const struct vpt_args *args)
{
	const char *path = vpt_text_of(args, RULES);
	struct vpa_rules *rules = NULL;
	struct vpt_err err = {0};
	char *text = NULL;
	size_t len;
	int rc = VPT_OK;

	if (path)
		rc = vpa_file_read(path, &text, &len, &err);
	if (path && !rc) {
		rules = vpa_rules_read(text, len, &err);
		rc = rules ? VPT_OK : err.code;
		if (rc)
			vpt_err_at(&err, path);
	}
	vpt_free(text);
	if (!rc)
		rc = filter(rules, &err);
	vpa_rules_free(rules);
	return rc ? vpa_failed(&err) : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_classify = {
	.program = VPA_PROGRAM,
	.name = "classify",
	.usage = "[options] < NAMES",
	.help = "print FAMILY<tab>NAME for each kernel name on standard input",
	.about = "A rule is a line FAMILY<tab>POSIX extended regular expression; the first that "
		 "matches\n"
		 "applies. Unmatched names use the built-in table. Lines that begin with # are "
		 "comments.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 0,
	.run = run,
};
