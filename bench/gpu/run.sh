#!/bin/sh
# Everything that only a machine with a GPU can tell, unattended; one table at the end.
#
#   sh bench/gpu/run.sh [--dry-run] [PHASE...]
#
#   works       build, tests, the demo on the GPU, injection into a program that knows nothing of it
#   captures    a capture of each variant of a PyTorch pipeline, checked by itself and against CUDA events
#   compare     captures against torch.profiler; what the report blames against what a repair really saves
#   cost        ns a launch, slowdown, time to stop, launches a second, memory over time
#   questions   what the tracer's design assumes of CUPTI, and what nobody knows yet
#
# Without a phase: all, in this order. --dry-run: on the simulated GPU and, where python3 has PyTorch, on the
# CPU, with tiny sizes; every row says so. Results go to the folder in OUT (bench/gpu/out): NAME.txt is the table,
# NAME.json the same for programs, NAME.tar.gz holds logs and captures; NAME is made of the phases.
#
#   VPT_GPU_SECONDS    570: no step begins after so long, and each ends by then; a phase needs less than 600
#   VPT_BUILD          the build folder (build)
#   VPT_CARRIED        a folder with Debian packages that are missing here (libzstd-dev, libcmocka-dev ...), *.deb;
#                      they are unpacked there and used from there
#   PYTHON             python3
#   VPT_GPU_SUITE=0    leaves the test suite out; VPT_GPU_TORCH=0 whatever needs PyTorch
#
# A step that fails, hangs or has to be left out is a row in the table; the others go on.
#
# Phases are called by name, and words of options are split on purpose:
# shellcheck disable=SC2317,SC2086
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/bench/gpu
python=${PYTHON:-python3}
PYTHONDONTWRITEBYTECODE=1
PYTHONUNBUFFERED=1
export PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED
unset VPTRACE_OUTPUT VPTRACE_PROFILE VPTRACE_LIBCUPTI CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK WORLD_SIZE

all="works captures compare cost questions"
dry=
phases=
for word; do
	case " $all " in
	*" $word "*) phases="$phases $word" ;;
	*)
		[ "$word" = --dry-run ] || {
			echo "usage: sh bench/gpu/run.sh [--dry-run] [$(echo "$all" | tr ' ' '|')]..." >&2
			exit 2
		}
		dry=yes
		;;
	esac
done
phases=${phases:-$all}
name=$(echo "$phases" | tr -s ' ' - | sed 's/^-//')
out=${OUT:-$here/out}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'finish; exit 1' HUP INT TERM
mkdir "$work/$name"
cd "$work/$name" || exit 1
mkdir logs captures
# shellcheck source=bench/gpu/steps.sh
. "$here/steps.sh"
# shellcheck source=bench/gpu/place.sh
. "$here/place.sh"

checked() { # checked STEP WHERE NAME OPTIONS...: whether the capture NAME.zst is sound, of which there is a report
	step_name=$1 place=$2 capture=$3
	shift 3
	said "$step_name" "$place" 60 "$python" "$here/check_capture.py" --analyze "$analyze" --report "$capture.json" \
		"$@" "$capture.zst"
}

blame() { # blame STEP WHERE REPORT REPORT FINDINGS TIMES-WITH... -- TIMES-WITHOUT...
	step_name=$1 place=$2 with=$3 without=$4 findings=$5
	shift 5
	said "$step_name" "$place" 30 "$python" "$here/blame.py" --blamed "$with" "$without" --times "$@" --findings "$findings"
}

# ---- works ----

demo() { # demo NAME KNOBS...
	knob_name=$1
	shift
	rm -f "captures/demo-$knob_name".* # of another phase
	run_step "demo-$knob_name" "$on_c" 60 "$on_cuda" env CUDA_INJECTION64_PATH="$tracer" \
		NVTX_INJECTION64_PATH="$tracer" VPTRACE_OUTPUT="$PWD/captures/demo-$knob_name.zst" \
		"$build/vptrace-demo" $demo_size "$@" || return
	if [ -z "$dry" ] && grep -q SIMULATED "logs/demo-$knob_name.out"; then
		note "demo-$knob_name" simulated failed "it ran on the simulated GPU: $(tail -n 1 "logs/demo-$knob_name.out")"
		return
	fi
	report "captures/demo-$knob_name"
	checked "demo-$knob_name-check" "$on_c" "captures/demo-$knob_name" --injected
}

works() {
	if [ -n "$dry" ]; then
		note suite cpu skipped "dry run: it is what runs this"
	elif [ "${VPT_GPU_SUITE:-1}" = 0 ]; then
		note suite cpu skipped "VPT_GPU_SUITE=0"
	elif run_step suite cpu 300 ctest --test-dir "$build" --output-on-failure -j "$(nproc)"; then
		note suite cpu ok "$(grep 'tests passed' logs/suite.out); $(grep -c '(Skipped)' logs/suite.out) skipped"
	else
		grep -E '^[[:space:]]+[0-9]+ - ' logs/suite.out | grep -v '(Skipped)' | while read -r line; do
			note suite cpu failed "$line"
		done
	fi
	step injection "$on_c" 120 "$on_cuda" env VPT_SOURCE_DIR="$root" VPT_BIN="$build" \
		VPT_ANALYZE="$analyze" sh "$root/tests/cli_tracer_injection.sh"
	demo_size="--scale 0.5"
	[ -z "$dry" ] || demo_size="--blocks 2 --steps 2 --layers 2"
	demo plain
	knobs="sync-per-layer graph two-streams offload eager threads vae-at-end"
	[ -z "$dry" ] || knobs=graph
	for knob in $knobs; do
		demo "$knob" "--$knob"
	done
	if [ -n "$dry" ]; then
		note demo.sh simulated skipped "dry run: it builds a second time"
	elif [ ! -e /usr/include/zstd.h ]; then
		note demo.sh "$on_c" skipped "it installs packages that are carried here"
	elif run_step demo.sh "$on_c" 120 sh "$root/bench/demo.sh"; then
		if grep -q SIMULATED logs/demo.sh.out; then
			note demo.sh simulated failed "it did not find the GPU"
		else
			note demo.sh "$on_c" ok "$(grep '^FOUND' logs/demo.sh.out)"
		fi
	fi
	note "vptrace run, vptrace doctor" "$on_c" skipped "there are no such commands yet"
}

# ---- captures ----

# One line a variant: its name, how it is recorded (api, or injected from outside), options of the pipeline.
variants() {
	cat <<-LINES
		flash api
		flash-injected injected
		sync-per-layer api --sync-per-layer
		cuda-graph api --cuda-graph
		cuda-graph-injected injected --cuda-graph
		math api --attention math
		efficient api --attention efficient
		cudnn api --attention cudnn
		two-streams api --two-streams
		vae-at-end api --vae-at-end
		offload api --offload
		offload-pageable api --offload --pageable
		pageable api --pageable
		full-size api --layers 30
		compile api --compile
		compile-injected injected --compile --cuda-graph
	LINES
}

pipeline=$root/bench/pipelines/self_forcing.py
profile=
[ -z "$dry" ] || profile=VPTRACE_PROFILE=none

python_or_skip() { # python_or_skip STEP: whether PyTorch is there
	[ -n "$torch" ] && return
	note "$1" "$on_python" skipped "$why_no_torch"
	return 1
}

needs_gpu() { # needs_gpu OPTIONS: what the CPU's PyTorch cannot do, or takes long for
	case " $* " in
	*" --cuda-graph "* | *" --two-streams "* | *" --compile "* | *" --layers "*) [ -n "$dry" ] ;;
	*" efficient "* | *" cudnn "*) [ -n "$dry" ] ;;
	*) false ;;
	esac
}

one_capture() { # one_capture NAME HOW OPTIONS...
	of=$1
	how=$2
	shift 2
	if needs_gpu "$@"; then
		note "capture-$of" cpu skipped "needs a GPU"
		return
	fi
	file=captures/$of
	limit=90
	checks="--blocks $blocks --steps $steps"
	[ -z "$dry" ] || checks="$checks --ranges-only"
	case $how in
	api)
		set -- --trace "$file.zst" "$@"
		extra=$profile
		;;
	injected)
		extra="$profile CUDA_INJECTION64_PATH=$tracer NVTX_INJECTION64_PATH=$tracer VPTRACE_OUTPUT=$PWD/$file.zst"
		checks="--injected"
		;;
	esac
	if [ -n "$dry" ] && [ "$how" = injected ]; then
		note "capture-$of" cpu skipped "needs a driver, which loads the library"
		return
	fi
	case $of in compile*) limit=180 ;; esac
	step "capture-$of" "$on_python" $limit env $extra "$python" "$pipeline" $size "$@" --events "$file.events.json" || return
	[ -e "$file.zst" ] || {
		note "capture-$of" "$on_python" failed "there is no capture"
		return
	}
	report "$file" --warmup 1
	checked "check-$of" "$on_python" "$file" $checks
	if [ -n "$dry" ]; then
		note "events-$of" cpu skipped "no device times without a GPU"
	else
		said "events-$of" "$on_python" 30 "$python" "$here/compare_events.py" "$file.json" "$file.events.json"
	fi
}

captures() {
	python_or_skip captures || return
	blocks=7
	steps=28
	[ -z "$dry" ] || { blocks=3 && steps=6; }
	variants >variants.txt
	while read -r of how options; do
		one_capture "$of" "$how" $options
	done <variants.txt
	keep
}

# Captures, reports and lines for the README in the form that tests/data/gpu/ wants.
keep() {
	[ -z "$dry" ] || return
	mkdir -p keep
	for capture in captures/*.zst; do
		of=$(basename "$capture" .zst)
		[ -e "captures/$of.events.json" ] || continue
		cp "$capture" "keep/$of.zst"
		(cd keep && "$analyze" "$of.zst" --no-progress >"$of.txt" 2>>../logs/report.err)
		options=$(sed -n "s/^$of [a-z]* *//p" variants.txt)
		echo "| \`$of.zst\` | $(date -u +%Y-%m-%d) | $gpu | $driver_version | \`self_forcing.py $size $options\` |" \
			"(say here what it shows) |"
	done >keep/README-lines.md
}

# ---- compare ----

untraced() { # untraced NAME OPTIONS...: captures/NAME-{1,2}.events.json
	run=$1
	shift
	for number in 1 2; do
		run_step "untraced-$run-$number" "$on_python" 60 "$python" "$pipeline" $size "$@" --repeat 2 \
			--events "captures/$run-$number.events.json" || return
	done
}
traced() { # traced NAME OPTIONS...: captures/NAME.{zst,json}
	run=$1
	shift
	run_step "traced-$run" "$on_python" 60 env $profile "$python" "$pipeline" $size "$@" --repeat 2 \
		--trace "captures/$run.zst" || return
	report "captures/$run"
}

blamed() { # blamed NAME FINDINGS OPTIONS...: against the plain pipeline
	fault=$1
	faults=$2
	shift 2
	untraced "blame-$fault" "$@" && traced "blame-$fault" "$@" || return
	[ -e captures/plain.json ] || return
	blame "blame-$fault" "$on_python" "captures/blame-$fault.json" captures/plain.json "$faults" \
		"captures/blame-$fault-1.events.json" "captures/blame-$fault-2.events.json" -- \
		captures/plain-1.events.json captures/plain-2.events.json
}

# The same with the demo, whose faults are known to the nanosecond on the simulated GPU.
blamed_in_demo() {
	[ -n "$dry" ] || return
	demo_size="--blocks 3 --steps 2 --layers 3"
	demo plain
	for pair in sync-per-layer=sync-drain offload=exposed-copy+blocking-copy eager=eager-attention; do
		knob=${pair%%=*}
		demo "$knob" "--$knob"
		blame "blame-demo-$knob" "$on_c" "captures/demo-$knob.json" captures/demo-plain.json "${pair#*=}" \
			"captures/demo-$knob.json" -- captures/demo-plain.json
	done
}

compare() {
	blamed_in_demo
	python_or_skip compare || return
	if [ -n "$dry" ]; then
		note "torch.profiler" cpu skipped "it sees no kernels without a GPU"
		untraced plain && traced plain && note "blame" cpu skipped "no findings without a GPU"
		return
	fi
	for number in 1 2; do
		run_step "profiler-$number" "$on_python" 90 "$python" "$pipeline" $size \
			--profiler "captures/$number.pt.trace.json.gz"
		run_step "vptrace-$number" "$on_python" 60 "$python" "$pipeline" $size --trace "captures/vptrace-$number.zst"
	done
	said against-profiler "$on_python" 90 "$python" "$here/compare_profiler.py" --analyze "$analyze" \
		--ours captures/vptrace-1.zst captures/vptrace-2.zst \
		--theirs captures/1.pt.trace.json.gz captures/2.pt.trace.json.gz
	untraced plain && traced plain
	blamed sync-per-layer sync-drain --sync-per-layer
	blamed math eager-attention --attention math
	blamed offload exposed-copy+blocking-copy --offload
	blamed offload-pageable exposed-copy+blocking-copy --offload --pageable
	blamed pageable exposed-copy+blocking-copy+sync-drain --pageable
}

# ---- cost ----

cost() {
	PROBE_OUT=$PWD/captures
	export PROBE_OUT
	rounds=12 launches=20000 seconds=5 long=90 loop=3000
	[ -z "$dry" ] || { rounds=3 launches=400 seconds=0.2 long=0.5 loop=300; }
	probe cost-launches "$on_c" 120 "$on_cuda" bin/tracer_probe cost $rounds $launches
	probe cost-graphs "$on_c" 90 "$on_cuda" bin/tracer_probe graphs $rounds 50
	if python_or_skip cost-pytorch; then
		work_of="$here/cost.py loop $device --rounds $rounds --launches $loop"
		said cost-loop "$on_python" 60 env $profile "$python" $work_of
		said cost-loop-profiler "$on_python" 90 "$python" $work_of --variants untraced,profiler
		work_of="$here/cost.py pipeline $device --rounds $rounds"
		video="${size%% *} --blocks 2 --steps 2"
		said cost-pipeline "$on_python" 90 env $profile "$python" $work_of -- $video
		said cost-pipeline-profiler "$on_python" 90 "$python" $work_of --variants untraced,profiler -- $video
	fi
	# What is promised, and then as much as the machine can.
	for threads in 1 4; do
		probe "rate-$threads-threads" "$on_c" 30 "$on_cuda" bin/tracer_probe rate $seconds $threads 110000
		check_rate "rate-$threads-threads"
	done
	for threads in 1 4 16; do
		probe "fastest-$threads-threads" "$on_c" 30 "$on_cuda" bin/tracer_probe rate $seconds $threads
	done
	probe memory "$on_c" 120 "$on_cuda" bin/tracer_probe rate $long 1 110000
	check_memory memory
	for program in ranges decode; do
		if [ -n "$dry" ]; then
			note "bench_tracer_$program" cpu skipped "dry run: it takes seconds"
		elif run_step "bench_tracer_$program" cpu 60 "$build/bench_tracer_$program"; then
			note "bench_tracer_$program" cpu ok "$(tr -s ' \n' ' ;' <"logs/bench_tracer_$program.out" | cut -c1-300)"
		fi
	done
}

number_of() { # number_of PROBE NAME
	awk -F '\t' -v name="$2" '$1 == name { print $2 }' "logs/$1.out"
}

verdict() { # verdict STEP NAME STATUS VALUE UNIT LIMIT
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n' "$1" "$on_c" "$2" "$3" "$4" "$5" "$6" >>"$rows"
}

check_rate() {
	rate=$(number_of "$1" per_second)
	lost=$(awk -F '\t' '$1 ~ /lost/ { n += $2 } END { print n + 0 }' "logs/$1.out")
	[ -n "$rate" ] || return
	status=$(awk -v rate="$rate" -v lost="$lost" 'BEGIN { print (rate >= 100000 && !lost) ? "ok" : "failed" }')
	verdict "$1" "launches a second without loss" "$status" "$rate" "1/s" ">= 100000, and $lost lost = 0"
}

check_memory() {
	half=$(number_of "$1" half.resident)
	late=$(number_of "$1" late.resident)
	[ -n "$late" ] || return
	grown=$(awk -v half="$half" -v late="$late" 'BEGIN { print late - half }')
	status=$(awk -v grown="$grown" 'BEGIN { print (grown <= 8) ? "ok" : "failed" }')
	verdict "$1" "memory grows in the second half by" "$status" "$grown" MiB "<= 8"
}

# ---- questions ----

# The list is that of the design: what each kind of record costs a launch, graphs node by node or whole (cost-graphs above),
# who completes buffers, whether device memory grows with millions of nodes, whether a second capture is right,
# whether real PyTorch is complete (captures and compare above), and what came up since.
questions() {
	PROBE_OUT=$PWD/captures
	export PROBE_OUT
	rounds=12 launches=20000 seconds=4 long=90
	some=20000 many="16 128"
	[ -z "$dry" ] || { rounds=3 launches=400 seconds=0.1 long=0.3 some=1000 many=4; }
	# What does each kind of record cost a launch? All calls, or only launches?
	probe kinds "$on_c" 90 "$on_cuda" bin/cupti_probe kinds $rounds $launches
	# Which thread completes buffers?
	for threads in 1 $many; do
		probe "threads-$threads" "$on_c" 60 "$on_cuda" bin/cupti_probe threads $threads $some
	done
	# What does a flush cost, and does it disturb?
	probe flush "$on_c" 60 "$on_cuda" bin/cupti_probe flush $seconds
	# Every call, callback and record of a small run, for the simulated GPU to imitate.
	probe sequence "$on_c" 30 "$on_cuda" bin/cupti_probe sequence captures/sequence.txt
	# A second capture with CUDA graphs before CUPTI 13.1: are its correlation ids wrong?
	probe sessions "$on_c" 30 "$on_cuda" bin/tracer_probe sessions
	for number in 1 2; do
		report "captures/session$number"
		[ ! -e "captures/session$number.json" ] ||
			checked "session-$number-check" "$on_c" "captures/session$number" --injected
	done
	# Are names read before their library is gone?
	probe unload "$on_c" 30 "$on_cuda" bin/tracer_probe unload
	names=$("$analyze" cat captures/unload.zst --kind kernel --format csv 2>/dev/null |
		grep -o 'probe_gone_[0-9]*' | sort -u | wc -l)
	verdict unload "names of kernels that are gone" "$([ "$names" = 20 ] && echo ok || echo failed)" "$names" "" "= 20"
	# What happens beside torch.profiler?
	if python_or_skip coexist; then
		for case in twice after profiler-during trace-during; do
				said "coexist-$case" "$on_python" 60 env $profile "$python" "$here/coexist.py" $case \
				"captures/coexist-$case.zst" --analyze "$analyze" $device
		done
	fi
	# Does device memory grow beyond 20 million nodes of graphs?
	probe nodes "$on_c" 120 "$on_cuda" bin/tracer_probe nodes $long
	if command -v nsys >/dev/null; then
		note "NVTX with nsys" "$on_c" skipped "nsys is here: try it by hand"
	else
		note "NVTX with nsys" "$on_c" skipped "there is no nsys"
	fi
}

# ---- all of it ----

prepare || note prepare cpu failed "not everything was built"
facts
if [ -x "$analyze" ] && [ -e "$tracer" ]; then
	for phase in $phases; do
		echo "== $phase"
		$phase
	done
fi
finish
exit "$outcome"
