/* chrome_rows.c - the rows of a chunk, section by section.
 *
 * What all rows of a section share, their place and the text of their lane, is formatted once per
 * section; names and launch configurations once per chunk. A row is then mostly copying.
 *
 * Rows with the same start and end are written in reverse order: the first is the innermost in a
 * capture, but the outermost in a file of the profiler. */
#include "analysis/export/chrome/chrome_rows.h"

#include "analysis/export/chrome/chrome_python.h"
#include "analysis/export/chrome/chrome_ranges.h"

/* ---- lanes ---- */

static uint32_t put_index(struct vpa_chrome *x, struct vpa_index *index, uint64_t a, uint64_t b)
{
	uint32_t row = vpa_index_put(index, a, b);

	x->out.failed |= row == UINT32_MAX;
	return row;
}

/* The flow ids' base for a process: 0 for the first one met and for unknown ones, so that ids are the
 * same as the profiler's. */
static uint64_t flow_base(struct vpa_chrome *x, uint64_t pid)
{
	enum { PROCESS_SHIFT = 40, PART_SHIFT = 4 };

	uint64_t own = pid == UINT64_MAX ? 0 : (uint64_t)put_index(x, &x->pids, pid, 1);

	return (own + (x->part ? x->part->number << PART_SHIFT : 0)) << PROCESS_SHIFT;
}

static int is_new(struct vpa_chrome *x, uint64_t a, uint64_t b)
{
	size_t before = x->named.count;

	put_index(x, &x->named, a, b);
	return x->named.count != before;
}

static void name_event(struct vpa_chrome *x, const char *what, uint64_t pid, uint64_t tid)
{
	vpa_chrome_event(x);
	vpa_chrome_words(x, "{\"ph\":\"M\",\"name\":\"");
	vpa_chrome_words(x, what);
	vpa_chrome_pid(x, &x->out, "\",\"pid\":", pid);
	vpa_chrome_integer(&x->out, ",\"tid\":", tid);
	vpa_chrome_words(x, ",\"args\":{");
}

/* The program's name, from the run's command. */
static struct vpt_text command(const struct vpa_chrome *x)
{
	const char *value = vpa_meta(x->c->view.report, VPT_METADATA_COMMAND), *slash;
	struct vpt_text text;

	if (!value || !*value)
		return (struct vpt_text){"process", 7};
	text = (struct vpt_text){value, strcspn(value, " ")};
	slash = memrchr(value, '/', text.len);
	if (slash) {
		text.len -= (size_t)(slash + 1 - value);
		text.text = slash + 1;
	}
	return text;
}

/* The process's own name, or else the program's. */
static struct vpt_text name_of_process(const struct vpa_chrome *x, uint64_t pid)
{
	const char *name = vpa_process_name(x->c->view.report, (int64_t)pid);

	if (!name || name == vpa_meta(x->c->view.report, VPT_METADATA_COMMAND))
		return command(x);
	return vpt_text_from(name);
}

/* What a name is for, since threads and streams may have the number 0 too. */
enum { NAMES_PROCESS = 1ull << 62, NAMES_DEVICE = 1ull << 61, NAMES_STREAM = 1ull << 60 };

static void name_process(struct vpa_chrome *x, uint64_t pid, int is_device)
{
	enum { BEHIND_PROCESSES = 5000000 };
	struct vpt_text text = is_device ? command(x) : name_of_process(x, pid);

	if (!is_new(x, pid, (uint64_t)(is_device ? NAMES_DEVICE : NAMES_PROCESS)))
		return;
	name_event(x, "process_name", pid, 0);
	vpa_chrome_words(x, "\"name\":");
	if (x->part) {
		vpa_chrome_words(x, "\"");
		vpa_chrome_words(x, x->part->label);
		vpa_chrome_words(x, "\"");
	} else {
		vpa_line_json(&x->out, text.text, text.len);
	}
	vpa_chrome_end_args(x);
	name_event(x, "process_labels", pid, 0);
	vpa_chrome_words(x, is_device ? "\"labels\":\"GPU " : "\"labels\":\"CPU");
	if (is_device)
		vpa_line_signed(&x->out, pid);
	vpa_chrome_words(x, "\"");
	vpa_chrome_end_args(x);
	name_event(x, "process_sort_index", pid, 0);
	/* Of several ranks the processes of one stand together. */
	vpa_chrome_integer(&x->out, "\"sort_index\":",
		x->part     ? 2 * x->part->number + (is_device != 0)
		: is_device ? BEHIND_PROCESSES + pid
			    : pid);
	vpa_chrome_end_args(x);
}

static void name_lane(
	struct vpa_chrome *x, uint64_t pid, uint64_t tid, uint64_t name, int is_stream)
{
	if ((!name && !is_stream) ||
		!is_new(x, pid, tid + (uint64_t)(is_stream ? NAMES_STREAM : 0)))
		return;
	name_event(x, "thread_name", pid, tid);
	vpa_chrome_words(x, "\"name\":");
	if (name) {
		vpa_chrome_string(x, &x->out, name);
	} else {
		vpa_chrome_words(x, "\"stream ");
		vpa_line_signed(&x->out, tid);
		vpa_chrome_words(x, "\"");
	}
	vpa_chrome_end_args(x);
}

/* Adds the lane's parts to the arguments; every member ends with a comma. */
static void put_lane_args(struct vpa_chrome *x, struct vpa_line *l, uint32_t lane)
{
	uint64_t pid = vpa_chrome_lane(x, lane, VPT_LANE_PID);

	if (vpa_chrome_lane(x, lane, VPT_LANE_LANE_TYPE) == VPT_LANETYPE_THREAD) {
		vpa_chrome_integer(l, "\"process\":", pid);
		vpa_chrome_integer(l, ",\"thread\":", vpa_chrome_lane(x, lane, VPT_LANE_TID));
		vpa_line_words(l, ",");
		return;
	}
	vpa_chrome_integer(l, "\"device\":", vpa_chrome_lane(x, lane, VPT_LANE_DEVICE));
	vpa_chrome_natural(l, ",\"context\":", vpa_chrome_lane(x, lane, VPT_LANE_CONTEXT));
	vpa_chrome_integer(l, ",\"stream\":", vpa_chrome_lane(x, lane, VPT_LANE_STREAM));
	if (pid != UINT64_MAX && !x->part) /* two hosts may have processes of one number */
		vpa_chrome_integer(l, ",\"process\":", pid);
	vpa_line_words(l, ",");
}

static void begin_stream(struct vpa_chrome *x, uint32_t lane)
{
	uint64_t device = vpa_chrome_lane(x, lane, VPT_LANE_DEVICE);
	uint64_t stream = vpa_chrome_lane(x, lane, VPT_LANE_STREAM);

	x->flow_base = flow_base(x, vpa_chrome_lane(x, lane, VPT_LANE_PID));
	name_process(x, device, 1);
	name_lane(x, device, stream, vpa_chrome_lane(x, lane, VPT_LANE_NAME), 1);
	vpa_chrome_place_of(x, &x->place, device, stream);
	put_lane_args(x, &x->args, lane);
}

static void begin_thread(struct vpa_chrome *x, uint32_t lane)
{
	uint64_t pid = vpa_chrome_lane(x, lane, VPT_LANE_PID),
		 tid = vpa_chrome_lane(x, lane, VPT_LANE_TID);

	x->flow_base = flow_base(x, pid);
	name_process(x, pid, 0);
	name_lane(x, pid, tid, vpa_chrome_lane(x, lane, VPT_LANE_NAME), 0);
	vpa_chrome_place_of(x, &x->place, pid, tid);
}

static void begin_section(struct vpa_chrome *x, const struct vpt_section *s)
{
	uint32_t lane = s->lane ? vpa_chunk_lane(&x->lanes, s->lane) : UINT32_MAX;
	unsigned use = vpt_kind_desc(s->kind)->lanes;

	x->args.size = 0;
	if (use == VPT_LANES_ANY && s->lane)
		use = vpa_chrome_lane(x, lane, VPT_LANE_LANE_TYPE) == VPT_LANETYPE_THREAD
			      ? VPT_LANES_THREAD
			      : VPT_LANES_STREAM;
	if (use == VPT_LANES_STREAM)
		begin_stream(x, lane);
	else if (use == VPT_LANES_THREAD)
		begin_thread(x, lane);
	else
		vpa_chrome_place_of(x, &x->place, vpa_chrome_lane(x, lane, VPT_LANE_DEVICE), 0);
	if (use == VPT_LANES_THREAD && vpt_kind_desc(s->kind)->lanes == VPT_LANES_ANY)
		put_lane_args(x, &x->args, lane);
}

/* ---- chunks ---- */

static vpa_chrome_put_fn *const put_fns[VPT_KIND_LIMIT] = {
	[VPT_KERNEL] = vpa_chrome_put_kernel,
	[VPT_COPY] = vpa_chrome_put_copy,
	[VPT_CALL] = vpa_chrome_put_call,
	[VPT_RANGE] = vpa_chrome_put_range,
	[VPT_MARK] = vpa_chrome_put_mark,
	[VPT_COUNTER] = vpa_chrome_put_counter,
	[VPT_SYNC] = vpa_chrome_put_sync,
	[VPT_OVERHEAD] = vpa_chrome_put_overhead,
	[VPT_MEMORY] = vpa_chrome_put_other,
	[VPT_EVENT] = vpa_chrome_put_record,
	[VPT_LOSS] = vpa_chrome_put_other,
	[VPT_GRAPH] = vpa_chrome_put_other,
};

static int same_times(const struct vpt_section *s, uint32_t a, uint32_t b)
{
	return s->col[0][a] == s->col[0][b] &&
	       (!(vpt_kind_desc(s->kind)->flags & VPT_KIND_SPAN) || s->col[1][a] == s->col[1][b]);
}

/* Gives what is pending to the file, if it is enough for a group. */
static int hand_over(struct vpa_chrome *x)
{
	enum { GROUP_BYTES = 1 << 20 };
	int rc;

	if (x->out.size < GROUP_BYTES)
		return VPT_OK;
	x->c->totals->raw_bytes += x->out.size;
	rc = vpa_groups_put(x->c->groups, x->out.data, x->out.size, x->c->err);
	x->out.size = 0;
	return rc;
}

static int put_section(struct vpa_chrome *x, const struct vpt_section *s)
{
	vpa_chrome_put_fn *put = put_fns[s->kind];
	uint32_t row, end, i;
	int rc = VPT_OK;

	begin_section(x, s);
	for (row = 0; row < s->row_count && !rc; row = end) {
		for (end = row + 1; end < s->row_count && same_times(s, row, end);)
			end++;
		for (i = end; i-- > row;)
			if (vpa_export_has_row(x->c, s, i)) {
				put(x, s, i);
				x->rows += s->kind != VPT_LOSS;
			}
		rc = hand_over(x);
	}
	return rc;
}

static int put_stacks(struct vpa_chrome *x, const struct vpt_section *s)
{
	int rc;

	begin_section(x, s);
	rc = vpa_chrome_python_rows(x->python, s);
	return rc ? rc : hand_over(x);
}

int vpa_chrome_chunk(struct vpa_chrome *x, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	x->batch = b;
	x->configs = vpt_batch_find(b, VPT_CONFIG);
	vpa_chunk_lanes_read(&x->lanes, b);
	vpa_pieces_reset(&x->strings, b->strings.count);
	vpa_pieces_reset(&x->kernel_names, x->configs ? x->configs->row_count : 0);
	vpa_pieces_reset(&x->kernel_args, x->configs ? x->configs->row_count : 0);
	for (i = 0; i < b->section_count; i++)
		if (b->sections[i].kind == VPT_EVENT)
			vpa_chrome_read_records(x, &b->sections[i]);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (put_fns[s->kind] && vpa_export_has_kind(x->c, s->kind))
			rc = put_section(x, s);
		else if (s->kind == VPT_SAMPLE)
			rc = put_stacks(x, s);
	}
	return rc;
}
