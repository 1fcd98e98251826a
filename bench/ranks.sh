#!/bin/sh
# What `merge` and `ranks` take for a job that nobody ran: `sh bench/ranks.sh BUILD [RANKS [COLLECTIVES]]`, 1,000 and 16,000.
# A line each: seconds, seconds of processors, MiB of memory. The summaries, 0.2 MB a rank, are written to a temporary folder.
set -eu
build=${1:?usage: sh bench/ranks.sh BUILD [RANKS [COLLECTIVES]]}
ranks=${2:-1000}
collectives=${3:-16000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$scratch/ranks"

# The least of three runs, by elapsed time.
take() { # take NAME COMMAND...
	name=$1
	shift
	for _ in 1 2 3; do
		/usr/bin/time -f "%e %U %S %M" -o "$scratch/time" "$@" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err" >&2; exit 1; }
		cat "$scratch/time"
	done | sort -n | head -n 1 | awk -v name="$name" '{ printf "%-8s %8.2f s %8.2f s %8.0f MiB\n", name, $1, $2 + $3, $4 / 1024 }'
}

"$build/bench_ranks" "$ranks" "$collectives" -o "$scratch/ranks"
echo "SIMULATED: $ranks ranks, $collectives collectives each; $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"
take merge "$build/vptrace-analyze" merge "$scratch"/ranks/*.vps -o "$scratch/all.vps" --force
bytes=$(wc -c <"$scratch/all.vps")
take ranks "$build/vptrace-analyze" ranks "$scratch/all.vps"
take change "$build/vptrace-analyze" ranks "$scratch/all.vps" --change "all: host 0.5"
awk -v bytes="$bytes" -v n="$ranks" -v m="$collectives" 'BEGIN {
	printf "%-8s %8.1f MB, %.0f KB a rank, %.1f bytes a collective\n", "file", bytes / 1e6, bytes / n / 1e3, bytes / n / m
}'
