#!/bin/sh
# The JSON of `what-if` is what `schema --of what-if` documents: in every answer each key of the schema is there, none is undocumented,
# and types, words and nulls are as it says; together the answers show each key with a value.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
. "$source/tests/support/outputs/schema.sh"
need_python 3.8
cd "$work" || exit 1

schema_of what-if
says schema.json '"$id": "vptrace.what-if/1"'
says schema.txt "vptrace what_if schema, vptrace.what-if/1"

small_trace >small.json
steps_trace 9 100 >steps.json
kernels_trace 1000 >kernels.json
answered=
answer_of() { # answer_of NAME WORDS...: one that captures of any quality give
	name=$1.answer
	shift
	answers "$name" what-if "$@" && answered="$answered $name"
}
answer_of small small.json --change 'host 0.5'
answer_of steps steps.json --change 'host 0.5; delete no_such_call' --check steps.json
answer_of other steps.json --change 'scale * 2' --check small.json
for file in "$source"/tests/corpus/*-*; do
	answer_of "corpus-${file##*/}" "$file" --change 'drop syncs'
done
same "answers, also of the corpus" 1 "$([ "$(echo $answered | wc -w)" -ge 5 ] && echo 1)"
fits "small traces and the corpus" schema.json $answered
fits "the validator finds each fault" --refuses schema.json steps.answer

if has_demo "traced runs"; then
	small="--blocks 4 --steps 2 --layers 2"
	demo plain $small
	demo sync $small --sync-per-layer
	demo two $small --two-streams
	answer_of demo sync.zst --change 'delete small-reads' --check plain.zst
	answer_of two two.zst --change 'skip 1/2 step*' --check plain.zst
	# Answers have no findings, and none is printed without a prediction; stages are parts of theirs.
	never=forecast.all_fps,forecast.all_ms,forecast.all_steps_per_s,forecast.why_not,forecast.stages
	for key in host_ms name predicted_ms recorded_ms; do never=$never,forecast_stage.$key; done
	fits "all together, with traced runs of the demo" \
		--covers=$never schema.json $answered
fi
finish
