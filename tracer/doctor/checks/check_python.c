/* check_python.c - what a Python program under `vptrace run` would have. */
#include "tracer/doctor/checks/checks.h"

#include <string.h>

static void find_module(const struct vtr_patient *p, struct vtr_answer *a)
{
	const struct vtr_probe *r = &p->python_ran;
	const char *module = vtr_probe_value(r, "module", 0);
	const char *error = vtr_probe_value(r, "module_error", 0);
	const char *marks = vtr_probe_value(r, "marks", 0);
	const char *marks_error = vtr_probe_value(r, "marks_error", 0);

	if (module && vtr_probe_number(r, "available"))
		vtr_find(a, VTR_STATUS_OK, NULL, "the module vptrace is %s", module);
	else if (module)
		vtr_find(a, VTR_STATUS_WARN, "See the line library.",
			"the module vptrace is %s, but it finds no libvptrace.so", module);
	else if (error)
		vtr_find(a, VTR_STATUS_WARN,
			"pip install ./tracer/python, or put share/vptrace/python on PYTHONPATH.",
			"no module vptrace: %s", error);
	if (marks)
		vtr_find(a, VTR_STATUS_OK, NULL, "marks are in %s; vptrace run uses %s", marks,
			*p->site ? p->site : "no folder site");
	else if (marks_error)
		vtr_find(a, VTR_STATUS_WARN,
			"Install vptrace with its Python part: pipelines get no stages and steps "
			"without it.",
			"no marks: %s", marks_error);
	if (!*p->site)
		vtr_find(a, VTR_STATUS_WARN,
			"Install vptrace with its Python part (share/vptrace/python/site).",
			"the folder site with sitecustomize.py is not beside vptrace: vptrace run "
			"marks no pipelines");
}

static void find_torch(const struct vtr_patient *p, struct vtr_answer *a)
{
	const struct vtr_probe *r = &p->python_ran;
	const char *torch = vtr_probe_value(r, "torch", 0);
	const char *cuda = vtr_probe_value(r, "torch_cuda", 0);
	const char *error = vtr_probe_value(r, "torch_error", 0);
	const char *nvtx = vtr_probe_value(r, "nvtx_error", 0);
	const char *heard = vtr_probe_value(r, "heard", 0);

	if (error)
		vtr_find(a, VTR_STATUS_WARN,
			"Fix the installation of torch: programs that import it fail as well.",
			"torch cannot be imported: %s", error);
	if (vtr_probe_value(r, "no_torch", 0))
		vtr_find(a, VTR_STATUS_OK, NULL, "no torch");
	if (torch)
		vtr_find(a, strcmp(cuda ? cuda : "none", "none") ? VTR_STATUS_OK : VTR_STATUS_WARN,
			strcmp(cuda ? cuda : "none", "none")
				? NULL
				: "Install a torch with CUDA: this one launches nothing on a GPU.",
			"torch %s, CUDA %s", torch, cuda ? cuda : "none");
	if (heard)
		vtr_find(a, vtr_probe_number(r, "heard") ? VTR_STATUS_OK : VTR_STATUS_FAIL,
			vtr_probe_number(r, "heard") ? NULL
						     : "import vptrace before torch's first range: "
						       "it then wraps torch.cuda.nvtx.",
			vtr_probe_number(r, "heard")
				? "ranges of torch.cuda.nvtx are recorded"
				: "ranges of torch.cuda.nvtx are not recorded");
	if (nvtx)
		vtr_find(a, VTR_STATUS_WARN,
			"Use the ranges of the module vptrace instead of torch.cuda.nvtx.",
			"torch.cuda.nvtx does not work: %s", nvtx);
}

/* What its command hides from it. */
static void find_flags(const struct vtr_patient *p, struct vtr_answer *a)
{
	if (strpbrk(p->python_flags, "IE"))
		vtr_find(a, VTR_STATUS_WARN, "Start it without.",
			"%s: with %s it ignores PYTHONPATH, by which it finds the marks",
			p->command, p->python_flags);
	else if (strchr(p->python_flags, 'S'))
		vtr_find(a, VTR_STATUS_WARN, "Start it without.",
			"%s: with %s it ignores sitecustomize.py, which loads the marks",
			p->command, p->python_flags);
}

static void find_command(const struct vtr_patient *p, struct vtr_answer *a)
{
	if (p->command && p->command_problem)
		vtr_find(a, VTR_STATUS_FAIL, "vptrace run refuses it for the same reason.", "%s",
			p->command_problem);
	else if (p->command && strcmp(p->command_path, p->python ? p->python : "") != 0)
		vtr_find(a, VTR_STATUS_OK, NULL, "%s can be recorded", p->command_path);
	find_flags(p, a);
}

void vtr_check_python(const struct vtr_patient *p, struct vtr_answer *a)
{
	const struct vtr_probe *r = &p->python_ran;
	const char *python = vtr_probe_value(r, "python", 0);
	const char *none = vtr_probe_value(r, "none", 0);
	const char *error = vtr_probe_value(r, "exec_error", 0);
	char failure[512];

	find_command(p, a);
	if (python && vtr_probe_value(r, "old", 0))
		vtr_find(a, VTR_STATUS_WARN, "Use Python 3.8 or later.",
			"%s, which the module vptrace and the marks do not support", python);
	else if (python)
		vtr_find(a, VTR_STATUS_OK, NULL, "%s", python);
	if (none && !p->python)
		vtr_find(a, VTR_STATUS_OK, NULL, "PATH has no python3; --python names another one");
	else if (none || error)
		vtr_find(a, VTR_STATUS_FAIL, "Name the program's Python with --python.", "%s",
			none ? none : error);
	find_module(p, a);
	find_torch(p, a);
	if (vtr_probe_failed(r, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_WARN,
			"Try the same by hand; --timeout allows more time, --python names another "
			"Python.",
			"Python was not examined to its end: %s", failure);
}
