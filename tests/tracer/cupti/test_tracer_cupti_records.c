/* test_tracer_cupti_records.c - buffers as CUPTI 11.8, 12.4 and 13.0 write them become the same
 * rows, and every record is counted.
 * Long, since each kind of record has its case for three layouts. */
#include "tests/tracer/cupti/cupti_records_rig.h"

#include <cmocka.h>

/* ---- looking into the open chunk ---- */

static void assert_kernel_name(uint32_t row, const char *expected)
{
	assert_text(cell(VPT_CONFIG, (uint32_t)cell(VPT_KERNEL, row, VPT_KERNEL_CONFIG),
			    VPT_CONFIG_NAME),
		expected);
}

static uint64_t config(uint32_t kernel, unsigned column)
{
	return cell(VPT_CONFIG, (uint32_t)cell(VPT_KERNEL, kernel, VPT_KERNEL_CONFIG), column);
}

/* ---- one record of each kind, in each version ---- */

static void kernels(void)
{
	struct vtr_record_kernel *k = fake_kernel(&buffer, "_Z4gemmv", 100, 250, 9);

	k->device = 1;
	k->context = 3;
	k->stream = 13;
	k->grid_y = 5;
	k->grid_z = 6;
	k->block_y = 2;
	k->block_z = 3;
	k->static_shared = 1024;
	k->dynamic_shared = 2048;
	k->registers = 40;
	k->local_thread = 8;
	k->graph_node = UINT64_C(0x100000007);
	k->graph = 21;
	k->cluster_x = 2;
	k->cluster_y = 1;
	k->cluster_z = 1;
	fake_kernel(&buffer, NULL, 300, 300, 0);
	decode();
	assert_int_equal(count(VPT_KERNEL), 2);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_START), 100);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_DURATION), 150);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_CORRELATION), 9);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_GRAPH_NODE), UINT64_C(0x100000007));
	assert_kernel_name(0, "_Z4gemmv");
	assert_int_equal(config(0, VPT_CONFIG_GRID_X), 4);
	assert_int_equal(config(0, VPT_CONFIG_GRID_Y), 5);
	assert_int_equal(config(0, VPT_CONFIG_GRID_Z), 6);
	assert_int_equal(config(0, VPT_CONFIG_BLOCK_X), 128);
	assert_int_equal(config(0, VPT_CONFIG_BLOCK_Y), 2);
	assert_int_equal(config(0, VPT_CONFIG_BLOCK_Z), 3);
	assert_int_equal(config(0, VPT_CONFIG_STATIC_SHARED), 1024);
	assert_int_equal(config(0, VPT_CONFIG_DYNAMIC_SHARED), 2048);
	assert_int_equal(config(0, VPT_CONFIG_REGISTERS), 40);
	assert_int_equal(config(0, VPT_CONFIG_LOCAL), 8);
	assert_int_equal(config(0, VPT_CONFIG_GRAPH), 21);
	assert_int_equal(config(0, VPT_CONFIG_CLUSTER_X), 2);
	assert_kernel_name(1, "");
	assert_int_equal(cell(VPT_KERNEL, 1, VPT_KERNEL_DURATION), 0);
	assert_int_equal(lane_of(VPT_KERNEL, 0), vtr_recorder_stream(recorder, 1, 3, 13)->key);
	assert_int_equal(lane_of(VPT_KERNEL, 1), vtr_recorder_stream(recorder, 0, 1, 7)->key);
}

static void give_copy(void)
{
	struct vtr_record_memcpy *m = fake_record(&buffer, VTR_KIND_MEMCPY);

	*m = (struct vtr_record_memcpy){.kind = VTR_KIND_MEMCPY,
		.copy_kind = 1,
		.source = 2,
		.target = 3,
		.flags = 1,
		.bytes = 4096,
		.start = 10,
		.end = 30,
		.stream = 7,
		.correlation = 5,
		.graph_node = 6};
}

static void give_peer_copy(void)
{
	struct vtr_record_peer *p = fake_record(&buffer, VTR_KIND_MEMCPY2);

	*p = (struct vtr_record_peer){.kind = VTR_KIND_MEMCPY2,
		.copy_kind = 10,
		.source = 3,
		.target = 3,
		.bytes = 64,
		.start = 40,
		.end = 50,
		.device = 2,
		.stream = 8,
		.source_device = 2,
		.target_device = 0,
		.correlation = 6};
}

static void give_memset(void)
{
	struct vtr_record_memset *f = fake_record(&buffer, VTR_KIND_MEMSET);

	*f = (struct vtr_record_memset){.kind = VTR_KIND_MEMSET,
		.value = 0xff,
		.bytes = 99,
		.start = 60,
		.end = 61,
		.stream = 7,
		.correlation = 7,
		.memory_kind = 3,
		.graph_node = 8};
}

static void give_unknown_copy(void)
{
	struct vtr_record_memcpy *m = fake_record(&buffer, VTR_KIND_MEMCPY);

	m->copy_kind = 77; /* a direction nobody knows yet */
	m->source = 200;
	m->start = m->end = 70;
	m->stream = 9;
}

static void copies(void)
{
	give_copy();
	give_peer_copy();
	give_memset();
	give_unknown_copy();
	decode();
	assert_int_equal(count(VPT_COPY), 4);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_COPY_KIND), VPT_COPYKIND_HTOD);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_SOURCE_MEMORY), VPT_MEMKIND_PINNED);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_TARGET_MEMORY), VPT_MEMKIND_DEVICE);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_ASYNCHRONOUS), 1);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_BYTES), 4096);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_DURATION), 20);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_CORRELATION), 5);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_GRAPH_NODE), 6);
	assert_int_equal(cell(VPT_COPY, 0, VPT_COPY_PEER), 0);
	/* The second one of stream 7 shares a section with the first. */
	assert_int_equal(cell(VPT_COPY, 1, VPT_COPY_COPY_KIND), VPT_COPYKIND_MEMSET);
	assert_int_equal(cell(VPT_COPY, 1, VPT_COPY_VALUE), 0xff);
	assert_int_equal(cell(VPT_COPY, 1, VPT_COPY_TARGET_MEMORY), VPT_MEMKIND_DEVICE);
	assert_int_equal(cell(VPT_COPY, 1, VPT_COPY_GRAPH_NODE), 8);
	assert_int_equal(cell(VPT_COPY, 2, VPT_COPY_COPY_KIND), VPT_COPYKIND_PTOP);
	assert_int_equal(cell(VPT_COPY, 2, VPT_COPY_PEER), 1);
	assert_int_equal(cell(VPT_COPY, 3, VPT_COPY_COPY_KIND), VPT_COPYKIND_UNKNOWN);
	assert_int_equal(cell(VPT_COPY, 3, VPT_COPY_SOURCE_MEMORY), VPT_MEMKIND_UNKNOWN);
}

static void waits(void)
{
	int tails = sizes.bytes[VTR_KIND_SYNCHRONIZATION] >= 56;
	struct vtr_record_context *c = fake_record(&buffer, VTR_KIND_CONTEXT);
	struct vtr_record_sync_tail *s;
	struct vtr_record_event_tail *e;

	c->context = 4;
	c->device = 1;
	s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
	s->head = (struct vtr_record_sync){
		VTR_KIND_SYNCHRONIZATION, VTR_SYNC_STREAM, 100, 180, 3, 4, 17, VTR_NO_ID};
	if (tails)
		s->sync_id = VTR_NO_ID;
	s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
	s->head = (struct vtr_record_sync){
		VTR_KIND_SYNCHRONIZATION, VTR_SYNC_EVENT, 200, 260, 4, 4, VTR_NO_ID, 0};
	if (tails)
		s->sync_id = 555;
	e = fake_record(&buffer, VTR_KIND_CUDA_EVENT);
	e->head = (struct vtr_record_event){VTR_KIND_CUDA_EVENT, 8, 4, 17, 30};
	if (tails) {
		e->device = 1;
		e->device_time = 99;
		e->sync_id = 555;
	}
	s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
	s->head = (struct vtr_record_sync){
		VTR_KIND_SYNCHRONIZATION, VTR_SYNC_CONTEXT, 300, 310, 5, 4, VTR_NO_ID, VTR_NO_ID};
	s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION); /* of a context that nobody described */
	s->head = (struct vtr_record_sync){
		VTR_KIND_SYNCHRONIZATION, VTR_SYNC_STREAM, 320, 330, 6, 44, 17, VTR_NO_ID};
	decode();
	assert_int_equal(count(VPT_SYNC), 4);
	assert_int_equal(cell(VPT_SYNC, 0, VPT_SYNC_SYNC_KIND), VPT_SYNCKIND_STREAM);
	assert_int_equal(lane_of(VPT_SYNC, 0), vtr_recorder_stream(recorder, 1, 4, 17)->key);
	assert_int_equal(cell(VPT_SYNC, 0, VPT_SYNC_STREAM), lane_of(VPT_SYNC, 0));
	assert_int_equal(cell(VPT_SYNC, 0, VPT_SYNC_DURATION), 80);
	assert_int_equal(cell(VPT_SYNC, 0, VPT_SYNC_EVENT), 0);
	assert_int_equal(cell(VPT_SYNC, 0, VPT_SYNC_SYNC_ID), 0);
	assert_int_equal(cell(VPT_SYNC, 1, VPT_SYNC_SYNC_KIND), VPT_SYNCKIND_EVENT);
	assert_int_equal(lane_of(VPT_SYNC, 1), 0);
	assert_int_equal(cell(VPT_SYNC, 1, VPT_SYNC_EVENT), 1); /* event 0 */
	assert_int_equal(cell(VPT_SYNC, 1, VPT_SYNC_SYNC_ID), tails ? 555 : 0);
	assert_int_equal(cell(VPT_SYNC, 2, VPT_SYNC_SYNC_KIND), VPT_SYNCKIND_CONTEXT);
	assert_int_equal(cell(VPT_SYNC, 2, VPT_SYNC_CONTEXT), 4);
	assert_int_equal(lane_of(VPT_SYNC, 3), 0);
	assert_int_equal(cell(VPT_SYNC, 3, VPT_SYNC_STREAM), 0);
	assert_int_equal(cell(VPT_EVENT, 0, VPT_EVENT_EVENT), 31);
	assert_int_equal(cell(VPT_EVENT, 0, VPT_EVENT_CORRELATION), 8);
	assert_int_equal(cell(VPT_EVENT, 0, VPT_EVENT_TIME), tails ? 99 : 0);
	assert_int_equal(cell(VPT_EVENT, 0, VPT_EVENT_SYNC_ID), tails ? 555 : 0);
	assert_int_equal(lane_of(VPT_EVENT, 0), lane_of(VPT_SYNC, 0));
	assert_int_equal(counts().described, 1);
}

static void memory_operations(void)
{
	struct vtr_record_context *c = fake_record(&buffer, VTR_KIND_CONTEXT);
	struct vtr_record_memory *m;

	c->context = 2;
	c->null_stream = 7;
	m = fake_record(&buffer, VTR_KIND_MEMORY2);
	*m = (struct vtr_record_memory){.kind = VTR_KIND_MEMORY2,
		.operation = VTR_MEMORY_ALLOCATION,
		.memory_kind = 3,
		.correlation = 4,
		.address = UINT64_C(0x7f0000000000),
		.bytes = 1 << 20,
		.time = 50,
		.context = 2,
		.stream = VTR_NO_ID};
	m = fake_record(&buffer, VTR_KIND_MEMORY2);
	*m = (struct vtr_record_memory){.kind = VTR_KIND_MEMORY2,
		.operation = VTR_MEMORY_RELEASE,
		.time = 60,
		.context = 2,
		.stream = 7,
		.pool = 0xabc};
	decode();
	assert_int_equal(count(VPT_MEMORY), 2);
	assert_int_equal(cell(VPT_MEMORY, 0, VPT_MEMORY_MEMORY_OP), VPT_MEMOP_ALLOCATE);
	assert_int_equal(cell(VPT_MEMORY, 0, VPT_MEMORY_ADDRESS), UINT64_C(0x7f0000000000));
	assert_int_equal(cell(VPT_MEMORY, 0, VPT_MEMORY_BYTES), 1 << 20);
	assert_int_equal(cell(VPT_MEMORY, 0, VPT_MEMORY_MEMORY_KIND), VPT_MEMKIND_DEVICE);
	assert_int_equal(cell(VPT_MEMORY, 0, VPT_MEMORY_TIME), 50);
	assert_int_equal(cell(VPT_MEMORY, 1, VPT_MEMORY_MEMORY_OP), VPT_MEMOP_RELEASE);
	assert_int_equal(cell(VPT_MEMORY, 1, VPT_MEMORY_POOL), 0xabc);
	/* Without a stream of its own: the context's default one. */
	assert_int_equal(lane_of(VPT_MEMORY, 0), vtr_recorder_stream(recorder, 0, 2, 7)->key);
	assert_int_equal(lane_of(VPT_MEMORY, 1), lane_of(VPT_MEMORY, 0));
}

/* "None" was 0xffffffff up to CUDA 13.1 and is 0 from then on, for streams and for contexts: neither is ever a stream's or
 * a context's own number. */
static void memory_without_a_stream(void)
{
	static const uint32_t none[] = {VTR_NO_ID, 0};
	struct vtr_record_context *c;
	struct vtr_record_sync_tail *s;
	struct vtr_record_memory *m;
	unsigned i;

	for (i = 0; i < 2; i++) { /* nothing is known of the device */
		m = fake_record(&buffer, VTR_KIND_MEMORY2);
		m->time = 10 + i;
		m->device = 1;
		m->context = m->stream = none[i];
	}
	c = fake_record(&buffer, VTR_KIND_CONTEXT);
	c->context = 2;
	c->device = 1;
	c->null_stream = 7;
	for (i = 0; i < 2; i++) { /* of the context, and of the device alone */
		m = fake_record(&buffer, VTR_KIND_MEMORY2);
		m->time = 20 + i;
		m->device = 1;
		m->context = 2;
		m->stream = none[i];
		m = fake_record(&buffer, VTR_KIND_MEMORY2);
		m->time = 30 + i;
		m->device = 1;
		m->context = m->stream = none[i];
	}
	for (i = 0; i < 2; i++) {
		s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
		s->head = (struct vtr_record_sync){VTR_KIND_SYNCHRONIZATION, VTR_SYNC_STREAM, 40,
			50, 3, 2, none[i], VTR_NO_ID};
		s = fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
		s->head = (struct vtr_record_sync){
			VTR_KIND_SYNCHRONIZATION, VTR_SYNC_EVENT, 40, 50, 3, none[i], none[i], 5};
	}
	decode();
	assert_int_equal(count(VPT_MEMORY), 6);
	for (i = 0; i < 6; i++) {
		uint64_t lane = lane_of(VPT_MEMORY, i);

		assert_int_equal(lane, cell(VPT_MEMORY, i, VPT_MEMORY_TIME) < 20
					       ? 0
					       : vtr_recorder_stream(recorder, 1, 2, 7)->key);
	}
	assert_int_equal(count(VPT_SYNC), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(lane_of(VPT_SYNC, i), 0);
		assert_int_equal(cell(VPT_SYNC, i, VPT_SYNC_STREAM), 0);
		assert_in_set(
			cell(VPT_SYNC, i, VPT_SYNC_CONTEXT), ((const unsigned long[]){0, 2}), 2);
	}
}

static void overheads(void)
{
	static const struct {
		uint32_t cupti, ours;
	} words[] = {{0, VPT_OVERHEADKIND_UNKNOWN}, {1, VPT_OVERHEADKIND_COMPILER},
		{1 << 16, VPT_OVERHEADKIND_FLUSH}, {2 << 16, VPT_OVERHEADKIND_INSTRUMENTATION},
		{3 << 16, VPT_OVERHEADKIND_RESOURCE}, {4 << 16, VPT_OVERHEADKIND_MODULE_LOADING},
		{5 << 16, VPT_OVERHEADKIND_LAZY_LOADING},
		{6 << 16, VPT_OVERHEADKIND_COMMAND_BUFFER_FULL},
		{7 << 16, VPT_OVERHEADKIND_BUFFER_REQUEST}, {8 << 16, VPT_OVERHEADKIND_UVM_INIT},
		{9 << 16, VPT_OVERHEADKIND_UNKNOWN}, {0x7fffffff, VPT_OVERHEADKIND_UNKNOWN}};
	int tails = sizes.bytes[VTR_KIND_OVERHEAD] >= 56;
	struct vtr_record_jit_tail *j;
	uint32_t i;

	for (i = 0; i < 12; i++) {
		struct vtr_record_overhead_tail *o = fake_record(&buffer, VTR_KIND_OVERHEAD);

		o->head.overhead = words[i].cupti;
		o->head.object = i ? VTR_OBJECT_THREAD : 1;
		o->head.thread = 33;
		o->head.start = 100 + i;
		o->head.end = 200;
		if (tails) {
			o->correlation = 8;
			o->data = malloc(24); /* the decoder frees it, or the leak checker tells */
		}
	}
	j = fake_record(&buffer, VTR_KIND_JIT);
	j->head.start = 300;
	j->head.end = 350;
	j->head.correlation = 8;
	if (sizes.bytes[VTR_KIND_JIT] >= 72)
		j->thread = 33;
	decode();
	assert_int_equal(count(VPT_OVERHEAD), 13);
	assert_int_equal(lane_of(VPT_OVERHEAD, 0), 0); /* of the process, not of a thread */
	assert_int_equal(
		lane_of(VPT_OVERHEAD, tails ? 1 : 2), vtr_recorder_thread(recorder, 33)->key);
	for (i = 0; i < 13; i++) {
		uint64_t start = cell(VPT_OVERHEAD, i, VPT_OVERHEAD_START);

		if (start == 300)
			assert_int_equal(cell(VPT_OVERHEAD, i, VPT_OVERHEAD_OVERHEAD_KIND),
				VPT_OVERHEADKIND_COMPILER);
		else
			assert_int_equal(cell(VPT_OVERHEAD, i, VPT_OVERHEAD_OVERHEAD_KIND),
				words[start - 100].ours);
		assert_int_equal(cell(VPT_OVERHEAD, i, VPT_OVERHEAD_CORRELATION),
			tails || start == 300 ? 8 : 0);
	}
}

static void whole_graphs(void)
{
	struct vtr_record_graph *g = fake_record(&buffer, VTR_KIND_GRAPH_TRACE);

	*g = (struct vtr_record_graph){VTR_KIND_GRAPH_TRACE, 12, 1000, 5000, 0, 3, 1, 7};
	decode();
	assert_kernel_name(0, "CUDA graph");
	assert_int_equal(config(0, VPT_CONFIG_GRAPH), 3);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_DURATION), 4000);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_CORRELATION), 12);
	assert_int_equal(cell(VPT_KERNEL, 0, VPT_KERNEL_GRAPH_NODE), 0);
}

static void descriptions(void)
{
	struct vtr_record_device *g = fake_record(&buffer, VTR_KIND_DEVICE);
	struct vtr_record_context *c;
	struct vtr_record_stream *s;
	const struct vtr_lane *lane;
	size_t i;

	g->device = 1;
	g->name = "Simulated GPU";
	g->sm_count = 132;
	g->sm_warps = 64;
	g->warp_threads = 32;
	g->compute_major = 9;
	g->memory_bytes = UINT64_C(80) << 30;
	for (i = 0; i < 16; i++)
		g->uuid[i] = (uint8_t)(i * 17);
	c = fake_record(&buffer, VTR_KIND_CONTEXT);
	c->context = 5;
	c->device = 1;
	s = fake_record(&buffer, VTR_KIND_STREAM);
	*s = (struct vtr_record_stream){
		VTR_KIND_STREAM, 5, 20, (uint32_t)-3, VTR_STREAM_NON_BLOCKING, 0};
	fake_kernel(&buffer, "k", 10, 20, 1)->stream = 20;
	decode();
	assert_int_equal(counts().described, 3);
	lane = vtr_recorder_stream(recorder, 0, 1, 20); /* another context's stream 20 */
	assert_int_equal(lane->row.priority, 0);
	{
		struct vtr_record_kernel *k = fake_kernel(&buffer, "k", 30, 40, 2);

		k->device = 1;
		k->context = 5;
		k->stream = 20;
	}
	decode();
	lane = vtr_recorder_stream(recorder, 1, 5, 20);
	assert_int_equal((int64_t)lane->row.priority, -3);
	assert_int_equal(lane->row.flags, 1);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
}

static void each_version_gives_the_same_rows(void **unused)
{
	static void (*const parts[])(void) = {kernels, copies, waits, memory_operations,
		memory_without_a_stream, overheads, whole_graphs, descriptions};
	size_t v, i;

	(void)unused;
	for (v = 0; v < FAKE_VERSIONS; v++)
		for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			open_all(&fake_versions[v]);
			parts[i]();
			assert_conserved(counts().records);
			assert_int_equal(counts().damaged_buffers, 0);
		}
}

/* ---- names ---- */

static void names_are_compared_with_what_they_were(void **unused)
{
	char name[32] = "first";

	(void)unused;
	open_all(&fake_versions[2]);
	fake_kernel(&buffer, name, 10, 20, 1);
	fake_kernel(&buffer, name, 30, 40, 2);
	decode();
	usleep(25000);       /* longer than a name is trusted without being read again */
	strcpy(name, "fir"); /* the module is gone, another one got its memory */
	fake_kernel(&buffer, name, 50, 60, 3);
	decode();
	usleep(25000);
	strcpy(name, "first again");
	fake_kernel(&buffer, name, 70, 80, 4);
	decode();
	assert_int_equal(
		cell(VPT_KERNEL, 0, VPT_KERNEL_CONFIG), cell(VPT_KERNEL, 1, VPT_KERNEL_CONFIG));
	assert_kernel_name(0, "first");
	assert_kernel_name(2, "fir");
	assert_kernel_name(3, "first again");
	memset(name, 'x', sizeof(name)); /* what was copied stays */
	assert_kernel_name(3, "first again");
}

static void ids_die_with_the_chunk(void **unused)
{
	uint64_t chunk;

	(void)unused;
	open_all(&fake_versions[2]);
	fake_kernel(&buffer, "other", 1, 2, 1);
	fake_kernel(&buffer, "same", 10, 20, 1);
	decode();
	assert_kernel_name(1, "same");
	chunk = vtr_recorder_chunk(recorder);
	vtr_recorder_flush(recorder, VTR_FLUSH_ALWAYS);
	assert_true(vtr_recorder_chunk(recorder) != chunk);
	fake_kernel(&buffer, "same", 30, 40, 2);
	decode();
	assert_int_equal(count(VPT_KERNEL), 1);
	assert_int_equal(count(VPT_CONFIG), 1);
	assert_kernel_name(0, "same");
}

static void another_capture_begins_with_nothing(void **unused)
{
	(void)unused;
	open_all(&fake_versions[2]);
	fake_kernel(&buffer, "other", 1, 2, 1);
	fake_kernel(&buffer, "same", 10, 20, 1);
	put_calls("D110-120#1", 11);
	decode();
	vtr_recorder_free(recorder);
	vpt_free(file.data);
	memset(&file, 0, sizeof(file));
	open_recorder(); /* its chunks are numbered from 1 again */
	vtr_decoder_begin(decoder, &sizes, &calls);
	assert_int_equal(counts().records, 0);
	fake_kernel(&buffer, "same", 30, 40, 2);
	put_calls("R300-310#9", 11);
	decode();
	vtr_decoder_settle(decoder, recorder, 0);
	assert_kernel_name(0, "same");
	assert_int_equal(count(VPT_CALL), 1);
	assert_int_equal(lane_of(VPT_CALL, 0), vtr_recorder_thread(recorder, 11)->key);
	assert_conserved(2);
}

static void many_shapes_keep_their_own(void **unused)
{
	char names[40][16];
	uint32_t i;

	(void)unused;
	open_all(&fake_versions[2]);
	for (i = 0; i < 40; i++)
		snprintf(names[i], sizeof(names[i]), "kernel %u", i);
	for (i = 0; i < 4000; i++) {
		fake_kernel(&buffer, names[i % 40], 10 + i, 20 + i, i + 1)->grid_x = i % 1999;
		if (i % 100 == 99)
			decode();
	}
	for (i = 0; i < 4000; i++) {
		assert_kernel_name(i, names[i % 40]);
		assert_int_equal(config(i, VPT_CONFIG_GRID_X), i % 1999);
	}
	assert_conserved(4000);
}

/* ---- what goes wrong ---- */

static void times_that_make_no_sense_are_kept_and_counted(void **unused)
{
	struct vtr_recorder_totals t;

	(void)unused;
	open_all(&fake_versions[2]);
	fake_kernel(&buffer, "k", 0, 0, 1);
	fake_kernel(&buffer, "k", 100, 0, 2);
	fake_kernel(&buffer, "k", 200, 150, 3);
	fake_kernel(&buffer, "k", 300, 300, 4); /* short, but right */
	decode();
	assert_int_equal(count(VPT_KERNEL), 4);
	vtr_recorder_totals(recorder, &t);
	assert_int_equal(t.invalid, 3);
	assert_int_equal(cell(VPT_KERNEL, 2, VPT_KERNEL_DURATION), UINT64_MAX - 49);
	assert_int_equal(vtr_recorder_stream(recorder, 0, 1, 7)->invalid, 3);
	assert_conserved(4);
}

static const struct {
	const char *name;
	uint32_t kind;
	size_t cut;
} damages[] = {
	{"a kind that the library does not know", 61, 0},
	{"a kind beyond all numbers", 0xffffffff, 0},
	{"zeros", 0, 0},
	{"a record that is cut off", VTR_KIND_CONCURRENT_KERNEL, 8},
	{"less than a kind", VTR_KIND_CONCURRENT_KERNEL, 214},
};

static void damage_ends_the_buffer_and_is_told(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		uint8_t *at;

		open_all(&fake_versions[2]);
		fake_kernel(&buffer, "k", 1000, 1100, 1);
		at = fake_record(&buffer, VTR_KIND_CONCURRENT_KERNEL);
		memcpy(at, &damages[i].kind, 4);
		if (damages[i].cut)
			buffer.bytes -= damages[i].cut;
		else
			fake_kernel(&buffer, "k", 3000, 3100, 3);
		assert_int_equal(decode(), 1);
		assert_int_equal(count(VPT_KERNEL), 1);
		assert_int_equal(count(VPT_LOSS), 1);
		assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_LOSS_KIND), VPT_LOSSKIND_DAMAGED);
		assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_START), 77); /* when CUPTI got it */
		assert_true(cell(VPT_LOSS, 0, VPT_LOSS_DURATION) > 1000);
		assert_int_equal(counts().damaged_buffers, 1);
		assert_conserved(1);
	}
}

static void an_empty_buffer_is_nothing(void **unused)
{
	(void)unused;
	open_all(&fake_versions[2]);
	assert_int_equal(decode(), 0);
	assert_int_equal(count(VPT_LOSS), 0);
	assert_int_equal(counts().buffers, 1);
}

static void discarded_records_are_counted_by_lane(void **unused)
{
	struct vtr_record_overhead_tail *o;

	(void)unused;
	open_all(&fake_versions[1]);
	fake_kernel(&buffer, (const char *)8, 5000, 6000, 1); /* the name must not be read */
	fake_kernel(&buffer, (const char *)8, 0, 0, 2);
	put_calls("D4000-4100#1", 11);
	fake_call(
		&buffer, RUNTIME, FAKE_GET_LAST_ERROR, 11, 120, 121, 2); /* filtered all the same */
	o = fake_record(&buffer, VTR_KIND_OVERHEAD);
	o->head.start = 7000;
	o->head.end = 9000;
	o->data = malloc(16);
	assert_int_equal(decode_as(1, 0), 5);
	assert_int_equal(count(VPT_KERNEL) + count(VPT_CALL) + count(VPT_OVERHEAD), 0);
	assert_int_equal(vtr_recorder_stream(recorder, 0, 1, 7)->dropped, 2);
	assert_int_equal(vtr_recorder_thread(recorder, 11)->dropped, 1);
	assert_int_equal(count(VPT_LOSS), 1);
	assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_LOSS_KIND), VPT_LOSSKIND_DROPPED);
	assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_START), 4000);
	assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_DURATION), 5000);
	assert_int_equal(cell(VPT_LOSS, 0, VPT_LOSS_COUNT), 4);
	assert_int_equal(counts().dropped, 4);
	assert_conserved(5);
	/* What comes after it is kept again. */
	fake_kernel(&buffer, "k", 10000, 11000, 3);
	decode();
	assert_int_equal(count(VPT_KERNEL), 1);
	assert_conserved(6);
}

static void stale_buffers_leave_no_trace(void **unused)
{
	struct vtr_record_overhead_tail *o;

	(void)unused;
	open_all(&fake_versions[1]);
	fake_kernel(&buffer, (const char *)8, 5000, 6000, 1);
	o = fake_record(&buffer, VTR_KIND_OVERHEAD);
	o->data = malloc(16);
	fake_record(&buffer, VTR_KIND_CONTEXT);
	assert_int_equal(decode_as(0, 1), 0);
	assert_int_equal(vtr_recorder_batch(recorder)->section_count, 0);
	assert_int_equal(counts().stale_buffers, 1);
	assert_conserved(0);
}

/* A library whose records are shorter than what is read of them. */
static void short_records_are_never_read(void **unused)
{
	static struct fake_version old;

	(void)unused;
	old = fake_versions[0];
	old.bytes[VTR_KIND_SYNCHRONIZATION] = 32;
	old.bytes[VTR_KIND_CONCURRENT_KERNEL] = 160;
	open_all(&old);
	assert_int_equal(sizes.bytes[VTR_KIND_SYNCHRONIZATION], 0);
	assert_int_equal(sizes.bytes[VTR_KIND_CONCURRENT_KERNEL], 0);
	assert_int_equal(sizes.bytes[VTR_KIND_MEMCPY], 88);
	assert_int_equal(sizes.too_short, UINT64_C(1) << VTR_KIND_SYNCHRONIZATION |
						  UINT64_C(1) << VTR_KIND_CONCURRENT_KERNEL);
	fake_call(&buffer, RUNTIME, FAKE_LAUNCH_KERNEL, 11, 100, 110, 1);
	fake_record(&buffer, VTR_KIND_SYNCHRONIZATION);
	assert_int_equal(decode(), 1);
	assert_int_equal(counts().damaged_buffers, 1);
}

static void every_size_is_learnt(void **unused)
{
	struct vtr_cupti_functions fn;
	size_t v;

	(void)unused;
	for (v = 0; v < FAKE_VERSIONS; v++) {
		fake_reset(&fake_versions[v]);
		fn = fake_functions();
		vtr_sizes_learn(&fn, &sizes);
		assert_memory_equal(sizes.bytes, fake_versions[v].bytes, sizeof(sizes.bytes));
		assert_int_equal(sizes.too_short, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_size_is_learnt),
		TEST(each_version_gives_the_same_rows),
		TEST(names_are_compared_with_what_they_were),
		TEST(ids_die_with_the_chunk),
		TEST(another_capture_begins_with_nothing),
		TEST(many_shapes_keep_their_own),
		TEST(times_that_make_no_sense_are_kept_and_counted),
		TEST(damage_ends_the_buffer_and_is_told),
		TEST(an_empty_buffer_is_nothing),
		TEST(discarded_records_are_counted_by_lane),
		TEST(stale_buffers_leave_no_trace),
		TEST(short_records_are_never_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
