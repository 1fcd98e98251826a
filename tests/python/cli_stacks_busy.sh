#!/bin/sh
# 32 threads of Python that are never still, while they fork, end and free code, are sampled as often as possible; in the sanitizers'
# build too. The host lives, the capture is whole, and its stacks begin where threads begin.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
library=$bin/libvptrace.so
runtime=$(ldd "$library" | awk '/lib[at]san/ { print $3; exit }')
cp -r "$source/tracer/python/vptrace" "$source/tests/stacks/busy.py" "$work" || exit 1
cd "$work" || exit 1

pythons >list
missing_pythons list
[ -s list ] || skip "no Python found"
former=
while read -r version python; do
	[ "${version%.*}" != "$former" ] || continue
	former=${version%.*}
	rule="Python $version"
	cases=$((cases + 1))
	rm -f t.zst
	env ${runtime:+LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0} PYTHONDONTWRITEBYTECODE=1 VPTRACE_LIBRARY="$library" \
		LD_LIBRARY_PATH="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" \
		"$python" -W ignore busy.py t.zst 2 >out 2>err </dev/null || fail "$rule: the program ended with $?"
	same "$rule: all threads came back" 32 "$(cat out)"
	same "$rule: nothing on stderr" "" "$(cat err)"
	expect 0 "$rule: the capture is whole" check t.zst
	"$VPT_ANALYZE" cat t.zst -k sample >samples 2>err
	cases=$((cases + 1))
	threads=$(sed 's/.*"tid":\([0-9]*\).*/\1/' samples | sort -u | wc -l)
	[ "$threads" -ge 8 ] || fail "$rule: samples of $threads threads only"
	# The base of each stack is the thread's first function, or the program's.
	same "$rule: where stacks begin" "" "$(sed -n 's/.*"stack":"\([^"]*\)".*/\1/p' samples | grep -v -e '^$' \
		-e '^[A-Za-z.]*_bootstrap (.*threading.py:' -e '^<module> (.*busy.py:' | head -n 3)"
	echo "Python $version: $(wc -l <samples) samples of $threads threads"
done <list
finish
