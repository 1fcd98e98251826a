#!/bin/sh
# `pip install ./tracer/python` brings the module, its library and the commands. Tried where pip and scikit-build-core are
# installed, without a network.
# shellcheck disable=SC1091,SC2016,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
python=${VPT_PYTHON:-python3}
only_in_plain_build
command -v cmake >/dev/null || skip "cmake is not installed"
command -v "$python" >/dev/null || skip "there is no python3"
"$python" -c 'import pip, scikit_build_core' 2>/dev/null || skip "$python has no pip or no scikit_build_core; VPT_PYTHON names one that has"
cd "$work" || exit 1
CCACHE_NOHASHDIR=1
export CCACHE_NOHASHDIR
unset VPTRACE_LIBRARY VPTRACE_OUTPUT PYTHONPATH

! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
# Ninja knows files as targets too, among them the command `vptrace`.
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
cases=$((cases + 1))
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index --target site \
	--config-settings=cmake.build-type=Debug "$source/tracer/python" >out 2>err || { fail "pip ended with $?"; finish; }
version=$(sed -n 's/^#define VPTRACE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$source/tracer/vptrace.h" | tr '\n' . | sed 's/\.$//')
same "its version" yes "$([ -d "site/vptrace-$version.dist-info" ] && echo yes)"
same "what lies in it" "$({ cd "$source/tracer/python/vptrace" && printf '%s\n' libvptrace.so libvptrace_tables.so vptrace vptrace-analyze vptrace-doctor && ls ./*.py; } | sed 's|^\./||' | sort | tr '\n' ' ')" \
	"$(find site/vptrace -name '*.pyc' -prune -o -type f -printf '%f\n' | sort | tr '\n' ' ')"
cases=$((cases + 1))
PYTHONPATH=$work/site "$python" - >out 2>err <<'PY' || fail "the module does not record"
import os, vptrace
assert vptrace.available(), vptrace.last_error()
assert os.path.dirname(vptrace.__file__) == os.path.dirname(vptrace._library.mapped()), vptrace._library.mapped()
with vptrace.trace("t.zst", profile="none") as capture, vptrace.block(3, frames=12, latents=3):
    pass
assert capture.summary.complete, capture.summary
PY
same "its marks" "$(cd "$source/tracer/python" && find vptrace_marks -name '*.py' -o -name '*.marks' | sort)" \
	"$(cd site && find vptrace_marks -name '*.py' -o -name '*.marks' | sort)"
cases=$((cases + 1))
mkdir -p program/wan/modules
: >program/wan/__init__.py
: >program/wan/modules/__init__.py
cat >program/wan/modules/t5.py <<'PY'
class T5EncoderModel:
    def __call__(self, texts, device):
        return texts
PY
PYTHONPATH=$work/site:$work/program "$python" - >out 2>err <<'PY' || fail "marks of the installed module"
import vptrace
vptrace.mark_calls("wan")
from wan.modules.t5 import T5EncoderModel
with vptrace.trace("marks.zst", profile="none") as capture:
    T5EncoderModel()(["a cat"], "cpu")
assert capture.summary.stats.written == 1, capture.summary
PY
# The folder for PYTHONPATH lies below the prefix, as cmake --install puts it there; it brings all that it needs.
place=$(find "$work" -path '*share/vptrace/python/site' | head -n 1)
cases=$((cases + 1))
PYTHONPATH=$place:$work/program VPTRACE_MARK=auto VPTRACE_LIBRARY=$work/site/vptrace/libvptrace.so "$python" - >out 2>err <<'PY' || fail "marks from outside"
from wan.modules.t5 import T5EncoderModel
import vptrace
assert vptrace.available() and "share/vptrace/python" in vptrace.__file__, vptrace.__file__
assert hasattr(T5EncoderModel.__call__, "__vptrace_marks__")
PY
VPT_ANALYZE=$work/site/bin/vptrace-analyze
expect 0 "its analyzer reads what it recorded" cat t.zst --kind range
says out '"name":"block"'

# The command `vptrace` is a script that runs the program.
cases=$((cases + 1))
PATH=$work/site/bin:$PATH PYTHONPATH=$work/site:$work/program vptrace run --profile none --mark wan -o command.zst -- "$python" - >out 2>err <<'PY' || fail "its command"
import vptrace
from wan.modules.t5 import T5EncoderModel
vptrace.start(profile="none")
T5EncoderModel()(["a cat"], "cpu")
vptrace.stop()
PY
expect 0 "what its command recorded" cat command.zst --kind range
says out '"name":"text_encode"'
cases=$((cases + 1))
PYTHONPATH=$work/site "$python" site/bin/vptrace report command.zst --brief >out 2>err || fail "its report"
cases=$((cases + 1))
PYTHONPATH=$work/site "$python" -m vptrace report command.zst --brief >again 2>err || fail "the command as python -m vptrace"
same "the command as python -m vptrace" "$(cat out)" "$(cat again)"
PYTHONPATH=$work/site "$python" -m vptrace run 2>err >again
same "its exit status" 2 $?

# The module reads captures with the library beside it.
cases=$((cases + 1))
PYTHONPATH=$work/site "$python" - >out 2>err <<'PY' || fail "the module does not read captures"
import vptrace
names = [row["name"] for row in vptrace.load("t.zst").ranges]
assert names == ["block"], names
PY

# README's example for Python, as it stands there.
cases=$((cases + 1))
sed -n '/^```python$/,/^```$/p' "$source/README.md" | grep -v '^```' >readme.py
PYTHONPATH=$work/site VPTRACE_PROFILE=none "$python" -W error readme.py >out 2>err || fail "README's example"
expect 0 "what README's example recorded" cat "$(sed -n 's/^with vptrace.trace("\(.*\)"):$/\1/p' readme.py)" --kind range
says out '"name":"step"'
finish
