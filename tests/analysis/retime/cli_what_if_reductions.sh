#!/bin/sh
# cli_what_if_reductions.sh - gradients that DDP sums in each pass of an optimizer step: the report says so where they are, and a replay
# without those of all passes but the last takes what training with no_sync() does, to 0.5 % in virtual time.
. "$(dirname "$0")/../../support/cli.sh"
ddp=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)/tests/support/captures/ddp.py

need_python 3.6
cd "$work" || exit 1

# trains CALLS OPTIONS...: the finding with its prediction, and how many calls it deletes; 0: there is no finding.
trains() {
	calls=$1
	shift
	python3 "$ddp" "$@" >before.json && python3 "$ddp" "$@" no_sync=1 >after.json
	expect 0 "$*" before.json
	if [ "$calls" = 0 ]; then
		! grep -q no_sync out || fail "$*: nothing is repeated: $(grep no_sync out)"
		expect 0 "$*" what-if before.json --change 'delete reductions'
		grep -q 'changes nothing' out || fail "$*: $(head -n 1 out)"
		return
	fi
	grep -q '^ 1 no_sync() but in the last of' out || fail "$*: no_sync() is not first"
	grep -q 'each of [0-9]* passes sums the gradients' out || fail "$*: CAUSE does not say so"
	expect 0 "$*" what-if before.json --change 'delete reductions' --check after.json
	grep -q "changes $calls calls" out || fail "$*: $(head -n 1 out)"
	awk '/, mean / && $NF * $NF < 0.25 { found = 1 } END { exit !found }' out ||
		fail "$*: $(grep ', mean ' out)"
}

# Four buckets in each of three passes of five steps.
trains 60 comm_us=2400
trains 60 comm_us=2400 marks=pass
trains 60 comm_us=2400 loss=1
trains 60 comm_us=2400 loss=1 bytes=1
trains 84 comm_us=2400 passes=8 steps=3
trains 20 comm_us=2400 passes=2
trains 0 comm_us=2400 passes=1
trains 0 comm_us=2400 scatter=1
trains 0 comm_us=2400 tensor=1
trains 0 comm_us=2400 no_sync=1

# One thread for all: iterations tell passes apart, else it is only said what may be.
python3 "$ddp" comm_us=2400 threads=1 marks=pass >before.json
expect 0 'one thread, passes marked' before.json
grep -q '^ 1 no_sync() but in the last of 4 passes  *[0-9.]*$' out ||
	fail 'one thread, passes marked: no finding, or a prediction'
python3 "$ddp" comm_us=2400 threads=1 >before.json
expect 0 'one thread' before.json --full
tr -s '\n ' ' ' <out | grep -q 'or no_sync() in all passes but the last where gradients accumulate' ||
	fail 'one thread: no hint'

finish
