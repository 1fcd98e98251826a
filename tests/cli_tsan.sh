#!/bin/sh
# The tracer's range side and its samplers under ThreadSanitizer, with less of everything than the ordinary tests. VPT_PERCENT=100 and more for a long run.
set -u
cd "$VPT_SOURCE_DIR" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE=1 -I. -g -O1 -fsanitize=thread"
parts="budget pool names environment tsc epoch event_words stack started thread threads drain thread_names last_error range_api
	nvtx_event nvtx_injection nvtx_payload nvtx_schemas nvtx_tool trigger pauses window slow_steps
	clock driver gate mail nvml proc sampler
	own_memory python_layout python_threads python_frame python_copies python_stack python_code python_lines code_places
	stack_samples thread_state callers"

echo 'int main(void) { return 0; }' >"$work/try.c"
# shellcheck disable=SC2086
if ! $cc $flags -o "$work/try" "$work/try.c" 2>/dev/null || ! "$work/try" 2>/dev/null; then
	echo "SKIPPED: $cc has no ThreadSanitizer that runs here"
	exit 77
fi

sources=
for part in memory error map strings; do
	sources="$sources $VPT_SOURCE_DIR/formats/$part.c"
done
for part in $parts; do
	sources="$sources $VPT_SOURCE_DIR/tracer/$part.c"
done
# shellcheck disable=SC2086
(cd "$work" && $cc $flags -I"$VPT_SOURCE_DIR" -c $sources) || exit 1
# The stand-in's NVML, unless it was built with another sanitizer.
grep -qs -e '-fsanitize' "${VPT_BIN:-.}/compile_commands.json" || export LD_LIBRARY_PATH="${VPT_BIN:-.}/standin"
failed=0
for test in names tsc ranges threads pool nvtx window sampler python_stack stack_samples; do
	# shellcheck disable=SC2086
	$cc $flags -o "$work/$test" tests/test_tracer_$test.c "$work"/*.o -lcmocka -lpthread -ldl || exit 1
	VPT_PERCENT=${VPT_PERCENT:-4} TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$work/$test" >"$work/out" 2>&1 && continue
	echo "FAILED: test_tracer_$test"
	grep -v '^\[ RUN\|^\[       OK' "$work/out" | head -60
	failed=1
done
exit $failed
