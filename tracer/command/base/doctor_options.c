/* doctor_options.c - the options of `vptrace doctor`, for the command, its help, its page and completions.
 */
#include "tracer/command/base/doctor.h"

static const struct vpt_option options[VTR_DOCTOR_OPTIONS] = {
	[VTR_DOCTOR_JSON] = {"json", '\0', VPT_FLAG, NULL, NULL,
		"print a JSON array of objects with check, status, fact and remedy"},
	[VTR_DOCTOR_PYTHON] = {"python", '\0', VPT_TEXT, "PYTHON", NULL,
		"the Python to examine (that of COMMAND, else python3, if PATH has one)"},
	[VTR_DOCTOR_TIMEOUT] = {"timeout", '\0', VPT_NUMBER, "1..3600", "60",
		"seconds after which a probe that does not answer is killed"},
};

const struct vpt_command vtr_command_doctor = {
	.program = "vptrace",
	.name = "doctor",
	.usage = "[options] [-- COMMAND [WORD...]]",
	.help = "check what can be recorded here, and how to fix what cannot",
	.about = "Checks the library, the driver, CUPTI, other profilers, NVML, NVTX,\n"
		 "Python, permissions, clocks, limits of the container, the output's folder\n"
		 "and the variables. Then it records a few operations of the GPU and counts their\n"
		 "records. Run it where the program will run: in the same container, as the\n"
		 "same user, with the same environment.\n"
		 "\n"
		 "COMMAND is the program to be recorded, as for vptrace run: it is not run, but\n"
		 "whether it can be recorded, and which Python runs it, are lines too.\n"
		 "\n"
		 "Each line begins with one of these words. If something can be done, the next\n"
		 "line gives the remedy.\n"
		 "\n"
		 "ok      it works, or does not matter\n"
		 "warn    it works, but something will be missing or slower, or it could not be\n"
		 "        checked\n"
		 "FAIL    nothing, or only ranges, can be recorded until it is fixed\n"
		 "\n"
		 "On a machine without a GPU, the lines driver, gpu and cupti fail, although\n"
		 "ranges can be recorded there.\n"
		 "\n"
		 "The driver, libcupti and Python run in separate processes, so that a crash or\n"
		 "a hang is reported in a line too. Nothing is left on disk. The self-test can\n"
		 "share a busy GPU with other programs: it launches a few kernels, and needs\n"
		 "less than 1 MiB of device memory in addition to its context.\n"
		 "\n"
		 "The exit status is 0 if no line failed, whatever the warnings, 1 if one did,\n"
		 "and 2 if the command was misused. In JSON, status is ok, warn or fail.",
	.options = options,
	.option_count = VTR_DOCTOR_OPTIONS,
	.operand = "COMMAND",
	.more_operands = 1,
	.ends_at_operand = 1,
};
