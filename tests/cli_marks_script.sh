#!/bin/sh
# Marks of functions of the script itself, with each Python that is here; and `vptrace run` with such marks, whose capture has
# the ranges.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
. "$source/tests/support/pythons.sh"
only_in_plain_build
[ -e "$bin/libvptrace.so" ] || skip "$bin/libvptrace.so is not built"
cd "$work" || exit 1
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK PMIX_RANK PYTHONPATH
PYTHONDONTWRITEBYTECODE=1
VPTRACE_LIBRARY=$bin/libvptrace.so
export PYTHONDONTWRITEBYTECODE VPTRACE_LIBRARY

cat >generate.py <<'PY'
import vptrace

class Sampler:
    def sample(self, steps):
        return [denoise(i) for i in range(steps)]

def denoise(i):
    return 2 * i

if __name__ == "__main__":
    vptrace.start(profile="none")
    assert Sampler().sample(3) == [0, 2, 4]
    vptrace.stop()
PY
cat >my.marks <<'MARKS'
__main__:Sampler.sample = request frames=4*steps-3
__main__:denoise = step index=i
MARKS
sed '$d' my.marks >absent.marks
echo '__main__:decode = stage vae_decode' >>absent.marks

pythons >list
missing_pythons
[ -s list ] || skip "there is no Python from 3.9 to 3.13"
while read -r version python; do
	rule="the rules, Python $version"
	cases=$((cases + 1))
	"$python" "$source/tests/support/marks_script.py" >out 2>err </dev/null || {
		fail "$rule"
		cat out err
	}
	says out " rules, 0 failed"

	rule="a capture, Python $version"
	cases=$((cases + 1))
	rm -f run.zst absent.zst
	"$bin/vptrace" run --mark my.marks -o run.zst -- "$python" generate.py >out 2>err </dev/null || fail "$rule: expected exit code 0"
	"$VPT_ANALYZE" cat run.zst --kind range -f csv >rows 2>err
	same "ranges in the order of their ends, Python $version" "step step step Sampler" "$(sed 1d rows | grep -o 'Sampler\|step' | paste -sd ' ' -)"

	rule="what is not there is reported, Python $version"
	cases=$((cases + 1))
	"$bin/vptrace" run --mark absent.marks -o absent.zst -- "$python" generate.py >out 2>err </dev/null || fail "$rule: expected exit code 0"
	says err "vptrace: marks: $(pwd -P)/absent.marks:2: __main__:decode: there is no such function in $(pwd -P)/generate.py"
done <list
finish
