/* svg.c - a flame graph as a picture that needs nothing else. */
#include "analysis/flame/flame_picture.h"
#include "formats/base/memory.h"

enum { TITLE_HEIGHT = 44, NODES = 6000 };

static const char *const words[] = {
	[VPA_FLAME_IDLE] = "GPU idle time by the Python stack it waited for",
	[VPA_FLAME_SYNC] = "GPU idle time in syncs and blocking copies, by Python stack",
	[VPA_FLAME_LAUNCHES] = "Work on the GPU by the Python stack that launched it",
	[VPA_FLAME_ALL] = "GPU idle time and GPU work by Python stack",
};

static void put_head(struct vpa_html *h, const struct vpa_flame *f, const char *title)
{
	vpa_html_print(h,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"1200\" "
		"height=\"%u\" font-family=\"system-ui,sans-serif\">\n<style><![CDATA[\n",
		TITLE_HEIGHT + vpa_html_flame_height(f, NODES));
	vpa_html_raw(h, vpa_page_css);
	vpa_html_raw(h, "]]></style>\n<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n"
			"<text x=\"4\" y=\"16\" font-size=\"14\" class=\"ink\">");
	vpa_html_raw(h, words[f->of]);
	vpa_html_print(h, ", %s in all</text>\n<text x=\"4\" y=\"32\">",
		vpa_duration(f->nodes[0].ns).text);
	vpa_html_fit(h, title, 80);
	vpa_html_raw(h, "</text>\n");
}

int vpa_flame_svg(
	const struct vpa_flame *f, const char *title, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpa_html *h = vpt_alloc(1, sizeof(*h));
	int rc;

	if (!h)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a picture");
	vpa_html_init(h, sink, err);
	put_head(h, f, title);
	vpa_html_flame(h, f, NODES, TITLE_HEIGHT);
	vpa_html_raw(h, "<script><![CDATA[\n");
	vpa_html_raw(h, vpa_flame_js);
	vpa_html_raw(h, "]]></script>\n</svg>\n");
	rc = vpa_html_flush(h);
	vpt_free(h);
	return rc;
}
