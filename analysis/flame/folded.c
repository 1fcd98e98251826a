/* folded.c - a flame graph as lines of text, a stack each. */
#include "analysis/flame/flame.h"

#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 512 };

/* Writes a name. What separates frames, or ends a line, becomes something else; so do bytes that are not
 * text. */
static int put_name(const struct vpa_flame_node *node, struct vpt_sink *sink, struct vpt_err *err)
{
	char name[NAME], *p;

	vpa_flame_name(node, name, sizeof(name));
	for (p = name; *p;) {
		size_t bad = 0, n = vpt_utf8_length(p, strlen(p), &bad);

		if (!n)
			for (n = 0; n < bad; n++)
				p[n] = '?';
		else if (*p == ';')
			*p = ':';
		else if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
		p += n;
	}
	return vpt_sink_write(sink, name, (size_t)(p - name), err);
}

static int put_stack(const struct vpa_flame *f, uint32_t leaf, uint32_t *path,
	struct vpt_sink *sink, struct vpt_err *err)
{
	char count[32];
	size_t depth = 0, i;
	uint32_t at;
	int rc = VPT_OK;

	for (at = leaf; at; at = f->nodes[at].parent)
		path[depth++] = at;
	for (i = depth; i-- > 0 && !rc;) {
		rc = put_name(&f->nodes[path[i]], sink, err);
		if (!rc && i)
			rc = vpt_sink_write(sink, ";", 1, err);
	}
	if (rc)
		return rc;
	snprintf(count, sizeof(count), " %" PRIu64 "\n", f->nodes[leaf].self_ns);
	return vpt_sink_write(sink, count, strlen(count), err);
}

int vpa_flame_folded(const struct vpa_flame *f, struct vpt_sink *sink, struct vpt_err *err)
{
	uint32_t *path = vpt_alloc(f->count, sizeof(*path)), i;
	int rc = VPT_OK;

	if (!path)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a stack");
	for (i = 1; i < f->count && !rc; i++)
		if (f->nodes[i].self_ns)
			rc = put_stack(f, i, path, sink, err);
	vpt_free(path);
	return rc;
}
