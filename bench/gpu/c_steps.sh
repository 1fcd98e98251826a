# c_steps.sh - the plan's steps that need no PyTorch: the demo, the probes, the tests. Sourced by run.sh.
#
# Each runs in the phase's folder under the step's limit, and says rows. Words of options are split on purpose:
# shellcheck shell=sh disable=SC2086,SC2154

# report NAME [OPTIONS...]: NAME.text and NAME.json of NAME.zst
report() {
	reported=$1
	shift
	for format in text json; do
		limited 60 "$analyze" "$reported.zst" --no-progress --format $format --output "$reported.$format" --force "$@" \
			2>>logs/report.err
	done
}

# checked NAME OPTIONS...: whether the capture NAME.zst is sound, of which there is a report
checked() {
	checked_name=$1
	shift
	said "check-$(basename "$checked_name")" 60 "$python" "$here/check_capture.py" --analyze "$analyze" \
		--report "$checked_name.json" "$@" "$checked_name.zst"
}

# ---- the demo ----

record_demo() { # record_demo NAME KNOBS...: captures/demo-NAME.zst and its report
	demo_name=demo-$1
	shift
	rm -f "captures/$demo_name".* # of an earlier time
	demo_size="--scale 0.5"
	[ -z "$simulated" ] || demo_size="--blocks 3 --steps 2 --layers 3"
	run "$demo_name" 60 "$on_cuda" env CUDA_INJECTION64_PATH="$tracer" NVTX_INJECTION64_PATH="$tracer" \
		VPTRACE_OUTPUT="$work/captures/$demo_name.zst" "$build/vptrace-demo" $demo_size "$@" || return
	if [ -z "$simulated" ] && grep -q SIMULATED "logs/$demo_name.out"; then
		note failed "it ran on the simulated GPU: $(tail -n 1 "logs/$demo_name.out")"
		return 1
	fi
	report "captures/$demo_name"
}

demo() {
	record_demo "$@" && checked "captures/$demo_name" --injected
}

doctor() {
	if [ -x "$build/vptrace" ]; then
		run doctor 20 "$on_cuda" "$build/vptrace" doctor && note ok "$(tail -n 1 logs/doctor.out | cut -c1-160)"
	else
		note skipped "there is no command vptrace in $build"
	fi
}

# The same faults in the demo, whose shares are known to the nanosecond on the simulated GPU.
blame_in_demo() {
	record_demo blame-plain || return
	for pair in sync-per-layer=sync-drain+small-reads+blocking-copy offload=exposed-copy+blocking-copy eager=eager-attention; do
		knob=${pair%%=*}
		record_demo "blame-$knob" "--$knob" || continue
		said "blame-demo-$knob" 30 "$python" "$here/blame.py" --blamed "captures/demo-blame-$knob.json" \
			captures/demo-blame-plain.json --times "captures/demo-blame-$knob.json" -- captures/demo-blame-plain.json \
			--findings "${pair#*=}"
	done
}

# predicted BEFORE CHANGES AFTER: how far the prediction of BEFORE with the changes is from the run AFTER, in percent
predicted() {
	"$analyze" what-if "captures/demo-$1.zst" --change "$2" --check "captures/demo-$3.zst" --no-progress --format json \
		2>>logs/predict.err |
		"$python" -c 'import json, sys; print(json.load(sys.stdin)["units"][0]["error_percent"])' 2>>logs/predict.err
}

# Each fault of the demo, with the change that takes it away, against the run without; and each variant, against the run that has it.
# Two equal runs say how much is chance.
predict_in_demo() {
	for knobs in plain plain-again "sync --sync-per-layer" "offload --offload" "steps --steps 3" "graph --graph"; do
		name=${knobs%% *}
		options=${knobs#"$name"}
		[ -z "$simulated" ] || [ "$name" != steps ] || options="--steps 1"
		record_demo "predict-$name" $options || return
	done
	chance=$(predicted predict-plain "host 1" predict-plain-again)
	while IFS=: read -r before change after; do
		error=$(predicted "predict-$before" "$change" "predict-$after")
		say "predicted: $before as $after" "$("$python" -c 'import sys
error, chance = (abs(float(word)) for word in sys.argv[1:])
print("ok" if error <= max(3, 2 * chance) else "failed")' "${error:-nan}" "${chance:-nan}" 2>>logs/predict.err || echo failed)" \
			"$error" "%" "<= 3" "$change; two equal runs differ by $chance %"
	done <<-LINES
		sync:delete small-reads; host 0 after small-reads:plain
		offload:delete copies HtoD:plain
		plain:skip 1/$(either 4 2) step*:steps
		plain:graph @(step*|context pass) each block*:graph
	LINES
}

# ---- probes; with the simulated GPU all are short ----

either() { # either WITH-A-GPU SIMULATED
	if [ -z "$simulated" ]; then echo "$1"; else echo "$2"; fi
}

# Every call, callback and record of a small run: whether CUPTI records, and what the simulated GPU is to imitate.
sequence() {
	probe sequence 30 "$on_cuda" "$probes/cupti_probe" sequence captures/sequence.txt || return
	kernels=$(grep -c '^ *record kind 10,' captures/sequence.txt)
	say "records of kernels" "$([ "$kernels" -ge 8 ] && echo ok || echo failed)" "$kernels" "" ">= 8" \
		"2 launches, and 2 replays of a graph of 3"
}

# What each kind of record costs a launch. `coarse` is GRAPH_TRACE, which a process cannot undo: it has one of its own.
kinds() { # kinds kinds|coarse
	probe "kinds-$1" 90 "$on_cuda" "$probes/cupti_probe" "$1" "$(either 12 3)" "$(either 20000 400)"
}

threads() { # threads NUMBER: who completes buffers?
	probe "threads-$1" 60 "$on_cuda" "$probes/cupti_probe" threads "$1" "$(either 20000 1000)"
}

flushes() {
	probe flush 60 "$on_cuda" "$probes/cupti_probe" flush "$(either 4 0.1)"
}

# A second capture with CUDA graphs before CUPTI 13.1: are its correlation ids wrong?
sessions() {
	PROBE_OUT=$work/captures
	export PROBE_OUT
	probe sessions 30 "$on_cuda" "$probes/tracer_probe" sessions || return
	for number in 1 2; do
		report "captures/session$number"
		checked "captures/session$number" --injected
	done
}

# Are names read before their library is gone?
unloaded() {
	PROBE_OUT=$work/captures
	export PROBE_OUT
	probe unload 30 "$on_cuda" "$probes/tracer_probe" unload || return
	names=$(limited 30 "$analyze" cat captures/unload.zst --kind kernel --format csv 2>/dev/null |
		grep -o 'probe_gone_[0-9]*' | sort -u | wc -l)
	say "names of kernels that are gone" "$([ "$names" = 20 ] && echo ok || echo failed)" "$names" "" "= 20" ""
}

launches() { # launches cost|coarse
	PROBE_OUT=$work/captures
	export PROBE_OUT
	probe "launches-$1" 120 "$on_cuda" "$probes/tracer_probe" "$1" "$(either 12 3)" "$(either 20000 400)"
}

graphs() { # graphs graphs|coarse-graphs
	PROBE_OUT=$work/captures
	export PROBE_OUT
	probe "graphs-$1" 90 "$on_cuda" "$probes/tracer_probe" "$1" "$(either 12 3)" "$(either 50 5)"
}

number_of() { # number_of PROBE NAME
	awk -F '\t' -v name="$2" '$1 == name { print $2 }' "logs/$1.out"
}

# 100,000 launches per second must be recorded without loss; a little more is requested.
rate() { # rate THREADS
	PROBE_OUT=$work
	export PROBE_OUT
	probe "rate-$1" 30 "$on_cuda" "$probes/tracer_probe" rate "$(either 5 0.2)" "$1" 110000 || return
	launched=$(number_of "rate-$1" per_second)
	lost=$(awk -F '\t' '$1 ~ /lost/ { n += $2 } END { print n + 0 }' "logs/rate-$1.out")
	# How fast the simulated GPU is says nothing.
	say "launches per second without loss" "$(awk -v rate="$launched" -v lost="$lost" -v least="$(either 100000 0)" \
		'BEGIN { print (rate >= least && !lost) ? "ok" : "failed" }')" \
		"$launched" 1/s ">= $(either 100000 0), and $lost lost = 0" ""
}

fastest() { # fastest THREADS
	PROBE_OUT=$work
	export PROBE_OUT
	probe "fastest-$1" 30 "$on_cuda" "$probes/tracer_probe" rate "$(either 5 0.2)" "$1"
}

# Does device memory grow beyond 20 million nodes of graphs?
nodes() {
	PROBE_OUT=$work
	export PROBE_OUT
	probe nodes 120 "$on_cuda" "$probes/tracer_probe" nodes "$(either 90 0.3)"
}

memory() {
	PROBE_OUT=$work
	export PROBE_OUT
	probe memory 330 "$on_cuda" "$probes/tracer_probe" rate "$(either 300 0.5)" 1 110000 || return
	grown=$(awk -v half="$(number_of memory half.resident)" -v late="$(number_of memory late.resident)" \
		'BEGIN { print late - half }')
	# In less than a second, buffers are still coming into use.
	[ -z "$simulated" ] || {
		note skipped "too short to judge: memory grows in the second half by $grown MiB"
		return
	}
	say "memory grows in the second half by" \
		"$(awk -v grown="$grown" 'BEGIN { print (grown <= 8) ? "ok" : "failed" }')" "$grown" MiB "<= 8" ""
}

# ---- programs and tests that need no GPU ----

cpu_program() { # cpu_program NAME
	run "$1" 30 "$build/bench_tracer_$1" && note measured "$(tr -s ' \n' ' ;' <"logs/$1.out" | cut -c1-300)"
}

# Tests labelled no-gpu require a machine without a driver and are left out. The others bring
# the simulated GPU themselves; LD_LIBRARY_PATH could put a real driver in its place.
run_tests() {
	run configure-tests 60 cmake -S "$root" -B "$build" -DVPT_TESTS=ON &&
		run build-tests 300 cmake --build "$build" -j "$(nproc)" || return
	left_out=$(limited 20 ctest --test-dir "$build" -N -L no-gpu | sed -n 's/^ *Test *#[0-9]*: *//p' | tr '\n' ' ')
	note skipped "${left_out:-none }left out: it requires a machine without a GPU"
	if run tests 300 env -u LD_LIBRARY_PATH ctest --test-dir "$build" -LE no-gpu --output-on-failure --timeout 120 -j "$(nproc)"; then
		note ok "$(grep 'tests passed' logs/tests.out); $(grep -c '\*\*\*Skipped' logs/tests.out) skipped"
		return
	fi
	# Stopped or not, what is known by then.
	note measured "$(grep -c ' Passed ' logs/tests.out) passed, $(grep -c '\*\*\*Skipped' logs/tests.out) skipped"
	grep -E '\*\*\*(Failed|Timeout|Exception|Not Run)' logs/tests.out | sed 's/.*Test *#//' | head -n 20 >failed.txt
	while read -r line; do
		note failed "$line"
	done <failed.txt
}
