#!/bin/sh
# Patterns of the demo's ranks on the simulated GPU: what is planted is named, by rank, with the times that the stand-in logs; and
# a job without a fault has none.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
. "$source/tests/support/outputs/schema.sh"
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] || skip "no demo was built"
need_python 3.8
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_JOB_ID VPT_STANDIN_TIME VPT_STANDIN_DEVICES \
	VPT_STANDIN_FAULTS VPT_STANDIN_RANK VPT_STANDIN_WORLD

# job NAME OPTIONS...: captures NAME/rR.zst; logs NAME.log0 ... in the order of the ranks. With nvtx= without names of groups.
job() {
	job=$1
	shift
	mkdir "$job" "logs-$job"
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=${nvtx-$bin/libvptrace.so} VPTRACE_OUTPUT=$work/$job/r%r.zst \
		VPT_STANDIN_LOG=logs-$job/%p "$demo" --blocks 2 --steps 4 --layers 3 "$@" >out 2>err || fail "$job: the demo failed"
	for log in "logs-$job"/*; do # a rank's device is its rank
		[ -s "$log" ] && mv "$log" "$job.log$(awk '{ print $7; exit }' "$log")"
	done
}

# patterns NAME "PATTERN RANKS..." ...: of a job there are these, and no others but how ranks share the work; `out` is then its screen.
patterns() {
	name=$1
	shift
	expect 0 "$name" ranks "$name" --format json
	cp out "$name.json"
	answers="${answers:-} $name.json"
	found=$(python3 -c '
import json
for p in json.load(open("out"))["patterns"]:
    if p["pattern"] not in ("ulysses", "ring-attention", "cfg-parallel"):
        print(p["pattern"], p["ranks"] + (" for " + p["peers"] if p["peers"] else ""))' | sort | tr '\n' '|')
	same "$name: patterns" "$([ $# = 0 ] || printf '%s\n' "$@" | sort | tr '\n' '|')" "$found"
	expect 0 "$name in words" ranks "$name"
}

job alike --ranks 8
patterns alike

# Two ranks are slow in turns, a pass each; and one alone takes no turns.
job turns --ranks 8 --plant 2:kernel=220,2:turn=0,5:kernel=220,5:turn=1
patterns turns "turns 2, 5"
says out "RANKS 2 and 5 ARE LATE IN TURNS, the others wait for them"
says out "PATTERN Ranks 2, 5 come last in turns"
python3 - turns.log? <<'PY' >answer || fail "turns: $(cat answer)"
import collections, json, sys
rows = collections.defaultdict(list)
for rank, path in enumerate(sys.argv[1:]):
    for words in map(str.split, open(path)):
        if len(words) == 15:
            rows[words[10], "SendRecv" in words[4], int(words[11])].append((int(words[0]), rank))
waits = {}
for key, starts in rows.items():
    waits[key] = max(starts)[0] - min(starts)[0], max(starts)[1], max(starts)[0]
best = {}
for name in {key[:2] for key in rows}:
    own = sorted((w for key, w in waits.items() if key[:2] == name), key=lambda w: w[2])
    some = [w for w in own if w[0]]
    least = sum(w[0] for w in some) // len(some) // 2 + 1 if some else 1
    last = [w[1] for w in own if w[0] >= least and w[1] in (2, 5)]
    best[name] = (sum(w[0] for w in own if w[0] >= least and w[1] in (2, 5)), len(last), sum(a != b for a, b in zip(last, last[1:])))
p = json.load(open("turns.json"))["patterns"][0]
found = p["ns"], p["collectives"], p["changes"]
if found not in best.values():
    sys.exit(print("expected one of", best, "found", found) or 1)
PY
job alone --ranks 8 --plant 2:kernel=220
patterns alone
says out "RANK 2 IS LATE, the others wait for it"
job host-turns --ranks 8 --plant 1:host=900,1:turn=0,6:host=900,6:turn=1,7:host=900,7:turn=2 --steps 6 --sync-per-layer
patterns host-turns "turns 1, 6, 7"

# A capture that ends early: the others go on. It was stopped, or its file was cut; if nothing is left of it, it is damaged.
at=$(awk 'NF == 15 { n++; at[n] = $1; all = $2 } END { print int((at[int(n * 6 / 10)] - 1700000000000000000) / 1000) }' alike.log3)
cp -r alike early
rm early/r3.zst
expect 0 "a capture until then" summarize alike/r3.zst --to "$at"us -o early/r3.vps
expect 0 "a capture that ends early" ranks early --format json
cp out early.json
answers="$answers early.json"
python3 - alike.log? <<'PY' >answer || fail "a capture that ends early: $(cat answer)"
import json, sys
job = json.load(open("early.json"))
rank = job["ranks"][3]
starts = [w for w in map(str.split, open(sys.argv[1])) if len(w) == 15]
lacks = len(starts) - rank["collectives"] - rank["unmatched"]
found = [(p["pattern"], p["ranks"], p["collectives"]) for p in job["patterns"] if p["pattern"] != "ulysses"]
if found != [("truncated", "3", lacks)] or lacks < 3 or job["at_least"] != lacks:
    sys.exit(print(found, lacks, job["at_least"]) or 1)
PY
expect 0 "in words" ranks early
says out "CUT     The capture of rank 3 ends"
says out "$(python3 -c 'import json; print(json.load(open("early.json"))["patterns"][0]["collectives"])') collectives"
# Of a file of two chunks the first is left, with its first collectives: what such a rank works on nothing says. It makes no replica.
job first --ranks 8 --blocks 20 --layers 6
python3 - first/r3.zst <<'PY' >answer || fail "the first chunk: $(cat answer)"
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data[: len(data) // 2])
PY
"$VPT_ANALYZE" ranks first --format json >out 2>err
same "it is no replica" "0 True" "$(python3 -c 'import json
job = json.load(open("out"))
print(job["replicas"], 0 < job["fps"] < 1.1 * max(r["fps"] or 0 for r in job["ranks"]))')"
# Of a late rank whose capture ends early nothing is predicted; it is late only where nobody else is. Others are late as before.
job tardy --ranks 8 --plant 2:host=400,3:host=390
at=$(awk 'NF == 15 { n++; at[n] = $1 } END { print int((at[int(n * 6 / 10)] - 1700000000000000000) / 1000) }' tardy.log3)
for rank in 3 2; do
	cp -r tardy tardy$rank
	rm tardy$rank/r$rank.zst
	expect 0 "a late rank until then" summarize tardy/r$rank.zst --to "$at"us -o tardy$rank/r$rank.vps
	expect 0 "a late rank that ends early" ranks tardy$rank --format json
	cp out tardy$rank.json
	answers="$answers tardy$rank.json"
	expect 0 "in words" ranks tardy$rank
	says out "rank $rank, cut"
	cp out tardy$rank.txt
done
expect 0 "both to the end" ranks tardy
tr -s '\n ' ' ' <out >words
says words "CAUSE Rank 2 had an idle GPU: "
says words "The line of code, if stacks were recorded: vptrace-analyze tardy/r2.zst."
expect 0 "both to the end" ranks tardy --format json
cp out tardy.json
python3 - <<'PY' >answer || fail "late ranks that end early: $(cat answer)"
import json, sys
whole, third, second = (json.load(open(f"tardy{n}.json")) for n in ("", 3, 2))
members = [[f["ranks"] for f in job["fixes"] if f["ranks"]] for job in (whole, third, second)]
cut = [[r["rank"] for r in job["ranks"] if r["cut_ns"]] for job in (whole, third, second)]
late = [job["late_ranks"] for job in (whole, third, second)]
if cut != [[], [3], [2]] or late != ["2, 3", "2", "2"] or any("3" in m for m in members[1]) or any("2" in m for m in members[2]):
    sys.exit(print(members, cut, late) or 1)
# A unit is that of the ranks that are there to the end.
if whole["unit_ns"] != third["unit_ns"]:
    sys.exit(print(whole["unit_ns"], third["unit_ns"]) or 1)
PY
grep -q "RANK 2 IS LATE as far as the capture goes" tardy2.txt || fail "the only late rank ends early: $(grep RESULT tardy2.txt)"
# The late rank's file is cut at a tenth: nothing shows who is late after that, and what is said of the time before is as of the whole.
# With a late rank beside it, that one is named as before.
for late in 5 2; do
	python3 "$source/tests/support/ranks_job.py" tenth$late steps=40 kernel=$late:60000 jitter=3000
	rm tenth$late/truth.json
	expect 0 "rank $late is late" ranks tenth$late
	grep -q "RANK $late IS LATE, the others wait for it: 2[34][0-9] us of each 2.37 ms" out || fail "$rule: $(grep RESULT out)"
	head -c $(($(stat -c %s tenth$late/rank5.json) / 10)) tenth$late/rank5.json >rank5.json
	mv rank5.json tenth$late/rank5.json
	expect 3 "rank $late is late, and rank 5's file is cut" ranks tenth$late
	tr -s '\n ' ' ' <out >words
	says words "CUT The capture of rank 5 ends"
	goes=$([ $late = 2 ] || echo " as far as the capture goes")
	grep -Eq "RESULT RANK $late IS LATE$goes, the others wait for it: 2[1-4][0-9] us of each 2.37 ms" words ||
		fail "$rule: $(grep -o 'RESULT.*FIX' words)"
	grep -Eq "CAUSE Rank $late computed longer: gemm in ProfilerStep.., 2[0-4][0-9] us an iteration more" words ||
		fail "$rule: $(grep -o 'CAUSE.*FIX' words)"
done
python3 "$source/tests/support/ranks_job.py" step steps=40 jitter=1000
rm step/truth.json
head -c $(($(stat -c %s step/rank5.json) / 10)) step/rank5.json >rank5.json && mv rank5.json step/rank5.json
expect 3 "ranks keep step, and a file is cut" ranks step
tr -s '\n ' ' ' <out >words
says words "THE RANKS KEEP STEP as far as their captures go"
says words "What the others wait for one whose capture has ended counts as a transfer."
cp -r alike cut
head -c 3000 alike/r3.zst >cut/r3.zst
expect 3 "a file of which nothing is left" ranks cut
says err "cut/r3.zst: no GPU worked in what is left of it: the file ends inside a chunk"
says out "DAMAGED cut/r3.zst: no GPU worked in what is left of it: "
says out "no capture that can be read of 1 of 8 ranks: 3."
# The same of a file that is whole by its size, and whose only chunk cannot be decoded. Of one byte of a frame nothing may depend.
python3 -c '
b = bytearray(open("alike/r3.zst", "rb").read())
for at in range(len(b) // 2, len(b) // 2 + 16):
    b[at] ^= 255
open("cut/r3.zst", "wb").write(b)'
expect 3 "a file whose chunk is damaged" ranks cut
says err "cut/r3.zst: no GPU worked in what is left of it: 1 damaged chunk left out"
says out "DAMAGED cut/r3.zst: no GPU worked in what is left of it: "
says out "no capture that can be read of 1 of 8 ranks: 3."

# A rank whose kernels are longer throughout: the longest of them is not the cause. One whose matrix products alone are has its own.
# split NAME LONGER OPTION...: of each kernel 6 tenths are a product and the rest attention, or all but 160 us
split() {
	name=$1
	longer=$2
	shift 2
	python3 "$source/tests/support/ranks_job.py" "$name" ranks=4 kernel=2:100000 "$@"
	python3 - "$name" "$longer" <<'PY'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/rank*.json"):
    job = json.load(open(path))
    events = []
    for e in job["traceEvents"]:
        if e.get("cat") == "kernel" and "nccl" not in e["name"]:
            first = e["dur"] * 0.6 if sys.argv[2] == "both" else e["dur"] - 160
            events += [dict(e, dur=first), dict(e, name="flash_fwd_kernel", ts=e["ts"] + first, dur=e["dur"] - first)]
        else:
            events.append(e)
    json.dump(dict(job, traceEvents=events), open(path, "w"))
PY
	rm "$name/truth.json"
	expect 0 "$name" ranks "$name"
	says out "RANK 2 IS LATE"
}
split throughout both
says out "Its kernels are longer throughout, 1.25 times the others'"
tr -s '\n ' ' ' <out >words
says words "See its clock, power and temperature: nvidia-smi"
split slow both 'gauge=*:SM clock=1980' 'gauge=2:SM clock=1584' 'gauge=*:Clocks event reasons=0' 'gauge=2:Clocks event reasons=4'
tr -s '\n ' ' ' <out >words
says words "1.25 times the others': its SM clock is 1,584 MHz, the mean of all 1,881 MHz: power cap."
split products gemm
says out "Rank 2 computed longer: gemm"
grep -q throughout out && fail "products alone are longer: $(grep throughout out)"

# How ranks share the work: each way is named once, from captures and from summaries, and where all only reduce there is none.
shared() { # shared NAME "PATTERN PER_LAYER COLLECTIVES..."
	expect 0 "$1, summarized" summarize "$1" -o shared.vps --force
	for files in "$1" shared.vps; do
		expect 0 "how ranks share the work: $files" ranks "$files" --format json
		same "$rule" "$2" "$(python3 -c 'import json
ways = ("ulysses", "ring-attention", "cfg-parallel")
job = json.load(open("out"))
for p in job["patterns"]:
    assert p["pattern"] not in ways or 0 < p["ns"] < job["unit_ns"] * job["units"], p
print(*("%s %d %d %s" % (p["pattern"], p["per_layer"], p["collectives"], p["ranks"]) for p in job["patterns"] if p["pattern"] in ways), sep=", ")')"
		cp out shared.json
	done
	expect 0 "in words: $1" ranks "$1"
	tr -s '\n ' ' ' <out >words
}
job ulysses --ranks 4
shared ulysses "ulysses 4 120 0 to 3"
answers="$answers shared.json"
says words "Ranks 0 to 3 share attention by Ulysses: 4 exchanges all to all a layer, "
job in-ring --ranks 4 --ring
shared in-ring "ring-attention 0 90 0 to 3"
says words "Ranks 0 to 3 share attention in a ring: they pass keys and values on beside it, "
job in-halves --ranks 4 --cfg-parallel --plant 0:host=200
shared in-halves "ulysses 4 120 0 to 3, cfg-parallel 0 8 0, 2; 1, 3"
says words "Halves of the ranks compute the passes of guidance (CFG parallel): pairs of ranks 0, 2; 1, 3 gather 8 times each, "
python3 "$source/tests/support/ranks_job.py" reduce kernel=3:200000 groups=4 >answer || fail "a job that reduces: $(cat answer)"
rm -f reduce/truth.json
shared reduce ""

# Two halves of the ranks, one with a slow link: nobody is late to its own group, the transfers are 1.5 times as long.
job link --ranks 8 --nodes 2 --cfg-parallel --plant 1:link=150
expect 0 "a slow link" ranks link --format json
cp out link.json
answers="$answers link.json"
python3 - link.log? <<'PY' >answer || fail "a slow link: $(cat answer)"
import json, sys
slow = [p for p in json.load(open("link.json"))["patterns"] if p["pattern"] == "slow-link"]
halves = [p for p in slow if p["ranks"] == "0 to 3"]
if len(halves) != 1 or not halves[0]["collectives"] or abs(2 * halves[0]["found_ns"] - 3 * halves[0]["usual_ns"]) > 1:
    sys.exit(print(slow) or 1)
PY
expect 0 "in words" ranks link
says out "SLOW LINK of ranks 0 to 3"
grep -q "in each of the slow groups" out && fail "$rule: one group is slow, and a rank is named"
# Both groups of a rank are slow: it is at the end of the link. Of gathers the bytes are known.
NCCL_P2P_DISABLE=1 job link-two --ranks 8 --cfg-parallel --plant 1:link=200
expect 0 "a slow link of two groups" ranks link-two --format json
cp out link-two.json
answers="$answers link-two.json"
python3 - <<'PY' >answer || fail "a slow link of two groups: $(cat answer)"
import json, sys
link = json.load(open("link-two.json"))
slow = [p for p in link["patterns"] if p["pattern"] == "slow-link"]
if link["slow_link_ranks"] != "1" or [bool(p["bytes"]) for p in slow if p["collective"] == "all-gather"] != [True]:
    sys.exit(print("the rank", link["slow_link_ranks"], slow) or 1)
PY
expect 0 "in words" ranks link-two
tr -s '\n ' ' ' <out >words
says words "SLOW LINK of rank 1, as in the group of ranks 0 to 3"
says words "CHECK The link of rank 1, which is in each of the slow groups. How these GPUs are connected: nvidia-smi topo -m"
says words "NCCL_DEBUG=INFO. Set: NCCL_P2P_DISABLE=1."
says words "The link of ranks 0 to 3 is slow"
grep -Eq 'Of [0-9.]+ kB it moves [0-9.]+ GB/s, elsewhere [0-9.]+\.' words || fail "$rule: no rate of the gathers"
# In a ring, the messages that pass it.
job ring-link --ranks 8 --ring --plant 4:link=300
expect 0 "a slow link in a ring" ranks ring-link --format json
cp out ring-link.json
answers="$answers ring-link.json"
python3 - <<'PY' >answer || fail "a slow link in a ring: $(cat answer)"
import json, sys
slow = [p for p in json.load(open("ring-link.json"))["patterns"] if p["pattern"] == "slow-link"]
if [p["ranks"] for p in slow] != ["3 to 5"]:
    sys.exit(print(slow) or 1)
PY

expect 0 "in words" ranks ring-link
says out "SLOW LINK of ranks 3 to 5"
grep -q "in each of the slow groups" out && fail "$rule: one group is slow, and a rank is named"
grep -q '^CAUSE' out && fail "$rule: a rank that waits for the link is to blame"

# In one group nothing shows whether the link is slow, and that is said, with the rate: 2 KiB in 80 us, 2 x 7 / 8 of them over the
# bus. Groups side by side that make the same calls tell of each other.
python3 "$source/tests/support/ranks_job.py" one-group steps=5 && rm one-group/truth.json
expect 0 "one group" ranks one-group
tr -s '\n ' ' ' <out >words
says words "LINK Transfers take 15.1 % of the time: all-reduce of 2.05 kB moves 0.045 GB/s over the bus. Whether it should be more does not show"
rates() {
	python3 -c 'import json
print(*((g["call"], g["call_bytes"], g["call_ns"], g["bus_gb_per_s"], g["bus_gb_per_s_most"], g["compared"]) for g in json.load(open("out"))["groups"]))'
}
expect 0 "its rate" ranks one-group --format json
answers="$answers one-group.json"
cp out one-group.json
same "$rule" "('all-reduce', 2048, 80000, 0.045, 0.045, False)" "$(rates)"
python3 "$source/tests/support/ranks_job.py" two-groups steps=5 replicas=4 && rm two-groups/truth.json
expect 0 "two groups" ranks two-groups --format json
each="('all-reduce', 2048, 80000, 0.038, 0.038, True)"
same "$rule" "$each $each" "$(rates)"
expect 0 "two groups, in words" ranks two-groups
grep -q '^LINK' out && fail "$rule: $(grep LINK out)"

# Messages of many sizes, and a late rank: no link is slow.
job ring-turn --ranks 8 --ring --blocks 4 --layers 6 --plant 6:kernel=150,6:turn=0,3:turn=1
expect 0 "a late rank in a ring" ranks ring-turn
says out "RANK 6 IS LATE, the others wait for it"
same "no link is slow" "" "$(grep 'is slow' out)"

# In a ring a late rank is late for its neighbours.
job ring --ranks 8 --ring --plant 6:kernel=400
expect 0 "a late rank in a ring" ranks ring --format json
cp out ring.json
answers="$answers ring.json"
python3 "$source/tests/support/ranks_demo.py" out 0 ring.log? >answer 2>&1 || fail "a late rank in a ring: $(tail -n 1 answer)"
python3 - <<'PY' >answer || fail "a late rank in a ring: $(cat answer)"
import json, sys
late = [(p["ranks"], p["peers"]) for p in json.load(open("ring.json"))["patterns"] if p["pattern"] == "late-peer"]
if sorted(late) != [("6", "5"), ("6", "7")]:
    sys.exit(print(late) or 1)
PY
expect 0 "in words" ranks ring
says out "RANK 6 IS LATE, the others wait for it"
says out "Rank 6 comes late to send/recv"

# A stage of a pipeline has half as much work again: it is late, and that is said of it. What a rank "like the median" would bring its
# neighbours do not tell. Of equal stages nobody has more.
python3 "$source/tests/analysis/ranks/ranks_pipeline.py" pipeline 2
expect 0 "a heavy stage" ranks pipeline --format json
answers="$answers pipeline.json"
cp out pipeline.json
same "$rule" "0 to 3 2 1.500 2" "$(python3 -c 'import json
job = json.load(open("out"))
p = next(p for p in job["patterns"] if p["pattern"] == "pipeline")
print(p["ranks"], p["busiest"], "%.3f" % (p["found_ns"] / p["usual_ns"]), job["late_ranks"])')"
expect 0 "a heavy stage, in words" ranks pipeline
tr -s '\n ' ' ' <out >words
says words "RANK 2 IS LATE"
says words "The stage of rank 2 has 1.50 times the work of the median stage of its pipeline: give some of its layers to others."
says words "are a pipeline: rank 2 computes 8.11 ms an iteration, 1.50 times the median stage; rank 3 waits longest in its bubbles"
grep -q 'like the median' out && fail "$rule: $(grep 'like the median' out)"
python3 "$source/tests/analysis/ranks/ranks_pipeline.py" equal-stages 9
expect 0 "equal stages" ranks equal-stages
grep -q 'median stage' out && fail "$rule: $(grep 'median stage' out)"

schema_of ranks
# shellcheck disable=SC2086
fits "answers are as the schema says" schema.json $answers
finish
