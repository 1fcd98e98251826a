#!/bin/sh
# Traced on the simulated GPU, the demo's capture says what the simulated schedule is: for each knob, every op's start and end,
# busy and idle time, what each piece of each gap waited for, blocks, FPS and BPS are those that support/captures/demo_schedule.py works out by itself, to the
# nanosecond; nothing is lost; and of all causes of idle time the one that the knob stands for grew most.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] || skip "no demo was built"
need_python 3.10
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS

# The script lists the knobs before there is a program.
cases=$((cases + 1))
sh "$source/bench/demo.sh" --help >listed || fail "bench/demo.sh --help ended with $?"
"$demo" --help | sed -n '/^faults to add:/,/^other:/p' | sed '$d' >knobs
[ "$(wc -l <knobs)" -gt 20 ] || fail "vptrace-demo --help lists no knobs"
sed -n '/^faults to add:/,$p' listed | diff knobs - >differ || fail "bench/demo.sh --help: $(cat differ)"

# plan_of NAME KNOBS...: what the host will do, in NAME.plan
plan_of() {
	plan=$1.plan
	shift
	cases=$((cases + 1))
	"$demo" --print-plan "$@" >"$plan" 2>err || fail "the plan of $*"
}

# traced NAME KNOBS...: runs the demo under the tracer; NAME.zst, NAME.log, NAME.ledger
traced() {
	name=$1
	shift
	cases=$((cases + 1))
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/$name${rank_suffix:-}.zst \
		VPT_STANDIN_LOG=$name.log VPT_STANDIN_LEDGER=$name.ledger "$demo" "$@" >out 2>err ||
		fail "$name: the demo ended with $?"
	says out "SIMULATED"
}

# count NAME FILE: a whole number of a JSON object
count() {
	sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$2" | head -n 1
}

# Nothing is lost between the simulation and the report: record by record of what it was asked for.
nothing_lost() {
	same "$1: dropped by the simulation" 0 "$(count dropped "$1.ledger")"
	same "$1: held back by the simulation" 0 "$(count held "$1.ledger")"
	same "$1: ops" "$(count op_records "$1.ledger")" \
		"$(($(count kernels "$1.json") + $(count memcpy "$1.json") + $(count memset "$1.json")))"
	same "$1: calls" "$(count calls "$1.ledger")" "$(count calls "$1.json")"
	same "$1: synchronisations" "$(count syncs "$1.ledger")" "$(count syncs "$1.json")"
	same "$1: overheads" "$(count overheads "$1.ledger")" "$("$VPT_ANALYZE" cat "$1.zst" --kind overhead | wc -l)"
}

compare() { # compare NAME CHECKS...
	plan=$1.plan
	shift
	python3 "$source/tests/support/captures/demo_schedule.py" "$source/tests/standin/standin.h" "$plan" "$@" >out 2>err
}

# knob NAME CAUSE KNOBS...
knob() {
	name=$1
	cause=$2
	shift 2
	plan_of "$name" "$@"
	traced "$name" "$@"
	expect 0 "$name" "$name.zst" --format json --top 100000 --min-gap 1ns --warmup 1
	cp out "$name.json"
	nothing_lost "$name"
	cases=$((cases + 1))
	compare "$name" --log "$name.log" --report "$name.json" --grown base.plan "$cause" ||
		fail "$name: schedule and report differ"
	echo "$name: $(tail -n 1 out)"
}

small="--blocks 3 --steps 2 --layers 3"
plan_of base $small
knob plain none $small
knob sync-per-layer "blocking copy" $small --sync-per-layer
knob slow-host "launch rate" $small --slow-host 60000
knob stalling-host "host code" $small --slow-host 900000
knob offload "blocking copy" $small --offload
knob eager none $small --eager
knob two-streams "sync" $small --two-streams
knob graph "graph build" $small --graph
knob vae-at-end none $small --vae-at-end
knob threads "sync" $small --threads
# What the host does with the frames is no longer as long as it had waited for them.
knob tiny-kernels "launch call" $small --scale 0.05
knob requests "host code" $small --requests 2
knob rank "launch call" $small --ranks 2 --rank 1
knob ring "launch call" $small --ranks 2 --rank 1 --ring
# Several at once.
knob graph-two-streams "sync" $small --graph --two-streams
knob waits-in-threads "launch rate" $small --threads --sync-per-layer --slow-host 95000
knob idle-streams "host code" $small --two-streams --requests 2 --scale 0.001
knob offload-in-streams "launch call" $small --two-streams --offload --scale 0.02
# Large enough that the host runs ahead until the device's queue is full, and that the capture has several chunks.
knob full-size "host code"

# ---- the comparison can fail ----
for differing in "--log offload.log" "--report eager.json" "--grown base.plan allocation"; do
	cases=$((cases + 1))
	compare plain $differing &&
		fail "no difference was found by $differing"
	grep -q ' differ$' out || fail "no verdict of $differing"
done

# ---- the reference: known without any model ----
traced reference --reference
expect 0 "reference" reference.zst --format json --warmup 1
for figure in "fps 24" "bps 2" "steps_per_s 10"; do
	number=$(sed -n "s/.*\"${figure% *}\": *\([0-9.]*\).*/\1/p" out | head -n 1)
	same "reference: $figure" "${figure#* }" "$(echo "$number" | sed 's/\.0*$//')"
done

# ---- ranks: one process, device and file each ----
rank_suffix=-r%r
VPT_STANDIN_DEVICES=2
export VPT_STANDIN_DEVICES
traced ranks $small --ranks 2
unset VPT_STANDIN_DEVICES
rank_suffix=
same "files of two ranks" "ranks-r0.zst ranks-r1.zst" "$(echo ranks*.zst)"
for rank in 0 1; do
	expect 0 "rank $rank" ranks-r$rank.zst --format json
	sed -n '/^  "devices"/,$p' out >devices
	same "device of rank $rank" $rank "$(count device devices)"
	# One more than the plan has: they begin with a barrier.
	same "kernels of rank $rank" "$(($(count kernels rank.json) + 1))" "$(count kernels out)"
done

# ---- without a tracer, and with the one that the program loads itself ----
cases=$((cases + 1))
"$demo" $small --threads >out 2>err || fail "the demo alone ended with $?"
says out "SIMULATED"
VPTRACE_LIBRARY=$bin/libvptrace.so "$demo" $small --trace own.zst >out 2>err || fail "--trace ended with $?"
expect 0 "the capture of --trace" own.zst --format json
same "--trace: ops" "$(count kernels plain.json)" "$(count kernels out)"
VPTRACE_LIBRARY=$work/none.so "$demo" $small --trace own.zst >out 2>err
same "exit code without the library" 1 $?

# ---- the command line ----
for words in --foo --sync-per-laye "--step 4" "--blocks" "--blocks 0" "--scale x" "--graph --offload" "--reference --eager" "--rank 2 --ranks 2" more; do
	"$demo" $words >out 2>err
	same "exit code of $words" 2 $?
	same "sentences about $words" 1 "$(wc -l <err)"
done
finish
