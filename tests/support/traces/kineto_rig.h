/* kineto_rig.h - reads a trace of the PyTorch profiler from a text and looks at the rows that come
 * out. */
#ifndef VPT_TESTS_SUPPORT_KINETO_RIG_H
#define VPT_TESTS_SUPPORT_KINETO_RIG_H

#include "formats/import/collect/collect.h"
#include "formats/import/import.h"

/* What the last reading gave. */
struct kineto_rig {
	struct vpt_import_stats stats;
	struct vpt_collect *collect;
	struct vpt_batch batch; /* chunk 0 */
	struct vpt_err err;
};
extern struct kineto_rig rig;

/* Each returns what the importer says; after success the rows are sorted and chunk 0 is in
 * rig.batch. */
int rig_import(struct vpt_source *src);
int rig_bytes(const void *data, size_t size);
int rig_json(const char *text, size_t size); /* ' is read as " */
int rig_text(const char *text);              /* the same, up to the NUL */
void rig_events(const char *events); /* a document with these events, which must be readable */
void rig_drop(void);                 /* forgets what was read */

void rig_quote(char *text, size_t size); /* ' becomes " */

size_t rig_rows(enum vpt_kind kind);
const struct vpt_section *rig_only(
	enum vpt_kind kind);                        /* its first section; fails if there is none */
uint64_t rig_value(enum vpt_kind kind, int column); /* of the first row */
uint64_t rig_lane(uint64_t key, int column);        /* of the LANE row with this key */
const char *rig_meta(const char *key);              /* NULL: no such key; valid until the next */
void rig_expect_text(uint64_t id, const char *expected, size_t len);
void rig_expect_stats(const char *rule, const struct vpt_import_stats *want);

#endif
