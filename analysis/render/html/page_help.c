/* page_help.c - how to read the page, and the command that made it. */
#include "analysis/render/html/report_page.h"
#include "formats/base/count.h"

static const struct vpa_html_word report_words[] = {
	{"busy, idle",
		"A GPU is busy while at least one kernel, copy or memset runs on it, on any "
		"stream; otherwise it is idle. Both add up to the window, to the nanosecond."},
	{"window, active",
		"The window is the part of the capture that was analysed, normally all of it. A "
		"GPU is active from the start of its first op in it to the end of its last."},
	{"op", "A kernel, a copy or a memset."},
	{"GPU-BOUND", "The GPU was hardly ever idle: its own work takes the time. COPY-BOUND and "
		      "COMM-BOUND: copies, or communication between GPUs, that no kernel hides "
		      "take it. Such time is also called exposed."},
	{"exclusive time", "While k kernels run at once, each counts 1/k of the time, so that "
			   "shares add up to 100 %."},
	{"block, period, FPS",
		"A block is a group of video frames that is generated together. Its "
		"period is the time from the end of the block before to its own end. "
		"FPS steady is the frames of the measured blocks over their periods."},
	{"p50, p95", "The median; the value that 95 % do not exceed."},
	{"HtoD, DtoH, DtoD", "Copies from the host to a GPU, back, and within a GPU. Those of "
			     "pinned host memory can run beside other work; those of pageable "
			     "memory go through a buffer, and the host mostly waits."},
	{"at most", "What a fix could save if nothing else became the bottleneck. Gains of several "
		    "findings do not add up."},
	{"evidence", "G is a gap, K a kernel, C a kind of copy, S a call that waits for the GPU: "
		     "rows of the tables above."},
	{"~, [!]", "~ marks percentiles of more than 4,096 samples, at most 1 % off. [!] marks "
		   "figures that missing records may change."},
};

void vpa_html_help(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	(void)r;
	vpa_html_how_to_read(h, report_words, COUNT(report_words), d->causes, d->cause_count);
}
