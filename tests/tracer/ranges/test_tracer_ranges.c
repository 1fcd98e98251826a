/* test_tracer_ranges.c - ranges, marks and counters of a thread, as the writer sees them: captures, payloads, limits. */
#include "tests/tracer/ranges/tracer_rig.h"
#include "tracer/ranges/words/range_note.h"
#include "tracer/ranges/started_ranges.h"
#include "tracer/ranges/thread_names.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- one thread ---- */

static void a_pop_makes_one_event(void **state)
{
	const struct vtr_attributes a = {vtr_name_of("denoise"), vtr_name_of("model"), 7,
		0xff00ff00, {.type = VPT_PAYLOAD_INT64, .value = 42}};
	const struct vtr_event *e = kept.events;

	(void)state;
	assert_false(vtr_threads_seen());
	assert_int_equal(vtr_range_push(&a), 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(vtr_range_pop(a.domain), 0);
	assert_true(vtr_threads_seen());
	assert_int_equal(drain(), 1);
	assert_int_equal(e->type, VTR_EVENT_RANGE);
	assert_int_equal(e->tid, vtr_tid());
	assert_int_equal(e->end_tid, vtr_tid());
	assert_true(e->start_ns >= start_ns && e->end_ns >= e->start_ns);
	assert_true(e->end_ns <= vtr_now());
	assert_int_equal(e->name, a.name);
	assert_int_equal(e->domain, a.domain);
	assert_int_equal(e->range_kind, VPT_RANGEKIND_PUSH_POP);
	assert_int_equal(e->unmatched, 0);
	assert_int_equal(e->category, 7);
	assert_int_equal(e->colour, 0xff00ff00);
	assert_int_equal(e->payload.type, VPT_PAYLOAD_INT64);
	assert_int_equal(e->payload.value, 42);
	assert_int_equal(drain(), 0);
}

static void marks_and_counters_are_moments(void **state)
{
	double value;

	(void)state;
	vptrace_mark("here");
	assert_int_equal(vptrace_counter("cache hits", 0.75, "ratio"), VPTRACE_OK);
	assert_int_equal(vptrace_counter(NULL, 1, NULL), VPTRACE_EINVAL);
	assert_int_equal(vptrace_counter("", 1, NULL), VPTRACE_EINVAL);
	vptrace_range_push("capture");
	vtr_graph_event(VPT_GRAPHOP_NODE_CLONED, 1, UINT64_MAX, 3);
	assert_int_equal(drain(), 3);
	assert_int_equal(kept.events[0].type, VTR_EVENT_MARK);
	assert_true(is_named(&kept.events[0], "here"));
	assert_true(kept.events[0].start_ns >= start_ns);
	assert_int_equal(kept.events[1].type, VTR_EVENT_COUNTER);
	assert_int_equal(kept.events[1].domain, vtr_name_of("ratio"));
	memcpy(&value, &kept.events[1].payload.value, sizeof(value));
	assert_true(value > 0.74 && value < 0.76);
	assert_int_equal(kept.events[2].type, VTR_EVENT_GRAPH);
	assert_int_equal(kept.events[2].graph_op, VPT_GRAPHOP_NODE_CLONED);
	assert_int_equal(kept.events[2].graph, 1);
	assert_true(kept.events[2].node == UINT64_MAX);
	assert_int_equal(kept.events[2].origin, 3);
	assert_true(is_named(&kept.events[2], "capture"));
}

/* What is not known when a range is opened may be told while it is open. */
static void a_note_is_filled_while_its_range_is_open(void **state)
{
	struct vptrace_note request = {VPTRACE_NOTE_REQUEST, 2, -1, -1, -1.0};
	const struct vptrace_note stage = {VPTRACE_NOTE_STAGE, -1, -1, -1, -1.0};
	const struct vptrace_note more = {VPTRACE_NOTE_REQUEST, 7, 33, -1, 0.5};
	const struct vptrace_note late = {VPTRACE_NOTE_REQUEST, 8, 34, 9, 0.25};
	struct vptrace_note found;

	(void)state;
	vptrace_note_fill(&more);
	vptrace_note_fill(NULL);
	vptrace_note_push("outer", &request);
	vptrace_range_push("no note");
	vptrace_note_push("stage", &stage);
	vptrace_note_fill(&more);
	vptrace_note_fill(&late);
	vptrace_range_pop();
	vptrace_range_pop();
	vptrace_range_pop();
	assert_int_equal(drain(), 3);
	memcpy(&found, kept.events[0].payload.blob, sizeof(found));
	assert_memory_equal(&found, &stage, sizeof(found));
	assert_int_equal(kept.events[1].payload.bytes, 0);
	memcpy(&found, kept.events[2].payload.blob, sizeof(found));
	assert_int_equal(found.index, 2);
	assert_int_equal(found.frames, 33);
	assert_int_equal(found.latents, 9);
	assert_true(found.timestep > 0.49 && found.timestep < 0.51);
}

static void check_fact(const struct vtr_event *e, const char *text)
{
	assert_int_equal(e->type, VTR_EVENT_MARK);
	assert_true(is_named(e, "fact"));
	assert_int_equal(e->payload.type, VPT_PAYLOAD_JSON);
	assert_int_equal(e->payload.bytes, strlen(text));
	assert_memory_equal(e->payload.blob, text, strlen(text));
}

/* Text that would end the JSON string does not; what is too long is cut. */
static void a_fact_is_a_mark_with_a_name_and_a_value(void **state)
{
	char name[VTR_FACT_NAME_MAX + 9], value[VTR_FACT_VALUE_MAX + 9], text[VTR_FACT_TEXT_MAX];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	memset(value, 'v', sizeof(value) - 1);
	name[sizeof(name) - 1] = value[sizeof(value) - 1] = '\0';
	assert_int_equal(vptrace_fact("height", "480"), VPTRACE_OK);
	assert_int_equal(vptrace_fact("a\"b", "c\\d\n"), VPTRACE_OK);
	assert_int_equal(vptrace_fact(name, value), VPTRACE_OK);
	assert_int_equal(vptrace_fact("", "1"), VPTRACE_EINVAL);
	assert_int_equal(vptrace_fact(NULL, "1"), VPTRACE_EINVAL);
	assert_int_equal(vptrace_fact("height", NULL), VPTRACE_EINVAL);
	assert_int_equal(drain(), 3);
	check_fact(&kept.events[0], "{\"kind\":\"fact\",\"name\":\"height\",\"value\":\"480\"}");
	check_fact(&kept.events[1], "{\"kind\":\"fact\",\"name\":\"a?b\",\"value\":\"c?d?\"}");
	snprintf(text, sizeof(text), "{\"kind\":\"fact\",\"name\":\"%.*s\",\"value\":\"%.*s\"}",
		VTR_FACT_NAME_MAX, name, VTR_FACT_VALUE_MAX, value);
	check_fact(&kept.events[2], text);
}

/* One that does not fit would be cut, and a part of an object says nothing. */
static void an_annotation_is_kept_whole_or_not_at_all(void **state)
{
	static const char *const texts[] = {"{\"flop\":7}", "", NULL};
	char longest[VPTRACE_ANNOTATION_MAX + 1];
	size_t i;

	(void)state;
	memset(longest, '1', VPTRACE_ANNOTATION_MAX);
	longest[VPTRACE_ANNOTATION_MAX - 1] = '\0';
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		vptrace_annotated_push("work", texts[i]);
		vptrace_range_pop();
	}
	vptrace_annotated_push("longest", longest);
	vptrace_range_pop();
	vptrace_annotated_mark("a label", texts[0]);
	longest[VPTRACE_ANNOTATION_MAX - 1] = '1';
	longest[VPTRACE_ANNOTATION_MAX] = '\0';
	vptrace_annotated_mark("too long", longest);
	assert_int_equal(drain(), 6);
	assert_int_equal(kept.events[0].type, VTR_EVENT_RANGE);
	assert_int_equal(kept.events[0].payload.type, VPT_PAYLOAD_JSON);
	assert_int_equal(kept.events[0].payload.bytes, strlen(texts[0]));
	assert_memory_equal(kept.events[0].payload.blob, texts[0], strlen(texts[0]));
	assert_int_equal(kept.events[1].payload.type, VPT_PAYLOAD_NONE);
	assert_int_equal(kept.events[2].payload.type, VPT_PAYLOAD_NONE);
	assert_int_equal(kept.events[3].payload.bytes, VPTRACE_ANNOTATION_MAX - 1);
	assert_int_equal(kept.events[4].type, VTR_EVENT_MARK);
	assert_true(is_named(&kept.events[4], "a label"));
	assert_int_equal(kept.events[4].payload.bytes, strlen(texts[0]));
	assert_true(is_named(&kept.events[5], "too long"));
	assert_int_equal(kept.events[5].payload.type, VPT_PAYLOAD_NONE);
}

/* A script of pushes and pops in domains "", a and b, the depths they return, and the ranges they make. */
static void domains_share_a_thread_but_nest_apart(void **state)
{
	static const struct {
		const char *rule, *script, *depths, *made;
	} cases[] = {
		{"ranges nest", "(. (. ). ).", "0 1 1 0", "1 0"},
		{"a pop without a push does nothing", ").", "-", ""},
		{"a pop of another domain does nothing", "(a )b )a", "0 - 0", "0"},
		{"domains may overlap", "(a (b )a )b", "0 0 0 0", "0 1"},
		{"depths are counted by domain", "(a (b (a (b )a )a )b )b", "0 0 1 1 1 0 1 0",
			"2 0 3 1"},
		{"what lies above stays", "(. (a (. )a ). ).", "0 0 1 0 1 0", "1 2 0"},
	};
	size_t c;

	(void)state;
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char depths[64] = "", made[64] = "", name[] = "0";
		const char *s;
		size_t i, events;

		for (s = cases[c].script; *s; s += s[2] ? 3 : 2) {
			char domain[] = {s[1] == '.' ? '\0' : s[1], '\0'};
			uint32_t d = vtr_name_of(domain);
			int depth = *s == '(' ? vtr_range_push(&(struct vtr_attributes){
							.name = vtr_name_of(name), .domain = d})
					      : vtr_range_pop(d);

			name[0] = (char)(name[0] + (*s == '('));
			snprintf(depths + strlen(depths), sizeof(depths) - strlen(depths),
				depth < 0 ? "%s-" : "%s%d", *depths ? " " : "", depth);
		}
		events = drain();
		for (i = 0; i < events; i++) {
			size_t len;

			snprintf(made + strlen(made), sizeof(made) - strlen(made), "%s%c",
				*made ? " " : "", *vtr_name_text(kept.events[i].name, &len));
		}
		if (strcmp(depths, cases[c].depths) || strcmp(made, cases[c].made))
			fail_msg("%s: depths \"%s\", made \"%s\"", cases[c].rule, depths, made);
	}
	assert_int_equal(dropped(), 0);
}

static void a_payload_moves_with_its_range(void **state)
{
	unsigned char low[40], high[256];
	struct vtr_attributes a = {.domain = vtr_name_of("a")}, b = {.domain = vtr_name_of("b")};

	(void)state;
	memset(low, 1, sizeof(low));
	memset(high, 2, sizeof(high));
	a.payload = (struct vtr_payload){VPT_PAYLOAD_BLOB, sizeof(low), 0, 5, low};
	b.payload = (struct vtr_payload){VPT_PAYLOAD_BLOB, sizeof(high), 0, 6, high};
	vtr_range_push(&a);
	vtr_range_push(&b);
	vtr_range_pop(a.domain);
	vtr_range_pop(b.domain);
	assert_int_equal(drain(), 2);
	assert_int_equal(kept.events[0].payload.schema, 5);
	assert_memory_equal(kept.blobs[0], low, sizeof(low));
	assert_int_equal(kept.events[1].payload.schema, 6);
	assert_memory_equal(kept.blobs[1], high, sizeof(high));
}

static void payloads_arrive_as_they_were(void **state)
{
	static const struct {
		const char *rule;
		uint32_t type, bytes;
		int without_blob;
		uint32_t kept_type, kept_bytes;
	} cases[] = {
		{"none", VPT_PAYLOAD_NONE, 0, 0, VPT_PAYLOAD_NONE, 0},
		{"none, with bytes", VPT_PAYLOAD_NONE, 16, 0, VPT_PAYLOAD_NONE, 0},
		{"a number", VPT_PAYLOAD_UINT64, 0, 1, VPT_PAYLOAD_UINT64, 0},
		{"a number, with bytes", VPT_PAYLOAD_FLOAT, 99, 0, VPT_PAYLOAD_FLOAT, 0},
		{"1 byte", VPT_PAYLOAD_BLOB, 1, 0, VPT_PAYLOAD_BLOB, 1},
		{"7 bytes", VPT_PAYLOAD_BLOB, 7, 0, VPT_PAYLOAD_BLOB, 7},
		{"8 bytes", VPT_PAYLOAD_BLOB, 8, 0, VPT_PAYLOAD_BLOB, 8},
		{"9 bytes", VPT_PAYLOAD_BLOB, 9, 0, VPT_PAYLOAD_BLOB, 9},
		{"as many as are kept", VPT_PAYLOAD_BLOB, 256, 0, VPT_PAYLOAD_BLOB, 256},
		{"more than are kept", VPT_PAYLOAD_BLOB, 300, 0, VPT_PAYLOAD_BLOB, 256},
		{"absurdly many", VPT_PAYLOAD_BLOB, UINT32_MAX, 0, VPT_PAYLOAD_BLOB, 256},
		{"a blob without bytes", VPT_PAYLOAD_BLOB, 0, 0, VPT_PAYLOAD_NONE, 0},
		{"a blob that is nowhere", VPT_PAYLOAD_BLOB, 8, 1, VPT_PAYLOAD_NONE, 0},
	};
	unsigned char blob[256];
	size_t c, way;

	(void)state;
	for (c = 0; c < sizeof(blob); c++)
		blob[c] = (unsigned char)(c * 7 + 1);
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct vtr_attributes a = {.payload = {cases[c].type, cases[c].bytes, 11, 22,
						   cases[c].without_blob ? NULL : blob}};

		vtr_range_push(&a);
		assert_int_equal(open_now(), 1);
		if (kept.events[0].payload.bytes != cases[c].kept_bytes)
			fail_msg("%s, open: %u bytes", cases[c].rule, kept.events[0].payload.bytes);
		assert_memory_equal(kept.blobs[0], blob, cases[c].kept_bytes);
		vtr_range_pop(VTR_NAME_EMPTY);
		vtr_mark(&a);
		vtr_range_end(vtr_range_start(&a));
		assert_int_equal(drain(), 3);
		for (way = 0; way < 3; way++) {
			const struct vtr_payload *p = &kept.events[way].payload;

			if (p->type != cases[c].kept_type || p->bytes != cases[c].kept_bytes)
				fail_msg("%s, way %zu: type %u, %u bytes", cases[c].rule, way,
					p->type, p->bytes);
			if (p->type && p->bytes)
				assert_int_equal(p->schema, 22);
			else if (p->type)
				assert_int_equal(p->value, 11);
			assert_memory_equal(kept.blobs[way], blob, p->bytes);
		}
	}
}

/* A program that opens ranges and does not close them loses no new one, and the oldest are cut where they were forgotten. */
static void ranges_too_deep_forget_the_oldest(void **state)
{
	static const char *const domains[] = {"", "a", "b", "c", "d", "e", "f", "g", "h", "i"};
	uint64_t unmatched = vtr_threads_unmatched();
	int i;

	(void)state;
	for (i = 0; i < VTR_DEPTH_MAX; i++)
		assert_int_equal(vtr_range_push(&(struct vtr_attributes){.name = 1}), i);
	assert_int_equal(drain(), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(vtr_range_push(&(struct vtr_attributes){.name = 1}), 255);
	assert_int_equal(drain(), 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(kept.events[i].unmatched, 1);
		assert_true(kept.events[i].end_ns > kept.events[i].start_ns);
	}
	assert_int_equal(vtr_threads_unmatched() - unmatched, 3);
	for (i = 0; i < 10; i++) { /* more domains than are counted apart */
		push(domains[i], "deep");
		pop(domains[i]);
	}
	assert_int_equal(drain(), 11); /* one more was forgotten, at the first of them */
	for (i = 1; i < 11; i++) {
		assert_true(is_named(&kept.events[i], "deep"));
		assert_int_equal(kept.events[i].unmatched, 0);
	}
	assert_int_equal(vtr_threads_unmatched() - unmatched, 4);
	for (i = 0; i < VTR_DEPTH_MAX - 1; i++)
		assert_in_range(vtr_range_pop(VTR_NAME_EMPTY), 4, 255);
	assert_int_equal(drain(), VTR_DEPTH_MAX - 1);
	for (i = 3; i >= 0; i--) /* those that were forgotten close too */
		assert_int_equal(vtr_range_pop(VTR_NAME_EMPTY), i);
	assert_int_equal(vtr_range_pop(VTR_NAME_EMPTY), -1);
	assert_int_equal(drain(), 0);
	assert_int_equal(dropped(), 0);
	push("", "after");
	pop("");
	assert_int_equal(drain(), 1);
}

/* Each domain's own pops close its own forgotten ranges. */
static void forgotten_ranges_are_their_domains(void **state)
{
	static const char *const domains[] = {"", "a", "b", "c", "d", "e", "f", "g", "h", "i"};
	int i;

	(void)state;
	for (i = 0; i < 10; i++)
		push(domains[i], "outer");
	for (i = 0; i < VTR_DEPTH_MAX; i++)
		push("x", "inner");
	assert_int_equal(drain(), 10);
	for (i = 0; i < 10; i++) /* the last three are counted together */
		assert_in_range(vtr_range_pop(vtr_name_of(domains[i])), 0, 3);
	for (i = 0; i < 10; i++)
		assert_int_equal(vtr_range_pop(vtr_name_of(domains[i])), -1);
	for (i = VTR_DEPTH_MAX - 1; i >= 0; i--)
		assert_int_equal(vtr_range_pop(vtr_name_of("x")), i);
	assert_int_equal(drain(), VTR_DEPTH_MAX);
	assert_int_equal(dropped(), 0);
}

static void a_full_ring_drops_the_newest(void **state)
{
	uint64_t made = 0, before;
	size_t i, events;

	(void)state;
	limit_to(0); /* no other ring */
	while (!dropped()) {
		char name[16];

		snprintf(name, sizeof(name), "%u", (unsigned)(made++ % 10));
		push("", name);
		pop("");
	}
	before = made;
	for (i = 0; i < 5; i++, made++)
		vptrace_mark("lost");
	events = drain();
	assert_true(events >= VTR_RING_FIRST_WORDS / 5);
	assert_int_equal(dropped(), 6);
	assert_int_equal(events + dropped(), made);
	for (i = 0; i < events; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", (unsigned)(i % 10));
		assert_true(is_named(&kept.events[i], name));
	}
	assert_int_equal(events, before - 1);
	vptrace_mark("room again");
	assert_int_equal(drain(), 1);
	assert_int_equal(dropped(), 6);
	lift_limit();
}

/* ---- captures ---- */

static void while_nothing_records_only_the_stack_is_kept(void **state)
{
	(void)state;
	vtr_threads_stop();
	push("", "open before");
	push("", "closed before");
	pop("");
	vptrace_mark("before");
	vptrace_counter("before", 1, NULL);
	vtr_graph_event(1, 2, 3, 4);
	start_ns = vtr_now();
	vtr_threads_record(start_ns);
	assert_int_equal(open_now(), 1);
	assert_true(is_named(&kept.events[0], "open before"));
	assert_int_equal(kept.events[0].start_ns, start_ns);
	assert_int_equal(kept.events[0].end_ns, 0);
	assert_int_equal(kept.events[0].unmatched, 1);
	push("", "inside");
	pop("");
	pop("");
	assert_int_equal(drain(), 2);
	assert_int_equal(kept.events[0].unmatched, 0);
	assert_true(is_named(&kept.events[1], "open before"));
	assert_int_equal(kept.events[1].start_ns, start_ns);
	assert_true(kept.events[1].end_ns >= start_ns);
	assert_int_equal(kept.events[1].unmatched, 1);

	push("", "open after");
	vtr_threads_stop();
	push("", "opened too late");
	assert_int_equal(open_now(), 1);
	assert_true(is_named(&kept.events[0], "open after"));
	assert_true(kept.events[0].start_ns > start_ns);
	pop("");
	assert_int_equal(drain(), 0);
	assert_int_equal(dropped(), 0);
}

static struct vtr_event event_named(const char *name)
{
	size_t i;

	for (i = 0; i < kept.count; i++)
		if (is_named(&kept.events[i], name))
			return kept.events[i];
	fail_msg("no event %s", name);
	return kept.events[0];
}

static sem_t is_open, is_stopped;

static void end_a_thread_after_the_stop(void)
{
	push("", "of a thread that ends");
	sem_post(&is_open);
	sem_wait(&is_stopped);
}

/* While the tracer stops, other threads go on: what was open at the stop is in no list of open ranges by the time that one is
 * made. */
static void what_was_open_at_the_stop_ends_with_it(void **state)
{
	void (*body)(void) = end_a_thread_after_the_stop;
	pthread_t thread;
	uint64_t id, late, stopped_ns;
	size_t i;

	(void)state;
	sem_init(&is_open, 0, 0);
	sem_init(&is_stopped, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, run_body, &body), 0);
	sem_wait(&is_open);
	push("", "outer");
	push("", "inner");
	id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("started")});
	stopped_ns = vtr_threads_stop();
	sem_post(&is_stopped);
	pthread_join(thread, NULL);
	late = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("started late")});
	push("", "late");
	pop("");
	pop("");
	pop("");
	vtr_range_end(id);
	vtr_range_end(late);
	assert_int_equal(drain(), 4);
	for (i = 0; i < kept.count; i++)
		assert_int_equal(kept.events[i].unmatched, 1);
	assert_int_equal(event_named("outer").end_ns, stopped_ns);
	assert_int_equal(event_named("inner").end_ns, stopped_ns);
	assert_int_equal(event_named("started").end_ns, stopped_ns);
	assert_int_equal(event_named("of a thread that ends").end_ns, stopped_ns);
	assert_int_equal(open_now(), 0);
	sem_destroy(&is_open);
	sem_destroy(&is_stopped);
}

/* The first test: of a process's captures, only the first goes back. */
static void a_first_capture_that_goes_back_has_whole_ranges(void **state)
{
	uint64_t now_ns = vtr_now(), id;

	(void)state;
	push("", "not expected");
	assert_true(vtr_threads_earliest(now_ns) == now_ns);
	vtr_threads_expect(1);
	push("", "request");
	id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("stage")});
	push("", "ended before");
	pop("");
	start_ns = vtr_threads_earliest(vtr_now() + 5);
	assert_true(start_ns >= now_ns && start_ns <= vtr_now());
	vtr_threads_record(start_ns);
	assert_int_equal(open_now(), 3);
	assert_int_equal(kept.events[1].start_ns, start_ns);
	vtr_range_end(id);
	pop("");
	pop("");
	assert_int_equal(drain(), 3);
	assert_true(is_named(&kept.events[0], "stage"));
	assert_true(kept.events[0].start_ns > start_ns);
	assert_int_equal(kept.events[0].unmatched, 0);
	assert_true(is_named(&kept.events[1], "request"));
	assert_int_equal(kept.events[1].start_ns, start_ns);
	assert_int_equal(kept.events[1].unmatched, 0);
	assert_true(is_named(&kept.events[2], "not expected"));
	assert_int_equal(kept.events[2].start_ns, start_ns);
	assert_int_equal(kept.events[2].unmatched, 1);
	vtr_threads_expect(0);
}

/* Its thread has no processor between the steps of vtr_range_end(). */
static void a_range_that_is_just_ending_is_left_out_and_counted(void **state)
{
	uint64_t id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of("started")});
	uint64_t blob[VTR_BLOB_WORDS];
	struct vtr_event e;
	uint32_t opened_in;

	(void)state;
	assert_int_equal(vtr_started_claim(id, &e, &opened_in, blob), 1);
	assert_int_equal(vtr_started_claim(id, &e, &opened_in, blob), 0);
	vtr_range_end(id);
	assert_int_equal(drain(), 0);
	assert_int_equal(open_now(), 0); /* its event follows */
	vtr_threads_stop();
	kept.count = 0;
	assert_int_equal(vtr_threads_open(keep, NULL), 1);
	vtr_started_free(id);
	assert_int_equal(open_now(), 0);
}

static atomic_int is_over;

static void push_and_pop_until_it_is_over(void)
{
	sem_post(&is_open);
	while (!atomic_load(&is_over)) {
		push("", "short");
		vptrace_mark("moment");
		pop("");
	}
}

/* Nor is one of a thread that was recording when it read the epoch, and read the clock after the stop. */
static void no_event_is_later_than_the_stop(void **state)
{
	void (*body)(void) = push_and_pop_until_it_is_over;
	unsigned rounds = scaled(200);
	uint64_t stopped_ns;
	pthread_t thread;
	size_t i;

	(void)state;
	sem_init(&is_open, 0, 0);
	atomic_store(&is_over, 0);
	assert_int_equal(pthread_create(&thread, NULL, run_body, &body), 0);
	sem_wait(&is_open);
	for (; rounds; rounds--) {
		vtr_threads_record(vtr_now());
		usleep(100);
		drain();
		stopped_ns = vtr_threads_stop();
		drain();
		for (i = 0; i < kept.count; i++)
			assert_true(kept.events[i].start_ns <= stopped_ns &&
				    kept.events[i].end_ns <= stopped_ns);
	}
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
	sem_destroy(&is_open);
}

static void a_range_across_two_captures_begins_with_the_second(void **state)
{
	(void)state;
	push("", "long");
	vtr_threads_stop();
	start_ns = vtr_now();
	vtr_threads_record(start_ns);
	pop("");
	assert_int_equal(drain(), 1);
	assert_int_equal(kept.events[0].start_ns, start_ns);
	assert_int_equal(kept.events[0].unmatched, 1);
}

static void what_an_old_capture_left_is_gone(void **state)
{
	(void)state;
	limit_to(0);
	push("", "old");
	pop("");
	while (!dropped())
		vptrace_mark("old");
	assert_true(vtr_threads_seen());
	vtr_threads_record(vtr_now());
	assert_false(vtr_threads_seen());
	assert_int_equal(dropped(), 0);
	vptrace_mark("finds no room yet");
	assert_int_equal(drain(), 0);
	assert_int_equal(dropped(), 1);
	vptrace_mark("new");
	assert_int_equal(drain(), 1);
	assert_true(is_named(&kept.events[0], "new"));
	lift_limit();
}

/* ---- start and end ---- */

static uint64_t crossing;
static uint32_t crossing_tid;

static void end_elsewhere(void)
{
	crossing_tid = vtr_tid();
	vptrace_range_end(crossing);
	vptrace_range_end(crossing);
}

static void a_range_may_end_on_another_thread(void **state)
{
	(void)state;
	crossing = vptrace_range_start("crossing");
	assert_true(crossing != 0);
	assert_int_equal(open_now(), 1);
	assert_int_equal(kept.events[0].range_kind, VPT_RANGEKIND_START_END);
	assert_int_equal(kept.events[0].tid, vtr_tid());
	in_a_thread(end_elsewhere);
	assert_int_equal(drain(), 1);
	assert_true(is_named(&kept.events[0], "crossing"));
	assert_int_equal(kept.events[0].tid, vtr_tid());
	assert_int_equal(kept.events[0].end_tid, crossing_tid);
	assert_int_not_equal(crossing_tid, vtr_tid());
	assert_int_equal(kept.events[0].range_kind, VPT_RANGEKIND_START_END);
	assert_int_equal(open_now(), 0);
}

static void ends_of_nothing_do_nothing(void **state)
{
	uint64_t id = vptrace_range_start("x"), next;

	(void)state;
	vptrace_range_end(0);
	vptrace_range_end(UINT64_MAX);
	vptrace_range_end(id + VTR_STARTED_MAX); /* the same slot, another generation */
	assert_int_equal(drain(), 0);
	vptrace_range_end(id);
	assert_int_equal(drain(), 1);
	next = vptrace_range_start("y");
	assert_true(next != id);
	vptrace_range_end(id);
	assert_int_equal(drain(), 0);
	vptrace_range_end(next);
	assert_int_equal(drain(), 1);
}

static void started_ranges_have_a_limit(void **state)
{
	static uint64_t ids[VTR_STARTED_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < VTR_STARTED_MAX; i++)
		assert_true((ids[i] = vptrace_range_start("many")) != 0);
	assert_int_equal(vptrace_range_start("too many"), 0);
	assert_int_equal(dropped(), 1);
	assert_int_equal(open_now(), VTR_STARTED_MAX);
	vptrace_range_end(ids[100]);
	ids[100] = vptrace_range_start("room again");
	assert_true(ids[100] != 0);
	for (i = 0; i < VTR_STARTED_MAX; i++)
		vptrace_range_end(ids[i]);
	assert_int_equal(drain(), VTR_STARTED_MAX + 1);
	assert_int_equal(dropped(), 1);
}

/* ---- names of threads ---- */

static void note_name(void *ctx, uint32_t tid, uint32_t name)
{
	char *out = ctx;
	size_t len;
	const char *text = vtr_name_text(name, &len);

	sprintf(out + strlen(out), "%u=%.*s ", tid, (int)len, text);
}

static const char *names_now(void)
{
	static char out[256];

	*out = 0;
	vtr_thread_names(note_name, out);
	return out;
}

static void count_name(void *ctx, uint32_t tid, uint32_t name)
{
	(void)name;
	*(uint32_t *)ctx += tid == 7 ? 1000000 : 1;
}

static void names_of_threads_are_told_once(void **state)
{
	uint32_t i, reported = 0;

	(void)state;
	assert_string_equal(names_now(), "");
	vtr_thread_name(7, vtr_name_of("loader"));
	vtr_thread_name(0, vtr_name_of("nobody"));
	assert_string_equal(names_now(), "7=loader ");
	assert_string_equal(names_now(), "");
	vtr_thread_name(7, vtr_name_of("saver"));
	assert_string_equal(names_now(), "7=saver ");
	vtr_threads_record(vtr_now());
	assert_string_equal(names_now(), "7=saver ");
	for (i = 1000; i < 40000; i++) /* more than there is room for: the last ones count */
		vtr_thread_name(i, vtr_name_of("worker"));
	vtr_thread_name(7, vtr_name_of("loader"));
	vtr_thread_names(count_name, &reported);
	assert_true(reported > 1000000 && reported < 1000000 + 4096);
	assert_string_equal(names_now(), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_first_capture_that_goes_back_has_whole_ranges, finish),
		WITH_CAPTURE(a_pop_makes_one_event),
		WITH_CAPTURE(marks_and_counters_are_moments),
		WITH_CAPTURE(a_note_is_filled_while_its_range_is_open),
		WITH_CAPTURE(an_annotation_is_kept_whole_or_not_at_all),
		WITH_CAPTURE(a_fact_is_a_mark_with_a_name_and_a_value),
		WITH_CAPTURE(domains_share_a_thread_but_nest_apart),
		WITH_CAPTURE(a_payload_moves_with_its_range),
		WITH_CAPTURE(payloads_arrive_as_they_were),
		WITH_CAPTURE(ranges_too_deep_forget_the_oldest),
		WITH_CAPTURE(forgotten_ranges_are_their_domains),
		WITH_CAPTURE(a_full_ring_drops_the_newest),
		WITH_CAPTURE(while_nothing_records_only_the_stack_is_kept),
		WITH_CAPTURE(what_was_open_at_the_stop_ends_with_it),
		WITH_CAPTURE(a_range_that_is_just_ending_is_left_out_and_counted),
		WITH_CAPTURE(no_event_is_later_than_the_stop),
		WITH_CAPTURE(a_range_across_two_captures_begins_with_the_second),
		WITH_CAPTURE(what_an_old_capture_left_is_gone),
		WITH_CAPTURE(a_range_may_end_on_another_thread),
		WITH_CAPTURE(ends_of_nothing_do_nothing),
		WITH_CAPTURE(started_ranges_have_a_limit),
		WITH_CAPTURE(names_of_threads_are_told_once),
	};

	if (vtr_names_init() || vtr_threads_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
