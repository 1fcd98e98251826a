/* findings_idle.c - conclusions about idle time: one finding per cause that can be acted on, with
 * the time it would save; first use; and the window's head and tail, which may or may not belong to
 * what was to be measured. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/advice/findings/findings_first_use.h"
#include "analysis/advice/first_work.h"
#include "analysis/advice/gain_unit.h"
#include "analysis/advice/host_updates.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/advice/full_memory.h"
#include "analysis/report/device_limit.h"
#include "analysis/report/main_line.h"
#include "analysis/report/similar_names.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* A mean gap inside of CUDA graphs longer than this is not the GPU's time to start a node. */
enum { GRAPH_NODE_NS = 50000 };

/* Causes that are partly unavoidable are worth a line from this share of the windows. */
static const double course_share = 0.1;

/* Head and tail of the window are worth a line from this share; a head that is a gain, as others, from
 * course_share. */
static const double edge_share = 0.25;

/* Host code is of results if so much of it follows copies of these. */
static const double results_share = 0.6;

enum {
	RESULT_BYTES =
		256
		<< 10, /* a small picture, copied to the host for each stretch of code at least */
	RESULTS_TO_INPUT = 4 /* and as many times what goes to the GPU */
};

/* A wait after which the host ran its own code for this share of the time has that code as a remedy too. */
static const double code_share = 0.5;

/* The part of a gain shared with other causes is reported from this share. */
static const double shared_share = 0.1;

/* What to do about each cause. */
static const struct vpa_advice advices[] = {
	{VPA_CAUSE_SYNC, 0, 0, VPA_FOUND_SYNC_DRAIN,
		"keep the host from waiting: no .item(), .cpu() or synchronise in the loop"},
	{VPA_CAUSE_BLOCKING_COPY, 0, 0, VPA_FOUND_BLOCKING_COPY,
		"keep the host from waiting for copies: pinned memory, non_blocking=True"},
	{VPA_CAUSE_ALLOCATION, 0, 0, VPA_FOUND_ALLOCATION,
		"allocate before the loop: a caching allocator, no empty_cache()"},
	{VPA_CAUSE_MODULE_LOAD, 0, 0, VPA_FOUND_MODULE_LOAD,
		"load and compile before the measured part: warm up every shape"},
	{VPA_CAUSE_FIRST_USE, 0, 0, VPA_FOUND_FIRST_USE,
		"load and set up before the measured part: warm up every shape"},
	{VPA_CAUSE_GRAPH_BUILD, 0, 0, VPA_FOUND_GRAPH_BUILD,
		"build each CUDA graph once, before the loop: pad what changes its shapes"},
	{VPA_CAUSE_OTHER_CALL, 0, 0, VPA_FOUND_OTHER_CALL, "move this CUDA call out of the loop"},
	{VPA_CAUSE_LAUNCH_RATE, 0, 0, VPA_FOUND_LAUNCH_RATE,
		"launch less: CUDA graphs, torch.compile, fused kernels"},
	{VPA_CAUSE_HOST_CODE, 0, 0, VPA_FOUND_HOST_STALL,
		"shorten or overlap the host code between launches"},
	{VPA_CAUSE_LAUNCH_CALL, 1, 0, VPA_FOUND_LAUNCH_CALL,
		"make fewer launch calls: CUDA graphs, torch.compile, fused kernels"},
	{VPA_CAUSE_LAUNCH_LATENCY, 1, 0, VPA_FOUND_LAUNCH_LATENCY,
		"run further ahead of the GPU, or use CUDA graphs"},
	{VPA_CAUSE_DEPENDENCY, 0, 0, VPA_FOUND_DEPENDENCY,
		"the GPUs wait for each other: give each of them work while the others run, or "
		"make the one that others wait for finish earlier"},
	{VPA_CAUSE_INSIDE_GRAPH, 0, 0, VPA_FOUND_INSIDE_GRAPH,
		"fuse small kernels inside the CUDA graph"},
	{VPA_CAUSE_GRAPH_START, 1, 0, VPA_FOUND_GRAPH_START,
		"check what each CUDA graph waits for before its first node; merge small graphs"},
	{VPA_CAUSE_SCHEDULING, 1, 0, VPA_FOUND_SCHEDULING,
		"fuse small kernels: the GPU needs time to start each of them"},
	{VPA_CAUSE_QUEUED, 1, 0, VPA_FOUND_QUEUED,
		"find out what queued work waits for: streams, host functions, other processes, "
		"or work that was not recorded"},
	{VPA_CAUSE_PROFILER, 1, 1, VPA_FOUND_PROFILER,
		"record less: the profiling library itself delayed the host"},
	{VPA_CAUSE_NO_LAUNCH, 1, 1, VPA_FOUND_NO_LAUNCH,
		"record launches too: without them the cause of idle time is unknown"},
	{VPA_CAUSE_CLOCKS, 1, 1, VPA_FOUND_CLOCKS,
		"record again: on clocks that disagree, the cause of idle time is unknown"},
	{VPA_CAUSE_RECORDS_LOST, 1, 1, VPA_FOUND_RECORDS_LOST,
		"record again with more memory: records are missing where the GPU was idle"},
};

/* ---- what and where ---- */

/* The listed gap of that headline; NULL if there is none, or more than one. */
static const struct vpa_gap_row *only_gap(const struct vpa_report *r, enum vpa_cause cause)
{
	const struct vpa_gap_row *found = NULL;
	size_t i;

	for (i = 0; i < r->gap_count; i++) {
		if (r->gaps[i].cause != cause)
			continue;
		if (found)
			return NULL;
		found = &r->gaps[i];
	}
	return found;
}

/* The main place, or, if that has less than half of the wait, it and those that differ from it by a number. */
static struct vpa_similar main_place(const struct vpa_report *r, const struct vpa_idle_sum *sum)
{
	struct vpa_similar one = {.ns = 0}, all;

	if (!sum->top)
		return one;
	one = vpa_same_places(r, sum->top, vpa_waits_take_place, sum->part);
	if (one.ns >= sum->ns / 2)
		return one;
	all = vpa_similar_places(r, sum->top, vpa_waits_take_place, sum->part);
	return all.ranges.count > 1 && all.ns >= sum->ns / 2 ? all : one;
}

/* The main place and its line, "cudaMemcpyAsync in self_attn, at model.py:212 (97 %, 412 samples)";
 * NULL if it has less than a quarter, or neither is known. The share is of the place, or, if that has no name, of
 * the sum. A gap alone may be known better than its place. */
static const char *where_of(
	struct vpa_report *r, const struct vpa_idle_sum *sum, const struct vpa_gap_row *gap)
{
	const struct vpa_idle_part *top = sum->top;
	struct vpa_similar place = main_place(r, sum);
	struct vpa_top_line at = place.top;
	char line[360];
	struct vpa_label in;
	const char *word;
	int is_place;

	if (!top || place.ns < sum->ns / 4)
		return NULL;
	is_place = top->place.text || top->call;
	in = vpa_alike_label(&place.ranges, vpt_text_from(top->place.text).text);
	if (place.ranges.count < 2 && gap && gap->top)
		at = *gap->top;
	else if (place.ranges.count < 2 && !is_place)
		at = vpa_main_line_among(at, place.ns, sum->ns);
	vpa_main_line_text(line, sizeof(line), &at, "");
	if (!is_place && !line[0])
		return NULL;
	word = !top->place.text || top->place.kind == VPA_PLACE_BEFORE ? "" : "in ";
	return vpa_arena_printf(&r->arena, "%.100s%s%s%.120s%s%s", top->call ? top->call : "",
		top->call && top->place.text ? " " : "", word, in.text,
		is_place && line[0] ? ", " : "", line);
}

/* ---- a finding for each cause ---- */

/* Whether the gain is one of the report's unit, which leaves out the first request. */
static int is_of_later_requests(const struct vpa_finding *f, const struct vpa_mean_unit *unit)
{
	return unit->without_first && f->base == vpa_base_of_unit(unit->kind);
}

/* Gaps with that headline; if `call` is given, only those of that call. */
static void add_gaps(const struct vpa_report *r, struct vpa_finding *f, enum vpa_cause cause,
	enum vpa_waits part, const char *call)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t from_ns = is_of_later_requests(f, &unit) ? unit.start_ns : 0;
	size_t i;

	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].cause == cause && r->gaps[i].start_ns >= from_ns &&
			vpa_waits_take_place(r, part, &r->gaps[i].place) &&
			(!call || (r->gaps[i].call && !strcmp(r->gaps[i].call, call))))
			vpa_finding_evidence(f, r->gaps[i].id);
}

/* Evidence: the row of the waiting call and its gaps; else the longest gaps, else the call's
 * name. */
static void add_evidence(struct vpa_report *r, struct vpa_finding *f, enum vpa_cause cause,
	const struct vpa_idle_sum *sum)
{
	const char *call = sum->top ? sum->top->call : NULL;
	size_t i;

	if (call && (cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY))
		for (i = 0; i < r->sync_count; i++)
			if (r->syncs[i].idle_ns && !strcmp(r->syncs[i].call, call))
				vpa_finding_evidence(f, vpa_arena_printf(&r->arena, "S%zu", i + 1));
	if (call)
		add_gaps(r, f, cause, sum->part, call);
	if (!f->evidence_count)
		add_gaps(r, f, cause, sum->part, NULL);
	if (!f->evidence_count)
		vpa_finding_evidence(f, call);
}

/* Whether most of the time the host was in no wait any more, but in its own code: of the waits, and of what is saved without
 * them. That can be far more, where the host only just keeps ahead between two waits. All waits together are about the waits. */
static int is_code(const struct vpa_idle_sum *sum)
{
	uint64_t ns = vpa_later(sum->ns, sum->saving.ns);

	return !sum->call.ns && sum->part != VPA_WAITS_ALL && sum->code.ns &&
	       (double)sum->code.ns >= code_share * (double)ns;
}

/* Long host code after a wait: not to wait would save it too. NULL: there is little of it. */
static const char *instead_note(struct vpa_report *r, enum vpa_cause cause, uint64_t all_ns)
{
	const struct vpa_idle_part *most = NULL;
	uint64_t ns = 0;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].causes[i];

			if (part->cause != cause || !part->instead)
				continue;
			ns += part->instead_ns;
			most = most && most->instead_ns >= part->instead_ns ? most : part;
		}
	if (!most || (double)ns < shared_share * (double)all_ns)
		return NULL;
	return vpa_arena_printf(&r->arena, "without the wait in %.60s %s of it would go too",
		most->instead, vpa_part_word(ns, all_ns));
}

/* The gain, and the part of it that other findings may claim too: where that is the host's code after a wait, its
 * own note says so. */
static void save_cause(struct vpa_report *r, struct vpa_finding *f, const struct vpa_idle_sum *sum)
{
	vpa_finding_saves(r, f, &sum->saving);
	f->is_idle = 1;
	f->gain_shared_ms = vpa_in_ms(sum->shared_ns);
	if (sum->cause == VPA_CAUSE_HOST_CODE && sum->saving.device_ns)
		f->base_likely_ms =
			f->base_gain_ms * (double)sum->half_ns / (double)sum->saving.device_ns;
	if ((double)sum->shared_ns < shared_share * (double)sum->saving.ns || is_code(sum))
		return;
	vpa_finding_add_note(r, f,
		vpa_arena_printf(&r->arena, "another fix would save %s of it too",
			vpa_part_word(sum->shared_ns, sum->saving.ns)));
}

/* Nodes of a graph follow each other within microseconds. Where they take longer on average, small kernels
 * are not the reason. */
static const char *title_of(struct vpa_report *r, const struct vpa_advice *a,
	const struct vpa_idle_sum *sum, const char *full)
{
	if (is_code(sum))
		return vpa_host_code_title(r, &sum->code, sum->part == VPA_WAITS_READS);
	if (a->cause == VPA_CAUSE_ALLOCATION && full)
		return "memory is full, and the allocator frees and allocates again: set "
		       "expandable_segments, use smaller tiles or batches, or offload";
	if (a->cause == VPA_CAUSE_MODULE_LOAD)
		return vpa_load_title(r, sum->top ? sum->top->call : NULL, sum->ns, a->title);
	if (a->cause == VPA_CAUSE_INSIDE_GRAPH && sum->pieces &&
		sum->ns / sum->pieces > GRAPH_NODE_NS)
		return "find out what nodes of the CUDA graph wait for: other streams, host "
		       "functions, or work that was not recorded";
	return a->title;
}

/* How to record what queued work waited for, if the recording left it out. NULL: nothing would tell more. */
static const char *queued_option(const struct vpa_report *r)
{
	/* Of a copy in vptrace's format the metadata names the profiler too. */
	const char *source = vpa_meta(r, VPT_METADATA_SOURCE);

	if (r->verdict.launches_lost)
		return "kernels are missing from the recording: the GPU may have worked";
	if (!source || strncmp(source, VPT_SOURCE_PYTORCH, strlen(VPT_SOURCE_PYTORCH)) != 0 ||
		r->counts.syncs)
		return NULL;
	return "torch.profiler records waits of streams for each other with "
	       "_ExperimentalConfig(enable_cuda_sync_events=True)";
}

/* "in self_attn", "before step", "in step 0..11": the place with most of it in the units of `unit` (NULL: in the window), or of
 * the code after it. No place has half: none. */
static void set_place(struct vpa_report *r, struct vpa_finding *f, const struct vpa_idle_sum *sum,
	const struct vpa_mean_unit *unit)
{
	const struct vpa_host_code *code = sum->call.ns   ? &sum->call
					   : is_code(sum) ? &sum->code
							  : NULL;
	struct vpa_place at = code       ? code->place
			      : sum->top ? sum->top->place
					 : (struct vpa_place){.text = NULL};
	struct vpa_similar all = {.ns = code ? code->place_ns : 0};

	if (!sum->ns || !at.text || at.kind == VPA_PLACE_SEVERAL)
		return;
	if (!code)
		all = main_place(r, sum);
	if (all.ranges.count > 1)
		at.text = vpa_arena_printf(
			&r->arena, "%s", vpa_alike_label(&all.ranges, at.text).text);
	vpa_finding_is_at(r, f, &at,
		vpa_mean_unit_amount_at(
			unit, vpa_idle_sum_causes(sum), all.ns, code ? code->ns : sum->ns));
}

/* Code at a place whose name says that it waits is another thread's matter. */
static void name_thread_wait(
	struct vpa_finding *f, const struct vpa_idle_sum *sum, const struct vpa_similar *place)
{
	if (sum->cause != VPA_CAUSE_HOST_CODE || is_code(sum) || !sum->top ||
		sum->top->place.kind != VPA_PLACE_IN || !sum->top->place.text ||
		place->ns < sum->ns / 2 || !vpa_is_thread_wait(sum->top->place.text))
		return;
	f->title = "the host waits for another thread: shorten what that one does, or give it less";
	f->words = "wait less for a thread";
}

/* PyTorch's range around what a loop takes from its loader. Workers do that beside the loop, so all of it goes, not half. */
static int is_loader(const struct vpa_idle_sum *sum, const struct vpa_similar *place)
{
	static const char range[] = "enumerate(DataLoader)";

	return sum->cause == VPA_CAUSE_HOST_CODE && !is_code(sum) && sum->top &&
	       sum->top->place.kind == VPA_PLACE_IN && sum->top->place.text &&
	       place->ns >= sum->ns / 2 && !strncmp(sum->top->place.text, range, sizeof(range) - 1);
}

static void name_loader(struct vpa_finding *f)
{
	f->title = "the loop waits for its data: load ahead, in workers (num_workers, "
		   "prefetch_factor)";
	f->words = "load data ahead: num_workers";
	f->change = "host 0 over 100us in enumerate?DataLoader*";
	f->base_likely_ms = f->base_gain_ms;
}

/* Whether most of the host's code follows waits for copies of results, such as finished frames: much is copied to the host for each
 * stretch of it, and hardly anything goes back. Then the next launches need none of it. */
static int is_of_results(const struct vpa_report *r, const struct vpa_idle_sum *sum)
{
	uint64_t to_host = vpa_copies_of(r, VPT_COPYKIND_DTOH).bytes, ns = 0, gaps = 0;
	size_t d, i;

	if (sum->cause != VPA_CAUSE_HOST_CODE ||
		vpa_copies_of(r, VPT_COPYKIND_HTOD).bytes > to_host / RESULTS_TO_INPUT)
		return 0;
	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].causes[i];

			if (part->cause != sum->cause || !part->instead ||
				!strstr(part->instead, "Memcpy"))
				continue;
			vpt_sat_add_to(&ns, part->instead_ns);
			vpt_sat_add_to(&gaps, part->gaps);
		}
	return gaps && to_host / RESULT_BYTES >= gaps &&
	       (double)ns >= results_share * (double)sum->ns;
}

static void name_results(struct vpa_finding *f)
{
	f->title = "the launching thread works on results that were copied to the host: do that in "
		   "another thread";
	f->words = "in a thread: host code";
	f->caveat = "what the next launches need of it has to stay";
	f->is_of_results = 1;
	f->base_likely_ms = f->base_gain_ms;
}

/* The names of operators that run on the CPU, if that is the place of most of the host's code, and they compute: others load weights,
 * or set them up. NULL: it is not so. */
static const char *cpu_operators(const struct vpa_idle_sum *sum, const struct vpa_similar *place)
{
	static const char *const others[] = {"copy_", "normal_", "uniform_", "fill_", "zero_"};
	const char *text =
		sum->top && sum->top->place.kind == VPA_PLACE_IN ? sum->top->place.text : NULL;
	size_t i, len = strlen(VPA_OPERATOR_TEXT);

	if (sum->cause != VPA_CAUSE_HOST_CODE || is_code(sum) || !text || place->ns < sum->ns / 2 ||
		strncmp(text, VPA_OPERATOR_TEXT, len) != 0 || !strchr(text + len, ' '))
		return NULL;
	text = strchr(text + len, ' ') + 1;
	for (i = 0; i < COUNT(others); i++)
		if (!strncmp(text, others[i], strlen(others[i])))
			return NULL;
	return text;
}

static void name_operators(struct vpa_report *r, struct vpa_finding *f, const char *names)
{
	if (!names)
		return;
	f->title = "the GPU waits while operators run on the CPU: keep their tensors on the GPU";
	f->words = vpa_arena_printf(&r->arena, "run on the GPU: %.30s", names);
	f->where = NULL;
}

/* A place is where the host was: the stage of that name on the GPU may have ended. */
static const char *before_where(const struct vpa_idle_part *top)
{
	return top->call ? ":" : top->place.kind == VPA_PLACE_IN ? " with the host" : "";
}

struct vpa_finding *vpa_find_cause(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum)
{
	struct vpa_finding *f = vpa_finding_add(r, a->id, vpa_saving_status(r, &sum->saving));
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	const char *full = a->cause == VPA_CAUSE_ALLOCATION ? vpa_full_memory(r) : NULL, *where;
	struct vpa_similar place = main_place(r, sum);
	const char *operators = cpu_operators(sum, &place);

	if (!f)
		return NULL;
	where = where_of(r, sum, NULL);
	f->title = title_of(r, a, sum, full);
	if (a->cause == VPA_CAUSE_ALLOCATION)
		f->words = full                ? "memory is full: expandable_segments, offload"
			   : vpa_frees_most(r) ? "free no memory in the loop: empty_cache()"
					       : NULL;
	name_thread_wait(f, sum, &place);
	f->host_code_ms = vpa_in_ms(sum->code.ns);
	f->is_code = is_code(sum);
	f->measured = vpa_arena_printf(&r->arena, "%s: %s in %" PRIu64 " gaps, %s %% of the window",
		vpa_cause_words(sum->cause), vpa_duration(sum->ns).text, sum->pieces,
		vpa_percent(sum->ns, vpa_windows_ns(r)).text);
	f->threshold = a->course ? "10 % of the window" : "1 % of the window, 2 % of active";
	/* A line alone has its own share. */
	if (where && !sum->top->place.text && !sum->top->call)
		f->note = where;
	else if (where)
		f->note = vpa_arena_printf(&r->arena, "%s of this wait%s %s",
			vpa_part_word(place.ns, sum->ns), before_where(sum->top), where);
	vpa_finding_add_note(r, f,
		a->cause == VPA_CAUSE_QUEUED ? queued_option(r) : vpa_wait_copies(r, sum->part));
	vpa_finding_add_note(r, f,
		is_code(sum) ? vpa_host_code_note(r, &sum->code, sum->ns)
			     : vpa_host_call_note(r, vpa_idle_sum_causes(sum), vpa_waits_take_place,
				       sum->part, sum->ns));
	vpa_finding_add_note(r, f, full);
	vpa_finding_add_note(r, f, instead_note(r, a->cause, sum->ns));
	vpa_finding_add_note(r, f, vpa_first_use_note(r, a->cause));
	if (!a->of_recording)
		save_cause(r, f, sum);
	set_place(r, f, sum, f->base == vpa_base_of_unit(unit.kind) ? &unit : NULL);
	if (is_loader(sum, &place))
		name_loader(f);
	else if (!operators && is_of_results(r, sum))
		name_results(f);
	name_operators(r, f, operators);
	add_evidence(r, f, sum->cause, sum);
	return f;
}

void vpa_find_candidate(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum)
{
	if (vpa_find_cause(r, a, sum))
		vpa_finding_is_candidate(r);
}

int vpa_gain_is_hidden(const struct vpa_report *r, uint64_t gain_ns, uint64_t most_ns)
{
	const struct vpa_saving more = {.ns = gain_ns - vpa_earlier(most_ns, gain_ns)};

	return vpa_saving_is_worth(r, &more);
}

const struct vpa_advice *vpa_advice_of(enum vpa_cause cause)
{
	size_t k;

	for (k = 0; k + 1 < COUNT(advices) && advices[k].cause != cause; k++)
		;
	return &advices[k];
}

static int is_wait(enum vpa_cause cause)
{
	return cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY;
}

static int is_unavoidable(
	const struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum)
{
	return a->course && (double)sum->ns < course_share * (double)vpa_windows_ns(r);
}

/* GPUs that wait for a full one do not work at the same time as it because they have less to do. */
static int is_of_balance(const struct vpa_report *r, enum vpa_cause cause)
{
	return cause == VPA_CAUSE_DEPENDENCY && vpa_finding_find(r, VPA_FOUND_GPU_BALANCE);
}

/* A cause is listed for what no other has; and the largest of all also if others would save the same time, since
 * else smaller gains would stand there alone, or none. */
static void find_causes(struct vpa_report *r)
{
	uint64_t listed_ns = vpa_find_waits(r);
	struct vpa_idle_sum largest = {.cause = VPA_CAUSE_NOT_IDLE};
	const struct vpa_advice *of_largest = NULL;
	size_t k;

	for (k = 0; k < COUNT(advices); k++) {
		struct vpa_idle_sum sum = vpa_idle_sum_of(r, advices[k].cause);

		vpa_idle_sum_leave_first_use(r, &sum);
		vpa_idle_sum_leave_stops(r, &sum);
		if (is_wait(advices[k].cause) || is_unavoidable(r, &advices[k], &sum) ||
			vpa_is_launch_blocked(r, advices[k].cause) ||
			is_of_balance(r, advices[k].cause) || vpa_finding_find(r, advices[k].id))
			continue;
		if (vpa_idle_sum_is_worth(r, &sum)) {
			vpa_find_cause(r, &advices[k], &sum);
			listed_ns =
				vpa_later(listed_ns, advices[k].of_recording ? 0 : sum.saving.ns);
		} else if (!advices[k].of_recording) {
			if (vpa_saving_may_be_worth(r, &sum.saving))
				vpa_find_candidate(r, &advices[k], &sum);
			of_largest = sum.saving.ns > largest.saving.ns ? &advices[k] : of_largest;
			largest = sum.saving.ns > largest.saving.ns ? sum : largest;
		}
	}
	if (vpa_gain_is_hidden(r, largest.saving.ns, listed_ns))
		vpa_find_cause(r, of_largest, &largest);
}

/* ---- first use ---- */

static void find_first_use(struct vpa_report *r)
{
	struct vpa_finding *f = vpa_first_use_add(r);
	struct vpa_idle_sum sum;

	if (!f)
		return;
	sum = vpa_idle_sum_of(r, VPA_CAUSE_MODULE_LOAD);
	add_evidence(r, f, VPA_CAUSE_MODULE_LOAD, &sum);
}

/* ---- head and tail of the window ---- */

/* Whether the GPU may have worked after its last recorded op: kernels that were launched are missing. */
static int is_tail_lost(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->device_count && r->verdict.launches_lost; i++)
		if (vpa_is_touched(r, r->devices[i].last_ns, r->window_end_ns))
			return 1;
	return 0;
}

static void find_edge(
	struct vpa_report *r, enum vpa_cause cause, enum vpa_finding_id id, const char *title)
{
	struct vpa_idle_sum sum = vpa_idle_sum_of(r, cause);
	const char *words = cause == VPA_CAUSE_BEFORE_FIRST_WORK ? vpa_first_work_words(r) : NULL,
		   *where;
	double least =
		cause == VPA_CAUSE_BEFORE_FIRST_WORK && vpa_first_work_is_gain(r, &sum.saving)
			? course_share
			: edge_share;
	uint64_t waited = sum.saving.ns;
	struct vpa_finding *f;

	if ((double)sum.saving.ns < least * (double)vpa_windows_ns(r) ||
		(cause == VPA_CAUSE_AFTER_LAST_WORK && is_tail_lost(r)))
		return;
	f = vpa_finding_add(r, id, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena, "the GPU had no work for %s %s",
		vpa_duration(waited / r->device_count).text, title);
	f->measured =
		vpa_arena_printf(&r->arena, "%s, %s %% of the window%s", vpa_duration(waited).text,
			vpa_percent(waited, vpa_windows_ns(r)).text, words ? words : "");
	where = where_of(r, &sum, only_gap(r, cause));
	if (cause == VPA_CAUSE_BEFORE_FIRST_WORK) {
		vpa_first_work_saves(r, f, &sum.saving);
		f->words = vpa_first_work_few_words(r);
	}
	f->is_idle = 1;
	set_place(r, f, &sum, NULL);
	f->base_likely_ms = f->base_gain_ms / 2;
	f->note = vpa_arena_printf(&r->arena, "%s, %s %% of the window%s%s%s",
		vpa_duration(waited).text, vpa_percent(waited, vpa_windows_ns(r)).text,
		words ? words : "", where ? ", " : "", where ? where : "");
	if (f->base != VPA_BASE_NONE && words && *words)
		f->note = vpa_arena_printf(&r->arena, "%s%s%s", words + strlen(": "),
			where ? ", " : "", where ? where : "");
	f->threshold = least < edge_share ? "10 % of the window" : "25 % of the window";
	add_evidence(r, f, cause, &sum);
}

/* Reports the largest cause if the devices were mostly idle and no cause alone was worth a line. */
static void find_largest(struct vpa_report *r)
{
	struct vpa_idle_sum largest = {0};
	uint64_t idle = 0;
	size_t i, best = 0;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&idle, r->devices[i].window_idle_ns);
	if (idle < vpa_windows_ns(r) / 2)
		return;
	for (i = 0; i < COUNT(advices); i++) {
		struct vpa_idle_sum sum = vpa_idle_sum_of(r, advices[i].cause);

		if (vpa_idle_sum_own(&sum) > vpa_idle_sum_own(&largest)) {
			largest = sum;
			best = i;
		}
	}
	if (vpa_idle_sum_own(&largest))
		vpa_find_cause(r, &advices[best], &largest);
}

void vpa_find_idle(struct vpa_report *r)
{
	size_t before = r->finding_count;

	find_first_use(r);
	vpa_find_stops(r);
	vpa_find_launch_blocking(r);
	vpa_find_trials(r);
	vpa_find_balance(r);
	find_causes(r);
	vpa_note_pauses(r);
	find_edge(r, VPA_CAUSE_BEFORE_FIRST_WORK, VPA_FOUND_BEFORE_FIRST_WORK,
		vpa_first_work_title(r));
	find_edge(r, VPA_CAUSE_AFTER_LAST_WORK, VPA_FOUND_AFTER_LAST_WORK,
		"at the end: stop recording when its work is done");
	if (r->finding_count == before)
		find_largest(r);
	vpa_find_host_updates(r);
}
