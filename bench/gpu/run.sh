#!/bin/sh
# Runs everything that needs a machine with a GPU, unattended, in phases of at most 8 minutes.
#
#   sh bench/gpu/run.sh PHASE...          run these phases, or single steps of them
#   sh bench/gpu/run.sh all --minutes 9   run the steps without a result, most important first, for 9 minutes
#   sh bench/gpu/run.sh --list            list the phases and the question of each
#   sh bench/gpu/run.sh --dry-run [PHASE...]   print their steps and time limits; runs nothing, needs no GPU
#
# Each phase can be the first on a machine where nothing is built; an existing build is used. A step that fails or hangs is reported
# in a row of the table, and the next steps run. A step that would not end in the time left is not started, and its row says so. A
# step with a result from the same GPU is not repeated, whatever the result.
#
#   --minutes N        time limit of the run; a phase takes at most 8 minutes in any case
#   --again            repeat steps that have a result
#   --out FOLDER       folder of results (bench/gpu/out), for one kind of GPU: rows.tsv, summary.txt, results.txt, PHASE.tar.gz with logs
#                      and captures, flash.zst; copied to another machine, they show which steps need not run
#   --simulated        use the simulated GPU and, if python3 has PyTorch, the CPU, with tiny sizes; every row is marked so
#
#   OUT                a folder that gets a copy of the results of this run, as they arrive, in few files
#   VPT_BUILD          the build folder (build)
#   VPT_CARRIED        a folder with Debian packages that are missing here (libzstd-dev, libcmocka-dev ...), *.deb; they are
#                      unpacked into the build folder and used from there
#   VPT_GPU_LIBRARIES  folders of libcuda.so.1, libcudart.so.13 and libcupti.so.13, if they are not found
#   VPT_GPU_TORCH=0    omit all steps that need PyTorch
#   VPT_GPU_PLAN       a file with other steps, in the format of plan.sh
#   PYTHON             python3
#
# Exit code: 0 all steps succeeded, now or earlier; 1 a step failed; 2 misuse; 3 none failed, but some were not run, since no time
# was left, or the machine has no GPU or no PyTorch.
#
# The plan's commands are called by name, and options are split into words on purpose:
# shellcheck disable=SC2317,SC2086,SC2031
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/bench/gpu
python=${PYTHON:-python3}
PYTHONDONTWRITEBYTECODE=1
PYTHONUNBUFFERED=1
export PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED
unset VPTRACE_OUTPUT VPTRACE_PROFILE VPTRACE_LIBCUPTI CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK WORLD_SIZE
# shellcheck source=bench/gpu/plan.sh
. "$here/plan.sh"
# shellcheck source=bench/gpu/steps.sh
. "$here/steps.sh"
# shellcheck source=bench/gpu/place.sh
. "$here/place.sh"
# shellcheck source=bench/gpu/c_steps.sh
. "$here/c_steps.sh"
# shellcheck source=bench/gpu/torch_steps.sh
. "$here/torch_steps.sh"

# ---- arguments ----

misused() {
	echo "run.sh: $1" >&2
	echo "usage: sh bench/gpu/run.sh [--simulated] [--again] [--minutes N] [--out FOLDER] PHASE|STEP|all..." >&2
	echo "       sh bench/gpu/run.sh --list | --dry-run [PHASE...]" >&2
	exit 2
}

simulated=
again=
minutes=
words=
action=run
results=
while [ $# -gt 0 ]; do
	case $1 in
	--simulated) simulated=yes ;;
	--again) again=yes ;;
	--list) action=list ;;
	--dry-run) action=plan ;;
	--minutes | --out)
		[ $# -ge 2 ] || misused "$1 needs a value"
		case $1 in --out) results=$2 ;; *) minutes=$2 ;; esac
		shift
		;;
	-*) misused "unknown option $1" ;;
	*)
		[ -n "$(chosen_steps "$1")" ] || misused "unknown phase or step $1; --list and --dry-run list them"
		words="$words $1"
		;;
	esac
	shift
done
case $minutes in
*[!0-9.]* | *.*.* | .) misused "--minutes: expected a number, found '$minutes'" ;;
esac
case $action in
list)
	print_phases
	exit 0
	;;
plan)
	print_plan "${words:-all}" "$minutes"
	exit 0
	;;
esac
[ -n "$words" ] || misused "expected a phase, a step or all"

# ---- where ----

results=${results:-$here/out${simulated:+/simulated}}
mkdir -p "$results" || exit 3
results=$(cd "$results" && pwd)
copies=
if [ -n "${OUT:-}" ]; then
	mkdir -p "$OUT" || exit 3
	copies=$(cd "$OUT" && pwd)
	[ "$copies" != "$results" ] || copies=
fi
touch "$results/rows.tsv" "$results/summary.txt"
build=${VPT_BUILD:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
mkdir -p "$build" || exit 3
build=$(cd "$build" && pwd)
analyze=$build/vptrace-analyze
tracer=$build/libvptrace.so
VPTRACE_LIBRARY=$tracer
export VPTRACE_LIBRARY
look_around
if [ -z "$simulated" ] && [ -z "$gpu" ]; then
	echo "run.sh: not run: no NVIDIA GPU found; use --simulated to run without one" >&2
	exit 3
fi
[ -z "${VPT_CARRIED:-}" ] || use_carried "$VPT_CARRIED" || exit 3

# ---- steps ----

enter_phase() {
	phase_until=$(($(now) + $(least "$phase_seconds" "$(seconds_until "$run_until")")))
	work=$results/work/$phase
	choose_bundle
	unpack_archive
	cd "$work" || exit 1
}

prepare_once() {
	[ -z "$is_prepared" ] || return
	wanted=$step wanted_where=$where
	step=prepare where=$on_cpu
	run_step "$(seconds_until "$phase_until")" prepare # required by all steps
	step=$wanted where=$wanted_where
}

has_time() { # has_time SECONDS
	seconds_left=$(seconds_until "$phase_until")
	[ "$seconds_left" -lt "$1" ] || return 0
	left_out "not run" "no time left: it may take $1 s, $seconds_left s remain"
	return 1
}

# Whether the step can run here and now; if not, a row gives the reason.
is_possible() { # is_possible SECONDS NEEDS
	case $2 in
	gpu-*)
		[ -z "$simulated" ] || {
			left_out skipped "it needs a real GPU"
			return 1
		}
		;;
	esac
	has_time "$1" || return
	prepare_once
	if ! prepared_well; then
		left_out "not run" "not everything was built"
		return 1
	fi
	case $2 in
	*torch)
		[ -n "$torch" ] || {
			left_out "$(either "not run" skipped)" "$why_no_torch"
			return 1
		}
		;;
	esac
	has_time "$1" # preparing took time
}

one_step() { # one_step PHASE STEP SECONDS NEEDS COMMAND...
	step=$2
	case $4 in
	*torch) where=$on_python ;;
	*cpu) where=$on_cpu ;;
	*) where=$on_c ;;
	esac
	known=$(result_of "$step")
	case $again$known in
	ok | failed)
		echo "$phase/$step: $known already, in $results/rows.tsv; --again repeats it"
		return
		;;
	esac
	seconds=$3 needs=$4
	shift 4
	is_possible "$seconds" "$needs" && run_step "$seconds" "$@"
}

stopped() {
	trap '' HUP INT TERM
	echo "run.sh: stopped; the results so far are in $results" >&2
	print_table
	exit 1
}

chosen=$(mktemp) || exit 3
trap 'rm -f "$chosen" "$chosen.rows"' EXIT
trap stopped HUP INT TERM
chosen_steps "$words" >"$chosen"
budget=$(awk -v minutes="$minutes" -v phase="$phase_seconds" '
	{ total += phase * !seen[$1]++ }
	END { print minutes == "" ? total : int(60 * minutes) }' "$chosen")
is_prepared=
bundle=1
bundled=
run_until=$(($(now) + budget))
phase=
while read -r line <&3; do
	set -- $line
	if [ "$1" != "$phase" ]; then
		phase=$1
		enter_phase
		echo "== $phase: $(seconds_until "$phase_until") s"
	fi
	one_step "$@"
done 3<"$chosen"

# ---- the end ----

print_table
{
	[ -z "$is_prepared" ] || rows_of prepare
	while read -r _ name _; do
		rows_of "$name"
	done <"$chosen"
} >"$chosen.rows"
timeout 30 "$python" "$here/table.py" "$chosen.rows"
echo "FILES $results: results.txt, rows.tsv, summary.txt, archives of the phases"
outcome=$(awk -F '\t' "$worst" "$chosen.rows")
case $outcome in
failed) exit 1 ;;
"not run") exit 3 ;;
esac
