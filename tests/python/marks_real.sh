#!/bin/sh
# Marks on the real torch and diffusers, on the CPU, in a virtual environment of its own: tiny pipelines with random weights, and
# loops by hand, each with the steps, blocks and context passes that it is to have. Every mark is found, ranges nest as they should, and
# compiled models break into no more graphs than without marks. What a program says of itself is what torch says.
# Not one of the ordinary tests: it installs some gigabytes once.
#
#	sh tests/python/marks_real.sh BUILD [FOLDER]      BUILD has libvptrace.so; FOLDER keeps the environment, default /tmp/vptrace-marks
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?expected the build folder}" && pwd)
VPTRACE_LIBRARY=$build/libvptrace.so
folder=${2:-/tmp/vptrace-marks}
export VPTRACE_LIBRARY
[ -e "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
python=$folder/venv/bin/python
"$python" -c 'import torch, torchvision, diffusers' 2>/dev/null ||
	"$python" -m pip install --quiet torch torchvision diffusers transformers accelerate ftfy ||
	{ echo "SKIPPED: torch and diffusers are not here, and cannot be installed"; exit 77; }
"$python" -c 'import sys, torch, diffusers; print("Python %d.%d, torch %s, diffusers %s" % (*sys.version_info[:2], torch.__version__, diffusers.__version__))'
cd "$folder"
try=$source/tests/support/marks/marks_real.py
PYTHONPATH=$source/tracer/python/site:$source/tests/support/marks
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
VPTRACE_MARK=auto "$python" "$try" pipelines
VPTRACE_TABLES=$build/libvptrace_tables.so PYTHONPATH=$source/tracer/python "$python" "$source/tests/support/marks/said_real.py"
# Whatever a package needs and is not there, its script says as SKIPPED.
export HF_HUB_OFFLINE=1 DIFFUSERS_VERBOSITY=error TRANSFORMERS_VERBOSITY=error PYTHONWARNINGS=ignore
PYTHONPATH=$source/tests/support/marks:$source/tracer/python "$python" "$source/tests/support/marks/marks_pipelines.py" own
if [ -e "$source/../shared/pipelines" ]; then
	PYTHONPATH=$source/tests/support/marks:$source/tracer/python "$python" "$source/tests/support/marks/marks_pipelines.py" shared "$source/../shared/pipelines"
else
	echo "SKIPPED: the scripts of ../shared/pipelines are not there"
fi
VPTRACE_MARK=auto "$python" "$source/tests/support/marks/frames_real.py"
VPTRACE_MARK=none PYTHONPATH=$PYTHONPATH:$source/tracer/python "$python" "$try" compile >without.json
echo '__main__:scaled = stage scaled' >script.marks
for mark in auto auto,modules:2 auto,./script.marks; do
	VPTRACE_MARK=$mark "$python" "$try" compile >with.json
	if ! diff without.json with.json; then
		echo "FAIL: VPTRACE_MARK=$mark changes what is compiled"
		exit 1
	fi
	echo "ok: compiled models are the same with VPTRACE_MARK=$mark"
done
cat without.json
PYTHONPATH=$PYTHONPATH:$source/tracer/python "$python" "$try" cost
