#!/bin/sh
# Captures of the demo's ranks on the simulated GPU: `ranks` finds the waits that the stand-in logs, to the nanosecond, and the
# rank that a fault was planted on.
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

# job NAME OPTIONS...: captures NAME/rR.zst; logs NAME.log0 ... in the order of the ranks.
job() {
	job=$1
	shift
	mkdir "$job" "logs-$job"
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/$job/r%r.zst \
		VPT_STANDIN_LOG=logs-$job/%p "$demo" --blocks 2 --steps 2 --layers 3 "$@" >out 2>err || fail "$job: the demo failed"
	for log in "logs-$job"/*; do # a rank's device is its rank
		[ -s "$log" ] && mv "$log" "$job.log$(awk '{ print $7; exit }' "$log")"
	done
}

# found NAME SLACK "WAITING LATEST" OPTIONS...
found() {
	name=$1
	slack=$2
	want=$3
	shift 3
	job "$name" --ranks 4 "$@"
	expect 0 "$name" ranks "$name" --format json
	python3 "$source/tests/support/ranks_demo.py" out "$slack" "$name".log? >answer 2>&1 || fail "$name: $(tail -n 1 answer)"
	[ -z "$want" ] || same "$name: ranks that wait, the rank to blame" "$want" "$(cat answer)"
}

found alike 0 "0 0"
found host 0 "3 2" --plant 2:host=400
found kernel 0 "3 3" --plant 3:kernel=200
found link 0 "0 0" --plant 1:link=150
# What a late start costs is before the first kernel, on the hosts of the others: it is named as such, also from summaries, and no unit has
# it. One by less than a unit is none.
for late in 3:late=200 "3:late=200,1:late=199" 3:late=1; do
	found "$late" 0 "0 0" --plant "$late"
	ranks=$(printf '%s' "$late" | tr ',' '\n' | cut -d : -f 1 | sort | paste -sd , | sed 's/,/, /')
	wants="\"late_start_ranks\": \"$ranks\""
	[ "$late" = 3:late=1 ] && wants='"late_start_ranks": null'
	expect 0 "$late, summarized" summarize "$late" -o late.vps --force
	for files in "$late" late.vps; do
		expect 0 "$late of $files" ranks "$files" --format json
		says out "$wants"
	done
	same "$late: a unit is as without" "$(grep '^  "unit_ns"' out)" "$($VPT_ANALYZE ranks alike --format json | grep '^  "unit_ns"')"
	expect 0 "$late as text" ranks "$late"
	grep '^START' out >words
	[ "$late" = 3:late=200 ] && says words "START   Rank 3 started 200 ms later: the others waited in ncclCommInitRank,"
	[ "$late" = "3:late=200,1:late=199" ] && says words "START   Ranks 1, 3 started 200 ms later"
	[ "$late" = 3:late=1 ] && same "$late: no word" "" "$(cat words)"
done
# Groups that work in step are told apart by the names that NCCL's ranges give them.
found halves 0 "" --cfg-parallel --plant 0:host=200,3:kernel=130
# Rank 1 is late to its group since it waited for rank 5 in another one: rank 5 is late.
job both --ranks 8 --nodes 2 --cfg-parallel --plant 2:host=400,5:kernel=160 --blocks 3 --steps 3 --layers 4
expect 0 "a rank that waited elsewhere" ranks both
says out "RANK 5 IS LATE, the others wait for it"
found graph 0 "" --graph --plant 1:host=100
found streams 0 "" --two-streams --sync-per-layer
expect 0 "the screen" ranks kernel
says out "RANK 3 IS LATE, the others wait for it"
says out "gemm, ffn"
says out "SIMULATED"
says out "The job makes"
# Frames that are decoded after all blocks are not those of a block.
job at-end --ranks 2 --vae-at-end
expect 0 "decoded at the end" ranks at-end
tr -s '\n ' ' ' <out >words
says words "FPS end to end and"
expect 0 "the same as JSON" ranks at-end --format json
says out '"fps_is_end_to_end": true'
# Of one rank alone, what others do is not known: a report and a prediction say so.
expect 0 "the report of one rank" kernel/r0.zst
says out "find the late rank: vptrace-analyze ranks"
expect 0 "what if of one rank" what-if kernel/r0.zst --change 'host 0.5'
tr -s '\n ' ' ' <out >words
grep -q "collectives last as recorded, and only vptrace-analyze ranks knows more" words || fail "$rule: nothing about other ranks"
# Two hosts, a second apart and drifting. Their GPUs have the same numbers, so the logs do not say whose they are.
job hosts --ranks 4 --nodes 2 --plant 2:offset=500,0:offset=-500,0:drift=-50,3:kernel=200
expect 0 "hosts" ranks hosts
says out "RANK 3 IS LATE, the others wait for it"
says out "4 of 4 on 2 hosts"
says out "Clocks: 2, aligned by the ends of collectives"
# Of sends and receives in a ring ranks leave when their neighbours have come, not when all have.
job ring --ranks 8 --nodes 2 --ring --plant 6:kernel=180 --blocks 3 --steps 3 --layers 4
expect 0 "sends and receives" ranks ring
says out "RANK 6 IS LATE, the others wait for it"
grep -q '^TIMES' out && fail "$rule: leaving before the others came is taken for wrong clocks"

# predicts NAME CHANGE WITH: of the job NAME with the change, what the job WITH takes, to 3 %.
predicts() {
	expect 0 "$3" ranks "$3" --format json
	cp out with.json
	expect 0 "$1, $2" ranks "$1" --change "$2" --format json
	python3 - <<'PY' >answer || fail "$1, $2: $(cat answer)"
import json, sys
job, run = json.load(open("out")), json.load(open("with.json"))
found = [f["unit_ns"] for f in job["fixes"] if f["change"] == "asked"]
if len(found) != 1 or job["asked_is_bound"] or abs(found[0] / run["unit_ns"] - 1) > 0.03:
    sys.exit(print("predicted", found, "the run took", run["unit_ns"], "now", job["unit_ns"]) or 1)
PY
}

# The run with the change says what a prediction should: kernels half as long where the GPU limits, and where the host does;
# host code half as long where it limits before, and where the GPU does afterwards.
every=0:kernel=200,1:kernel=200,2:kernel=200,3:kernel=200
shorter="all: scale gemm 0.5 in ffn*"
job kernels --ranks 4 --plant $every
predicts kernels "$shorter" alike
job slow --ranks 4 --slow-host 90000
job slow-kernels --ranks 4 --slow-host 90000 --plant $every
predicts slow-kernels "$shorter" slow
job slow-half --ranks 4 --slow-host 90000 --scale-host 0.5
predicts slow "all: host 0.5" slow-half
job medium --ranks 4 --slow-host 30000 --sync-per-layer
job medium-half --ranks 4 --slow-host 30000 --sync-per-layer --scale-host 0.5
predicts medium "all: host 0.5" medium-half
job all-half --ranks 4 --scale-host 0.5
predicts alike "ranks all: host 0.5" all-half
predicts kernel "rank 3: scale gemm 0.5 in ffn*" alike
job link-double --ranks 4 --plant 0:link=200
predicts alike "all: scale comm 2" link-double
predicts link-double "all: scale comm 0.5" alike
# What needs single calls is refused, and the message says why.
for refused in "all: drop syncs;calls" "3: host 0.5 over 1ms;each stretch" "all: rate HtoD 20;bytes" "all: scale flash* 0.5;families" \
	"all: graph x;launches" "all: steps 2 x;ranges" "0: scale gemm 0.5 on GPU 1;say its rank" "3: scale gemm 2;at most 1" \
	"3: scale all-gather 0.5;all its ranks"; do
	expect 2 "$refused" ranks kernel --change "${refused%%;*}"
	says err "${refused#*;}"
done

# A change is replayed after the rest is freed: a job that is reported within the limit of memory can also be asked about.
if built "$bin/bench_ranks" "the memory of a change"; then
	mkdir many
	"$bin/bench_ranks" 250 4000 -o many || fail "no job of many ranks was made"
	cases=$((cases + 1))
	# Sanitizers keep for a while what is freed.
	python3 - "${VPT_PLAIN:-$VPT_ANALYZE}" many <<'PY' >answer || fail "memory of a change: $(cat answer)"
import os, sys
def most_kb(*change):
    args = [sys.argv[1], "ranks", sys.argv[2], "-j", "1", "-o", "many.txt", "--force", *change]
    status, used = os.wait4(os.spawnv(os.P_NOWAIT, args[0], args), 0)[1:]
    return sys.exit(print("failed:", status, args) or 1) if status else used.ru_maxrss
plain, change = most_kb(), most_kb("--change", "all: host 0.5")
if change > 1.1 * plain:
    sys.exit(print("%d KB, with a change %d KB" % (plain, change)) or 1)
PY
fi

# Two late ranks: while one waits for the other its host is ahead of its GPU, and what it is late with is in no time between collectives.
job eight --ranks 8 --blocks 3 --steps 4 --layers 6
job eight-late --ranks 8 --blocks 3 --steps 4 --layers 6 --plant 3:host=400,5:host=390
expect 0 "none late" ranks eight --format json
cp out with.json
expect 0 "two late ranks" ranks eight-late --format json
python3 - <<'PY' >answer || fail "two late ranks: $(cat answer)"
import json, sys
job, run = json.load(open("out")), json.load(open("with.json"))
found = [f["unit_ns"] for f in job["fixes"] if f["change"] == "like-median" and f["ranks"] == "3, 5"]
if len(found) != 1 or abs(found[0] / run["unit_ns"] - 1) > 0.01 or job["unit_ns"] < 1.05 * run["unit_ns"]:
    sys.exit(print("predicted", found, "the run took", run["unit_ns"], "now", job["unit_ns"]) or 1)
PY

# A capture that was cut lost what it said of its machine, GPU and set-up with its end: these are not another machine's, nor another set-up.
cp -r eight-late cut
head -c $(($(wc -c <eight-late/r6.zst) * 9 / 10)) eight-late/r6.zst >cut/r6.zst
expect 3 "it lacks the host" info cut/r6.zst
grep -q "host = " out && fail "the cut left the host: cut more"
expect 3 "a capture that was cut" ranks cut
says out "RANKS   8 of 8 on 1 host (Simulated H100 each)"
says out "Clocks: one host;"
says out "records are missing from the capture of rank 6"
grep -q SETUP out && fail "$rule: the set-up is blamed: $(grep -A 2 SETUP out)"
says out "RANKS 3, 5"
expect 3 "as JSON" ranks cut --format json
same "$rule: one clock" 1 "$(python3 -c 'import json; print(len(json.load(open("out"))["clocks"]))')"
expect 0 "condensed" summarize cut -o cut.vps
expect 3 "and reported" ranks cut.vps
says out "Clocks: one host;"
# Of which of two machines it was cannot be told.
job far --ranks 4 --nodes 2 --plant 2:offset=500
head -c $(($(wc -c <far/r3.zst) * 9 / 10)) far/r3.zst >r3.zst && mv r3.zst far
expect 3 "one of two machines" ranks far
says out "The capture of rank 3 lost the name of its machine"
says out "Clocks: 2, aligned"
finish
