/* window_limits.c - changes of the window become pauses. */
#include "tracer/write/writer_sources.h"

#include "formats/metadata.h"
#include "tracer/window/recording_window.h"

static uint64_t end_of_window(const struct vtr_limits *l)
{
	uint64_t left_ns = l->duration_ns - l->spent_ns;

	return l->open_ns + left_ns < l->open_ns ? UINT64_MAX : l->open_ns + left_ns;
}

static void open_at(struct vtr_limits *l, uint64_t time_ns)
{
	vtr_recorder_resume(l->recorder, time_ns);
	l->open_ns = time_ns;
	l->is_open = 1;
	if (l->duration_ns)
		vtr_recorder_pause(l->recorder, end_of_window(l));
}

void vtr_limits_begin(struct vtr_limits *l, uint64_t start_ns)
{
	l->spent_ns = 0;
	l->is_over = 0;
	open_at(l, start_ns);
}

static void close_at(struct vtr_limits *l, uint64_t time_ns)
{
	if (l->is_open && l->duration_ns && time_ns >= end_of_window(l))
		return; /* the limit came first */
	vtr_recorder_pause(l->recorder, time_ns);
	if (l->is_open && time_ns > l->open_ns)
		l->spent_ns += time_ns - l->open_ns;
	l->is_open = 0;
}

/* Whether the open window, if there is one, has used up the duration. */
static int is_spent(const struct vtr_limits *l, uint64_t now_ns)
{
	return l->duration_ns && l->is_open && now_ns >= end_of_window(l);
}

void vtr_limits_follow(struct vtr_limits *l)
{
	struct vtr_window_change c;

	while (vtr_window_next(&c)) {
		if (l->is_over || is_spent(l, c.time_ns))
			continue;
		if (c.records)
			open_at(l, c.time_ns);
		else
			close_at(l, c.time_ns);
		l->is_over |= c.is_last;
	}
}

const char *vtr_limits_over(struct vtr_limits *l, uint64_t now_ns)
{
	if (vtr_recorder_is_full(l->recorder))
		return VPT_CAPTURE_MAX_BYTES;
	if (is_spent(l, now_ns))
		return VPT_CAPTURE_DURATION;
	return l->is_over ? VPT_CAPTURE_WINDOW : NULL;
}
