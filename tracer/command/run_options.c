/* run_options.c - the options of `vptrace run`, for the command, its help, its page and completions. */
#include "tracer/command/run.h"

static const struct vpt_option options[VTR_RUN_OPTIONS] = {
	[VTR_RUN_OUTPUT] = {"output", 'o', VPT_OUTPUT, "FILE", NULL,
		"where to record; %p becomes the process id, %h the host, %r the rank, %q{VAR} a "
		"variable; a folder with / at its end gets the default name"},
	[VTR_RUN_OVERWRITE] = {"overwrite", '\0', VPT_FLAG, NULL, NULL,
		"replace an existing file instead of adding a number to the name"},
	[VTR_RUN_PROFILE] = {"profile", '\0', VPT_CHOICE, "default|lite|full|coarse|none",
		"default",
		"what to record: lite omits synchronization and overhead, full adds memory "
		"operations, coarse has one record per CUDA graph, none has only ranges"},
	[VTR_RUN_CAPTURE] = {"capture", '\0', VPT_TEXT, "WHEN", "now",
		"now, api, cudaProfilerApi, nvtx:RANGE, request:A-B, block:A-B, step:A-B, "
		"delay:SECONDS, or a schedule such as request:wait=1,active=3; see above"},
	[VTR_RUN_DURATION] = {"duration", '\0', VPT_TEXT, "SECONDS", NULL,
		"end each capture after this much recorded time, such as 10 or 0.25; the command "
		"continues"},
	[VTR_RUN_MAX_BYTES] = {"max-bytes", '\0', VPT_TEXT, "SIZE", NULL,
		"end each capture before its file exceeds this, such as 500M; the command "
		"continues"},
	[VTR_RUN_MEMORY] = {"memory", '\0', VPT_TEXT, "SIZE", NULL,
		"memory limit of the tracer in each process, such as 512M (256M)"},
	[VTR_RUN_STACKS] = {"stacks", '\0', VPT_TEXT, "HZ", NULL,
		"the most samples per second of the Python stacks of threads that call CUDA, 1 to "
		"1000; 0 or off: none (200)"},
	[VTR_RUN_MARK] = {"mark", '\0', VPT_TEXTS, "PRESET|FILE|RULE", "auto",
		"marks for Python pipelines: presets by name, mark files, single rules, auto for "
		"all presets, or none; may be given several times"},
	[VTR_RUN_TAG] = {"tag", '\0', VPT_TEXTS, "KEY=VALUE", NULL,
		"what reports call the run, such as model=wan; may be given several times"},
	[VTR_RUN_PRELOAD] = {"preload", '\0', VPT_FLAG, NULL, NULL,
		"also load the tracer by LD_PRELOAD, for programs into which CUDA and NVTX do not "
		"load it"},
	[VTR_RUN_REPORT] = {"report", '\0', VPT_MODE, "text|html", NULL,
		"afterwards print the report's first screen, of all ranks of a job together, or "
		"write it as a page: beside the largest file, of ranks ranks.html beside the "
		"first"},
	[VTR_RUN_LIVE] = {"live", '\0', VPT_MAYBE, "SECONDS|prometheus:FILE", NULL,
		"while the command runs, print a line every 2 or so many seconds on standard "
		"error; or write metrics to FILE instead; see watch --help"},
	[VTR_RUN_TARGET] = {"target", '\0', VPT_TEXT, "FPS", NULL,
		"required frames per second, such as 16 or 23.976, for the live line and the "
		"report; a report of several ranks has none"},
	[VTR_RUN_SIMULATE] = {"simulate", '\0', VPT_FLAG, NULL, NULL,
		"record a Python program without a GPU: its marks with the host's times, no device "
		"times; to set up marks before there is a GPU"},
	[VTR_RUN_RING] = {"ring", '\0', VPT_TEXT, "SECONDS|BYTES", NULL,
		"a flight recorder: keep only the last part of the capture, such as 30s, 2m, 64M "
		"or 1G, in memory, and write it when the process ends, however it dies"},
	[VTR_RUN_SNAPSHOT_ON] = {"snapshot-on", '\0', VPT_TEXT, "EVENTS", NULL,
		"write the ring on these events, and if the process dies, but not at a normal end; "
		"see above; separate several with commas"},
	[VTR_RUN_COUNTERS] = {"counters", '\0', VPT_TEXT, "TIME|LIST", NULL,
		"time between samples of GPU, process and machine, such as 100ms, or off; or a "
		"list such as gpu:100ms,cpu:1s,temperature:off (500ms if a GPU is recorded)"},
	[VTR_RUN_MEMORY_PEAKS] = {"memory-peaks", '\0', VPT_FLAG, NULL, NULL,
		"of Python programs: reset the peak of PyTorch's allocator at each stage, so that "
		"theirs are exact; changes what the program itself reads of it"},
	[VTR_RUN_MEMORY_HISTORY] = {"memory-history", '\0', VPT_FLAG, NULL, NULL,
		"of Python programs: write the history of PyTorch's memory beside the capture"},
	[VTR_RUN_COMPILATIONS] = {"compilations", '\0', VPT_FLAG, NULL, NULL,
		"of Python programs: record when torch.compile compiles, and why again"},
	[VTR_RUN_SHAPES] = {"shapes", '\0', VPT_FLAG, NULL, NULL,
		"of Python programs: record the shapes of the inputs of marked functions and "
		"modules"},
	[VTR_RUN_CONFIG] = {"config", '\0', VPT_INPUT, "FILE", NULL,
		"options in a file: TOML, each as NAME = VALUE, or YAML if its name ends in .yaml "
		"or .yml; the environment and the command line win over it"},
	[VTR_RUN_DRY_RUN] = {"dry-run", '\0', VPT_FLAG, NULL, NULL,
		"check everything, print each option with its value and where that is from, and "
		"run nothing"},
};

static const char *const variables[VTR_RUN_OPTIONS] = {
	[VTR_RUN_OUTPUT] = "VPTRACE_OUTPUT",
	[VTR_RUN_OVERWRITE] = "VPTRACE_OVERWRITE",
	[VTR_RUN_PROFILE] = "VPTRACE_PROFILE",
	[VTR_RUN_CAPTURE] = "VPTRACE_CAPTURE",
	[VTR_RUN_DURATION] = "VPTRACE_DURATION",
	[VTR_RUN_MAX_BYTES] = "VPTRACE_MAX_BYTES",
	[VTR_RUN_MEMORY] = "VPTRACE_MEMORY",
	[VTR_RUN_STACKS] = "VPTRACE_STACKS",
	[VTR_RUN_MARK] = "VPTRACE_MARK",
	[VTR_RUN_TAG] = "VPTRACE_TAGS",
	[VTR_RUN_RING] = "VPTRACE_RING",
	[VTR_RUN_SNAPSHOT_ON] = "VPTRACE_SNAPSHOT_ON",
	[VTR_RUN_COUNTERS] = "VPTRACE_COUNTERS",
	[VTR_RUN_MEMORY_PEAKS] = "VPTRACE_MEMORY_PEAKS",
	[VTR_RUN_MEMORY_HISTORY] = "VPTRACE_MEMORY_HISTORY",
	[VTR_RUN_COMPILATIONS] = "VPTRACE_COMPILATIONS",
	[VTR_RUN_SHAPES] = "VPTRACE_SHAPES",
};

const char *vtr_run_variable(unsigned option)
{
	return variables[option];
}

const struct vpt_command vtr_command_run = {
	.program = "vptrace",
	.name = "run",
	.usage = "[options] [--] COMMAND [ARGUMENT...]",
	.help = "run a command and record its GPU work, without changing it",
	.about = "Records the command and every process that it starts, one file each. A\n"
		 "process that uses neither the GPU nor NVTX leaves no file. Without -o the\n"
		 "files are named vptrace-<command>-<pid>.zst, in the current folder.\n"
		 "\n"
		 "At the end, a line for each file is printed on standard error. vptrace writes\n"
		 "to standard output only with --report. Of a job of several ranks, as torchrun,\n"
		 "mpirun and srun start it, each line begins with the rank, and the command for\n"
		 "the report of all ranks follows.\n"
		 "\n"
		 "The exit status is the command's. It is 128 plus the signal's number if a\n"
		 "signal killed the command, 127 if it was not found, 126 if it cannot be\n"
		 "executed, and 2 if it was not started because it cannot be traced as\n"
		 "requested. If the command ended with 0, but the tracer failed and nothing\n"
		 "was recorded, it is 1. Signals are passed on to the command.\n"
		 "\n"
		 "WHEN selects when to record. Everything else is discarded and counts as a\n"
		 "pause.\n"
		 "\n"
		 "now                 from the start on\n"
		 "api                 from the command's own vptrace_start() or\n"
		 "                    vptrace_resume() on\n"
		 "cudaProfilerApi     between cudaProfilerStart() and cudaProfilerStop()\n"
		 "nvtx:RANGE          while a range of this name is open, each time\n"
		 "nvtx:RANGE:COUNT    the same, the first COUNT times\n"
		 "request:A-B         from request A to the end of request B, counted from 0;\n"
		 "                    request:A is one of them. Requests are made by marks, and\n"
		 "                    by notes of vptrace_nvtx.h\n"
		 "block:A-B, step:A-B the same of blocks, and of denoising steps, which calls of\n"
		 "                    vptrace_step() are too\n"
		 "request:wait=W,warmup=U,active=N,repeat=R,skip_first=S\n"
		 "                    of requests, or blocks, or steps: after the first S, leave\n"
		 "                    out W and U, and record N, R times. Without repeat: until\n"
		 "                    the end. The tracer is on in all of it, so W and U are one\n"
		 "delay:SECONDS       from this many seconds after the start on\n"
		 "\n"
		 "EVENTS on which the ring is written:\n"
		 "\n"
		 "mark:NAME           a mark of this name\n"
		 "slow:K              a step slower than K times the median of the last 32\n"
		 "signal:NAME         a signal, such as USR2, for which a handler is installed",
	.options = options,
	.option_count = VTR_RUN_OPTIONS,
	.operand = "command",
	.operand_count = 1,
	.more_operands = 1,
	.ends_at_operand = 1,
};
