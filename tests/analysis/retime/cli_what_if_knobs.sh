#!/bin/sh
# cli_what_if_knobs.sh - each knob of the demo, and pairs of them: what a replay of the run without a change predicts is
# what the run with the change takes, to 0.5 % in virtual time.
. "$(dirname "$0")/../../support/cli.sh"
. "$(dirname "$0")/../../support/captures/demo.sh"

has_demo "predictions of the demo's knobs" || exit 77
cd "$work" || exit 1
set -f # changes have patterns

# record NAME KNOBS...: a small model, so that it takes a moment.
record() {
	kept=$1
	shift
	demo "$kept" --blocks 4 --layers 12 "$@"
}

# predicts FROM TO CHANGES: the mean block, each block, and, if the changes do not move work from one to another, each stage and
# step; between changes a ";". PARTS: at least so many stages and steps have an error.
predicts() {
	options=
	IFS=';'
	for change in $3; do
		options="$options;--change;$change"
	done
	# shellcheck disable=SC2086 # a word for each
	expect 0 "$1 to $2" what-if "$1.zst" ${options#;} --check "$2.zst" --format json
	unset IFS
	awk -v least="${4:-7}" -F': ' '
		/"parts": \[/ { in_parts = 1 }
		/"name"/ { name = $2 }
		/"error_percent"/ && $2 !~ /null/ {
			if (in_parts) parts++
			else units++
			if (in_parts && !least) next
			error = $2 + 0
			if (error > 0.5 || error < -0.5) wrong = wrong " " (in_parts ? name : "") error
		}
		END {
			if (wrong || units < 4 || parts < least) {
				print units + 0 " units, " parts + 0 " parts, errors in percent:" wrong
				exit 1
			}
		}' out >wrong || fail "$1 to $2: $(cat wrong)"
}

record plain
record sync --sync-per-layer
record slow --slow-host 90000
record slowsync --slow-host 90000 --sync-per-layer
record offload --offload
record syncoffload --sync-per-layer --offload
record graph --graph
record slowgraph --slow-host 90000 --graph
record two --two-streams
record steps3 --steps 3
record threads --threads
record syncthreads --threads --sync-per-layer
record half --scale 0.5

no_sync='delete small-reads;host 0 after small-reads'
graph='graph @(step*|context pass) each block*'
aside='aside @(vae_decode|to_host);pin DtoH 25 in to_host'

predicts plain plain 'host 1'
predicts sync plain "$no_sync"
predicts slowsync slow "$no_sync"
predicts syncoffload offload "$no_sync"
predicts syncthreads threads "$no_sync"
predicts offload plain 'delete copies HtoD'
predicts syncoffload sync 'delete copies HtoD'
predicts syncoffload plain "$no_sync;delete copies HtoD"
# The demo captures inside a step, after that has begun; what is predicted begins with the graph.
predicts plain graph "$graph" 0
predicts slow slowgraph "$graph" 0
predicts slowsync slowgraph "$no_sync;$graph" 0
# What is put aside overlaps the rest, so no part is predicted.
predicts plain two "$aside" 0
says out '"parts": []'
predicts plain steps3 'skip 1/4 step*'
predicts plain half 'scale * 0.5'
[ "$failures" = 0 ]
