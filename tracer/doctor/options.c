/* options.c - the options of `vptrace doctor`, for the command, its help, its page and completions.
 */
#include "tracer/doctor/doctor.h"

static const struct vpa_option options[VTR_DOCTOR_OPTIONS] = {
	[VTR_DOCTOR_JSON] = {"json", '\0', VPA_FLAG, NULL, NULL,
		"print a JSON array of objects with check, status, fact and remedy"},
	[VTR_DOCTOR_PYTHON] = {"python", '\0', VPA_TEXT, "PYTHON", NULL,
		"the Python to look at; without it python3, if PATH has one"},
	[VTR_DOCTOR_TIMEOUT] = {"timeout", '\0', VPA_NUMBER, "1..3600", "60",
		"seconds after which a part that does not answer is ended"},
};

const struct vpa_command vtr_command_doctor = {
	.program = "vptrace",
	.name = "doctor",
	.usage = "[options]",
	.help = "check what can be recorded here, and say how to mend what cannot",
	.about = "Checks the library, the driver, CUPTI, other profilers, NVTX, Python, "
		 "permissions, "
		 "clocks,\n"
		 "limits of the container, the output's folder and the variables. Then it records "
		 "a few\n"
		 "operations of the GPU and counts what arrived. Run it where the program will "
		 "run: in the\n"
		 "same container, as the same user, with the same environment.\n"
		 "\n"
		 "Each line begins with a word:\n"
		 "\n"
		 "ok      it works, or does not matter\n"
		 "warn    it works, but something will be missing or slower\n"
		 "FAIL    nothing, or only ranges, can be recorded\n"
		 "        until it is mended\n"
		 "\n"
		 "The remedy is below a line. Where no GPU is meant to be, the lines driver, "
		 "gpu and\n"
		 "cupti fail all the same: ranges are recorded there, but no GPU work.\n"
		 "\n"
		 "The driver, libcupti and Python run in processes of their own, so that a crash "
		 "or a hang\n"
		 "is a line too. Nothing is left on disk. On a busy GPU the self-test takes its "
		 "turn like\n"
		 "any other program: a few kernels, and less than 1 MiB of device memory besides "
		 "the\n"
		 "context.\n"
		 "\n"
		 "The exit status is 0 if no line failed, 1 if one did, and 2 if the command was\n"
		 "misused.",
	.options = options,
	.option_count = VTR_DOCTOR_OPTIONS,
};
