/* perfetto_export_cases.h - traces of a few lines, and what a decoder says of their exports; for test_perfetto_export.c. */
#ifndef VPT_TESTS_EXPORT_PERFETTO_EXPORT_CASES_H
#define VPT_TESTS_EXPORT_PERFETTO_EXPORT_CASES_H

static const struct {
	const char *rule, *script;
	const char *says[6]; /* whole lines, without what stands before them */
} cases[] = {
	{"a kernel and its call",
		"call t1 cudaLaunchKernel 2000-2010 corr 1\n"
		"kernel s7 2100-2180 corr 1 \"gemm\" grid 8x4x1 block 128\n",
		{"thread 100: 0 +10 depth 0 cuda_api \"cudaLaunchKernel\" {'correlation': 1} -> "
		 "[1]",
			"GPU 0 pid 42 Stream 7: 1 100 +80 kernel \"gemm\" [[8, 4, 1], [128, 1, 1]]",
			"kernels 1", "submissions 1", "late_links 0"}},
	{"kernels that overlap on one stream all survive",
		"kernel s7 2000-2100 corr 0 \"a\"\nkernel s7 2050-2150 corr 0 \"b\"\n"
		"kernel s7 2060-2070 corr 0 \"c\"\n",
		{"Stream 7: 1 0 +100 kernel \"a\"", "Stream 7: 2 50 +100 kernel \"b\"",
			"Stream 7: 3 60 +10 kernel \"c\"", "kernel_ns 210"}},
	{"a graph launch names all of its ops, the next launch its own",
		"call t1 cudaGraphLaunch 2000-2010 corr 1\ncall t1 cudaLaunchKernel 2020-2030 corr "
		"2\n"
		"kernel s7 2100-2110 corr 1 \"a\" node 5\nkernel s7 2120-2130 corr 1 \"b\" node 6\n"
		"copy s7 DtoD 2140-2150 corr 1 bytes 64 node 7\nkernel s7 2160-2170 corr 2 \"c\"\n",
		{"\"cudaGraphLaunch\" {'correlation': 1} -> [1, 2, 3]",
			"\"cudaLaunchKernel\" {'correlation': 2} -> [4]", "submissions 4",
			"'graph_node_id': 6"}},
	{"of two calls around one op the outer one has launched it",
		"call t1 cuLaunchKernel 2002-2008 corr 1\ncall t1 cudaLaunchKernel 2000-2010 corr "
		"1\n"
		"kernel s7 2100-2110 corr 1 \"a\"\n",
		{"depth 0 cuda_api \"cudaLaunchKernel\" {'correlation': 1} -> [1]",
			"depth 1 cuda_api \"cuLaunchKernel\" {'correlation': 1} -> []"}},
	{"calls of two processes with the same numbers name the ops of their own",
		"thread t9 pid 43 tid 200\nstream s9 device 0 context 1 stream 7 pid 43\n"
		"call t1 cudaLaunchKernel 2000-2010 corr 1\ncall t9 cuLaunchKernel 2000-2010 corr "
		"1\n"
		"kernel s9 2100-2110 corr 1 \"a\"\nkernel s7 2200-2210 corr 1 \"b\"\n",
		{"thread 100: 0 +10 depth 0 cuda_api \"cudaLaunchKernel\" {'correlation': 1} -> "
		 "[2]",
			"thread 200: 0 +10 depth 0 cuda_api \"cuLaunchKernel\" {'correlation': 1} "
			"-> [1]",
			"GPU 0 pid 43 Stream 7: 1 100 +10 kernel \"a\"",
			"GPU 0 pid 42 Stream 7: 2 200 +10 kernel \"b\"", "late_links 0"}},
	{"samples of threads are stack samples; one without a stack is none",
		"kernel s7 2000-2300 \"k\"\nsample t1 2000 \"main (run.py:3);step (m.py:4)\"\n"
		"sample t2 2050 \"main (run.py:3);item\"\nsample t1 2100\n"
		"sample t1 2200 \"main (run.py:3);step (m.py:4)\"\n",
		{"stack: vptrace.python.samples pid 42 tid 100: 0 main (run.py:3);step (m.py:4)",
			"stack: vptrace.python.samples pid 42 tid 101: 50 main (run.py:3);item",
			"stack: vptrace.python.samples pid 42 tid 100: 200 main (run.py:3);step "
			"(m.py:4)",
			"stack_samples 3", "counter_samples 0"}},
	{"an exact stack weighs as long as it holds, also over chunks and up to the end",
		"kernel s7 2000-2300 \"k\"\nsample t1 2000 \"main\" flags 1\n"
		"sample t1 2100 \"main;f\" flags 1\nsample t2 2120 \"other\" flags 1\nchunk 2150\n"
		"sample t1 2180 \"main\" flags 1\nsample t1 2190 flags 1\n",
		{"stack: vptrace.python.calls pid 42 tid 100: 0 +100 main",
			"stack: vptrace.python.calls pid 42 tid 100: 100 +80 main;f",
			"stack: vptrace.python.calls pid 42 tid 100: 180 +10 main",
			"stack: vptrace.python.calls pid 42 tid 101: 120 +180 other",
			"stack_samples 4", "counter_samples 4"}},
	{"a stack counts from the capture's start",
		"kernel s7 2000-2300 \"k\"\nsample t1 1800 \"before\" flags 1\n"
		"sample t1 2290 \"last\" flags 1\nsample t2 1900 \"early\"\n"
		"sample t1 2300 flags 1\nstart 2000\nend 2300\n",
		{"stack: vptrace.python.calls pid 42 tid 100: 0 +290 before",
			"stack: vptrace.python.calls pid 42 tid 100: 290 +10 last",
			"stack_samples 2"}},
	{"calls nest inside ranges",
		"range t1 2000-2100 \"step 1\"\ncall t1 cudaMalloc 2010-2020 corr 1\n"
		"range t1 2000-2200 \"all\"\n",
		{"0 +200 depth 0 nvtx \"all\"", "0 +100 depth 1 nvtx \"step 1\"",
			"10 +10 depth 2 cuda_api \"cudaMalloc\"", "nest_clamps 0"}},
	{"what reaches beyond the range around it ends with that, counted",
		"range t1 2000-2100 \"a\"\nrange t1 2050-2160 \"b\" domain x\n",
		{"0 +100 depth 0 nvtx \"a\"", "50 +50 depth 1 nvtx \"b\" {'domain': 'x'}",
			"nest_clamps 1", "nvtx_ns 150"}},
	{"one ends where the next begins",
		"range t1 2000-2100 \"a\"\nrange t1 2100-2160 \"b\"\nrange t1 2160-2160 \"c\"\n",
		{"0 +100 depth 0 nvtx \"a\"", "100 +60 depth 0 nvtx \"b\"",
			"160 +0 depth 0 nvtx \"c\"", "nest_clamps 0"}},
	{"an open range reaches over chunks, and its calls come later than it",
		"chunk 2050\nrange t1 2000-2400 \"long\"\nrange t1 2200-2210 \"in\"\n"
		"call t1 cudaLaunchKernel 2300-2310 corr 1\nkernel s7 2350-2360 corr 1 \"k\"\n",
		{"0 +400 depth 0 nvtx \"long\"", "200 +10 depth 1 nvtx \"in\"", "nvtx_ranges 2",
			"late_slices 0"}},
	{"colour and category of a range whose begin has been written are emitted with its end",
		"kernel s7 2000-2010 \"k\"\nchunk 2050\n"
		"kernel s7 4000-4010 \"k\"\nchunk 5000\nkernel s7 6000-6010 \"k\"\nchunk 7000\n"
		"kernel s7 8000-8010 \"k\"\nchunk 9000\nkernel s7 9400-9410 \"k\"\n"
		"range t1 2000-9500 \"long\" category 7 colour 255\n",
		{"0 +7500 depth 0 nvtx \"long\" {'color': 255, 'nvtx_category': 7}",
			"nvtx_ranges 1", "late_slices 0"}},
	{"a range that never ended ends with the trace",
		"open t1 2000 \"stuck\"\ncall t1 cudaMalloc 2010-2020 corr 1\nend 3000\n",
		{"0 +1000 depth 0 nvtx \"stuck\"", "10 +10 depth 1 cuda_api \"cudaMalloc\"",
			"nvtx_ranges 1"}},
	{"nor did one of a whole process, which keeps its payload and its process",
		"thread t9 pid 43 tid 200\nrange t1 2000-2010 \"a\"\nopenstartend t9 2000 "
		"\"request\" int 5\nend 3000\n",
		{"NVTX ranges (async): 0 +1000 depth 0 nvtx \"request\" {'payload': 5}",
			"track: NVTX ranges (async) of process 43", "nvtx_ranges 2"}},
	{"an open range is cut by the one around it, of which the end came first",
		"chunk 2050\nrange t1 2000-2400 \"a\"\nrange t1 2020-2500 \"b\" domain x\n"
		"kernel s7 2900-2910 \"k\"\n",
		{"0 +400 depth 0 nvtx \"a\"", "20 +380 depth 1 nvtx \"b\"", "nest_clamps 1",
			"nvtx_ns 780"}},
	{"ranges of a whole process that overlap stand side by side",
		"startend t1 2000-2100 \"a\"\nstartend t2 2050-2150 \"b\"\nstartend t1 2100-2110 "
		"\"c\"\n",
		{"NVTX ranges (async): 0 +100 depth 0 nvtx \"a\"",
			"NVTX ranges (async): 50 +100 depth 0 nvtx \"b\"",
			"NVTX ranges (async): 100 +10 depth 0 nvtx \"c\"", "nvtx_ns 210"}},
	{"a mark inside a range, with payload",
		"range t1 2000-2100 \"a\" int -5\nmark t1 2050 \"m\" int 42\n",
		{"nvtx \"a\" {'payload': -5}", "instants 1", "nest_clamps 0"}},
	{"names with any bytes",
		"kernel s7 2000-2010 \"a\\xff\\x80b\"\nrange t1 2000-2010 "
		"\"\\xc3\\xa9\\xed\\xa0\\x80\"\n",
		{"kernel \"a\xef\xbf\xbd\xef\xbf\xbd"
		 "b\"",
			"nvtx \"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}},
	{"C++ names are short on the slice",
		"kernel s7 2000-2010 \"void ns::(anonymous namespace)::gemm<float, (int)4>(float "
		"const*)\"\n"
		"kernel s7 2020-2030 \"my kernel\"\n",
		{"kernel \"ns::gemm\"", "kernel \"my kernel\""}},
	{"a range that is a block, a step or a stage says so, by its annotation or else by its "
	 "name",
		"range t1 2000-2100 \"b\" domain vptrace json "
		"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":3}\"\n"
		"range t1 2010-2050 \"step 7\"\nrange t1 2050-2060 \"vae_decode\"\n"
		"range t1 2060-2070 \"transformer_block.5\"\n",
		{"nvtx \"b\" {'domain': 'vptrace', 'payload': '{\"kind\":\"block\",\"index\":3}', "
		 "'block': 3}",
			"nvtx \"step 7\" {'step': 7}",
			"nvtx \"vae_decode\" {'stage': 'vae_decode'}",
			"nvtx \"transformer_block.5\" {}"}},
	{"an op of no length is there, and counted apart",
		"kernel s7 2000-2000 \"a\"\nkernel s7 2010-2020 \"b\"\n",
		{"1 0 +0 kernel \"a\"", "zero_length 1", "kernels 1"}},
	{"invalid ops are not there",
		"kernel s7 0-2000 \"a\"\nkernel s7 2010-2005 \"b\"\nkernel s7 2010-2020 \"c\"\n",
		{"1 0 +10 kernel \"c\"", "kernels 1"}},
	{"how much of a GPU that tells its limits a kernel can take",
		"device 1 \"Sim GPU\" cc 9.0 sms 132 sm_threads 2048 sm_registers 65536 sm_shared "
		"228KiB\n"
		"stream s9 device 1 context 2 stream 9 pid 42\n"
		"kernel s9 2000-2010 \"a\" grid 33x2x3 block 128 regs 168\n",
		{"'occupancy_limit_blocks': 32, 'occupancy_limit_registers': 3, "
		 "'occupancy_limit_shared_mem': 228, 'occupancy_limit_warps': 16, "
		 "'sm__maximum_warps_per_active_cycle_pct': 18.75, 'grid_size': 198, "
		 "'thread_count': 25344, 'waves_per_multiprocessor': 0.5, 'process_id': 42"}},
	{"copies and memsets",
		"copy s7 HtoD pinned->device 2000-2010 bytes 4096\nmemset s7 2020-2021 bytes 16 "
		"value 3\n",
		{"memcpy \"Memcpy HtoD (pinned -> device)\"", "'bytes': 4096",
			"'copy_kind': 'HtoD'", "memset \"Memset (", "memcpys 1", "memsets 1"}},
	{"gaps with what they waited for, and the report's ids",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-2100 corr 1 \"a\"\n"
		"call t1 cudaStreamSynchronize 1600-15000 corr 9\n"
		"call t1 cudaLaunchKernel 16000-16010 corr 2\nkernel s7 20000-20100 corr 2 \"b\"\n"
		"kernel s7 20101-20110 \"c\"\nkernel s7 20111-20120 \"c\"\nkernel s7 20121-20130 "
		"\"c\"\n",
		{"Idle gaps: 600 +17900 depth 0 idle \"sync\" {'id': 'G",
			"'cause': 'sync', 'cause_ns': 13400, 'then': 'launch latency', "
			"'then_ns': 3990, 'call': 'cudaStreamSynchronize', "
			"'prev_kernel': 'a', "
			"'next_kernel': 'b'}",
			"gaps 4", "gap_ns 17903"}},
	{"a gap after a wait that had held the host says what it did then",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-200000 corr 1 \"a\"\n"
		"call t1 cudaStreamSynchronize 1600-200000 corr 9\n"
		"range t1 200000-350000 \"post_process\"\n"
		"call t1 cudaLaunchKernel 350000-350010 corr 2\nkernel s7 351000-351100 corr 2 "
		"\"b\"\n",
		{"idle \"sync\" {'id': 'G1', 'gpu': 0, 'cause': 'sync', 'cause_ns': 150000",
			"'call': 'cudaStreamSynchronize', 'host': 'host code', 'host_range': "
			"'post_process', 'prev_kernel': 'a'"}},
	{"a gap has the line that its exact stacks give it",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-2100 corr 1 \"a\"\n"
		"sample t1 1400 \"main (run.py:3);slow (m.py:40)\" flags 1\n"
		"sample t1 14100 \"main (run.py:3)\" flags 1\n"
		"call t1 cudaLaunchKernel 18100-18110 corr 2\nkernel s7 18500-18600 corr 2 \"b\"\n",
		{"idle \"launch rate\" {'id': 'G1', 'gpu': 0, 'cause': 'launch rate', 'cause_ns': "
		 "16000, 'then': 'launch latency', 'then_ns': 390, 'prev_kernel': 'a', "
		 "'next_kernel': 'b', 'line': 'm.py:40', 'line_share': 0.75}"}},
	{"a gap has the line of its own samples; one between samples that of nearly all of its "
	 "place",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-2100 corr 1 \"a\"\n"
		"sample t1 1500 \"main (run.py:3)\"\n"
		"sample t1 11500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 21500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 31500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 41500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 51500 \"main (run.py:3);slow (m.py:40)\"\n"
		"call t1 cudaLaunchKernel 100000-100010 corr 2\n"
		"kernel s7 100500-100600 corr 2 \"b\"\n"
		"call t1 cudaLaunchKernel 105000-105010 corr 3\n"
		"kernel s7 105500-105600 corr 3 \"c\"\n",
		{"'cause_ns': 97900, 'then': 'launch latency', 'then_ns': 490, 'prev_kernel': 'a', "
		 "'next_kernel': 'b', 'line': 'm.py:40', 'line_share': 1.0, 'line_samples': 5}",
			"{'gpu': 0, 'cause': 'launch rate', 'cause_ns': 4400, 'then': 'launch "
			"latency', "
			"'then_ns': 490, 'prev_kernel': 'b', 'next_kernel': 'c', 'line': "
			"'m.py:40', 'line_share': 1.0, 'line_samples': 5}"}},
	{"one between samples has no line if its place has several",
		"call t1 cudaLaunchKernel 1500-1510 corr 1\nkernel s7 2000-2100 corr 1 \"a\"\n"
		"sample t1 1500 \"main (run.py:3)\"\n"
		"sample t1 11500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 21500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 31500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 41500 \"main (run.py:3);slow (m.py:40)\"\n"
		"sample t1 51500 \"main (run.py:3)\"\n"
		"call t1 cudaLaunchKernel 100000-100010 corr 2\n"
		"kernel s7 100500-100600 corr 2 \"b\"\n"
		"call t1 cudaLaunchKernel 105000-105010 corr 3\n"
		"kernel s7 105500-105600 corr 3 \"c\"\n",
		{"'cause_ns': 97900, 'then': 'launch latency', 'then_ns': 490, 'prev_kernel': 'a', "
		 "'next_kernel': 'b', 'line': 'm.py:40', 'line_share': 0.8, 'line_samples': 5}",
			"{'gpu': 0, 'cause': 'launch rate', 'cause_ns': 4400, 'then': 'launch "
			"latency', "
			"'then_ns': 490, 'prev_kernel': 'b', 'next_kernel': 'c'}"}},
	{"blocks, steps and attention in GPU time",
		"range t1 2000-3000 \"block 3\"\nrange t1 2010-2900 \"step 1\"\n"
		"call t1 cudaLaunchKernel 2020-2030 corr 1\nkernel s7 2500-2600 corr 1 "
		"\"flash_fwd_kernel\"\n"
		"call t1 cudaLaunchKernel 2040-2050 corr 2\nkernel s7 2600-3500 corr 2 \"gemm\"\n",
		{"Video blocks: 500 +1000 depth 0 block \"block 3\"",
			"Denoising steps: 500 +1000 depth 0 step \"step 1\"",
			"Attention kernels: 500 +100 depth 0 attention \"flash_fwd_kernel\"",
			"'block': 3, 'step': 1}", "'attention_ns': 100", "attention_kernels 1"}},
	{"a layer with a block's name inside a step is none, as in the report",
		"range t1 2000-3000 \"chunk 3\"\nrange t1 2010-2900 \"step 1\"\n"
		"range t1 2015-2800 \"block 7\"\n"
		"call t1 cudaLaunchKernel 2020-2030 corr 1\nkernel s7 2500-2600 corr 1 "
		"\"flash_fwd_kernel\"\n",
		{"Video blocks: 500 +100 depth 0 block \"block 3\" {'ops': 1, 'gpu_busy_pct': "
		 "100.0, 'nvtx': 'chunk 3', 'block': 3, 'attention_ns': 100} -> []\n"
		 "thread 100: ",
			"'block': 3, 'step': 1}", "nvtx \"block 7\" {}"}},
	{"what is launched after a block is not in it, though a range that began in it is open "
	 "still",
		"range t1 2000-3000 \"block 3\"\nrange t1 2500-4000 \"step 1\"\n"
		"call t1 cudaLaunchKernel 2020-2030 corr 1\nkernel s7 2500-2600 corr 1 "
		"\"flash_fwd_kernel\"\n"
		"call t1 cudaLaunchKernel 3500-3510 corr 2\nkernel s7 4500-4700 corr 2 "
		"\"flash_fwd_kernel\"\n",
		{"Video blocks: 500 +100 depth 0 block \"block 3\"",
			"Denoising steps: 2500 +200 depth 0 step \"step 1\"",
			"Attention kernels: 2500 +200 depth 0 attention \"flash_fwd_kernel\" "
			"{'impl': 'flash-attn-2', 'step': 1}",
			"'attention_ns': 100"}},
	{"counters",
		"series power device 0 unit \"W\" \"GPU power\"\ncounter power 2000 250.5\n"
		"counter power 2100 251\nkernel s7 2000-2010 \"a\"\nend 2100\n",
		{"counter_samples 2"}},
	{"a value that has not changed is left out, but said once a second and at the trace's end",
		"series draw device 0 unit \"W\" \"Power draw\"\nkernel s7 2000-2010 \"a\"\n"
		"counter draw 2000 250\ncounter draw 500002000 250\ncounter draw 999999000 "
		"250\n"
		"counter draw 1000002000 250\ncounter draw 1500002000 250\ncounter draw "
		"1500003000 260\n"
		"counter draw 1500004000 260\nend 1500005000\n",
		{"sample: GPU 0 0 Power draw 250.0\nsample: GPU 0 1000000000 Power draw 250.0\n"
		 "sample: GPU 0 1500001000 Power draw 260.0\nsample: GPU 0 1500003000 Power draw "
		 "260.0\n",
			"counter_samples 4"}},
	{"all counters of a GPU at one time are one packet, and packets stand in order of time",
		"series draw device 0 unit \"W\" \"Power draw\"\n"
		"series heat device 0 unit \"C\" \"Temperature\"\n"
		"counter draw 2000 250.5\ncounter draw 3000 251\ncounter heat 2000 60\ncounter "
		"heat "
		"3000 61\n"
		"kernel s7 2000-2010 \"a\"\nend 3000\n",
		{"sample: GPU 0 0 Power draw 250.5\nsample: GPU 0 0 Temperature 60.0\n"
		 "sample: GPU 0 1000 Power draw 251.0\nsample: GPU 0 1000 Temperature 61.0\n",
			"counter_samples 4", "counter_packets 2"}},
	{"a stream that got a wait: for the op before the event, and only the next op did",
		"call t1 cudaLaunchKernel 2000-2001 corr 1\ncall t1 cudaLaunchKernel 2002-2003 "
		"corr 2\n"
		"kernel s7 2100-2110 corr 1 \"a\"\nkernel s7 2110-2120 corr 2 \"b\"\n"
		"event s7 0 event 4 sync_id 9 corr 3\n"
		"call t1 cudaLaunchKernel 2004-2005 corr 4\nkernel s7 2130-2140 corr 4 \"c\"\n"
		"sync s8 \"stream waits for event\" 2006-2007 corr 5 event 4 sync_id 9\n"
		"call t1 cudaLaunchKernel 2008-2009 corr 6\ncall t1 cudaLaunchKernel 2010-2011 "
		"corr 7\n"
		"kernel s8 2125-2145 corr 6 \"d\"\nkernel s8 2150-2155 corr 7 \"e\"\n",
		{"3 125 +20 kernel \"d\"", "waited for [2]", "waits 1"}},
	{"a call that waits for a stream names the op launched last before it, not one launched "
	 "later or of another stream",
		"call t1 cudaLaunchKernel 2000-2001 corr 1\ncall t1 cudaLaunchKernel 2002-2003 "
		"corr 2\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nkernel s8 2100-2300 corr 2 \"b\"\n"
		"call t1 cudaStreamSynchronize 2010-2205 corr 3\n"
		"sync s7 stream 2011-2204 corr 3 waits s7\n"
		"call t2 cudaLaunchKernel 2020-2021 corr 4\nkernel s7 2202-2210 corr 4 \"c\"\n",
		{"\"cudaStreamSynchronize\" {'correlation': 3} -> [] waited for [1]",
			"call_waits 1"}},
	{"one that waits for all names the last op of each stream, but for those that had ended",
		"stream s9 device 0 context 1 stream 9 pid 42\n"
		"call t1 cudaLaunchKernel 2000-2001 corr 1\ncall t1 cudaLaunchKernel 2002-2003 "
		"corr 2\n"
		"call t1 cudaLaunchKernel 2004-2005 corr 3\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nkernel s8 2100-2300 corr 2 \"b\"\n"
		"kernel s9 2100-2120 corr 3 \"c\"\n"
		"call t1 cudaDeviceSynchronize 2150-2305 corr 4\n"
		"sync - context 2151-2304 corr 4 context 1\n",
		{"\"cudaDeviceSynchronize\" {'correlation': 4} -> [] waited for [1, 2]",
			"call_waits 2"}},
	{"one that waits for an event names the op before it was recorded; ops and call come in "
	 "other chunks",
		"call t1 cudaLaunchKernel 2000-2001 corr 1\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nevent s7 0 event 4 sync_id 9 corr 2\n"
		"call t1 cudaLaunchKernel 2004-2005 corr 3\nkernel s7 2200-2900 corr 3 \"b\"\n"
		"sync - event 2006-2210 corr 4 event 4 sync_id 9\nchunk\n"
		"call t1 cudaEventSynchronize 2005-2212 corr 4\nkernel s7 3000-3010 \"c\"\n",
		{"\"cudaEventSynchronize\" {'correlation': 4} -> [] waited for [1]",
			"call_waits 1"}},
	{"calls of two processes with one id, each its own op",
		"thread t3 pid 43 tid 103\nstream s9 device 0 context 1 stream 7 pid 43\n"
		"call t1 cudaLaunchKernel 2000-2001 corr 1\ncall t3 cudaLaunchKernel 2000-2001 "
		"corr 1\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nkernel s9 2110-2200 corr 1 \"b\"\n"
		"call t1 cudaStreamSynchronize 2010-2205 corr 2\n"
		"call t3 cudaStreamSynchronize 2009-2206 corr 2\n"
		"sync s7 stream 2011-2203 corr 2 waits s7\nsync s9 stream 2011-2204 corr 2 waits "
		"s9\n",
		{"thread 100: 10 +195 depth 0 cuda_api \"cudaStreamSynchronize\" "
		 "{'correlation': 2} -> [] waited for [1]",
			"thread 103: 9 +197 depth 0 cuda_api \"cudaStreamSynchronize\" "
			"{'correlation': 2} -> [] waited for [2]",
			"call_waits 2"}},
	{"a row for a context, of no process that is known where there are two, is nobody's",
		"thread t3 pid 43 tid 103\nstream s9 device 0 context 1 stream 7 pid 43\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nkernel s9 2110-2200 corr 1 \"b\"\n"
		"call t1 cudaDeviceSynchronize 2010-2205 corr 2\n"
		"sync - context 2011-2203 corr 2 context 1\n",
		{"call_waits 0"}},
	{"one that stands under a stream is of its process, and of its streams alone",
		"thread t3 pid 43 tid 103\nstream s9 device 0 context 1 stream 7 pid 43\n"
		"kernel s7 2100-2200 corr 1 \"a\"\nkernel s9 2110-2200 corr 1 \"b\"\n"
		"call t1 cudaDeviceSynchronize 2010-2205 corr 2\n"
		"call t3 cudaDeviceSynchronize 2010-2205 corr 2\n"
		"sync s9 context 2011-2203 corr 2 context 1\n",
		{"thread 103: 0 +195 depth 0 cuda_api \"cudaDeviceSynchronize\" "
		 "{'correlation': 2} -> [] waited for [2]",
			"call_waits 1"}},
	{"one that comes when its time has been written",
		"kernel s7 2100-2200 corr 1 \"a\"\nsync s7 stream 2006-2203 corr 2 waits s7\n"
		"kernel s7 3000-3010 \"k\"\nchunk\nkernel s7 9000-9010 \"k\"\nchunk\n"
		"call t1 cudaDeviceSynchronize 8500-8600\nkernel s7 9020-9030 \"k\"\nchunk\n"
		"kernel s7 9040-9050 \"k\"\nchunk\n"
		"call t1 cudaStreamSynchronize 2005-2205 corr 2\nkernel s7 9100-9110 \"k\"\n",
		{"\"cudaStreamSynchronize\" {'correlation': 2} -> [] waited for [1]",
			"late_slices 1", "call_waits 1"}},
	{"a kind of wait that is none, and would be one in a byte",
		"kernel s7 2100-2200 corr 1 \"a\"\nevent s7 0 event 4 sync_id 9 corr 2\n"
		"call t1 cudaEventSynchronize 2005-2212 corr 4\n"
		"sync - 257 2006-2210 corr 4 event 4 sync_id 9\n",
		{"call_waits 0"}},
	{"what PyTorch's allocator holds stands under a track of its own",
		"series held device 0 pid 42 unit \"B\" \"PyTorch allocated\"\n"
		"series kept device 0 pid 42 unit \"B\" \"PyTorch reserved\"\n"
		"counter held 2000 1024\ncounter kept 2000 4096\nkernel s7 2000-2010 \"a\"\nend "
		"2000\n",
		{"counter: GPU 0 - PyTorch memory / Allocated {'unit_number': 3, 'share_key': "
		 "'torchmem'}",
			"counter: GPU 0 - PyTorch memory / Reserved {'unit_number': 3, "
			"'share_key': "
			"'torchmem'}",
			"track: GPU 0 - PyTorch memory of process 42", "counter_samples 4"}},
	{"of two GPUs, two packets",
		"device 1 \"Sim GPU\" cc 9.0\nstream s9 device 1 context 2 stream 9 pid 42\n"
		"series draw0 device 0 unit \"W\" \"Power draw\"\n"
		"series draw1 device 1 unit \"W\" \"Power draw\"\n"
		"series heat0 device 0 unit \"C\" \"Temperature\"\n"
		"series heat1 device 1 unit \"C\" \"Temperature\"\n"
		"counter draw0 2000 250\ncounter draw1 2000 251\ncounter heat0 2000 60\ncounter "
		"heat1 2000 61\n"
		"kernel s7 2000-2010 \"a\"\nkernel s9 2000-2010 \"a\"\nend 2000\n",
		{"counter_samples 8", "counter_packets 4"}},
	{"samples of what Perfetto knows of a GPU",
		"series draw device 0 unit \"W\" \"Power draw\"\n"
		"series clock device 0 unit \"MHz\" \"SM clock\"\n"
		"series used device 0 unit \"B\" \"memory used\"\n"
		"series other device 0 unit \"kW\" \"Power draw\"\n"
		"counter draw 2000 250.5\ncounter clock 2000 1980\ncounter used 2001 4096\n"
		"counter other 2002 1\nkernel s7 2000-2002 \"a\"\nend 2002\n",
		{"sample: GPU 0 0 Power draw 250.5", "sample: GPU 0 0 frequency 1980000",
			"sample: GPU 0 1 memory 4096", "counter_samples 7"}},
	{"a stream with a name",
		"stream s9 device 0 context 1 stream 9 pid 42 priority -1 \"decode\"\n"
		"kernel s9 2000-2010 \"a\"\n",
		{"GPU 0 pid 42 Stream 9 decode: 1 0 +10",
			"queue: Stream 9 decode: device 0, context 1, priority -1\n"}},
	{"one that does not wait for the default stream; of others that is not known",
		"stream s9 device 0 context 1 stream 9 pid 42 flags 1\n"
		"kernel s9 2000-2010 \"a\"\nkernel s7 2000-2010 \"a\"\n",
		{"queue: Stream 9: device 0, context 1, non-blocking\n",
			"queue: Stream 7: device 0, context 1\n"}},
	{"what comes when its time has been written stands beside it",
		"range t1 3000-3100 \"a\"\nkernel s7 3000-3010 \"k\"\nchunk\n"
		"kernel s7 9000-9010 \"k\"\nchunk\nkernel s7 9020-9030 \"k\"\nchunk\n"
		"call t1 cudaDeviceSynchronize 2500-2600\nkernel s7 9100-9110 \"k\"\n",
		{"thread 100: 500 +100 depth 0 nvtx \"a\"",
			"recorded late: 0 +100 depth 0 cuda_api \"cudaDeviceSynchronize\"",
			"late_slices 1", "api_ns 100"}},
	{"processes stand in the order of their ops and calls",
		"stream s9 device 0 context 2 stream 9 pid 41\nkernel s9 2000-2010 \"a\"\n"
		"kernel s7 2020-2030 \"a\"\n",
		{"process: 41 None rank 0", "process: 42 None rank 1"}},
	{"a rank's process stands where its rank does",
		"meta rank \"3\"\nkernel s7 2000-2010 \"a\"\n", {"process: 42 None rank 3"}},
	{"the time of day", "start 1000 unix 5000\nkernel s7 2000-2010 \"a\"\n", {"realtime 5000"}},
	{"the time of day, of a trace with such times",
		"start 1700000000000000000 unix 1700000000000000000\n"
		"kernel s7 1700000000000000100-1700000000000000110 \"a\"\n",
		{"realtime 1700000000000000000"}},
	{"no time of day", "kernel s7 2000-2010 \"a\"\n", {"realtime 0"}},
	{"nothing at all", "", {"kernels 0", "api_calls 0"}},
};

#endif
