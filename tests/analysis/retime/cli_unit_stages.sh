#!/bin/sh
# The mean unit by stage: what the host alone, the recording and the prediction take in each stage, and between stages, adds up to the
# whole; and the host alone takes what a run takes in which kernels take no time.
# shellcheck disable=SC1091,SC2154,SC2086
. "$(dirname "$0")/../../support/cli.sh"
. "$(dirname "$0")/../../support/captures/demo.sh"
need_python 3.6
has_demo "stages of the demo's knobs" || exit 77
cd "$work" || exit 1

# stages NAME: the report's forecast by stage, a line each: name, host, recorded, predicted; the whole first. Nothing where it has none.
stages() {
	expect 0 "a report of $1" "$1.zst" --format json
	python3 -c '
import json, sys
report = json.load(sys.stdin)
f = report["forecast"]
if f["stages"]:
    print("whole", f["host_ms"], f["base_ms"], f["all_ms"] or min([x["predicted_ms"] for x in report["findings"] if x["predicted_ms"]] or [f["base_ms"]]))
for s in f["stages"]:
    print((s["name"] or "between").replace(" ", "_"), s["host_ms"], s["recorded_ms"], s["predicted_ms"])' <out >"$1.stages"
}

adds_up() {
	stages "$1"
	awk 'NR == 1 { for (i = 2; i < 5; i++) whole[i] = $i; next }
		{ for (i = 2; i < 5; i++) { sum[i] += $i; if ($i < -0.001) wrong = 1 } }
		END { for (i = 2; i < 5; i++) if ((d = whole[i] - sum[i]) > 0.001 * NR || d < -0.001 * NR) wrong = 1; exit wrong || NR < 6 }' \
		"$1.stages" || fail "$1: the stages do not add up: $(cat "$1.stages")"
}

demo plain --blocks 4 --layers 6
demo sync --blocks 4 --layers 6 --sync-per-layer
demo slow --blocks 4 --layers 6 --slow-host 90000
demo slowsync --blocks 4 --layers 6 --slow-host 90000 --sync-per-layer
demo offload --blocks 4 --layers 6 --offload
demo atend --blocks 4 --layers 6 --vae-at-end
demo one --blocks 1 --layers 6
demo two --blocks 4 --layers 6 --two-streams
for name in plain sync slow slowsync offload; do
	adds_up $name
done
# The VAE's work is not in blocks, so it is none of their parts.
stages atend
grep -q '^denoise' atend.stages || fail "the VAE at the end: no stages"
grep -q '^vae_decode' atend.stages && fail "the VAE at the end: it is a part of a block"
# Stages overlap: no sum says what a block is made of.
stages two
same "two streams" "" "$(cat two.stages)"
expect 0 "no prediction, no stages" plain.zst --format json --no-predict
grep -q '"stages": \[\]' out || grep -q '"forecast"' out && fail "$rule"

# ---- a run of which only the host is left ----
demo slow_only_host --blocks 4 --layers 6 --slow-host 90000 --scale 0.0001
demo slowsync_only_host --blocks 4 --layers 6 --slow-host 90000 --sync-per-layer --scale 0.0001
for name in slow slowsync; do
	stages ${name}_only_host
	# Copies of frames are not scaled.
	awk 'FNR == NR { host[$1] = $2; next }
		$1 != "whole" && $1 != "to_host" && $1 != "between" {
			n++
			error = (host[$1] - $3) / $3
			if (error > 0.01 || error < -0.01) wrong = wrong " " $1 " " host[$1] " " $3
		}
		END { print wrong; exit wrong || n < 3 }' $name.stages ${name}_only_host.stages >wrong ||
		fail "$name: the host alone, and measured without kernels:$(cat wrong)"
	cases=$((cases + 1))
done
finish
