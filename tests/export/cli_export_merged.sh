#!/bin/sh
# The traces of several ranks become one file of Chrome's JSON: every event once, on one clock, the processes of a rank under its name;
# read back, it is the same job.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1

# merged RULE SLACK OPTION...: a job's traces in one file, against each by itself and what is true of the job
merged() {
	what=$1
	slack=$2
	shift 2
	rm -rf job ./*.json
	python3 "$source/tests/support/ranks_job.py" job "$@"
	mv job/truth.json truth.json
	expect 0 "$what" export job/rank*.json --format chrome --compress none -o all.json
	says err "wrote "
	expect 0 "$what, as it was" ranks job/rank*.json --format json
	cp out was
	expect 0 "$what, read back" ranks all.json --format json
	cp out back
	for file in job/rank*.json; do
		expect 0 "$what: $file alone" export "$file" --format chrome --compress none -o "$(basename "$file")"
	done
	cases=$((cases + 1))
	python3 - "$slack" <<'PY' >wrong || fail "$what: $(cat wrong)"
import collections, glob, json, re, sys
slack = int(sys.argv[1])
job, truth, all_of = json.load(open("back")), json.load(open("truth.json")), json.load(open("all.json"))
def check(holds, *what):
    if not holds:
        sys.exit(print(*what) or 1)
for key in ("wait_ns", "blame_ns"):
    found = [r[key] + (r["unsure_ns"] if key == "wait_ns" else 0) for r in job["ranks"]]
    check(all(abs(f - w) <= slack for f, w in zip(found, truth[key])) or (key == "blame_ns" and slack), key, found, truth[key])
check(job["collectives"] == truth["rows"], "collectives", job["collectives"])
# The same job: who they are, and what they count in.
was = json.load(open("was"))
for key in ("job", "world_size", "unit", "units", "unit_ns", "missing", "differences"):
    check(key in job and job[key] == was[key], key, job[key], was[key])
check([c["host"] for c in job["clocks"]] == [c["host"] for c in was["clocks"]], "hosts", job["clocks"])
for mine, own in zip(job["ranks"], was["ranks"]):
    for key in ("rank", "host", "device", "gpu", "compute_ns", "copy_ns"):
        check(mine.get(key) == own.get(key), key, mine, own)
check([d["id"] for d in all_of["deviceProperties"]] == [0] * len(truth["ranks"]), "devices", all_of["deviceProperties"])
def kinds(events):
    return collections.Counter((e["ph"], e.get("cat"), e["name"]) for e in events if e["ph"] in "Xsf")
parts = {r: json.load(open("rank%d.json" % r)) for r in truth["ranks"]}
check(kinds(all_of["traceEvents"]) == sum((kinds(p["traceEvents"]) for p in parts.values()), collections.Counter()), "events")
by_rank = collections.defaultdict(list)
for e in all_of["traceEvents"]:
    label = re.fullmatch(r"\[rank (\d+)\] (-?\d+)", e["pid"])
    check(label, "the process", e["pid"])
    by_rank[int(label[1])].append(e)
check(sorted(by_rank) == truth["ranks"], "ranks", sorted(by_rank))
names = {(e["pid"], e["args"]["name"]) for e in all_of["traceEvents"] if e["name"] == "process_name"}
check(names and all(name == re.match(r"\[(rank \d+)\]", pid)[1] for pid, name in names), "names", names)
# The events of a rank are those of its own file, moved by one time.
for r, own in by_rank.items():
    mine = [(e["name"], e["dur"]) for e in own if e["ph"] == "X"]
    check(mine == [(e["name"], e["dur"]) for e in parts[r]["traceEvents"] if e["ph"] == "X"], "the events of rank", r)
# Collectives end together everywhere.
ends = collections.defaultdict(list)
for r, own in by_rank.items():
    nccl = sorted((e for e in own if e["ph"] == "X" and e["name"].startswith("nccl")), key=lambda e: e["ts"])
    for i, e in enumerate(nccl):
        ends[i].append(round(1000 * (e["ts"] + e["dur"])))
check(len(ends) and all(max(e) - min(e) <= 1000 + slack for e in ends.values()), "ends", max(max(e) - min(e) for e in ends.values()))
flows = [e["id"] for e in all_of["traceEvents"] if e["ph"] == "s"]
check(len(flows) == len(set(flows)), "arrows of two ranks have one number")
check(min(e["ts"] for e in all_of["traceEvents"] if e["ph"] == "X") >= 0, "times before the start")
PY
}
merged "one host" 0 ranks=4 host=2:200000 jitter=40000
merged "four hosts, half a second apart and drifting" 41000 ranks=4 hosts=4 host=2:400000 shift=1:500000000 shift=3:-500000000 drift=1:50000 drift=3:-50000 \
	jitter=50000 steps=10
if ! have gzip "a packed file"; then
	echo "SKIPPED: nothing else"
else
	expect 0 "packed" export job/rank*.json --format chrome -o all.json.gz
	gzip -dc all.json.gz >unpacked.json || fail "the packed file cannot be unpacked"
	same "the same, packed" "" "$(cmp all.json unpacked.json 2>&1)"
fi
merged "a set-up that differs" 0 ranks=4 host=2:200000 setup=3:gloo
# Each rank has its own GPU, by whatever number.
python3 - <<'PY'
import json
for r, name in enumerate(("NVIDIA A", "NVIDIA B", "NVIDIA C", "NVIDIA D")):
    trace = json.load(open("job/rank%d.json" % r))
    trace["deviceProperties"] = [{"id": 0, "name": name, "numSms": 100 + r}, {"id": 1, "name": "idle", "numSms": 1}]
    json.dump(trace, open("job/rank%d.json" % r, "w"))
PY
expect 0 "ranks on four kinds of GPU" ranks job/rank*.json
cp out kinds
expect 0 "in one file" export job/rank*.json --format chrome --compress none -o kinds.json
expect 0 "read back" ranks kinds.json
same "the GPUs of ranks, read back" "$(grep NVIDIA kinds)" "$(grep NVIDIA out)"
expect 0 "the GPUs of the file" info kinds.json
same "in order" "NVIDIA A, 100 NVIDIA B, 101 NVIDIA C, 102 NVIDIA D, 103 " "$(sed -n 's/^device [0-9]* *\(NVIDIA .\),.* \(10[0-9]\) SMs.*/\1, \2/p' out | tr '\n' ' ')"
# A rate is less than what all of them can be added up from, whatever the file says.
sed 's/\("unit":"[0-9]* [0-9]* [-0-9]* [-0-9]*\) [^ ]* /\1 1.7e308 /' kinds.json >rates.json
same "ranks with another rate" "4" "$(grep -c 1.7e308 rates.json)"
expect 0 "rates without end" ranks rates.json --format json
same "no rank has one" "" "$(grep '"fps": [0-9]' out)"
# Groups keep their communicators.
python3 "$source/tests/support/ranks_job.py" grouped ranks=4 groups=2 steps=3 host=2:200000
expect 0 "ranks in groups" ranks grouped/rank*.json --format json
python3 -c 'import json; print(json.load(open("out"))["groups"])' >groups
expect 0 "as one file" export grouped/rank*.json --format chrome --compress none -o grouped.json
expect 0 "read back" ranks grouped.json --format json
same "groups, read back" "$(cat groups)" "$(python3 -c 'import json; print(json.load(open("out"))["groups"])')"
# Ranks of our tracer on two hosts, in blocks.
demo=${VPT_BIN:+$VPT_BIN/vptrace-demo}
if [ -x "$demo" ]; then
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so VPTRACE_OUTPUT=$work/node-r%r.zst "$demo" --ranks 4 \
		--nodes 2 --blocks 3 --layers 3 --plant 2:offset=500,3:host=400 >out 2>err || fail "the demo on two hosts"
	for form in text json; do
		expect 0 "two hosts, as they were" ranks node-r?.zst --format $form
		sed 's/node-r[0-9]*.zst/all/' out >was
		[ $form = json ] || expect 0 "in one file" export node-r?.zst --format chrome -o node.json.gz
		expect 0 "two hosts, read back" ranks node.json.gz --format $form
		sed 's/node.json.gz/all/' out >back
		same "the $form report, read back" "" "$(diff was back)"
	done
	expect 0 "as another capture" convert node.json.gz -o node.zst
	expect 0 "two hosts, twice read back" ranks node.zst --format json
	sed 's/node.zst/all/' out >back
	same "the report, twice read back" "" "$(diff was back)"
	expect 0 "a part of it" ranks node.json.gz --from 20ms
else
	echo "SKIPPED: ranks of our own: no demo was built"
fi
# What is missing from a rank is missing from the file of all, though that one is whole.
head -c "$(($(wc -c <job/rank1.json) * 2 / 3))" job/rank1.json >torn.json
expect 3 "a rank's trace that ends early" \
	export job/rank0.json torn.json job/rank2.json job/rank3.json --format chrome --compress none -o lossy.json
expect 3 "read back" lossy.json
says out "records are missing from 1 of the traces that were merged into this"
expect 3 "read back as a job" ranks lossy.json
expect 3 "a copy of it" convert lossy.json -o lossy.zst
expect 3 "the copy" lossy.zst
says out "records are missing from 1 of the traces that were merged into this"
expect 3 "ranks that are whole before the one that is not" export job/rank0.json torn.json --format chrome --compress none -o last.json
expect 3 "read back" last.json
expect 2 "no name" export job/rank0.json job/rank1.json --format chrome
says err "use -o FILE"
expect 2 "another format" export job/rank0.json job/rank1.json --format csv -o rows
says err "perfetto and chrome take several"
expect 2 "one rank twice" export job/rank0.json job/rank0.json --format chrome -o twice.json
[ ! -e twice.json ] || fail "a failed export left a file"
# Beside others too: read back it would be another rank, that the others wait for.
cp job/rank0.json copy.json
expect 2 "one rank twice, beside another" export job/rank0.json copy.json job/rank1.json --format chrome -o twice.json
says err "rank 0 is in job/rank0.json too: only copy.json counts: one file has each rank once"
[ ! -e twice.json ] || fail "a failed export left a file"
expect 1 "one that is not there" export job/rank0.json nothing.json --format chrome -o none.json
[ ! -e none.json ] || fail "a failed export left a file"
finish
