#!/bin/sh
# The tracer's range side, its samplers and its flight recorder under ThreadSanitizer, with less of everything than the ordinary tests. VPT_PERCENT=100 and more for a long run.
set -u
cd "$VPT_SOURCE_DIR" || exit 1
# It builds for itself, whatever is in VPT_BIN.
grep -qs -e '-fsanitize' "${VPT_BIN:-.}/compile_commands.json" && echo "SKIPPED: the build without sanitizers tries it" && exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE=1 -I. -g -O1 -fsanitize=thread"
echo 'int main(void) { return 0; }' >"$work/try.c"
# shellcheck disable=SC2086
if ! $cc $flags -o "$work/try" "$work/try.c" 2>/dev/null || ! "$work/try" 2>/dev/null; then
	echo "SKIPPED: $cc has no ThreadSanitizer that runs here"
	exit 77
fi

# Every object that a test needs, and no other: some bring their own of some.
# shellcheck disable=SC2086
for part in tracer formats; do
	mkdir "$work/$part"
	find "$VPT_SOURCE_DIR/$part" -name '*.c' ! -path '*/import/*' ! -path '*/cli/*' ! -path '*/perfetto/*' ! -path '*/command/*' ! -path '*/doctor/*' >"$work/$part.files"
	(cd "$work/$part" && $cc $flags -I"$VPT_SOURCE_DIR" -c $(cat "$work/$part.files") && ar rcs "$work/$part.a" ./*.o) || exit 1
done
export LD_LIBRARY_PATH="${VPT_BIN:-.}/standin" # its NVML
failed=0
for test in names tsc ranges threads pool nvtx window sampler python_stack stack_samples snapshots session; do
	# shellcheck disable=SC2086
	$cc $flags -o "$work/$test" tests/tracer/*/test_tracer_$test.c "$work/tracer.a" "$work/formats.a" -lcmocka -lzstd -lpthread -ldl -lm || exit 1
	VPT_PERCENT=${VPT_PERCENT:-4} TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$work/$test" >"$work/out" 2>&1 && continue
	echo "FAILED: test_tracer_$test"
	grep -v '^\[ RUN\|^\[       OK' "$work/out" | head -60
	failed=1
done
exit $failed
