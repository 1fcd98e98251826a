#!/bin/sh
# Real traces, exported for Perfetto: an independent decoder finds every event again, each op its call; a kernel with its call takes
# no more bytes than promised; and what is estimated of occupancy, for Chrome too, is what PyTorch's profiler took it to be.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
folder=${VPT_SHARED:-$source/../shared}/traces
cd "$work" || exit 1
traces=
for trace in "$folder"/*.json.gz "$folder"/*.sqlite; do
	[ -f "$trace" ] && traces="$traces $trace"
done
[ -n "$traces" ] || skip "no real traces beside the source tree"

total() {
	sed -n "s/^$1 //p" found
}

for trace in $traces; do
	name=${trace##*/}
	if [ -n "${VPT_PLAIN:-}" ]; then
		"$VPT_PLAIN" export "$trace" --format perfetto --compress none -o real.out --force 2>err
		code=$?
		grep -q 'built without' err && continue
		for format in "perfetto --compress none" "perfetto --compress zstd" "chrome --compress none"; do
			as_plain $code "$name: for $format" export "$trace" --format $format -o -
		done
		continue
	fi
	"$VPT_ANALYZE" export "$trace" --format perfetto --compress none -o real.out --force 2>err
	code=$?
	grep -q 'built without' err && continue
	[ $code = 0 ] || [ $code = 3 ] || fail "$name: exit code $code"
	cases=$((cases + 1))
	python3 "$source/tests/support/outputs/pftrace.py" real.out --slices >found 2>wrong || fail "$name: $(head -n 3 wrong)"
	same "$name: every op found its call" "0 0" "$(total late_links) $(total late_slices)"
	case $name in
	*.json.gz) python3 "$source/tests/support/outputs/occupancy.py" "$trace" $(case $name in *v100*) echo some ;; esac) <found >alike 2>wrong || fail "$name: $(cut -c 1-600 wrong)" ;;
	esac
	case $name in
	*.json.gz)
		expect "$code" "$name: for Chrome" export "$trace" --format chrome --compress none -o real.json --force
		cases=$((cases + 1))
		python3 "$source/tests/support/outputs/chrome_figures.py" "$trace" real.json >alike 2>wrong || fail "$name: launches: $(tail -n 1 wrong | cut -c 1-600)"
		;;
	esac
	kernels=$(total kernels)
	[ "$kernels" -gt 1000 ] || continue
	expect "$code" "$name: zstd" export "$trace" --format perfetto --compress zstd -o real.zst --force
	raw=$(($(total kernel_bytes) / kernels))
	# Their share of the file, as their share of the bytes.
	packed=$(($(total kernel_bytes) * $(wc -c <real.zst) / $(wc -c <real.out) / kernels))
	[ "$raw" -le 130 ] || fail "$name: $raw bytes a kernel with its call"
	[ "$packed" -le 25 ] || fail "$name: $packed bytes a kernel with its call, compressed"
done
finish
