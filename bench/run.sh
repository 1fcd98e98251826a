#!/bin/sh
# Size and speed of captures, one table: `sh bench/run.sh [-n EVENTS] [TRACE...]`.
#
# The Self-Forcing stream (EVENTS of them, default 1,000,000; simulated, the same on every machine) and then each
# TRACE, in three formats: a vptrace capture, raw CUPTI records with zstd 1, Kineto's JSON with gzip. Then, where there
# is valgrind, the instructions that analyses of the stream and of the demo take. README.md defines each number. Programs are in build/ or in the folder VPT_BUILD, and are built if they are missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${VPT_BUILD:-$root/build}
events=1000000

usage() {
	echo "usage: sh bench/run.sh [-n EVENTS] [TRACE...]" >&2
	exit 2
}
while getopts n: option; do
	case $option in
	n) events=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))

if ! [ -x "$build/bench_speed" ] || ! [ -x "$build/bench_size" ] || ! [ -x "$build/bench_generate" ] ||
	! [ -x "$build/vptrace-demo" ] || ! [ -e "$build/libvptrace.so" ]; then
	{
		cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release &&
			cmake --build "$build" --target bench_generate bench_size bench_speed vptrace-analyze \
				vptrace-demo libvptrace
	} >&2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# Nanoseconds an event that vptrace-analyze takes with these words, the best of five, or "-".
best_of() { # best_of EVENTS WORDS...
	events_of=$1
	shift
	[ -x "$build/vptrace-analyze" ] || { echo -; return; }
	best=
	for _ in 1 2 3 4 5; do
		from=$(date +%s%N)
		status=0
		"$build/vptrace-analyze" "$@" >/dev/null 2>&1 || status=$?
		to=$(date +%s%N)
		# 3 is a damaged or lossy input, which is analyzed all the same.
		[ "$status" = 0 ] || [ "$status" = 3 ] || { echo -; return; }
		[ -n "$best" ] && [ "$best" -le $((to - from)) ] || best=$((to - from))
	done
	awk -v ns="$best" -v events="$events_of" 'BEGIN { printf "%.1f\n", ns / events }'
}

# Lines of bench_size and the line of bench_speed become rows of the table.
table() { # table LABEL FILE
	"$build/bench_size" -t "$2" >"$scratch/size" || return 0
	"$build/bench_speed" -t "$2" >"$scratch/speed" || return 0
	count=$(awk -F '\t' '$2 == "vptrace" { print $3 }' "$scratch/size")
	analysed=$(best_of "$count" "$2" -j1)
	exported=$(best_of "$count" export "$2" --format perfetto --compress zstd -j1 -o "$scratch/export" --force)
	bytes=$(wc -c <"$scratch/export" 2>/dev/null || echo 0)
	awk -F '\t' -v label="$1" -v count="$count" -v analysed="$analysed" '
		FNR == NR { encode = $4; decode = $5; next }
		{ shape[++n] = $2; bytes[n] = $4; ns[n] = $5; if ($2 == "vptrace") ours = $4 }
		END {
			printf "\n%s, %s events\n", label, count
			for (i = 1; i <= n; i++)
				printf "  %-22s %10.3f %8.1fx %12s %12s %12s\n", shape[i], bytes[i], bytes[i] / ours,
					shape[i] == "vptrace" ? encode : ns[i], shape[i] == "vptrace" ? decode : "-",
					shape[i] == "vptrace" ? analysed : "-"
		}' "$scratch/speed" "$scratch/size"
	awk -v ns="$exported" -v bytes="$bytes" -v events="$count" 'BEGIN {
		printf "  %-22s %10.3f %9s %12s %12s %12s  (analysis and export)\n", "Perfetto, zstd 1", bytes / events, "", "-", "-", ns
	}'
}

cpu=$(awk -F ': *' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null || true)
compiler=$(awk -F = '/^CMAKE_C_COMPILER:/ { print $2 }' "$build/CMakeCache.txt" 2>/dev/null || true)
echo "machine: ${cpu:-unknown CPU}, $(nproc) cores; $("${compiler:-cc}" --version | head -n 1);" \
	"$(zstd --version 2>/dev/null | grep -o 'v[0-9][0-9.]*' | head -n 1 | sed 's/^/zstd /')"
echo "one core; vptrace: encode and decode are the best of 9 passes, analyse the best of 5 runs of the whole program"
printf '\n  %-22s %10s %9s %12s %12s %12s\n' "" "B/event" "size" "encode" "decode" "analyse"
printf '  %-22s %10s %9s %12s %12s %12s\n' "" "" "ratio" "ns/event" "ns/event" "ns/event"

"$build/bench_generate" "$events" -o "$scratch/self_forcing.zst" 2>/dev/null
table "SIMULATED STREAM (Self-Forcing, seed 1; no GPU was measured)" "$scratch/self_forcing.zst"
for trace in "$@"; do
	table "$(basename "$trace")" "$trace"
done

# ---- instructions ----
command -v valgrind >/dev/null 2>&1 || { printf '\nno valgrind: instructions are not counted\n'; exit 0; }

events_of() { # events_of CAPTURE
	"$build/vptrace-analyze" info "$1" | awk '/^events / { print $2 }'
}

verb= # of the programs that are counted; empty: a report
plain=--no-predict # reports are counted without predictions, which are a pass of their own
instructions_of() { # instructions_of WORDS...
	# shellcheck disable=SC2086
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/vptrace-analyze" ${verb:-$plain} "$@" 2>&1 >/dev/null |
		awk '/Collected/ { print $NF }'
}

# The instructions an event of a capture beyond those of a shorter one, with these words.
margin() { # margin LABEL SHORTER LONGER WORDS...
	label=$1 shorter=$2 longer=$3
	shift 3
	awk -v label="$label" -v a="$(instructions_of "$shorter" "$@")" -v b="$(instructions_of "$longer" "$@")" \
		-v m="$(events_of "$shorter")" -v n="$(events_of "$longer")" 'BEGIN {
		printf "  %-42s %12d %12.0f\n", label, a, (b - a) / (n - m)
	}'
}

# Gaps of a capture's first device.
gaps_of() { # gaps_of CAPTURE
	# shellcheck disable=SC2086
	"$build/vptrace-analyze" $plain "$1" --format json | awk '$1 == "\"gaps\":" && $2 + 0 { print $2 + 0; exit }'
}

# The same for each gap that the longer capture has more, of two that have little else.
margin_of_gaps() { # margin_of_gaps LABEL SHORTER LONGER WORDS...
	label=$1 shorter=$2 longer=$3
	shift 3
	awk -v label="$label" -v a="$(instructions_of "$shorter" "$@")" -v b="$(instructions_of "$longer" "$@")" \
		-v m="$(gaps_of "$shorter")" -v n="$(gaps_of "$longer")" 'BEGIN {
		printf "  %-42s %12d %12.0f\n", label ", " m " and " n " gaps, a gap", a, (b - a) / (n - m)
	}'
}

# Captures of the demo on the simulated GPU, with 3 requests and with 6.
demo() { # demo NAME KNOBS...
	name=$1
	shift
	for requests in 3 6; do
		CUDA_INJECTION64_PATH=$build/libvptrace.so NVTX_INJECTION64_PATH=$build/libvptrace.so VPTRACE_COUNTERS=off \
			VPTRACE_OUTPUT=$scratch/$name-$requests.zst "$build/vptrace-demo" "$@" --requests $requests >/dev/null
	done
	margin "demo, $name" "$scratch/$name-3.zst" "$scratch/$name-6.zst" -j1
}

build=$(cd "$build" && pwd)
printf '\n  %-42s %12s %12s\n' "instructions of vptrace-analyze, one core" "shorter" "an event"
"$build/bench_generate" $((2 * events)) -o "$scratch/longer.zst" 2>/dev/null
margin "stream, report" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1
margin "stream, full report" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --full
margin "stream, page" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --format html
margin "stream, window of a second" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --from 1s --to 2s
margin "stream, first block 3" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --range "block 3"
for n in 1 2; do
	"$build/bench_generate" $((n * events)) -c 1 -o "$scratch/seconds-$n.zst" 2>/dev/null
done
margin "stream by seconds, tenth block 3" "$scratch/seconds-1.zst" "$scratch/seconds-2.zst" -j1 --range "block 3:10"
verb=check
margin "stream, check" "$scratch/self_forcing.zst" "$scratch/longer.zst"
verb=
demo plain
demo eager --eager
demo offload --offload
demo sync-per-layer --sync-per-layer
demo two-streams --two-streams
demo graph --graph
demo slow-host --slow-host 90000 --scale 0.5
demo threads --threads
margin_of_gaps "demo, slow-host" "$scratch/slow-host-3.zst" "$scratch/slow-host-6.zst" -j1
plain=
margin "demo, sync-per-layer, with predictions" "$scratch/sync-per-layer-3.zst" "$scratch/sync-per-layer-6.zst" -j1
plain=--no-predict
verb=export
for format in csv jsonl; do
	margin "stream, export as $format" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --format $format -o "$scratch/tables" --force
	margin "demo, plain, export as $format" "$scratch/plain-3.zst" "$scratch/plain-6.zst" -j1 --format $format -o "$scratch/tables" --force
done
margin "stream, export for Perfetto" "$scratch/self_forcing.zst" "$scratch/longer.zst" -j1 --format perfetto -o "$scratch/tables" --force
verb=info
for trace in "$@"; do
	printf '  %-42s %12d\n' "info of $(basename "$trace")" "$(instructions_of "$trace")"
done
verb=
"$build/bench_generate" 1000 -o "$scratch/short.zst" 2>/dev/null
printf '  %-42s %12d\n' "a capture of 1,000 events" "$(instructions_of "$scratch/short.zst" -j1)"
