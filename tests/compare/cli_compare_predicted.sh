#!/bin/sh
# compare: where B lacks findings of A that ask for changes, what a replay of A with them predicts, beside what came.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../support/cli.sh"
. "$(dirname "$0")/../support/captures/demo.sh"
has_demo "what was predicted, and what came" || exit 77
cd "$work" || exit 1
small="--blocks 4 --layers 12"
# shellcheck disable=SC2086 # a word for each
for knobs in "plain" "sync --sync-per-layer" "slow --slow-host 90000" "slowsync --slow-host 90000 --sync-per-layer" "offload --offload" \
	"two --two-streams" "eager --eager"; do
	set -- $knobs
	name=$1
	shift
	demo "$name" $small "$@"
done

# came A B CHANGE: the change that is replayed; the error is at most 0.5 %, and the figures are those of both reports.
came() {
	expect 0 "$1 to $2" compare "$1.zst" "$2.zst" --format json
	sed -n '/^  "prediction"/,$p' out >prediction
	same "$1 to $2: the change" "$3" "$(sed -n 's/^    "change": "\(.*\)",$/\1/p' prediction)"
	awk -F': ' '/"error_percent"/ { found = 1; error = $2 + 0 }
		/"predicted_ms"/ { predicted = $2 + 0 }
		/"measured_ms"/ { measured = $2 + 0 }
		END {
			of = 100 * (predicted - measured) / measured
			exit !(found && error <= 0.5 && error >= -0.5 && of - error < 0.001 && error - of < 0.001)
		}' prediction || fail "$1 to $2: $(cat prediction)"
	measured=$(sed -n 's/^    "measured_ms": \(.*\),$/\1/p' prediction)
	expect 0 "what came" what-if "$2.zst" -c 'host 1' --format json
	same "$2 measured" "$(sed -n 's/^ *"recorded_ms": \(.*\),$/\1/p' out | head -n 1)" "$measured"
	expect 0 "$1 to $2 as text" compare "$1.zst" "$2.zst"
	says out "REPLAY  Gone in B: "
	says out "Changes: $(echo "$3" | cut -c1-4)"
	expect 0 "the page" compare "$1.zst" "$2.zst" --format html
	says out "<dt>REPLAY</dt>"
	expect 0 "Markdown" compare "$1.zst" "$2.zst" --format md
	says out "**REPLAY**"
}

# none A B OPTIONS...
none() {
	expect 0 "nothing of $*" compare "$@" --format json
	says out '"prediction": null'
	expect 0 "nothing of $*, as text" compare "$@"
	grep -q REPLAY out && fail "$rule: a prediction"
}

came sync plain 'delete small-reads; host 0 over 100us under 1ms after small-reads'
came offload plain 'scale HtoD 0'
came slowsync plain 'delete small-reads; host 0 over 100us under 1ms after small-reads; host 0 per launch'
none sync.zst plain.zst --no-predict
none plain.zst sync.zst
none plain.zst plain.zst
# Half of the host's code is a guess, so that there is less of it is no change that A names.
none slow.zst plain.zst
# What another thread can do is one.
expect 0 "a thread of its own" compare plain.zst two.zst
says out "Gone in B: the launching thread works on results"
# How long fused attention takes is not in A.
none eager.zst plain.zst
# Several runs a side, and a report without its trace.
expect 0 "several runs" compare sync.zst sync.zst sync.zst -- plain.zst plain.zst plain.zst --format json
says out '"prediction": null'
expect 0 "a report" sync.zst --format json -o sync.json
expect 0 "a baseline" compare --baseline sync.json plain.zst --format json
says out '"prediction": null'
# A that cannot be replayed is compared as before: each op lacks its launch.
sed 's/"correlation": [0-9]*/"correlation": 0/' <<'JSON' >odd.json
{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 2, "ts": 1000, "dur": 500},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1010, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1910, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 2}}]}
JSON
"$VPT_ANALYZE" compare odd.json odd.json --format json >out 2>err
says out '"prediction": null'
finish
