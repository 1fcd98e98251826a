#!/bin/sh
# tests/run.sh itself, on a small project: its words, what is skipped, folders that were configured otherwise or for
# another checkout, and what it hides.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
command -v cmake >/dev/null || skip "there is no cmake"

project=$work/project
mkdir -p "$project/tests" "$work/shared"
cp "$source/tests/run.sh" "$source/tests/setup.sh" "$project/tests"
echo secret >"$work/shared/trace"
cat >"$project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(small LANGUAGES NONE)
option(VPT_TESTS "" ON)
file(WRITE ${CMAKE_BINARY_DIR}/program "echo built in ${CMAKE_SOURCE_DIR}\n")
enable_testing()
if(VPT_TESTS)
  add_test(NAME test_damage COMMAND sh -c "echo damaged")
  add_test(NAME test_damage_too COMMAND sh -c "echo damaged")
  add_test(NAME whole COMMAND sh -c "echo 'SKIPPED: no moon'; exit 77")
  add_test(NAME part COMMAND sh ${CMAKE_SOURCE_DIR}/tests/part.sh)
  add_test(NAME all COMMAND sh ${CMAKE_BINARY_DIR}/program)
  set_tests_properties(whole part all PROPERTIES SKIP_RETURN_CODE 77)
endif()
CMAKE
cat >"$project/tests/part.sh" <<'PART'
[ -e "$(dirname "$0")/../../shared/trace" ] || echo "SKIPPED: no shared traces"
for file in /usr/local/cuda*/* /opt/cuda*/*; do
	[ ! -e "$file" ] || echo "found $file"
done
echo "python3 is $(command -v python3)"
PART

# run_in FOLDER CODE RULE WORDS...
run_in() {
	folder=$1
	wanted=$2
	rule=$3
	shift 3
	cases=$((cases + 1))
	sh "$folder/tests/run.sh" "$@" >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
}

# What the bare run and the quick one leave out are tests of this project.
for list in without_cuda long; do
	case $list in
	long) left_out=$(sed '/^#/d; s/ .*//; s/_3[.][0-9]*$//' "$source/tests/long_tests.txt") ;;
	*) left_out=$(awk 'index($0, "without_cuda=\"") == 1 { on = 1 } on { print } on && /"$/ { exit }' "$source/tests/run.sh" |
		tr -d '\\\n' | sed 's/^without_cuda="//; s/"$//' | tr '|' '\n' | sed 's/_3[.][0-9]*$//') ;;
	esac
	for test in $left_out; do
		same "$test is a test" 1 "$(find "$source/tests" -name "$test.c" -o -name "$test.sh" | wc -l | tr -d ' ')"
	done
	same "they were read" yes "$([ "$(echo "$left_out" | wc -w)" -ge 7 ] && echo yes)"
done

for words in quik "quick quick" --quick; do
	run_in "$project" 2 "refused: $words" $words
	says err "usage: sh tests/run.sh [quick|bare]"
	silent out
	[ ! -e "$project/build" ] || fail "$words starts a build"
done
run_in "$project" 0 "help" --help
says out "usage: sh tests/run.sh [quick|bare]"

# ---- what was skipped ----
mkdir "$work/launcher"
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v python3)" >"$work/launcher/python3"
chmod +x "$work/launcher/python3"
path=$PATH
PATH=$work/launcher:$PATH
run_in "$project" 0 "a first run" quick
PATH=$path
says out " test_damage ."
same "tests start the interpreter, not its launcher" "python3 is $(python3 -c 'import sys; print(sys.executable)')" \
	"$(grep '^python3 is' "$project/build/Testing/Temporary/LastTest.log")"
says out "Skipped, wholly or in part:"
says out "  no moon (whole)"
grep -q "shared traces" "$work/out" && fail "what was there counts as skipped"
echo 'exit 1' >"$project/tests/part.sh.fails"
mv "$project/tests/part.sh" "$work/part.sh" && mv "$project/tests/part.sh.fails" "$project/tests/part.sh"
run_in "$project" 8 "a test fails" quick
says out "  no moon (whole)"
mv "$work/part.sh" "$project/tests/part.sh"

# ---- folders that were configured otherwise ----
cmake -S "$project" -B "$project/build" -DVPT_TESTS=OFF >/dev/null || fail "no build without tests"
run_in "$project" 0 "a folder without tests gets them" quick
says out "100% tests passed"
sed -i 's/^if(VPT_TESTS)/if(FALSE)/' "$project/CMakeLists.txt"
run_in "$project" 8 "no test at all is a failure" quick
sed -i 's/^if(FALSE)/if(VPT_TESTS)/' "$project/CMakeLists.txt"

cp -r "$project" "$work/copy"
run_in "$work/copy" 0 "a copied checkout" quick
says out "build/ was configured for $(cd "$project" && pwd -P); configuring and building it again"
grep -q "built in $(cd "$work/copy" && pwd -P)" "$work/copy/build/Testing/Temporary/LastTest.log" ||
	fail "the copy ran the programs of the original"
mv "$work/copy" "$work/renamed"
run_in "$work/renamed" 0 "a renamed checkout" quick
says out "configuring and building it again for $(cd "$work/renamed" && pwd -P)"
run_in "$work/renamed" 0 "once only" quick
grep -q "building it again" "$work/out" && fail "configured again without need"

# ---- without CUDA and ../shared ----
run_in "$project" 0 "the bare run" bare
if unshare -m mount -t tmpfs none "$project/tests" 2>/dev/null; then
	says out "Left to the other builds, since neither CUDA nor ../shared changes them: cli_bad_input "
	says out " test_damage_too ."
	! grep -q " test_damage \." "$work/out" || fail "$rule: it runs what it says is left out"
	says out "  no shared traces (part)"
	grep -q "found /" "$project/build-bare/Testing/Temporary/LastTest.log" && fail "CUDA was not hidden"
	[ -e "$work/shared/trace" ] || fail "../shared is hidden from others"
	[ -n "$(ls -A "$project/tests")" ] || fail "the try to mount was seen by others"
else
	says out "SKIPPED: tests/run.sh bare"
	echo "SKIPPED: the bare run: unshare -m with mount is not permitted here"
fi
rm -r "$work/shared"

# ---- the objects of another build ----
if have ninja "the objects of another build" && have cc "the objects of another build"; then
	mkdir -p "$work/taken/gone" && cd "$work/taken" || exit 1
	cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(taken LANGUAGES C)
option(GREEN "" OFF)
add_executable(dropped dropped.c)
add_executable(kept one.c two.c three.c)
if(GREEN)
  set_source_files_properties(two.c PROPERTIES COMPILE_DEFINITIONS GREEN=1)
  set_target_properties(dropped PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
CMAKE
	echo 'int main(void) { return 0; }' | tee one.c >dropped.c
	echo '#ifdef GREEN
int two = 2;
#endif' >two.c
	printf '#if __has_include("gone/three.h")\n#include "gone/three.h"\n#endif\n' >three.c
	echo 'int three;' >gone/three.h
	cases=$((cases + 1))
	(
		. "$source/tests/setup.sh"
		# A compiler's cache may know the files of another folder, and so other headers.
		unset CMAKE_C_COMPILER_LAUNCHER
		configure first && build first >out && rm -r gone && take_objects second first && configure second -DGREEN=ON && build second
	) >"$work/out" 2>"$work/err" || fail "a build with the objects of another one"
	same "what is compiled again" "three.c.o two.c.o" "$(grep -o 'Building C object .*' "$work/out" | sed 's|.*/||' | sort | tr '\n' ' ' | sed 's/ $//')"
	same "what is linked is new" "kept" "$(cd second && ls -d dropped kept 2>/dev/null)"
	cd "$work" || exit 1
fi

# ---- packages that are missing, and no right to install them ----
mkdir "$work/bin"
for tool in sh dirname tr; do
	ln -s "$(command -v $tool)" "$work/bin/$tool"
done
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/sudo"
chmod +x "$work/bin/id" "$work/bin/sudo"
(PATH=$work/bin; export PATH; run_in "$project" 1 "packages are missing" quick; exit $failures) || failures=1
says err "    sudo apt-get update && sudo apt-get install -y --no-install-recommends "
says err " protobuf-compiler"
finish
