/* rich_script.c - the forms of a capture that has everything, by block_rig.h. */
#include "tests/support/traces/rich_script.h"

#include "tests/support/traces/block_rig.h"

static void machine(void)
{
	line("device 0 \"Sim H100\" cc 9.0 sms 132 memory 80GiB simulated");
	line("device 1 \"Sim H100\" cc 9.0 sms 132 memory 80GiB simulated");
	line("meta command \"python generate.py\"");
	line("meta cuda_driver \"13.0\"");
	line("meta tag.model \"wan\"");
	line("thread t1 pid 1 tid 100 \"main\"");
	line("series power device 0 unit \"W\" \"power\"");
	line("series used device 0 unit \"B\" \"memory used\"");
}

/* What goes on beside a request: waits, copies, allocations, samples, counters. */
static void beside(unsigned from, unsigned to, unsigned host_ms)
{
	static const char *const stacks[] = {"main (/app/run.py:3);forward (/app/model.py:40)",
		"main (/app/run.py:3);step (/app/scheduler.py:60)",
		"main (/app/run.py:3);<built-in method cpu>"};
	unsigned t, k = 0;

	for (t = from; t + 60 < to; t += 60, k++) {
		line("call t1 cudaStreamSynchronize %ums+%ums corr %u", at(t + 2), 1 + host_ms / 8,
			++script.corr);
		line("call t1 cudaMemcpyAsync %ums+20us corr %u", at(t + 20), ++script.corr);
		line("copy s7 DtoH device->pinned %ums+900us corr %u bytes %u", at(t + 22),
			script.corr, 4096 * (k + 1));
		line("call t1 cudaMalloc %ums+1ms corr %u", at(t + 26), ++script.corr);
		line("memory s7 %ums allocate memory_kind device bytes %uMiB address 0x%x",
			at(t + 26), 1 + k % 3, 0x1000 * (k + 1));
		line("sample t1 %ums \"%s\" state running cpu_us 300 wait_us 20", at(t + 28),
			stacks[k % 3]);
		line("sample t1 %ums \"%s\"", at(t + 48), stacks[(k + 1) % 3]);
		line("counter power %ums %u.5", at(t), 300 + k);
		line("counter used %ums %u", at(t), 1000000 * (k + 1));
	}
	kernel_on(from + 10, "s2.7", from + 12, from + 80, GEMM);
}

static void blocks(unsigned host_ms)
{
	request(50, 1300, "request 1");
	reference_blocks(100, 3, host_ms);
	ready(700, 0, 9);
	ready(1150, 1, 12);
	beside(50, 1300, host_ms);
	request(1700, 3000, "request 2");
	reference_blocks(1750, 3, host_ms);
	ready(2300, 0, 9);
	beside(1700, 3000, host_ms);
	line("loss t1 dropped 3200ms-3300ms count 5");
}

static void steps(void)
{
	unsigned k;

	request(0, 900, "request 1");
	for (k = 0; k < 8; k++) {
		step(k * 100, k * 100 + 90, k, 0);
		kernel(k * 100 + 1, k * 100 + 2, k * 100 + 50 + k % 3, ATTENTION);
		kernel(k * 100 + 3, k * 100 + 60, k * 100 + 80, GEMM);
	}
	beside(0, 900, 16);
}

static void iterations(void)
{
	unsigned k;

	for (k = 0; k < 6; k++) {
		line("range t1 %ums-%ums \"ProfilerStep#%u\"", at(k * 100), at(k * 100 + 95), k);
		kernel(k * 100 + 1, k * 100 + 2, k * 100 + 50 + k % 3, CONV);
	}
	beside(0, 600, 8);
}

static void unmarked(void)
{
	unsigned k;

	for (k = 0; k < 12; k++) {
		kernel(k * 50, k * 50 + 1, k * 50 + 10, "encode_kernel");
		kernel(k * 50 + 2, k * 50 + 12, k * 50 + 30, ATTENTION);
		kernel(k * 50 + 4, k * 50 + 30, k * 50 + 40, GEMM);
	}
}

const char *rich_script(enum rich_form form)
{
	begin();
	machine();
	if (form == RICH_BLOCKS || form == RICH_SLOWER)
		blocks(form == RICH_BLOCKS ? 40 : 70);
	else if (form == RICH_STEPS)
		steps();
	else if (form == RICH_ITERATIONS)
		iterations();
	else
		unmarked();
	return script.text;
}
