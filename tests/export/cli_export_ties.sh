#!/bin/sh
# Ops that begin at the same nanosecond, or have no length, keep their family, call and range in exported tables, and are counted
# in every table of the report.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
ties=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)/tests/support/traces/tied_ops.py
need_python 3.8
cd "$work" || exit 1

for seed in 1 2 3 4 5; do
	python3 "$ties" make $seed ties.json || fail "seed $seed: no trace"
	"$VPT_ANALYZE" export ties.json --format csv -o tables --force >out 2>err || fail "seed $seed: the export failed"
	python3 "$ties" check ties.json tables 2>err || fail "seed $seed, exported: $(tail -n 1 err)"
	"$VPT_ANALYZE" ties.json --format json --top 100 >report.json 2>err || fail "seed $seed: no report"
	python3 "$ties" calls ties.json report.json 2>err || fail "seed $seed, counted: $(tail -n 1 err)"
	cases=$((cases + 2))
done
finish
