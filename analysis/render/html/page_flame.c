/* page_flame.c - the flame graph of the page: idle time by line of Python. */
#include "analysis/flame/flame_picture.h"
#include "analysis/render/html/report_page.h"

enum { PAGE_NODES = 1000 };

void vpa_html_idle_flame(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_flame flame;

	(void)d;
	if (r->lines.stack_count < 2)
		return;
	if (vpa_flame_build(r, VPA_FLAME_IDLE, 1, &flame)) {
		h->rc = vpt_fail(h->err, VPT_ENOMEM, "no memory for a flame graph");
	} else if (flame.nodes[0].ns) {
		vpa_html_begin(h, "lines", "GPU idle time by line of Python",
			"A rectangle is a function, below the one that called it. Its width is the "
			"GPU idle time that it caused; the last one of a stack is the cause. "
			"Orange is your code or another package's, grey PyTorch's or Python's own. "
			"Select one to zoom in.");
		vpa_html_flame(h, &flame, PAGE_NODES, 0);
		vpa_html_end(h);
	}
	vpa_flame_free(&flame);
}
