/* text.c - the report for people: its sections in the order of the page, nothing else. */
#include "analysis/render/text.h"

int vpa_render_text(const struct vpa_report *r, unsigned width, int colour, struct vpt_sink *sink,
	struct vpt_err *err)
{
	struct vpa_digest d;
	struct vpa_page p;

	vpa_digest_of(r, &d);
	vpa_page_init(&p, sink, width ? width : 80, colour, err);
	vpa_text_summary(&p, r, &d);
	vpa_text_findings(&p, r);
	vpa_text_blocks(&p, r, &d);
	if (r->device_count) {
		vpa_text_devices(&p, r, &d);
		vpa_text_window(&p, r, &d);
		vpa_text_gaps(&p, r, &d);
	}
	vpa_text_work(&p, r, &d);
	p.touched = 0;
	vpa_text_notes(&p, r);
	vpa_text_next(&p, r);
	return p.rc;
}
