# What users build does not depend on the CUDA toolkit that happens to be installed: no header of it reaches the tracer or the
# stand-in, warnings of other compilers are no errors, and the toolkit that is named comes before the system's.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

command -v cmake >/dev/null || skip "cmake is not installed"
kit=$work/toolkit
mkdir -p "$kit/include/nvtx3"
for header in cupti.h cupti_activity.h cuda.h cuda_runtime_api.h nvtx3/nvToolsExt.h nvtx3/nvToolsExtPayload.h; do
	echo "#error $header was included" >"$kit/include/$header"
done
commands=$work/build/compile_commands.json

configured() { # configured RULE OPTIONS...
	rule=$1
	shift
	rm -rf "$work/build"
	cmake -S "$VPT_SOURCE_DIR" -B "$work/build" -DVPT_CUDA_ROOT="$kit" "$@" >"$work/out" 2>"$work/err" || fail "$rule: cmake failed"
	[ -s "$commands" ] || fail "$rule: no compile_commands.json"
}
with() { # with TEXT PATTERN: how many commands contain the text and compile a file of this pattern
	grep '"command":' "$commands" | grep -F -- "$1" | grep -c -- "-c $VPT_SOURCE_DIR/$2"
}

configured "a user's build" -DVPT_TESTS=OFF
same "warnings are no errors" 0 "$(with -Werror '')"
same "the tracer is built" yes "$([ "$(with -D_GNU_SOURCE tracer/)" -gt 30 ] && echo yes)"
same "the tracer includes no toolkit" 0 "$(with "$kit" tracer/)"
same "the demo declares CUDA itself" 0 "$(with VPT_HAVE_CUDA bench/)"
same "the stand-in includes no toolkit" 0 "$(with "$kit" tests/standin/)"
for variable in CUPTI_INCLUDE NVTX_INCLUDE; do
	same "$variable is the named toolkit's" "$kit/include" "$(sed -n "s/^$variable:PATH=//p" "$work/build/CMakeCache.txt")"
done
configured "a developer's build" -DVPT_TESTS=OFF -DVPT_WERROR=ON
same "warnings are errors where that is asked for" 0 "$(($(with '' '') - $(with -Werror '')))"
finish
