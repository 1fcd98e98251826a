#!/bin/sh
# The options about blocks: what is taken, what is refused with a sentence, and rules for ranges beside those for kernels.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

# Four ranges of 100 ms, each with a kernel of 80 ms that is launched in it.
clips_trace() {
	awk 'BEGIN {
		printf "{\"traceEvents\":[";
		for (i = 0; i < 4; i++) {
			t = 1000 + i * 100000;
			printf "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"clip %d of 12\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":100000},\n",
				(i ? ",\n" : ""), i, t;
			printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},\n",
				t + 5, i + 1;
			printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"mine\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":80000,\"args\":{\"correlation\":%d}}",
				t + 10, i + 1;
		}
		printf "]}";
	}'
}
need_trace clips.zst clips_trace

# ---- rules ----
expect 0 "no name says block" clips.zst --full
says out "MARK"
expect 0 "JSON without blocks" clips.zst --format json
says out '"requests": [],'

printf '# mine\ngemm\t^mine$\nrange block(index,frames)\t^clip ([0-9]+) of ([0-9]+)$\n' >rules
expect 0 "a rule says so" clips.zst --full --rules rules --target 120
says out "FAST ENOUGH: 120 FPS, target 120."
says out "THE MEAN BLOCK (1 to 3, 1 warm-up)"
says out "gemm"
expect 0 "a little more is too much" clips.zst --full --rules rules --target 120.001
says out "TOO SLOW"
says out "3 of 3 blocks are late,"
cases=$((cases + 1))
echo mine | "$VPT_ANALYZE" classify --rules rules >out 2>err || fail "classify takes the same file"
grep -q gemm out || fail "classify knows the family"

printf 'range block\t^clip ([0-9]+)\n' >rules
expect 0 "frames are not guessed" clips.zst --full --rules rules
says out "FPS are not known"
says out "have no frame count"
expect 0 "frames a block" clips.zst --full --rules rules --frames-per-block 12 --first-block-frames 9
says out "RESULT  120 FPS."
says out "45 frames"
expect 0 "latents a block" clips.zst --full --rules rules --latents-per-block 3 --vae-factor 4 --warmup 0
says out "THE MEAN BLOCK (0 to 3, 0 warm-up)"
says out "latents/s"

printf 'gemm\tx\nrange clip\tx\n' >rules
expect 1 "no such kind" clips.zst --rules rules
says err "line 2 of the rules: expected \"range\" and request, block, step, context, stage or none"
silent out

# ---- values ----
for value in 0 0.000 x 1x 1. .5 -1 1.2345 12345678 1e3 ""; do
	expect 2 "--target '$value'" clips.zst --target "$value"
	says err "--target: expected frames per second such as 16 or 23.976"
done
for value in 1 16 23.976 9999999 0.001; do
	expect 0 "--target $value" clips.zst --full --target $value
done
expect 2 "the first block alone" clips.zst --first-block-frames 9
says err "--first-block-frames requires --frames-per-block"
expect 2 "no frames" clips.zst --frames-per-block 0
finish
