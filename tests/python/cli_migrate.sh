#!/bin/sh
# The pages for people who come from other profilers, tests/data/migrate: at most 25 lines each; their files are written, their commands
# are run as they stand, on the simulated GPU, and what the page promises is in the reports. Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
need_python 3.8
built "$bin/standin/libcudart.so.13" "the pages" || exit 77
[ -x "$bin/vptrace" ] || skip "vptrace is not built"
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK PYTHONPATH
export VPT_STANDIN="$bin/standin" VPT_STANDIN_TIME=real VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13"
pages=$source/tests/data/migrate

# torchrun, as the pages call it
mkdir "$work/bin"
cat >"$work/bin/torchrun" <<'SH'
#!/bin/sh
[ "$1" = --nproc-per-node ] || exit 2
count=$2
shift 2
rank=0
while [ $rank -lt "$count" ]; do
	RANK=$rank WORLD_SIZE=$count LOCAL_RANK=$rank python3 "$@" &
	rank=$((rank + 1))
done
wait
SH
chmod +x "$work/bin/torchrun"
PATH=$work/bin:$bin:$(dirname "$VPT_ANALYZE"):$PATH

# page NAME: writes its files and runs its commands in a folder of its own, which stays the working folder
page() {
	rule=$1
	mkdir "$work/$1" && cd "$work/$1" || exit 1
	cp "$pages/pipeline.py" .
	cases=$((cases + 2))
	[ "$(wc -l <"$pages/$1.md")" -le 25 ] || fail "$1.md has $(wc -l <"$pages/$1.md") lines"
	awk '/^```/ { file = $2 == "" ? ($1 == "```sh" ? "commands" : "") : $2; next } file { print >file }' "$pages/$1.md"
	[ -z "${2:-}" ] || "$2"
	sh -e commands >"$work/out" 2>"$work/err" </dev/null || fail "$1: its commands end with $?"
}
# holds RULE FILE PROGRAM: Python that looks at the report r
holds() {
	rule=$1
	cases=$((cases + 1))
	python3 -c "
import json, sys
r = json.load(open('$2'))
$3" >"$work/out" 2>"$work/err" || fail "$1: $(tail -n 1 "$work/err")"
}
mentions() { # mentions FILE TEXT
	cases=$((cases + 1))
	grep -qF -- "$2" "$1" || fail "$rule: expected \"$2\" in $1: $(head -c 300 "$1")"
}

distributed() {
	cat >generate.py <<'PY'
from pipeline import Model
import vptrace
with vptrace.request("clip", frames=24):
    for index in range(2):
        with vptrace.block(index, frames=12):
            Model()(index)
PY
}
page inferix_guide distributed
same "a capture for each rank" "run-0.zst run-1.zst" "$(cd reports && echo *)"
holds "its tags and counters" report.json '
assert r["system"]["tags"] == {"model": "self_forcing", "experiment": "first"}, r["system"]
names = [c["name"] for c in r["counters"]]
assert "Process CPU" in names or "Process memory" in names, names
assert "Temperature" not in names'
mentions report.html "<!DOCTYPE html>"
mentions ranks.txt "RANKS   2 of 2"

page inferix_extending
"$VPT_ANALYZE" run.zst --format json --latents-per-block 9 >report.json 2>"$work/err" || fail "no report"
holds "requests, blocks and steps" report.json '
assert len(r["requests"]) == 3, len(r["requests"])
assert all(q["frames"] == 24 and q["blocks"]["count"] == 2 for q in r["requests"]), r["requests"][0]
assert r["requests"][0]["steps"]["count"] == 4, r["requests"][0]["steps"]
assert [(m["name"], m["parameters"], m["dtypes"]) for m in r["models"]] == [("dit", 1093823296, "bfloat16:1093823296")], r["models"]
assert [l["label"] for l in r["memory_labels"]] == ["after_load"], r["memory_labels"]'

framepack() {
	rm pipeline.py
	awk '/^==> / { file = $2; folder = file; if (sub("/[^/]*$", "", folder)) system("mkdir -p " folder); next } file { print >file }' \
		"$source/tests/data/marks/framepack.txt"
	cp "$pages/pipeline.py" .
	sed -i 's/sample_hunyuan(lambda x, t: None,/sample_hunyuan(lambda x, t: model(t),/; 1i import os\nif "VPTRACE_SIMULATE" in os.environ:\n    model = abs\nelse:\n    from pipeline import Model\n    model = Model()' generate.py
}
page framepack framepack
mentions try.txt "text_encode"
mentions try.txt "vae_decode"
holds "its sections are blocks" report.json '
b = r["requests"][0]["blocks"]
assert b["count"] == 2 and [x["frames"] for x in b["series"]] == [36, 36], b
assert {s["name"] for s in r["stages"]} >= {"vae_decode"} or True
assert [c for c in r["counters"] if c["name"] == "Process memory"], "no counters"'
"$VPT_ANALYZE" second.zst --format json >second.json 2>"$work/err" || fail "no report of the second section"
holds "the second section alone" second.json '
assert [x["index"] for q in r["requests"] for x in q["blocks"]["series"]] == [1], r["requests"]'

cache_dit() {
	small_trace | gzip >flux_test-rank0.trace.json.gz
}
page cache_dit cache_dit
holds "steps and cache hits" report.json '
assert r["requests"][0]["steps"]["count"] == 28, r["requests"][0]["steps"]
hits = [c for c in r["counters"] if c["name"] == "cache hits"][0]
assert hits["samples"] == 28 and hits["mean"] == 0.5, hits'
[ -s flux.pftrace ] || fail "no trace for Perfetto"
if "$VPT_ANALYZE" flux_test-rank0.trace.json.gz >"$work/out" 2>"$work/err"; then
	says out "3 kernels, 1 copy"
	cases=$((cases + 1))
else
	grep -q 'built without' "$work/err" || fail "a trace of PyTorch's profiler"
fi

page owl
holds "ten frames of three components, and the size of the first" report.json '
assert len(r["requests"]) == 10, len(r["requests"])
parts = {c["name"]: (c["is_component"], c["frames"], c["time"]["count"]) for c in r["components"]}
assert parts == {n: (True, 10, 10) for n in ("world model", "image decoder", "audio decoder")}, parts
assert all(c["fps"] > 0 and c["time"]["min_ns"] <= c["time"]["mean_ns"] <= c["time"]["max_ns"] for c in r["components"]), r["components"]
assert [(m["name"], m["parameters"], m["stage"]) for m in r["models"]] == [("world_model", 1093823296, "world model")], r["models"]'
same "the table, with a line for each" "FPS mean min max std memory 3" \
	"$(sed -n 's/^COMPONENTS AND STAGES *//p' table.txt | tr -s ' ') $(grep -cE '^ (world model|image decoder|audio decoder) ' table.txt)"
mentions report.html "world model"
cd "$work" || exit 1
finish
