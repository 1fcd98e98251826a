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
says err "use -o FILE.tar"
expect 1 "one that is not there" export a/r.zst nothing.zst -o none.tar
[ ! -e none.tar ] || fail "a failed export left a file"

# ---- ranks of our tracer, each with the same device 0: different GPUs ----
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
else
	echo "SKIPPED: ranks of our own: no demo was built"
fi
finish
