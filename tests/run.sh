#!/bin/sh
# Sets up, builds and tests everything: `sh tests/run.sh` on a fresh Debian 12 machine.
#
#   sh tests/run.sh            release build, then the sanitizers' build, all tests in both
#   sh tests/run.sh quick      release build only, without the longest tests
#   sh tests/run.sh bare       release build only, with CUDA and ../shared hidden, as on a machine that has neither; without what that
#                              cannot change
#
# Missing packages are installed where that is possible (as root, or with sudo that asks for no password);
# otherwise the one line to run is printed. Builds go to build/, build-sanitize/ and build-bare/, which takes the objects of build/ that
# would be the same. The end lists what was skipped, and why.
set -eu

usage() {
	echo "usage: sh tests/run.sh [quick|bare]"
	echo "  without a word: release build and sanitizers' build, all tests in both"
	echo "  quick: release build only, without the longest tests; bare: release build only, with CUDA and ../shared hidden"
}
mode=${1:-all}
case $#,$mode in
0,all | 1,quick | 1,bare | 1,hidden) ;; # hidden: bare, once everything is hidden
1,-h | 1,--help)
	usage
	exit 0
	;;
*)
	usage >&2
	exit 2
	;;
esac
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091
. tests/setup.sh
need python3 python3 # independent readers and models of the tests
need protoc protobuf-compiler # decodes exports for Perfetto

tested=
build_and_test() { # build_and_test FOLDER CMAKE-OPTIONS...
	configure "$@" -DVPT_TESTS=ON -DVPT_WERROR=ON -DVPT_LAYOUT_CHECKS=ON # also where the folder was configured otherwise
	tested="$tested $1"
	build "$1"
	(cd "$1" && ctest --no-tests=error --output-on-failure -j "$(nproc 2>/dev/null || echo 2)" ${left_out:+-E "^($left_out)$"} ${long:+-LE long}) || finish $?
}

# Tests that neither CUDA nor ../shared can change, and that take long: the bare run leaves them to the others.
without_cuda="cli_bad_input|cli_clocks|cli_compare|cli_compare_page|cli_compare_ranks|cli_compare_schema|cli_compilers|cli_convert|\
cli_corpus|cli_decode|cli_export|cli_export_chrome|cli_export_merged|cli_export_ranks|cli_export_rows|cli_export_ties|\
cli_fail_if_predicted|cli_import_zero|cli_load|cli_mark_lines|cli_marks|cli_marks_script|cli_marks_shadow|cli_migrate|cli_output|\
cli_packages|cli_page|cli_pager|cli_pip|cli_ranks|cli_ranks_inputs|cli_ranks_mixed|cli_ranks_mpi|cli_ranks_page|cli_ranks_patterns|\
cli_report_schema|cli_rooms|cli_run_ring|cli_run_slurm|cli_run_windows|cli_said|cli_screen|cli_seeds|cli_simulate|cli_smallest|\
cli_stacks_late|cli_stacks_lines_3.10|cli_stacks_lines_3.11|cli_stacks_lines_3.12|cli_stacks_lines_3.13|cli_stacks_lines_3.9|\
cli_stacks_torn_3.10|cli_stacks_torn_3.11|cli_stacks_torn_3.12|cli_stacks_torn_3.13|cli_stacks_torn_3.9|cli_stacks_workers|cli_stdin|\
cli_stubs|cli_tidy|cli_trend|cli_tsan|cli_unused|cli_verdict|cli_watch|cli_what_if_order|cli_what_if_schema|test_analysis_properties|\
test_arrow_stream|test_blocks_random|test_causes|test_compare|test_compare_noise|test_compare_series|test_damage|test_floods|\
test_growth|test_loop_levels|test_perfetto_export|test_renderers|test_replay_model|test_tracer_fault_moments|test_tracer_two_clients|\
test_unit"
left_out= long=

# What the tests in these folders did not try: the lines "SKIPPED: REASON" of their output, each reason once, with its tests.
list_skipped() { # list_skipped FOLDER...
	for folder; do
		awk '/^[0-9]+\/[0-9]+ Test: / { test = $3 } /^SKIPPED: / { print substr($0, 10) "\t" test }' \
			"$folder/Testing/Temporary/LastTest.log"
	done | awk -F '\t' '
		seen[$0]++ { next }
		!count[$1]++ { order[++reasons] = $1 }
		{ tests[$1] = tests[$1] (count[$1] > 1 ? ", " : "") $2 }
		END { for (i = 1; i <= reasons; i++) print "  " order[i] " (" tests[order[i]] ")" }
	'
}

finish() { # finish STATUS
	# shellcheck disable=SC2086
	skipped=$(list_skipped $tested)
	if [ -n "$skipped" ]; then
		echo "Skipped, wholly or in part:"
		echo "$skipped"
	else
		echo "Nothing was skipped."
	fi
	exit "$1"
}

# Runs this script again where empty folders hide CUDA and ../shared, from it alone.
run_bare() {
	hidden=
	for folder in /usr/local/cuda* /opt/cuda* ../shared; do
		[ ! -d "$folder" ] || hidden="$hidden $folder"
	done
	if [ -z "$hidden" ]; then
		echo "tests/run.sh bare: there is neither CUDA nor ../shared here, so there is nothing to hide"
		exec sh tests/run.sh hidden
	fi
	if ! unshare -m mount -t tmpfs none tests 2>/dev/null; then
		echo "SKIPPED: tests/run.sh bare: unshare -m with mount is not permitted here, so it cannot hide$hidden"
		exit 0
	fi
	echo "tests/run.sh bare: hides$hidden"
	# shellcheck disable=SC2016,SC2086
	exec unshare -m sh -c '
		for folder; do
			mount -t tmpfs none "$folder" || exit
		done
		unset CUDA_HOME CUDA_PATH VPT_SHARED
		exec sh tests/run.sh hidden' sh $hidden
}

install_packages tests/run.sh
# The tests start it some thousand times: the interpreter itself, not a launcher such as pyenv's, which takes longer than Python.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || python=
[ ! -x "$python" ] || [ "$python" = "$(command -v python3)" ] || PATH=${python%/*}:$PATH
export PATH
case $mode in
bare)
	run_bare
	;;
hidden)
	left_out=$without_cuda
	# The rest of their random cases are the other builds'.
	export VPT_PAIRS=140 VPT_SCHEDULES=64
	echo "Left to the other builds, since neither CUDA nor ../shared changes them: $(echo "$left_out" | tr '|' ' ')"
	take_objects build-bare build
	build_and_test build-bare -DCMAKE_BUILD_TYPE=Release -DVPT_SANITIZE=OFF
	;;
*)
	if [ "$mode" = quick ]; then
		long=1
		echo "Left to a run without \"quick\", since they take long: those of tests/long_tests.txt"
	fi
	build_and_test build -DCMAKE_BUILD_TYPE=Release -DVPT_SANITIZE=OFF
	if [ "$mode" = all ]; then
		VPT_PLAIN=$PWD/build/vptrace-analyze # the same bytes need no second look
		export VPT_PLAIN
		build_and_test build-sanitize -DCMAKE_BUILD_TYPE=Release -DVPT_SANITIZE=ON
	fi
	;;
esac
finish 0
