/* test_tracer_cupti_session.c - starting and stopping CUPTI, each step of it refused once, and the
 * callbacks.
 * Long, since each step of the start is refused in its own case. */
#include "tracer/cupti/cupti.h"

#include "formats/base/memory.h"
#include "formats/capture_layout.h"
#include "formats/file/capture_reader.h"
#include "tests/tracer/cupti/cupti_fake.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct vtr_pool *pool;
static struct vtr_cupti_clock own_clock; /* CUPTI's is the system's */
static struct vpt_err err;

/* Starts on the fake with its settings. */
static int start(enum vptrace_profile profile, struct vtr_cupti **out)
{
	struct vtr_cupti_functions fn = fake_functions();
	struct vtr_cupti_options o = {.profile = profile, .pool = pool, .functions = &fn};

	memset(&err, 0, sizeof(err));
	vtr_pool_begin(pool);
	return vtr_cupti_start(&o, out, &err);
}

static int group_setup(void **state)
{
	(void)state;
	pool = vtr_pool_new(0);
	vtr_pool_ready(pool);
	vtr_names_init();
	return vtr_threads_init();
}

static int group_teardown(void **state)
{
	(void)state;
	vtr_pool_free(pool);
	return 0;
}

/* Gives back what a fake CUPTI may still hold. */
static void drain_pool(void)
{
	struct vtr_full full;

	while (vtr_pool_next(pool, &full))
		vtr_pool_recycle(pool, &full);
}

static uint64_t kinds_of(const uint32_t *kinds)
{
	uint64_t bits = 0;

	for (; *kinds; kinds++)
		bits |= UINT64_C(1) << *kinds;
	return bits;
}

static void assert_nothing_left(void)
{
	assert_int_equal(fake.enabled, 0);
	assert_int_equal(fake.runtime_calls, 0);
	assert_int_equal(fake.driver_calls, 0);
	assert_int_equal(fake.subscribed, 0);
	assert_int_equal(fake.subscribes, fake.unsubscribes);
}

static void each_version_starts_in_order(void **unused)
{
	static const uint32_t common[] = {VTR_KIND_DEVICE, VTR_KIND_CONTEXT, VTR_KIND_STREAM,
		VTR_KIND_CONCURRENT_KERNEL, VTR_KIND_MEMCPY, VTR_KIND_MEMCPY2, VTR_KIND_MEMSET,
		VTR_KIND_SYNCHRONIZATION, VTR_KIND_CUDA_EVENT, VTR_KIND_OVERHEAD, VTR_KIND_JIT, 0};
	static const uint32_t dumps[] = {VTR_KIND_DEVICE, VTR_KIND_CONTEXT, VTR_KIND_STREAM, 0};
	static const uint32_t whole[] = {VTR_KIND_RUNTIME, VTR_KIND_DRIVER, 0};
	struct vtr_cupti *c;
	size_t v;

	(void)unused;
	for (v = 0; v < FAKE_VERSIONS; v++) {
		int by_call = fake_versions[v].api >= VTR_CUPTI_BY_CALL;

		fake_reset(&fake_versions[v]);
		assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
		assert_non_null(c);
		assert_string_equal(fake.order, "STARCK");
		assert_int_equal(fake.thread_ids, VTR_THREAD_ID_SYSTEM);
		assert_int_equal(fake.zeroed, 1);
		assert_int_equal(
			fake.callbacks_enabled, 7 + 2 + 1); /* contexts, cuCtxSynchronize */
		assert_int_equal(fake.dumped, kinds_of(dumps));
		assert_int_equal(fake.enabled, kinds_of(common) | (by_call ? 0 : kinds_of(whole)));
		assert_int_equal(fake.runtime_calls, by_call ? 5 : 0);
		assert_int_equal(fake.driver_calls, by_call ? 5 : 0);
		assert_int_equal(vtr_cupti_clock(c), 4242);
		assert_null(vtr_cupti_failure(c));
		fake.dropped = 17;
		assert_int_equal(vtr_cupti_dropped(c), 17);
		assert_int_equal(vtr_cupti_dropped(c), 0);
		vtr_cupti_flush(c, 0);
		assert_int_equal(fake.flushes, 1);
		vtr_cupti_stop(c);
		assert_int_equal(fake.flushes, 3);
		assert_int_equal(fake.forced_flushes, 1);
		assert_nothing_left();
		vtr_cupti_flush(c, 1);
		vtr_cupti_stop(c);
		assert_int_equal(fake.flushes, 3); /* it is over */
		assert_int_equal(fake.unsubscribes, 1);
	}
}

static void profiles_choose_the_kinds(void **unused)
{
	static const struct {
		enum vptrace_profile profile;
		uint32_t with[8], without[8];
	} cases[] = {
		{VPTRACE_PROFILE_LITE,
			{VTR_KIND_CONCURRENT_KERNEL, VTR_KIND_MEMCPY, VTR_KIND_STREAM},
			{VTR_KIND_SYNCHRONIZATION, VTR_KIND_OVERHEAD, VTR_KIND_JIT,
				VTR_KIND_MEMORY2}},
		{VPTRACE_PROFILE_DEFAULT, {VTR_KIND_SYNCHRONIZATION, VTR_KIND_OVERHEAD},
			{VTR_KIND_MEMORY2, VTR_KIND_GRAPH_TRACE}},
		{VPTRACE_PROFILE_FULL, {VTR_KIND_MEMORY2, VTR_KIND_SYNCHRONIZATION},
			{VTR_KIND_GRAPH_TRACE}},
		{VPTRACE_PROFILE_COARSE, {VTR_KIND_GRAPH_TRACE, VTR_KIND_CONCURRENT_KERNEL},
			{VTR_KIND_MEMORY2}},
	};
	struct vtr_cupti *c;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset(&fake_versions[2]);
		assert_int_equal(start(cases[i].profile, &c), VPTRACE_OK);
		assert_int_equal(fake.enabled & kinds_of(cases[i].with), kinds_of(cases[i].with));
		assert_int_equal(fake.enabled & kinds_of(cases[i].without), 0);
		vtr_cupti_stop(c);
		assert_nothing_left();
	}
}

static void refuse_subscribe(int rc)
{
	fake.subscribe_rc = rc;
}
static void refuse_thread_ids(int rc)
{
	fake.thread_id_rc = rc;
}
static void refuse_buffers(int rc)
{
	fake.register_rc = rc;
}
static void refuse_kernels(int rc)
{
	fake.kernel_rc = rc;
}

static const struct {
	const char *name;
	void (*refuse)(int rc);
	int rc, expected;
	const char *words[3];
} refusals[] = {
	{"no driver", refuse_subscribe, 999, VPTRACE_ENOCUPTI,
		{"cuptiSubscribe", "CUPTI_ERROR_UNKNOWN (999)", "no CUDA driver"}},
	{"a driver older than CUPTI", refuse_subscribe, 15, VPTRACE_ENOCUPTI,
		{"(15)", "CUPTI 130001"}},
	{"another profiler", refuse_subscribe, 39, VPTRACE_ETAKEN,
		{"another profiler", "CUPTI for other", "39"}},
	{"no rights", refuse_subscribe, 35, VPTRACE_EDENIED,
		{"--cap-add SYS_ADMIN", "NVreg_RestrictProfilingToAdminUsers=0", "35"}},
	{"no rights on a virtual GPU", refuse_subscribe, 40, VPTRACE_EDENIED,
		{"virtual GPU", "40"}},
	{"thread ids refused", refuse_thread_ids, 1, VPTRACE_ENOCUPTI, {"cuptiSetThreadIdType"}},
	{"buffers refused", refuse_buffers, 999, VPTRACE_ENOCUPTI, {"RegisterCallbacks"}},
	{"kernels refused", refuse_kernels, 21, VPTRACE_ENOCUPTI, {"CONCURRENT_KERNEL", "(21)"}},
	{"no rights for kernels", refuse_kernels, 35, VPTRACE_EDENIED, {"CONCURRENT_KERNEL"}},
};

static void a_refused_start_leaves_nothing_behind(void **unused)
{
	struct vtr_cupti *c;
	size_t i, w;

	(void)unused;
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		int rc;

		fake_reset(&fake_versions[2]);
		fake.owner = "CUPTI for other";
		refusals[i].refuse(refusals[i].rc);
		rc = start(VPTRACE_PROFILE_DEFAULT, &c);
		if (rc != refusals[i].expected || err.code != rc)
			fail_msg("%s: %d, %s", refusals[i].name, rc, err.text);
		for (w = 0; w < 3 && refusals[i].words[w]; w++)
			if (!strstr(err.text, refusals[i].words[w]))
				fail_msg("%s: no \"%s\" in: %s", refusals[i].name,
					refusals[i].words[w], err.text);
		assert_null(c);
		assert_nothing_left();
		assert_int_equal(fake.flushes, 0);
		/* And the next start works. */
		fake_reset(&fake_versions[2]);
		assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
		vtr_cupti_stop(c);
	}
}

static void an_owner_without_a_name_is_told_too(void **unused)
{
	struct vtr_cupti *c;

	(void)unused;
	fake_reset(&fake_versions[0]); /* it has no cuptiSubscribe_v2 */
	fake.subscribe_rc = VTR_CUPTI_TAKEN;
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_ETAKEN);
	assert_non_null(strstr(err.text, "in this process (CUPTI error 39)"));
}

/* ---- with a recorder ---- */

static struct vpt_buffer file;

static struct vtr_recorder *new_recorder(void)
{
	struct vtr_recorder_options o = {
		.header = {.major = VPT_MAJOR, .t0_ns = 1000, .pid = 7}, .level = 1};
	struct vtr_recorder *r = NULL;

	memset(&file, 0, sizeof(file));
	assert_int_equal(vpt_sink_memory(&file, &o.sink, NULL), VPT_OK);
	assert_int_equal(vtr_recorder_new(&o, &r, NULL), VPT_OK);
	return r;
}

static void free_recorder(struct vtr_recorder *r)
{
	vtr_recorder_free(r);
	vpt_free(file.data);
}

/* The value of a fact in the capture that was written; "" if it is not there. */
static void read_fact(const char *key, char *out, size_t size)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	const struct vpt_section *meta;
	struct vpt_reader *reader;
	struct vpt_source *source;
	struct vpt_batch batch;
	struct vpt_text text;
	uint32_t i;

	*out = '\0';
	assert_int_equal(vpt_source_memory(file.data, file.size, &source, NULL), VPT_OK);
	assert_int_equal(vpt_reader_open(source, &reader, NULL), VPT_OK);
	vpt_batch_init(&batch);
	assert_int_equal(vpt_reader_chunk(reader, decoder, 0, &batch, NULL), VPT_OK);
	meta = vpt_batch_find(&batch, VPT_META);
	for (i = 0; meta && i < meta->row_count; i++) {
		text = vpt_batch_text(&batch, meta->col[VPT_META_KEY][i]);
		if (text.len != strlen(key) || memcmp(text.text, key, text.len))
			continue;
		text = vpt_batch_text(&batch, meta->col[VPT_META_VALUE][i]);
		snprintf(out, size, "%.*s", (int)text.len, text.text);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
}

static void what_is_refused_is_noted_and_the_rest_goes_on(void **unused)
{
	struct vtr_recorder *r = new_recorder();
	struct vtr_cupti *c;
	char text[128];

	(void)unused;
	fake_reset(&fake_versions[2]);
	fake.memory_rc = 21;
	fake.by_call_rc = 14; /* calls one by one are refused too: all of them then */
	assert_int_equal(start(VPTRACE_PROFILE_FULL, &c), VPTRACE_OK);
	assert_true(fake.enabled & UINT64_C(1) << VTR_KIND_RUNTIME);
	vtr_cupti_describe(c, r);
	vtr_recorder_put(r, VPT_KERNEL, NULL, &(struct vpt_kernel){.start_ns = 1});
	vtr_recorder_flush(r, VTR_FLUSH_LAST);
	read_fact("cupti.refused", text, sizeof(text));
	assert_string_equal(text, "MEMORY2");
	read_fact("cupti_version", text, sizeof(text));
	assert_string_equal(text, "130001");
	read_fact("cupti.calls", text, sizeof(text));
	assert_string_equal(text, "all, filtered when decoded");
	vtr_cupti_stop(c);
	assert_nothing_left();
	free_recorder(r);
}

/* What a capture says of its buffers, "" where all is as usual; each of these captures has one buffer. */
static const char *start_with_mode(int per_thread, int can_read, struct vtr_cupti **c)
{
	struct vtr_recorder *r = new_recorder();
	struct vtr_cupti_functions fn = fake_functions();
	struct vtr_cupti_options o = {.pool = pool, .functions = &fn, .device_buffers = 1000};
	static char text[128];

	if (!can_read)
		fn.get_attribute = NULL;
	fake.per_thread = per_thread;
	fake.per_thread_sets = 0;
	vtr_pool_begin(pool);
	assert_int_equal(vtr_cupti_start(&o, c, &err), VPTRACE_OK);
	vtr_cupti_describe(*c, r);
	vtr_recorder_put(r, VPT_KERNEL, NULL, &(struct vpt_kernel){.start_ns = 1});
	vtr_recorder_flush(r, VTR_FLUSH_LAST);
	read_fact("cupti.device_buffers", text, sizeof(text));
	assert_string_equal(
		text, can_read ? "3200000 bytes each, 3 at first, 1000 at most for a context" : "");
	read_fact("cupti.buffers", text, sizeof(text));
	free_recorder(r);
	return text;
}

static void end_with_mode(struct vtr_cupti *c, uint8_t *buffer)
{
	if (buffer)
		fake.completed(NULL, 0, buffer, VTR_BUFFER_BYTES, 0);
	vtr_cupti_stop(c);
	drain_pool();
}

/* Another client may have changed it since the last capture, also while CUPTI had buffers of ours. */
static void the_buffers_mode_is_set_where_it_differs(void **unused)
{
	static const struct {
		const char *rule;
		int per_thread, can_read, is_kept,
			sets; /* is_kept: CUPTI keeps a buffer of the capture before */
	} cases[] = {
		{"on already", 1, 1, 0, 0},
		{"off", 0, 1, 0, 1},
		{"off, and a buffer is out", 0, 1, 1, 1},
		{"on, and a buffer is out", 1, 1, 1, 0},
		{"it cannot be read", 1, 0, 0, 1},
		{"it cannot be read, and a buffer is out", 1, 0, 1, 1},
	};
	uint8_t *before, *buffer;
	size_t i, size, max;
	struct vtr_cupti *c;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].rule);
		fake_reset(&fake_versions[2]);
		start_with_mode(1, 1, &c);
		fake.requested(&before, &size, &max);
		end_with_mode(c, cases[i].is_kept ? NULL : before);
		assert_string_equal(
			start_with_mode(cases[i].per_thread, cases[i].can_read, &c), "");
		assert_int_equal(fake.per_thread_sets, cases[i].sets);
		assert_int_equal(fake.device_limit, 1000);
		fake.requested(&buffer, &size, &max);
		if (cases[i].is_kept)
			fake.completed(NULL, 0, before, VTR_BUFFER_BYTES, 0);
		end_with_mode(c, buffer);
		assert_nothing_left();
	}
}

/* As inside of cuInit, where CUPTI may not know the devices yet: the kind is enabled, and what exists is asked for with each
 * flush until CUPTI tells. */
static void what_exists_is_asked_for_again(void **unused)
{
	const uint64_t devices = UINT64_C(1) << VTR_KIND_DEVICE;
	struct vtr_cupti *c;

	(void)unused;
	fake_reset(&fake_versions[2]);
	fake.device_dump_rc = 15;
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	assert_true(fake.enabled & devices);
	assert_false(fake.dumped & devices);
	assert_true(fake.dumped & UINT64_C(1) << VTR_KIND_STREAM);
	vtr_cupti_flush(c, 0);
	assert_false(fake.dumped & devices);
	fake.device_dump_rc = 0;
	vtr_cupti_flush(c, 0);
	assert_true(fake.dumped & devices);
	fake.dumped = 0;
	vtr_cupti_flush(c, 0); /* reported once */
	assert_int_equal(fake.dumped, 0);
	vtr_cupti_stop(c);
	assert_nothing_left();
}

static void buffers_travel_from_cupti_to_rows(void **unused)
{
	struct vtr_recorder *r = new_recorder();
	struct vtr_cupti_signs signs;
	struct vtr_decoded n;
	struct vtr_full full;
	struct vtr_cupti *c;
	uint8_t *buffer;
	size_t size, max;

	(void)unused;
	fake_reset(&fake_versions[2]);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	max = 99;
	fake.requested(&buffer, &size, &max);
	assert_non_null(buffer);
	assert_int_equal(size, VTR_BUFFER_BYTES);
	assert_int_equal(max, 0);
	((struct vtr_record_call *)buffer)->kind = VTR_KIND_RUNTIME;
	((struct vtr_record_call *)buffer)->cbid = FAKE_LAUNCH_KERNEL;
	fake.completed(NULL, 0, buffer, size, 40);
	fake.completed(NULL, 0, NULL, 0, 0);
	assert_int_equal(vtr_pool_next(pool, &full), 1);
	assert_int_equal(vtr_cupti_decode(c, &own_clock, &full, r), 1);
	vtr_pool_recycle(pool, &full);
	vtr_cupti_settle(c, r, 1);
	vtr_cupti_decoded(c, &n);
	assert_int_equal(n.rows, 1);
	vtr_cupti_signs(c, &signs);
	assert_int_equal(signs.buffers_requested, 1);
	assert_int_equal(signs.buffers_completed, 1);
	assert_int_equal(signs.buffers_refused, 0);
	vtr_cupti_stop(c);
	free_recorder(r);
}

static void an_empty_pool_refuses_or_discards(void **unused)
{
	uint8_t *buffer[4 + VTR_DISCARD_MAX + 2];
	struct vtr_pool_state state;
	struct vtr_cupti_signs signs;
	uint8_t another_clients[64];
	struct vtr_cupti *c;
	size_t size, max, i;

	(void)unused;
	fake_reset(&fake_versions[2]);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	for (i = 0; i < 4; i++)
		fake.requested(&buffer[i], &size, &max);
	fake.requested(&buffer[4], &size, &max);
	assert_null(buffer[4]); /* new enough for it */
	assert_int_equal(size, 0);
	vtr_cupti_signs(c, &signs);
	assert_int_equal(signs.buffers_refused, 1);
	for (i = 0; i < 4; i++)
		fake.completed(NULL, 0, buffer[i], VTR_BUFFER_BYTES, 0);
	vtr_cupti_stop(c);
	drain_pool();

	fake_reset(&fake_versions[1]); /* this one crashes on NULL */
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	for (i = 0; i < 4 + VTR_DISCARD_MAX + 2; i++) {
		fake.requested(&buffer[i], &size, &max);
		assert_non_null(buffer[i]);
		assert_true(size >= VTR_DISCARD_BYTES);
	}
	for (i = 0; i < 4 + VTR_DISCARD_MAX + 2; i++)
		fake.completed(NULL, 0, buffer[i], size, 0);
	vtr_pool_state(pool, &state);
	assert_int_equal(state.outstanding, 0);
	assert_int_equal(state.foreign, 2); /* the last resort is not of the pool */
	/* Nobody reads it: what CUPTI put there is missing. */
	fake.completed(NULL, 0, buffer[4 + VTR_DISCARD_MAX + 1], size, 96);
	vtr_cupti_signs(c, &signs);
	assert_int_equal(signs.unread_bytes, 96);
	assert_int_equal(signs.foreign_bytes, 0);
	fake.completed(NULL, 0, another_clients, sizeof(another_clients), 48);
	vtr_cupti_signs(c, &signs);
	assert_int_equal(signs.unread_bytes, 96);
	assert_int_equal(signs.foreign_bytes, 48);
	vtr_cupti_stop(c);
	drain_pool();
}

/* ---- callbacks ---- */

static struct vtr_event seen[8];
static size_t seen_count;

static void take_event(void *ctx, const struct vtr_event *event)
{
	(void)ctx;
	if (seen_count < 8)
		seen[seen_count++] = *event;
}

static void graph_callbacks_reach_the_ring(void **unused)
{
	struct vtr_graph_data g = {.graph = (void *)3,
		.node = (void *)5,
		.original_node = (void *)4,
		.exec = (void *)9};
	struct vtr_resource_data data = {.graph = &g};
	struct vtr_cupti_signs signs;
	struct vtr_cupti *c;

	(void)unused;
	fake_reset(&fake_versions[2]);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	vtr_threads_record(1);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_CREATED, &data);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_CLONED, &data);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_DESTROYED, &data);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_EXEC_DESTROYED, &data);
	data.graph = NULL;
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_NODE_CREATED, &data);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_STREAM_CREATED, &data);
	fake.callback(NULL, VTR_DOMAIN_RESOURCE, VTR_RESOURCE_STREAM_CREATED, NULL);
	seen_count = 0;
	vtr_threads_drain(take_event, NULL);
	vtr_threads_stop();
	assert_int_equal(seen_count, 4);
	assert_int_equal(seen[0].type, VTR_EVENT_GRAPH);
	assert_int_equal(seen[0].graph_op, VPT_GRAPHOP_NODE_CREATED);
	assert_int_equal(seen[0].graph, 103);
	assert_int_equal(seen[0].node, 1005);
	assert_int_equal(seen[0].origin, 0);
	assert_int_equal(seen[1].graph_op, VPT_GRAPHOP_NODE_CLONED);
	assert_int_equal(seen[1].origin, 1004);
	assert_int_equal(seen[2].graph_op, VPT_GRAPHOP_NODE_DESTROYED);
	assert_int_equal(seen[3].graph_op, VPT_GRAPHOP_DESTROYED);
	assert_int_equal(seen[3].graph, 109);
	assert_int_equal(seen[3].node, 0);
	vtr_cupti_signs(c, &signs);
	assert_int_equal(signs.resources, 6);
	vtr_cupti_stop(c);
}

static void a_fatal_error_ends_all_calls(void **unused)
{
	struct vtr_state_data state = {.result = 999, .message = "device lost"};
	struct vtr_cupti *c;

	(void)unused;
	fake_reset(&fake_versions[2]);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	fake.callback(NULL, VTR_DOMAIN_STATE, 2, &state); /* an error, but not the end */
	assert_null(vtr_cupti_failure(c));
	fake.callback(NULL, VTR_DOMAIN_STATE, VTR_STATE_FATAL, &state);
	assert_non_null(vtr_cupti_failure(c));
	assert_non_null(strstr(vtr_cupti_failure(c), "device lost"));
	fake.dropped = 5;
	vtr_cupti_flush(c, 0);
	assert_int_equal(vtr_cupti_dropped(c), 0);
	assert_true(vtr_cupti_clock(c) != 4242);
	vtr_cupti_stop(c);
	assert_int_equal(fake.flushes, 0);
	assert_int_equal(fake.unsubscribes, 0);
	/* The next capture tries again. */
	fake_reset(&fake_versions[2]);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_OK);
	assert_null(vtr_cupti_failure(c));
	vtr_cupti_stop(c);
}

static void a_library_that_is_too_old_for_us_is_refused(void **unused)
{
	static struct fake_version old;
	struct vtr_cupti *c;

	(void)unused;
	old = fake_versions[0];
	old.bytes[VTR_KIND_CONCURRENT_KERNEL] = 160;
	fake_reset(&old);
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_ENOCUPTI);
	assert_non_null(strstr(err.text, "shorter records of the kind CONCURRENT_KERNEL"));
	old.bytes[VTR_KIND_CONCURRENT_KERNEL] = 0;
	assert_int_equal(start(VPTRACE_PROFILE_DEFAULT, &c), VPTRACE_ENOCUPTI);
	assert_non_null(strstr(err.text, "does not know records"));
	assert_int_equal(fake.subscribes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_starts_in_order),
		cmocka_unit_test(the_buffers_mode_is_set_where_it_differs),
		cmocka_unit_test(profiles_choose_the_kinds),
		cmocka_unit_test(a_refused_start_leaves_nothing_behind),
		cmocka_unit_test(an_owner_without_a_name_is_told_too),
		cmocka_unit_test(what_is_refused_is_noted_and_the_rest_goes_on),
		cmocka_unit_test(what_exists_is_asked_for_again),
		cmocka_unit_test(buffers_travel_from_cupti_to_rows),
		cmocka_unit_test(an_empty_pool_refuses_or_discards),
		cmocka_unit_test(graph_callbacks_reach_the_ring),
		cmocka_unit_test(a_fatal_error_ends_all_calls),
		cmocka_unit_test(a_library_that_is_too_old_for_us_is_refused),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
