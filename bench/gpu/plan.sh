# plan.sh - the questions for a GPU, most important first: phases, their steps, and their time limits.
# Sourced by run.sh.
#
# A phase takes at most 480 s, including 150 s to prepare: it can be the first on a machine where nothing is built. If that takes
# longer, the last steps are not run.
# shellcheck shell=sh disable=SC2034
phase_seconds=480
prepare_seconds=150

# PHASE QUESTION
phases() {
	cat <<-'LINES'
		works     does it record at all?
		complete  does it find what torch.profiler finds?
		capture   one clean capture of a video, of 1 MiB at most
		variants  variants of the pipeline with one difference each
		cost      what does recording cost?
		questions how does CUPTI behave where the design depends on it?
		blame     does a fix save the time that the report gives?
		predict   does a change bring what a replay predicts?
		more      less important variants
		compile   the pipeline with torch.compile
		suite     do all tests pass with a real driver?
		limits    maximum rates, whole graphs, millions of graph nodes
		soak      does memory stay flat over minutes?
	LINES
}

# PHASE STEP SECONDS NEEDS COMMAND...
# NEEDS: "c" a GPU for C programs, real or simulated; "cpu" none; "torch" PyTorch, on a GPU or the CPU. "gpu-" before it: a real
# GPU. Step names are unique. In a phase, steps that may hang come last.
steps() {
	if [ -n "${VPT_GPU_PLAN:-}" ]; then
		cat "$VPT_GPU_PLAN"
		return
	fi
	cat <<-'LINES'
		works sequence               30 c         sequence
		works demo-plain             40 c         demo plain
		works doctor                 20 gpu-cpu   doctor
		works demo-graph             40 c         demo graph --graph
		works short                  70 torch     capture short api --blocks 2 --steps 2
		works demo-sync-per-layer    40 c         demo sync-per-layer --sync-per-layer
		works demo-two-streams       40 gpu-c     demo two-streams --two-streams
		works demo-offload           40 gpu-c     demo offload --offload
		complete against-profiler   165 gpu-torch against_profiler 1
		complete against-profiler-2 165 gpu-torch against_profiler 2
		capture flash                90 torch     clean_capture flash
		capture full-size           120 gpu-torch capture full-size api --layers 30
		capture flash-injected       80 gpu-torch capture flash-injected injected
		variants sync-per-layer      50 torch     capture sync-per-layer api --sync-per-layer
		variants cuda-graph          50 gpu-torch capture cuda-graph api --cuda-graph
		variants offload             60 torch     capture offload api --offload
		variants math                60 torch     capture math api --attention math
		variants two-streams         50 gpu-torch capture two-streams api --two-streams
		variants pageable            50 torch     capture pageable api --pageable
		cost rate-1-thread           15 c         rate 1
		cost rate-4-threads          15 c         rate 4
		cost cost-launches           55 c         launches cost
		cost cost-loop               50 torch     costs loop untraced,none,lite,default,full
		cost cost-pipeline           60 torch     costs pipeline untraced,default
		cost cost-loop-profiler      45 torch     costs loop untraced,profiler
		cost cost-pipeline-profiler  50 torch     costs pipeline untraced,profiler
		cost cost-graphs             40 c         graphs graphs
		questions kinds              45 c         kinds kinds
		questions threads-1          20 c         threads 1
		questions threads-16         20 c         threads 16
		questions sessions           25 c         sessions
		questions unload             15 c         unloaded
		questions flush              25 c         flushes
		questions threads-128        30 gpu-c     threads 128
		questions coexist-twice      30 torch     coexist twice
		questions coexist-after      30 torch     coexist after
		questions coexist-during     30 torch     coexist profiler-during
		questions coexist-inside     30 torch     coexist trace-during
		questions whole-graphs       20 c         kinds coarse
		blame blame-demo             45 c         blame_in_demo
		blame blame-sync-per-layer   90 gpu-torch blame sync-per-layer sync-drain+small-reads+blocking-copy --sync-per-layer
		blame blame-math             75 gpu-torch blame math eager-attention --attention math
		blame blame-offload          60 gpu-torch blame offload exposed-copy+blocking-copy --offload
		blame blame-pageable         60 gpu-torch blame pageable exposed-copy+blocking-copy+sync-drain --pageable
		predict predict-demo        110 c         predict_in_demo
		more cuda-graph-injected     60 gpu-torch capture cuda-graph-injected injected --cuda-graph
		more efficient               50 gpu-torch capture efficient api --attention efficient
		more cudnn                   50 gpu-torch capture cudnn api --attention cudnn
		more vae-at-end              45 torch     capture vae-at-end api --vae-at-end
		more offload-pageable        60 torch     capture offload-pageable api --offload --pageable
		more demo-eager              30 gpu-c     demo eager --eager
		more demo-threads            30 gpu-c     demo threads --threads
		compile compiled            165 gpu-torch capture compiled api --compile
		compile compiled-injected   165 gpu-torch capture compiled-injected injected --compile --cuda-graph
		suite tests                 330 gpu-cpu   run_tests
		limits fastest-1-thread      15 c         fastest 1
		limits fastest-4-threads     15 c         fastest 4
		limits fastest-16-threads    15 c         fastest 16
		limits ranges                30 gpu-cpu   cpu_program ranges
		limits decode                30 gpu-cpu   cpu_program decode
		limits cost-whole-launches   35 c         launches coarse
		limits cost-whole-graphs     35 c         graphs coarse-graphs
		limits nodes                120 c         nodes
		soak memory                 330 c         memory
	LINES
}

# Seconds of a phase, at most.
seconds_of() { # seconds_of PHASE
	steps | awk -v phase="$1" -v seconds="$prepare_seconds" '$1 == phase { seconds += $3 } END { print seconds }'
}

print_phases() {
	phases | while read -r phase question; do
		printf '%-10s %3d s  %s\n' "$phase" "$(seconds_of "$phase")" "$question"
	done
}

# The steps that are named, or that are of a phase that is named, or all of them.
chosen_steps() { # chosen_steps WORDS
	steps | awk -v words=" $1 " 'index(words, " " $1 " ") || index(words, " " $2 " ") || index(words, " all ")'
}

print_plan() { # print_plan WORDS MINUTES
	chosen_steps "$1" | awk -v prepare="$prepare_seconds" -v minutes="$2" '
		function end_phase() { if (phase != "") printf "  %-22s %3d s in total\n", "", seconds; total += seconds }
		$1 != phase {
			end_phase()
			phase = $1
			seconds = prepare
			printf "%s\n  %-22s %3d s  %s\n", phase, "prepare", prepare, "unpack, build, find CUDA and PyTorch; once per run"
		}
		{
			printf "  %-22s %3d s  %s\n", $2, $3, $4
			seconds += $3
		}
		END {
			end_phase()
			printf "at most %d s if each phase is run alone", total
			printf minutes != "" ? "; this run: at most %s min\n" : "\n", minutes
		}'
}
