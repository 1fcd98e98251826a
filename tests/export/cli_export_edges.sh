#!/bin/sh
# A window has the same ops in every export and in the report: one that only touches it is outside. Calls are left out everywhere.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

# ops NAME:START:LENGTH...: a launch and a kernel each, in microseconds.
ops() {
	printf '{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": ['
	id=0
	for op; do
		id=$((id + 1))
		start=${op#*:}
		printf '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": %d, "dur": 1, "args": {"correlation": %d}},\n' \
			$((1000 + ${start%:*} - 1)) $id
		printf '{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7, "correlation": %d}}%s\n' \
			"${op%%:*}" $((1000 + ${start%:*})) "${op##*:}" $id "$([ $id = $# ] || echo ,)"
	done
	printf ']}\n'
}
ops first:1:9 before:10:10 inside:20:5 after:30:10 last:40:5 >trace.json

expect 0 "the report" trace.json --from 20us --to 30us --format json
same "kernels of the report" 1 "$(sed -n 's/^ *"kernels": \([0-9]*\),$/\1/p' out)"
for form in perfetto chrome csv jsonl; do
	expect 0 "$form" export trace.json --from 20us --to 30us --format $form -o window.$form
	says err "wrote 1 kernel, 0 copies, "
	expect 0 "$form without calls" export trace.json --no-api --format $form -o plain.$form
	says err "wrote 5 kernels, 0 copies, 0 calls, "
done
finish
