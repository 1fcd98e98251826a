# torch_steps.sh - the plan's steps in PyTorch: captures of the video pipeline, torch.profiler, what recording costs.
# Sourced by run.sh.
#
# Each runs in the phase's folder under the step's limit, and says rows. Words of options are split on purpose:
# shellcheck shell=sh disable=SC2086,SC2154
pipeline=$root/bench/pipelines/self_forcing.py

record_video() { # record_video NAME api|injected OPTIONS...: captures/NAME.zst, NAME.events.json and the report
	video=captures/$1
	how=$2
	shift 2
	rm -f "$video".* # of an earlier time
	case $how in
	api)
		set -- --trace "$video.zst" "$@"
		extra=$profile
		;;
	injected)
		extra="CUDA_INJECTION64_PATH=$tracer NVTX_INJECTION64_PATH=$tracer VPTRACE_OUTPUT=$work/$video.zst"
		;;
	esac
	run "$(basename "$video")" 165 env $extra "$python" "$pipeline" $size "$@" --events "$video.events.json" || return
	[ -e "$video.zst" ] || {
		note failed "there is no capture"
		return 1
	}
	report "$video" --warmup 1
}

# How many blocks and steps a capture of the pipeline must have: those of its size, or of the options.
expected_ranges() { # expected_ranges OPTIONS...
	blocks=$(either 7 3) per_block=$(either 4 2)
	while [ $# -gt 0 ]; do
		case $1 in
		--blocks) blocks=$2 ;;
		--steps) per_block=$2 ;;
		esac
		shift
	done
	echo "--blocks $blocks --steps $((blocks * per_block))" "$(either "" --ranges-only)"
}

# capture NAME api|injected OPTIONS...: recorded by the Python module, or from outside a program that does not ask for it
capture() {
	record_video "$@" || return
	case $how in
	api) checks=$(expected_ranges "$@") ;;
	injected) checks=--injected ;;
	esac
	checked "$video" $checks
	[ -n "$simulated" ] ||
		said "events-$(basename "$video")" 30 "$python" "$here/compare_events.py" "$video.json" "$video.events.json"
	keep_for_tests "$@"
}

# What tests/data/gpu/ wants of a capture: its report, made in its own folder, and a line for the README.
keep_for_tests() { # keep_for_tests NAME HOW OPTIONS...
	[ -z "$simulated" ] || return
	kept=$1
	shift 2
	(cd captures && limited 60 "$analyze" "$kept.zst" --no-progress >"$kept.txt" 2>>../logs/report.err)
	echo "| \`$kept.zst\` | $(date -u +%Y-%m-%d) | $gpu | $driver_version | \`self_forcing.py $size $*\` |" \
		"(describe what it shows) |" >"captures/$kept.line"
}

# A capture on its own, in reach of whoever brings results home file by file. One that is too large is made again, shorter.
clean_capture() { # clean_capture NAME
	rm -f "$results/$1.zst"
	capture "$1" api
	size_limit=1048576
	if [ -e "captures/$1.zst" ] && [ "$(wc -c <"captures/$1.zst")" -gt $size_limit ]; then
		note measured "larger than 1 MiB: recorded again with 3 blocks"
		capture "$1" api --blocks 3
	fi
	[ -e "captures/$1.zst" ] && cp "captures/$1.zst" "$work/clean" && place "$work/clean" "$1.zst"
}

# ---- torch.profiler ----

# The NUMBERth pair of runs; all pairs that are there are compared.
against_profiler() { # against_profiler NUMBER
	run "profiler-$1" 90 "$python" "$pipeline" $size --profiler "captures/$1.pt.trace.json.gz" || return
	rm -f "captures/vptrace-$1.zst"
	run "vptrace-$1" 60 "$python" "$pipeline" $size --trace "captures/vptrace-$1.zst" || return
	said "compare-$1" 90 "$python" "$here/compare_profiler.py" --analyze "$analyze" --ours captures/vptrace-?.zst \
		--theirs captures/?.pt.trace.json.gz
}

coexist() { # coexist CASE
	said "coexist-$1" 60 env $profile "$python" "$here/coexist.py" "$1" "captures/coexist-$1.zst" --analyze "$analyze" $device
}

costs() { # costs loop|pipeline VARIANTS
	rounds=$(either 12 3)
	video_size=
	[ "$1" = loop ] || video_size="-- ${size%% *} --blocks 2 --steps 2"
	said "$step" 90 env $profile "$python" "$here/cost.py" "$1" $device --rounds "$rounds" --launches "$(either 3000 300)" \
		--variants "$2" $video_size
}

# ---- what a report blames, against what the run without the fault saves ----

untraced() { # untraced NAME OPTIONS...: captures/NAME-{1,2}.events.json
	untraced_name=$1
	shift
	for number in 1 2; do
		run "untraced-$untraced_name-$number" 60 "$python" "$pipeline" $size "$@" --repeat 2 \
			--events "captures/$untraced_name-$number.events.json" || return
	done
}

traced() { # traced NAME OPTIONS...: captures/NAME.{zst,json}
	traced_name=$1
	shift
	rm -f "captures/$traced_name.zst"
	run "traced-$traced_name" 60 env $profile "$python" "$pipeline" $size "$@" --repeat 2 \
		--trace "captures/$traced_name.zst" || return
	report "captures/$traced_name"
}

# blame NAME FINDINGS OPTIONS...: against the plain pipeline, which the first of them records
blame() {
	fault=$1
	findings=$2
	shift 2
	if [ ! -e captures/plain.json ]; then
		untraced plain && traced plain || return
	fi
	untraced "blame-$fault" "$@" && traced "blame-$fault" "$@" || return
	said "compare-$fault" 30 "$python" "$here/blame.py" --blamed "captures/blame-$fault.json" captures/plain.json \
		--times "captures/blame-$fault-1.events.json" "captures/blame-$fault-2.events.json" -- \
		captures/plain-1.events.json captures/plain-2.events.json --findings "$findings"
}
