#!/bin/sh
# Every script here fails where the programs do nothing: against stubs that print nothing and exit with 0, and with 1. A test that passes
# against them tests nothing.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
SECONDS_MAX=100
export SECONDS_MAX

# Those that run none of these programs, and what they test instead.
without() {
	cat <<'SCRIPTS'
cli_rooms: the sources
cli_stubs: this one
cli_tidy: the sources
cli_tsan: a build of its own
cli_unused: the object files
cli_user_build: how the sources are configured
cli_python_layout: the headers of Python
cli_stacks_torn: a library that a Python loads
cli_nvtx: a library and hosts that it compiles
cli_run: tests/run.sh
SCRIPTS
}

# fake FOLDER CODE: a build folder, whose programs are stubs; libraries and pages are the real ones, build rules are left out
fake() {
	mkdir -p "$1/standin"
	printf '#!/bin/sh\nexit %d\n' "$2" >"$1/stub"
	chmod +x "$1/stub"
	for file in "$bin"/* "$bin"/standin/*; do
		name=${file#"$bin"/}
		case $name in
		CMake* | *.cmake | *.ninja | Makefile | compile_commands.json | Testing | gpu-probes | standin | */CMakeFiles) ;;
		*.so | *.so.* | *.a) ln -s "$file" "$1/$name" ;;
		*) if [ -f "$file" ] && [ -x "$file" ]; then cp "$1/stub" "$1/$name"; else ln -s "$file" "$1/$name"; fi ;;
		esac
	done
}

# try SCRIPT CODE: its last line in NAME.CODE.line and its exit code in NAME.CODE.code
cat >"$work/try" <<'TRY'
name=${1##*/}
cd "$3" || exit
VPT_FIRST_FAILURE=1 VPT_BIN=$3/bin$2 VPT_ANALYZE=$3/bin$2/vptrace-analyze timeout "$SECONDS_MAX" sh "$1" >"$3/$name.$2.out" 2>&1 </dev/null
echo $? >"$3/$name.$2.code"
TRY

fake "$work/bin0" 0
fake "$work/bin1" 1
[ -x "$work/bin0/vptrace-analyze" ] || fail "no program to replace in $bin"
without >"$work/without"
: >"$work/list"
# Those that do most before they run one of them come first.
for script in "$source/tests/python/cli_marks.sh" "$source/tests/run/cli_gpu_bench.sh" "$source/tests/python/cli_marks_script.sh" $(find "$source/tests" -name 'cli_*.sh' | sort); do
	grep -qxF "$script 0 $work" "$work/list" && continue
	name=${script##*/}
	if grep -q "^${name%.sh}: " "$work/without"; then
		grep -q 'VPT_ANALYZE\|expect [0-9]\|need_trace' "$script" && [ "$name" != cli_stubs.sh ] && fail "$name runs vptrace-analyze"
		continue
	fi
	printf '%s 0 %s\n%s 1 %s\n' "$script" "$work" "$script" "$work" >>"$work/list"
done
xargs -P 2 -L 1 sh "$work/try" <"$work/list"

scripts=0
while read -r script code _; do
	name=${script##*/}
	result=$(cat "$work/$name.$code.code")
	scripts=$((scripts + 1))
	cases=$((cases + 1))
	case $result in
	0) fail "$name passes where every program exits with $code: $(tail -n 1 "$work/$name.$code.out")" ;;
	77) echo "SKIPPED: $name: $(sed -n 's/^SKIPPED: //p' "$work/$name.$code.out" | tail -n 1)" ;;
	124) fail "$name takes more than $SECONDS_MAX s where every program exits with $code" ;;
	esac
done <"$work/list"
[ $scripts -ge 100 ] || fail "expected 100 runs or more, found $scripts"
finish
