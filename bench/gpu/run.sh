#!/bin/sh
# Everything that only a machine with a GPU can tell, unattended, in pieces of less than 8 minutes.
#
#   sh bench/gpu/run.sh PHASE...          these phases, or single steps of them
#   sh bench/gpu/run.sh all --minutes 9   what is not known yet, what matters most first, for so long
#   sh bench/gpu/run.sh --list            the phases, and what each is to find out
#   sh bench/gpu/run.sh --dry-run [PHASE...]   their steps, and how long each may take; runs nothing, needs no GPU
#
# Each phase can be the first on a machine where nothing is built; what is built already is used. A step that fails or hangs is a
# row in the table, and the others go on. A step that would not end in the time left is not begun, and a row says so. What an
# earlier run has found on the same GPU is not asked again, however it came out.
#
#   --minutes N        the whole run; each phase takes 8 minutes at most in any case
#   --again            asks again
#   --out FOLDER       the results (bench/gpu/out), of one kind of GPU: rows.tsv, summary.txt, results.txt, PHASE.tar.gz with logs
#                      and captures, flash.zst; brought back to a bare machine, they say what need not run
#   --simulated        on the simulated GPU and, where python3 has PyTorch, on the CPU, with tiny sizes; every row says so
#
#   OUT                a folder that gets a copy of what this run finds as soon as it is known, in few files
#   VPT_BUILD          the build folder (build)
#   VPT_CARRIED        a folder with Debian packages that are missing here (libzstd-dev, libcmocka-dev ...), *.deb; they are
#                      unpacked into the build folder and used from there
#   VPT_GPU_LIBRARIES  folders of libcuda.so.1, libcudart.so.13 and libcupti.so.13, where they are not found
#   VPT_GPU_TORCH=0    leaves out whatever needs PyTorch
#   VPT_GPU_PLAN       a file with other steps, in the form of plan.sh
#   PYTHON             python3
#
# Exit code: 0 all steps are well, now or earlier; 1 one has failed; 2 misuse; 3 none failed, but some were not run: no time was
# left, or the machine has no GPU or no PyTorch.
#
# The plan's commands are called by name, and words of options are split on purpose:
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

# ---- what is asked for ----

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
	-*) misused "there is no option $1" ;;
	*)
		[ -n "$(chosen_steps "$1")" ] || misused "there is no phase and no step $1; --list and --dry-run name them"
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
[ -n "$words" ] || misused "which phase?"

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
	echo "run.sh: not run: no NVIDIA GPU answers here; --simulated does without" >&2
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
	run_step "$(seconds_until "$phase_until")" prepare # nothing can be done before
	step=$wanted where=$wanted_where
}

has_time() { # has_time SECONDS
	seconds_left=$(seconds_until "$phase_until")
	[ "$seconds_left" -lt "$1" ] || return 0
	left_out "not run" "no time left: it may take $1 s, and $seconds_left s are left"
	return 1
}

# Whether the step can be run here and now; if not, a row says why not.
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
	has_time "$1" # preparing took its part
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
		echo "$phase/$step: $known already, in $results/rows.tsv; --again asks again"
		return
		;;
	esac
	seconds=$3 needs=$4
	shift 4
	is_possible "$seconds" "$needs" && run_step "$seconds" "$@"
}

stopped() {
	trap '' HUP INT TERM
	echo "run.sh: stopped; what has ended is in $results" >&2
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
