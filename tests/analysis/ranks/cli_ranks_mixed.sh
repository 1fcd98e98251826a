#!/bin/sh
# Jobs of eight ranks with several faults at once, on the simulated GPU: the screen names what was planted, and waits are those that
# the stand-in logs, on one clock to the nanosecond, on several to their uncertainty.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] || skip "no demo was built"
need_python 3.8
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_JOB_ID VPT_STANDIN_TIME VPT_STANDIN_DEVICES \
	VPT_STANDIN_FAULTS VPT_STANDIN_RANK VPT_STANDIN_WORLD

# job NAME OPTIONS...: captures NAME/rR.zst; logs NAME.log0 ... of the ranks that have one, by the process.
job() {
	job=$1
	shift
	mkdir "$job" "logs-$job"
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/$job/r%r.zst \
		VPT_STANDIN_LOG=logs-$job/%p "$demo" --ranks 8 --blocks 3 --steps 3 --layers 4 "$@" >out 2>err || fail "$job: the demo failed"
	for capture in "$job"/r*.zst; do
		rank=${capture##*/r}
		pid=$("$VPT_ANALYZE" info "$capture" | sed -n 's/.*process \([0-9]*\),.*/\1/p')
		mv "logs-$job/$pid" "$job.log${rank%.zst}"
	done
}

# mixed NAME SLACK "WORDS|..." OPTIONS...: waits are those of the logs, but for SLACK ns a collective; the screen has the words.
mixed() {
	name=$1
	slack=$2
	words=$3
	shift 3
	job "$name" "$@"
	expect 0 "$name" ranks "$name" --format json
	[ -z "$slack" ] || python3 "$source/tests/support/ranks_demo.py" out "$slack" "$name".log? >answer 2>&1 ||
		fail "$name: $(tail -n 1 answer)"
	expect 0 "$name in words" ranks "$name"
	tr -s '\n ' ' ' <out >text
	printf '%s' "$words" | tr '|' '\n' >wanted
	while IFS= read -r word || [ -n "$word" ]; do
		cases=$((cases + 1))
		grep -qF -- "$word" text || fail "$name: expected \"$word\" on the screen"
	done <wanted
}

# Two halves that are in step at the median: the mean of all ends tells whose messages are whose.
mixed halves 0 "8 of 8 on 1 host|all matched|host ran other code, step *" --cfg-parallel --sync-per-layer --plant 5:host=300
mixed straggler "" "RANK 5 IS LATE|host ran other code|no capture of 1 of 8 ranks: 3.|Clocks: 2," \
	--nodes 2 --cfg-parallel --sync-per-layer --plant 5:host=700,1:drift=40,5:drift=-40,3:untraced=1
mixed ring 12000 "RANK 2 IS LATE|Rank 2 computed longer: gemm in ffn|comes late to send/recv: rank 1 waits|rank 3 waits|all matched" \
	--nodes 2 --ring --plant 2:kernel=300,4:offset=500,4:drift=30
mixed causes 0 "RANK 1 IS LATE|Rank 1 had an idle GPU: host ran other code|Rank 6 would be late next: gemm in ffn|1 ranks 1, 6 like the median" \
	--sync-per-layer --plant 1:host=600,6:kernel=220
mixed graphs 0 "RANK 4 IS LATE|Rank 4 computed longer: gemm|100.0 % of all waiting is for rank 4" --graph --plant 4:kernel=250
# Rank 2 joins a communicator with rank 6, which starts late: no kernel tells which of them made the other one late.
mixed begins 12000 "SLOW LINK of ranks 0 to 3|Ranks 2 and 6 started 1|The link of ranks 0 to 3 is slow" \
	--nodes 2 --cfg-parallel --plant 2:link=200,6:late=30,7:skew=900
mixed rings 12000 "RANK 6 IS LATE|gemm in ffn|The link of ranks 0 to 3 is slow|Rank 6 comes late to send/recv|all matched" \
	--nodes 2 --cfg-parallel --ring --plant 6:kernel=250,1:link=150,4:drift=50,4:offset=500
mixed two 0 "RANKS 1 and 5 ARE LATE|1 ranks 1, 5 like the median" --ring --plant 1:kernel=400,1:turn=0,5:kernel=400,5:turn=1
mixed hosts 12000 "RANK 3 IS LATE|host ran other code|Clocks: 4, aligned" \
	--nodes 4 --two-streams --sync-per-layer --plant 3:host=500,2:drift=50,4:offset=-500,6:drift=-50
finish
