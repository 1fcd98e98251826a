#!/bin/sh
# A program in C that loads Python after the capture began, and after its first call of CUDA, is sampled from then on.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"
cd "$work" || exit 1
${CC:-cc} -I"$source" -o host "$source/tests/stacks/late_python.c" -ldl 2>err || skip "late_python.c does not compile: $(head -n 1 err)"
LD_LIBRARY_PATH=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13
export LD_LIBRARY_PATH VPTRACE_LIBCUPTI
unset VPTRACE_STACKS VPTRACE_OUTPUT VPTRACE_LIBRARY

# The shared library of a Python; nothing if it has none.
library_of() {
	"$1" -c 'import os, sysconfig
v = sysconfig.get_config_var
path = os.path.join(v("LIBDIR") or "", v("INSTSONAME") or "")
if path.endswith(tuple(".so.%d.%d" % (i, j) for i in range(9) for j in range(9))) and os.path.exists(path):
    print(path)' 2>/dev/null
}

# Symbols that other libraries do not see are the harder case; one version tries the other.
former=
hows="global local"
pythons >list
missing_pythons list
while read -r version python; do
	[ "${version%.*}" != "$former" ] || continue
	library=$(library_of "$python")
	if [ -z "$library" ]; then
		echo "SKIPPED: $python has no library to load"
		continue
	fi
	former=${version%.*}
	for how in $hows; do
		late="Python $version, loaded late, $how"
		cases=$((cases + 1))
		rm -f t.zst
		timeout 60 "$bin/vptrace" run -o t.zst ./host "$library" 2 "$how" >said 2>err </dev/null || fail "$late: exit status $?"
		same "$late: samplers before and after" "0 1" "$(cat said)"
		expect 0 "$late: the capture is whole" check t.zst
		"$VPT_ANALYZE" cat t.zst -k meta 2>err | grep -q "\"key\":\"stacks.python\",\"value\":\"$version\"" || fail "$late: no such fact"
		"$VPT_ANALYZE" cat t.zst -k sample >samples 2>err
		found=$(grep -c '"stack":"[^"]*late (<string>:[45])' samples)
		[ "$found" -ge 5 ] || fail "$late: $found samples of the slow lines"
		echo "$late: $(wc -l <samples) samples, $found at the slow lines"
	done
	hows=local
done <list
[ -n "$former" ] || skip "no Python with a shared library found"
finish
