#!/bin/sh
# What is found of steps once their marks are gone, of real traces where they are at hand, and of the demo: the confidence is how often
# it is right.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../../support/cli.sh"
. "$(dirname "$0")/../../support/captures/demo.sh"
need_python 3.6
only_in_plain_build # as fast as Python reads the traces
here=$(cd "$(dirname "$0")" && pwd)
folder=${VPT_SHARED:-$here/../../../../shared}/traces
cd "$work" || exit 1

# row NAME STEPS FILE CODE: adds what is found to the table. An export says how many rows it has: without the marks fewer, so the code is 3.
row() {
	expect "$4" "steps of $1" "$3" --format json --no-predict
	python3 "$here/unmarked.py" row "$1" "$2" <out >>table 2>row.err || fail "$1: no row"
}

# real NAME: a trace of a real GPU, without its marks.
real() {
	for file in "$folder/$1.json.gz" "$folder/$1.sqlite"; do
		[ ! -f "$file" ] || break
	done
	case $file in *.sqlite) to=$1.sqlite ;; *) to=$1.json ;; esac
	steps=$(python3 "$here/unmarked.py" strip "$file" "$to") || fail "$1: not stripped"
	row "$1" "$steps" "$to" 0
}

# again NAME TIMES CODE: the same, several times one after the other: what an iteration or a pass is, is known.
again() {
	steps=$(python3 "$here/unmarked.py" strip "$folder/$1.json.gz" again.json "$2") || fail "$1: not repeated"
	row "$1_x$2" "$steps" again.json "$3"
}

# simulated NAME STEPS KNOBS...: the demo, whose ranges are not exported.
simulated() {
	name=$1 steps=$2
	shift 2
	demo "$name" "$@"
	expect 0 "an export of $name" export "$name.zst" --format chrome -o "$name.whole.json"
	python3 "$here/unmarked.py" strip "$name.whole.json" "$name.json" >stripped || fail "$name: not stripped"
	row "demo_$name" "$steps" "$name.json" 3
}

: >table
if has_demo "steps of the demo's knobs"; then
	simulated plain 12 --blocks 3 --layers 6
	simulated steps 9 --blocks 3 --layers 6 --steps 3
	same "the demo's steps" "plain 12 right, steps 9 right" \
		"$(awk '{ printf "%s%s %s %s", (NR > 1 ? ", " : ""), substr($1, 6), $3, $5 }' table)"
fi
if [ -f "$folder/t4_power_iteration.sqlite" ] && "$VPT_ANALYZE" info "$folder/t4_power_iteration.sqlite" >out 2>err; then
	for name in v100_training_19k a100_graphs_6k h100_missing_launches h100_video_eager_attention b200_overlapping_kernels \
		h100_2gpu_nvtx t4_power_iteration; do
		real $name
	done
	again h100_missing_launches 3 3
	again h100_video_eager_attention 3 0
	again b200_overlapping_kernels 5 0
	again a100_graphs_6k 3 3
	same "real steps" "v100_training_19k 5 5 right, a100_graphs_6k 5 5 right, h100_missing_launches 1 - nothing, h100_video_eager_attention 1 - nothing, b200_overlapping_kernels 0 - nothing, h100_2gpu_nvtx 0 - nothing, t4_power_iteration 44 43 right, h100_missing_launches_x3 3 3 right, h100_video_eager_attention_x3 3 3 right, b200_overlapping_kernels_x5 5 4 right, a100_graphs_6k_x3 15 - nothing" \
		"$(awk '!/^demo/ { printf "%s%s %s %s %s", (n++ ? ", " : ""), $1, $2, $3, $5 }' table)"
else
	echo "SKIPPED: no real traces in $folder: steps of theirs"
fi
cat table
[ -s table ] || [ "$failures" != 0 ] || skip "neither the demo nor real traces"
python3 "$here/unmarked.py" judge <table >judged || fail "confidence says more than it may: $(cat judged table)"
cat judged
finish
