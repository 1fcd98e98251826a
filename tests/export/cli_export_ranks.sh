#!/bin/sh
# The traces of several ranks become one archive that Perfetto opens as one: a member for each, with numbers of ops and GPUs that no other
# uses, and a manifest that keeps machines apart; the same traces give the same bytes.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1

# rank NAME HOST PID: a trace of two kernels and their calls on GPU 0
rank() {
	cat >rank.json <<JSON
{"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "hostname": "$2", "deviceProperties": [{"id": 0, "name": "Test GPU", "numSms": 80}], "traceEvents": [
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": $3, "tid": $3, "ts": 1005, "dur": 5, "args": {"correlation": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": $3, "tid": $3, "ts": 1015, "dur": 5, "args": {"correlation": 2}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1020, "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1040, "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 2}}]}
JSON
	"$VPT_ANALYZE" convert rank.json -o "$1" 2>err || {
		grep -q 'built without' err && skip "vptrace-analyze was built without PyTorch profiler traces"
		fail "a trace for the test could not be made"
	}
}
mkdir a b
rank a/r.zst one 10
rank b/r.zst one 11
rank r.zst two 12

expect 0 "three ranks" export a/r.zst b/r.zst r.zst --format perfetto -o all.tar
silent out
says err "wrote 6 kernels, 0 copies, 6 calls,"
same "nothing else is left behind" "0" "$(find . -name '.vptrace*' | wc -l | tr -d ' ')"
expect 0 "and again" export a/r.zst b/r.zst r.zst --format perfetto -o - -j 4
cmp -s out all.tar || fail "the same traces gave other bytes"
mkdir folder
cp a/r.zst folder/a.zst
cp b/r.zst folder/b.zst
expect 0 "the files of a folder" export folder/a.zst folder/b.zst -o files.tar
expect 0 "a folder" export folder -o folder.tar
same "$rule: the same bytes" "" "$(cmp files.tar folder.tar 2>&1)"
# An archive is the files in it; one of them is named as if it were a folder.
tar -cf job.tar -C folder a.zst b.zst
expect 0 "an archive" export job.tar -o archive.tar
same "$rule: the same bytes" "" "$(cmp files.tar archive.tar 2>&1)"
expect 0 "two of its files" export job.tar/a.zst ./job.tar/b.zst -o two.tar
same "$rule: the same bytes" "" "$(cmp files.tar two.tar 2>&1)"
expect 0 "a file" export folder/b.zst --format jsonl -o of-file
expect 0 "one in an archive" export job.tar/b.zst --format jsonl -o in-archive
same "$rule: the same bytes" "" "$(diff -r -x meta.jsonl -x schema.json of-file in-archive 2>&1)"
expect 1 "one that is not in it" export job.tar/c.zst -o none.pftrace
says err "job.tar/c.zst: cannot open"
expect 1 "a path through a file that is no archive" export folder/a.zst/b.zst -o none.pftrace
says err "folder/a.zst/b.zst: cannot open"
expect 2 "an archive in its own place" export job.tar -o job.tar --force
says err "job.tar"
head -c 700 job.tar >torn.tar
expect 1 "an archive that ends early" export torn.tar -o none.tar
says err "the archive ends inside this file"
tar -czf job.tar.gz -C folder a.zst b.zst
expect 1 "a packed archive" export job.tar.gz -o none.tar
says err "unpack it"
expect 0 "a summary" summarize folder/a.zst -o a.vps
expect 1 "an export of a summary" export a.vps -o none.pftrace
says err "a summary of ranks, which has no events: vptrace-analyze ranks reads it"
cases=$((cases + 1))
python3 - "$source/tests/support/outputs/pftrace.py" all.tar >found 2>&1 <<'PYTHON' || fail "$(tail -n 3 found)"
import json, subprocess, sys, tarfile
tar = tarfile.open(sys.argv[2])
names = tar.getnames()
assert names == ["perfetto_manifest.json", "r.pftrace", "r-2.pftrace", "r-3.pftrace"], names
assert all(m.mtime == 0 and m.uid == 0 for m in tar), "times or owners"
manifest = json.load(tar.extractfile(names[0]))["perfetto_manifest"]
assert manifest["version"] == 1
assert [f["path"] for f in manifest["files"]] == names[1:], manifest
assert [f["machine"]["name"] for f in manifest["files"]] == ["one", "one", "two"], manifest
# Machines are laid beside each other by the time of day that each member tells; Perfetto does so unasked.
assert all(set(f) == {"path", "machine"} for f in manifest["files"]), manifest
ids = set()
for name in names[1:]:
    open("member", "wb").write(tar.extractfile(name).read())
    said = subprocess.run([sys.executable, sys.argv[1], "member", "--ids"], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert any(line.startswith("realtime 17") for line in said.splitlines()), said
    own = {line.split()[1] for line in said.splitlines() if line.startswith("op ")}
    assert len(own) == 2 and not own & ids, (name, own, ids)
    ids |= own
PYTHON

expect 0 "on one machine nothing is said of machines" export a/r.zst b/r.zst -o one.tar --compress zstd
tar xOf one.tar perfetto_manifest.json >manifest 2>err || python3 -c 'import tarfile; print(tarfile.open("one.tar").extractfile("perfetto_manifest.json").read().decode())' >manifest
grep -q machine manifest && fail "machines are kept apart that are one"
grep -q '"r-2.pftrace.zst"' manifest || fail "the second member's name: $(cat manifest)"
expect 2 "several files need a name" export a/r.zst b/r.zst --format perfetto
says err "use -o FILE, all.tar for perfetto"
expect 1 "one that is not there" export a/r.zst nothing.zst -o none.tar
[ ! -e none.tar ] || fail "a failed export left a file"

# ---- whose GPU is whose, and what the time is ----
# said ARCHIVE: of each member its name, first op, GPUs, machine and time of day, as Perfetto reads them
said() {
	[ -e "$1.said" ] && cat "$1.said" && return
	python3 - "$source/tests/support/outputs/pftrace.py" "$1" <<'PYTHON' | tee "$1.said"
import json, subprocess, sys, tarfile
tar = tarfile.open(sys.argv[2])
files = json.load(tar.extractfile("perfetto_manifest.json"))["perfetto_manifest"]["files"]
for file in files:
    open("member", "wb").write(tar.extractfile(file["path"]).read())
    details = ["--slices"] * (tar.getmember(file["path"]).size < 10000)
    out = subprocess.run([sys.executable, sys.argv[1], "member", "--ids", *details], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    values = dict(line.split(" ", 1) for line in out if " " in line)
    gpus = sorted({int(line.split()[1]) for line in out if line.startswith("gpu ")})
    print(file["path"].split(".")[0], values["first_gpu_ts"], ",".join(map(str, gpus)), file.get("machine", {}).get("name", "-"),
          values["realtime"], "unaligned" if "attribute: vptrace.unaligned 1" in out else "aligned")
PYTHON
}
# torch NAME HOST DEVICE BASE_NS: as rank(), a rank of PyTorch that describes 8 GPUs without addresses and uses one
torch() {
	python3 - "$2" "$3" "$4" >rank.json <<'PYTHON'
import json, sys
host, device, base = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
gpus = [{"id": i, "name": "Test GPU", "numSms": 80} for i in range(8)]
calls = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 1005 + 10 * i, "dur": 5, "args": {"correlation": i}} for i in (1, 2)]
ops = [{"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": 1020 + 20 * i, "dur": 10,
        "args": {"device": device, "context": 1, "stream": 7, "correlation": i}} for i in (1, 2)]
print(json.dumps({"schemaVersion": 1, **({"baseTimeNanoseconds": base} if base else {}), "hostname": host, "deviceProperties": gpus, "traceEvents": calls + ops}))
PYTHON
	mv rank.json "$1"
}
day=1700000000000000000
for r in 0 1 2 3 4 5 6 7; do
	torch own$r.json one $r $day
	torch zero$r.json one 0 $day
done
expect 0 "eight ranks of PyTorch, each with its own device" export own?.json -o own.tar
same "each on a GPU of its own" "0 1 2 3 4 5 6 7 " "$(said own.tar | awk '{ print $3 }' | tr '\n' ' ')"
expect 0 "eight ranks that each see one GPU as 0" export zero?.json -o zero.tar
same "each on a GPU of its own too" "0 1 2 3 4 5 6 7 " "$(said zero.tar | awk '{ print $3 }' | tr '\n' ' ')"
torch other.json two 0 $day
expect 0 "another host's GPUs count from 0" export zero0.json zero1.json other.json -o hosts.tar
same "GPUs of two hosts" "zero0 0 one
zero1 1 one
other 0 two" "$(said hosts.tar | awk '{ print $1, $3, $4 }')"

# ---- clocks ----
torch early.json one 0 $day
torch late.json two 0 $((day + 30000000000))
expect 0 "half a minute apart" export early.json late.json -o apart.tar
says err "the traces are not aligned: machines have no collective in common. Their own times of day lay them beside each other"
same "by the time of day" "early $((day + 1040000)) unaligned
late $((day + 30000000000 + 1040000)) unaligned" "$(said apart.tar | awk '{ print $1, $2, $6 }')"
expect 0 "two ranks of one host" export early.json own1.json -o host.tar
grep -q "not aligned" err && fail "times of one host are said not to be aligned"
same "by its time of day" "aligned aligned " "$(said host.tar | awk '{ print $6 }' | tr '\n' ' ')"
torch yesterday.json two 0 $((day - 86400000000000))
expect 0 "a day apart" export early.json yesterday.json -o day.tar
says err "the traces are not aligned: they were recorded at different times, on machines or boots that have no clock in common."
start=$((day - 86400000000000 + 1015000)) # of the earlier one's first call
same "they begin together" "early $((start + 25000)) $start unaligned
yesterday $((start + 25000)) $start unaligned" "$(said day.tar | awk '{ print $1, $2, $5, $6 }')"
torch timeless.json one 0 0
expect 0 "one without the time of day" export early.json timeless.json -o timeless.tar
says err "the traces are not aligned: not all of them have the time of day."
same "they begin together" "1" "$(said timeless.tar | awk '{ print $2 }' | sort -u | wc -l | tr -d ' ')"
expect 0 "two on one clock that has no date" export timeless.json timeless.json -o same.tar
grep -q "not aligned" err && fail "times of one clock are said not to be aligned"
# Nothing lies before the start of a clock, in any of them.
for archive in own zero hosts apart host day timeless same; do
	cases=$((cases + 1))
	said $archive.tar | awk '$2 < 1040000 || ($5 > 0 && $5 > $2) { bad = 1 } END { exit bad || !NR }' || fail "$archive.tar: $(said $archive.tar)"
done

# within RULE: the first op of each member in ./found is as far from the first member's as the clocks are uncertain, at most
within() {
	cases=$((cases + 1))
	grep -q "the clocks of 2 machines are aligned by the ends of collectives, to within [0-9.]* us" err || fail "$1: $(cat err)"
	awk '{ far = $2 - first; if (NR == 1) first = $2; else if ((far < 0 ? -far : far) > 10000) bad = 1 } END { exit bad || NR < 2 }' found ||
		fail "$1: $(cat found)"
}
# collectives RULE ARCHIVE: in all members they end together, as far as the clocks are uncertain, and totals are those of the file
collectives() {
	cases=$((cases + 1))
	python3 - "$source/tests/support/outputs/pftrace.py" "$2" >wrong 2>&1 <<'PYTHON' || fail "$1: $(tail -n 3 wrong)"
import re, subprocess, sys, tarfile
tar, ends, uncertainty = tarfile.open(sys.argv[2]), [], 0
op = re.compile(r'.*: (?:\d+ )?(\d+) \+(\d+) (?:depth \d+ )?(?:kernel|memcpy|memset) "(.*?)"')
for name in tar.getnames()[1:]:
    open("member", "wb").write(tar.extractfile(name).read())
    out = subprocess.run([sys.executable, sys.argv[1], "member", "--slices"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    first = next(int(line.split()[1]) for line in out if line.startswith("first_gpu_ts "))
    uncertainty = max([uncertainty] + [int(line.split()[2]) for line in out if line.startswith("attribute: vptrace.clock_uncertainty_ns")])
    ops = [(int(o[1]), int(o[2]), o[3]) for o in map(op.match, out) if o]
    begin = min(start for start, _ns, _name in ops)
    ends.append(sorted(first + start - begin + ns for start, ns, name in ops if name.startswith("nccl")))
assert len(ends) == 8 and 0 < uncertainty <= 10000 and len({len(e) for e in ends}) == 1 and len(ends[0]) > 100, (uncertainty, list(map(len, ends)))
far = max(max(e) - min(e) for e in zip(*ends))
assert far <= uncertainty, (far, uncertainty)
PYTHON
}

# ---- ranks of our tracer ----
demo=${VPT_BIN:+$VPT_BIN/vptrace-demo}
if [ -x "$demo" ]; then
	VPT_STANDIN_DEVICES=2 CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
		VPTRACE_OUTPUT=$work/demo-r%r.zst "$demo" --ranks 2 --blocks 2 >out 2>err || fail "the demo"
	expect 0 "ranks of the demo" export demo-r0.zst demo-r1.zst -o demo.tar
	for rank in 0 1; do
		cases=$((cases + 1))
		python3 -c "import tarfile; open('member', 'wb').write(tarfile.open('demo.tar').extractfile('demo-r$rank.pftrace').read())"
		python3 "$source/tests/support/outputs/pftrace.py" member --ids >found 2>wrong || fail "rank $rank: $(head -n 3 wrong)"
		same "the GPU of rank $rank" "gpu $rank" "$(grep '^gpu ' found | sort -u)"
	done
	# Where both see one GPU, its address says so.
	VPT_STANDIN_DEVICES=1 CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
		VPTRACE_OUTPUT=$work/shared-r%r.zst "$demo" --ranks 2 --blocks 1 >out 2>err || fail "the demo on one GPU"
	expect 0 "ranks on one GPU" export shared-r0.zst shared-r1.zst -o shared.tar
	same "one GPU" "0 0 " "$(said shared.tar | awk '{ print $3 }' | tr '\n' ' ')"
	# Two hosts, of which one's clock is 500 ms ahead.
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
		VPTRACE_OUTPUT=$work/node-r%r.zst "$demo" --ranks 4 --nodes 2 --blocks 1 --plant 2:offset=500 >out 2>err || fail "the demo on two hosts"
	expect 0 "ranks of two hosts" export node-r?.zst -o node.tar
	said node.tar >found
	same "GPUs and hosts" "0 standin-0 1 standin-0 0 standin-1 1 standin-1 " "$(awk '{ print $3, $4 }' found | tr '\n' ' ')"
	within "first ops of both hosts"
	# Eight ranks on two hosts whose clocks are a second and 50 ppm apart.
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so VPTRACE_OUTPUT=$work/far-r%r.zst "$demo" --ranks 8 \
		--nodes 2 --blocks 2 --layers 3 --plant 0:offset=-500,4:offset=500,4:drift=50,5:host=400 >out 2>err || fail "the demo on two far hosts"
	expect 0 "ranks of two far hosts" export far-r?.zst -o far.tar
	said far.tar >found
	within "first ops of both far hosts"
	collectives "collectives of both far hosts" far.tar
	expect 0 "as plain slices" export far-r?.zst -o plain.tar --gpu-encoding trackevent
	collectives "collectives as plain slices" plain.tar
	# Beside them a trace that has no collective.
	expect 0 "one that has nothing in common" export far-r?.zst late.json -o beside.tar
	says err "the clocks of 2 machines are aligned by the ends of collectives, to within"
	says err "some of the traces are not aligned: machines have no collective in common."
	same "it alone is not aligned" "aligned 8, unaligned 1" "$(said beside.tar | awk '{ n[$6]++ } END { printf "aligned %d, unaligned %d", n["aligned"], n["unaligned"] }')"
else
	echo "SKIPPED: ranks of our own: no demo was built"
fi
finish
