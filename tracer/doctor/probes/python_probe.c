/* python_probe.c - asks a Python, started as `vptrace run` starts programs, what it has: the
 * module, the marks, torch, and whether torch's ranges arrive. */
#include "tracer/doctor/probes/patient.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] =
	"import os, sys\n"
	"def say(key, value):\n"
	"    text = '%s %s\\n' % (key, str(value).replace('\\n', ' '))\n"
	"    os.write(int(os.environ['VPT_DOCTOR_PIPE']), text.encode('utf-8', 'replace'))\n"
	"say('python', '%s, Python %d.%d.%d' % ((sys.executable,) + sys.version_info[:3]))\n"
	"if sys.version_info < (3, 8):\n"
	"    say('old', 1)\n"
	"site = getattr(sys.modules.get('sitecustomize'), '__file__', None)\n"
	"if site:\n"
	"    say('site', site)\n"
	"say('step', 'import vptrace')\n"
	"try:\n"
	"    import vptrace\n"
	"    say('module', vptrace.__file__)\n"
	"    say('available', int(bool(vptrace.available())))\n"
	"except Exception as error:\n"
	"    vptrace = None\n"
	"    say('module_error', '%s: %s' % (type(error).__name__, error))\n"
	"say('step', 'import vptrace_marks')\n"
	"try:\n"
	"    import vptrace_marks\n"
	"    say('marks', vptrace_marks.__file__)\n"
	"except Exception as error:\n"
	"    say('marks_error', '%s: %s' % (type(error).__name__, error))\n"
	"say('step', 'import torch')\n"
	"try:\n"
	"    import torch\n"
	"    cuda = getattr(getattr(torch, 'version', None), 'cuda', None)\n"
	"    say('torch', torch.__version__)\n"
	"    say('torch_cuda', cuda or 'none')\n"
	"except ImportError as error:\n"
	"    torch = None\n"
	"    missing = getattr(error, 'name', None) == 'torch'\n"
	"    say('no_torch' if missing else 'torch_error', error)\n"
	"except Exception as error:\n"
	"    torch = None\n"
	"    say('torch_error', '%s: %s' % (type(error).__name__, error))\n"
	"try:\n"
	"    seen = set()\n"
	"    for line in open('/proc/self/maps'):\n"
	"        path = line.split(None, 5)[5].strip() if len(line.split(None, 5)) > 5 else ''\n"
	"        if '/libcupti.so' in path and path not in seen:\n"
	"            seen.add(path)\n"
	"            say('mapped', path)\n"
	"except OSError:\n"
	"    pass\n"
	"nvtx = getattr(getattr(torch, 'cuda', None), 'nvtx', None)\n"
	"if vptrace and nvtx and vptrace.available():\n"
	"    say('step', 'torch.cuda.nvtx')\n"
	"    os.environ['VPTRACE_OUTPUT'] = os.environ['VPT_DOCTOR_CAPTURE']\n"
	"    try:\n"
	"        vptrace.start(profile='none', overwrite=True)\n"
	"        before = vptrace.statistics().received\n"
	"        nvtx.range_push('vptrace doctor')\n"
	"        nvtx.range_pop()\n"
	"        say('heard', vptrace.stop().received - before)\n"
	"    except Exception as error:\n"
	"        say('nvtx_error', '%s: %s' % (type(error).__name__, error))\n";

static void set_environment(const struct vtr_patient *p, int to)
{
	const char *path = getenv("PYTHONPATH");
	char text[3 * PATH_MAX], number[16];

	vtr_probe_unset();
	if (*p->site) {
		snprintf(text, sizeof(text), "%s%s%s", p->site, path && *path ? ":" : "",
			path ? path : "");
		setenv("PYTHONPATH", text, 1);
	}
	if (*p->library) {
		setenv("VPTRACE_LIBRARY", p->library, 1);
		setenv("NVTX_INJECTION64_PATH", p->library, 1);
	}
	snprintf(text, sizeof(text), "%s.python", p->capture);
	setenv("VPT_DOCTOR_CAPTURE", text, 1);
	snprintf(number, sizeof(number), "%d", to);
	setenv("VPT_DOCTOR_PIPE", number, 1);
	setenv("VPTRACE_MARK", "auto", 1);
}

void vtr_probe_python(int to, void *patient)
{
	const struct vtr_patient *p = patient;
	const char *python = p->python ? p->python : "python3";
	int copy;

	vtr_probe_step(to, "the start of Python");
	copy = dup(to); /* without FD_CLOEXEC */
	set_environment(p, copy);
	if (*p->python_flags)
		execlp(python, python, p->python_flags, "-c", program, (char *)NULL);
	else
		execlp(python, python, "-c", program, (char *)NULL);
	vtr_probe_say(
		to, errno == ENOENT ? "none" : "exec_error", "%s: %s", python, strerror(errno));
}
