#!/bin/sh
# What a program says of itself through the Python module: memory by label and its peaks, components, networks, operations, compilations,
# the history of memory, and how long its ranges took. torch is one of the test's own, whose numbers it sets; there is no GPU.
# shellcheck disable=SC1091,SC2154,SC2031
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
need_python 3.8
[ -e "$bin/libvptrace.so" ] || skip "libvptrace.so was not built"
cd "$work" || exit 1
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
export PYTHONPATH="$source/tracer/python" VPTRACE_LIBRARY="$bin/libvptrace.so" VPTRACE_TABLES="$bin/libvptrace_tables.so"
loadable "$VPTRACE_LIBRARY"

# python RULE [OPTION]...: runs standard input.
python() {
	rule=$1
	shift
	cases=$((cases + 1))
	$preload python3 "$@" - >out 2>err || fail "$rule: $(tail -n 1 err)"
}

# report FILE: its JSON report is in report.json.
report() {
	"$VPT_ANALYZE" "$1" --format json --no-progress >report.json 2>err || fail "$rule: no report of $1"
}

# value EXPRESSION: of the report, r.
value() {
	python3 -c 'import json, sys; r = json.load(open("report.json")); print(eval(sys.argv[1]))' "$1" 2>&1
}

# ---- a torch whose numbers the test sets ----

mkdir -p torch/cuda torch/_dynamo torch/_logging torch/utils
cat >torch/__init__.py <<'PY'
from . import compiler, cuda
PY
cat >torch/compiler.py <<'PY'
compiling = False

def is_compiling():
    return compiling
PY
cat >torch/_dynamo/eval_frame.py <<'PY'
skipped = []

def skip_code(code):
    skipped.append(code.co_name)
PY
cat >torch/cuda/__init__.py <<'PY'
"""The caching allocator of one device."""
from . import memory
held, reserved, most, device, resets = 0, 0, 0, 0, 0

def use(bytes_):
    global held, reserved, most
    held += bytes_
    reserved, most = max(reserved, held), max(most, held)

def is_initialized():
    return True

def current_device():
    return device

def memory_stats_as_nested_dict(device=None):
    return {"allocated_bytes": {"all": {"current": held, "peak": most}}, "reserved_bytes": {"all": {"current": reserved}}}

def reset_peak_memory_stats():
    global most, resets
    most, resets = held, resets + 1

def _lazy_call(function):
    function()
PY
cat >torch/cuda/memory.py <<'PY'
recorded = []

def _record_memory_history(max_entries):
    recorded.append(max_entries)

def _dump_snapshot(path):
    with open(path, "w") as file:
        file.write("history of %d entries" % recorded[0])
PY
cat >torch/_dynamo/__init__.py <<'PY'
import torch._logging._internal
from . import callback
PY
cat >torch/_dynamo/callback.py <<'PY'
class Handler:
    def __init__(self):
        self.starts, self.ends = [], []

    def register_start_callback(self, function):
        self.starts.append(function)

    def register_end_callback(self, function):
        self.ends.append(function)

    def clear(self):
        self.starts.clear()
        self.ends.clear()

callback_handler = Handler()
PY
: >torch/_logging/__init__.py
cat >torch/_logging/_internal.py <<'PY'
class State:
    enabled = set()

    def is_artifact_enabled(self, name):
        return name in self.enabled

    def enable_artifact(self, name):
        self.enabled.add(name)

log_state = State()
PY
: >torch/utils/__init__.py
cat >torch/utils/flop_counter.py <<'PY'
made = []

class FlopCounterMode:
    def __init__(self, display=True):
        assert display is False
        made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def get_total_flops(self):
        return 4000 * len(made)
PY

# ---- memory by label ----

python "labels" -W error <<'PY'
import torch, vptrace
cuda = torch.cuda
with vptrace.trace("labels.zst", profile="none", overwrite=True):
    cuda.use(600)
    vptrace.memory("after_load")      # the peak is that of the process so far
    cuda.use(300)
    cuda.use(-300)
    vptrace.memory("after_encode")    # torch's peak has risen: exactly 900
    cuda.use(100)
    cuda.use(-50)
    vptrace.memory("after_denoise")   # it has not: at least the larger of both ends
    for grown in (10, 20):
        cuda.use(grown)
        vptrace.memory("block")
    vptrace.memory(7)
assert cuda.resets == 0, "the program's own peak was reset"
PY
report labels.zst
same "labels: allocated, reserved, peak, exact" "[('after_load', 600, 600, 600, True), ('after_encode', 600, 900, 900, True), ('after_denoise', 650, 900, 650, False), ('block', 680, 900, 680, False), ('7', 680, 900, 680, False)]" \
	"$(value '[(l["label"], l["allocated_bytes"], l["reserved_bytes"], l["peak_bytes"], l["peak_exact"]) for l in r["memory_labels"]]')"
same "the growth of a label in a loop, and what is not allocated" "[None, None, None, 20, None] [0.0, 0.333333, 0.277778, 0.244444, 0.244444]" \
	"$(value '"%s %s" % ([l["growth_bytes"] for l in r["memory_labels"]], [l["unused_share"] for l in r["memory_labels"]])')"
same "their device" "[0, 0, 0, 0, 0]" "$(value '[l["device"] for l in r["memory_labels"]]')"
expect 0 "the section of labels" labels.zst --only memory-labels
says out "MEMORY, by label"
same "a line of it" "after_encode 600 B 900 B 33.3 900 B 1" "$(grep after_encode "$work/out" | tr -s ' ' | sed 's/^ //')"
expect 0 "the page of labels" labels.zst --format html -o labels.html
same "the page has labels" "yes yes" "$(for text in 'Memory by label' after_encode; do grep -q "$text" labels.html && echo yes; done | paste -sd' ' -)"

python "devices as torch names them" -W error <<'PY'
import torch, vptrace
class Device:
    def __str__(self):
        return "cuda:2"
with vptrace.trace("devices.zst", profile="none", overwrite=True):
    for label, device in (("ordinal", 1), ("text", "cuda:1"), ("device", Device()), ("current", "cuda")):
        vptrace.memory(label, device)
PY
report devices.zst
same "their ordinals" "[('ordinal', 1), ('text', 1), ('device', 2), ('current', 0)]" "$(value '[(l["label"], l["device"]) for l in r["memory_labels"]]')"

python "exact peaks" -W error <<'PY'
import threading, torch, vptrace
cuda = torch.cuda
vptrace.memory_peaks()
with vptrace.trace("peaks.zst", profile="none", overwrite=True):
    cuda.use(1000)
    cuda.use(-900)
    vptrace.memory("begin")
    with vptrace.stage("outer"):
        cuda.use(200)
        cuda.use(-200)
        with vptrace.stage("inner"):
            cuda.use(50)
            cuda.use(-50)
    with vptrace.block(0):
        cuda.use(70)
        cuda.use(-70)
    vptrace.memory("end")
assert cuda.resets > 0
vptrace.memory_peaks(False)
before = cuda.resets
with vptrace.stage("outer"), vptrace.block(0):
    pass
assert cuda.resets == before, "a peak was reset that nobody asked for"
PY
report peaks.zst
# Of the whole process so far, then of what came since: 300 in the outer stage.
same "the most since the label before, with resets between" "[('begin', 1000, True), ('end', 300, True)]" \
	"$(value '[(l["label"], l["peak_bytes"], l["peak_exact"]) for l in r["memory_labels"]]')"
"$VPT_ANALYZE" cat peaks.zst -k counter -f csv >rows
# At begins what is allocated; at ends: inner 150, outer 300, block 170.
same "peaks of stages in each other and of a block" "100 100 150 300 100 170" \
	"$(python3 -c '
import csv
rows = [row for row in csv.DictReader(open("rows")) if row["series"] == "memory.peak"]
print(*[int(float(row["value"])) for row in rows])' 2>&1)"

python "no torch" -W error <<'PY'
import sys
sys.path.remove("") if "" in sys.path else None
import vptrace
with vptrace.trace("bare.zst", profile="none", overwrite=True):
    vptrace.memory("alone")
PY
report bare.zst
same "a label without torch has no bytes" "[('alone', None, None, None, None)]" \
	"$(value '[(l["label"], l["allocated_bytes"], l["peak_bytes"], l["peak_exact"], l["growth_bytes"]) for l in r["memory_labels"]]')"

# ---- components, operations ----

python "components" -W error::vptrace.VptraceWarning <<'PY'
import sys, time, torch, torch.utils.flop_counter, vptrace

class Tensor:
    def __init__(self, *shape):
        self.shape = shape

with vptrace.trace("components.zst", profile="none", overwrite=True):
    for _ in range(3):
        with vptrace.component("world_model", frames=4):
            time.sleep(0.002)
            torch.cuda.use(64)
    @vptrace.component("audio", enabled=False)
    def silent():
        return 5
    assert silent() == 5
    @vptrace.component("image_decoder", frames=lambda x: x.shape[0])
    def decode(x):
        return x
    decode(Tensor(12, 3))
    @vptrace.range("attention", flop="count")
    def attention(q):
        return q
    for shape in ((1, 2), (1, 2), (3, 4), (1, 2)):
        attention(Tensor(*shape))
    assert len(torch.utils.flop_counter.made) == 2  # once for each shape
    with vptrace.stage("vae", flop=77), vptrace.range("mlp", flop=2**40):
        pass
PY
report components.zst
same "components before stages, with frames" "[('world_model', True, 12, 3), ('image_decoder', True, 12, 1), ('vae', False, None, 1)]" \
	"$(value '[(c["name"], c["is_component"], c["frames"], c["time"]["count"]) for c in r["components"]]')"
same "frames for each second of their time" True \
	"$(value 'abs(r["components"][0]["fps"] - 12e9 / r["components"][0]["time"]["total_ns"]) < 1')"
same "and its spread" True "$(value 'all(key in r["components"][0]["time"] for key in ("min_ns", "mean_ns", "max_ns", "deviation_ns"))')"
"$VPT_ANALYZE" cat components.zst -k range -f csv >rows
"$VPT_ANALYZE" export components.zst --format jsonl -o tables --only range --force --no-progress 2>err
same "operations are in ranges: the first call of a shape is counted, and later ones say it" "4000 4000 1099511627776 77" \
	"$(grep -ho '\\"flop\\":[0-9]*' tables/range.jsonl | sed 's/.*://' | tr '\n' ' ' | sed 's/ $//')"
expect 0 "the section of components" components.zst --only components
says out "COMPONENTS AND STAGES"
expect 0 "iterations" labels.zst --only iterations
says out "nothing to show"

python "what is counted again" -W error <<'PY'
import torch, torch.utils.flop_counter, vptrace

class Tensor:
    def __init__(self, *shape):
        self.shape = shape

class Linear:
    def parameters(self):
        return []
    @vptrace.range("linear", flop="count")
    def forward(self, x, timestep=0.0, chunks=1):
        return x
one, other, made = Linear(), Linear(), torch.utils.flop_counter.made
for count, call in ((1, lambda: one.forward([Tensor(2, 2)])), (1, lambda: one.forward([Tensor(2, 2)])),
                    (2, lambda: one.forward([Tensor(4, 4)])),  # shapes in a list
                    (3, lambda: other.forward([Tensor(2, 2)])),  # another module's weights
                    (4, lambda: one.forward([Tensor(2, 2)], 0.5)), (4, lambda: one.forward([Tensor(2, 2)], 0.25)),
                    (5, lambda: one.forward({"x": Tensor(2, 2)})), (6, lambda: one.forward({"x": Tensor(3, 2)})),
                    (7, lambda: one.forward(Tensor(2), chunks=2)), (8, lambda: one.forward(Tensor(2), chunks=3))):
    call()
    assert len(made) == count, (len(made), count)
PY

# ---- networks ----

python "networks" <<'PY'
import warnings, vptrace

class Tensor:
    def __init__(self, count, size, dtype):
        self.count, self.size, self.dtype = count, size, dtype
    def numel(self):
        return self.count
    def element_size(self):
        return self.size

class Wan:
    def parameters(self):
        return [Tensor(1_300_000_000, 2, "torch.bfloat16"), Tensor(1000, 4, "torch.float32")]
    def buffers(self):
        return [Tensor(10, 8, "torch.int64")]

class Pipeline:
    components = {"transformer": Wan(), "scheduler": object()}

class Odd:
    def parameters(self):
        raise RuntimeError("no")

with vptrace.trace("models.zst", profile="none", overwrite=True):
    row = vptrace.model(Wan(), stage="denoise")
    assert row == {"parameters": 1300001000, "bytes": 2600004080, "dtypes": "bfloat16:1300000000 float32:1000", "stage": "denoise"}, row
    assert list(vptrace.model(Pipeline())) == ["transformer"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert vptrace.model(Odd()) == {} and vptrace.model(5) == {} and vptrace.model(None) == {}
    assert len(caught) == 3 and "vptrace: model: expected a torch.nn.Module" in str(caught[0].message), caught
PY
report models.zst
same "networks by parameters, types and stage" "[('Wan', 1300001000, 2600004080, 'bfloat16:1300000000 float32:1000', 'denoise'), ('transformer', 1300001000, 2600004080, 'bfloat16:1300000000 float32:1000', None)]" \
	"$(value '[(m["name"], m["parameters"], m["bytes"], m["dtypes"], m["stage"]) for m in r["models"]]')"
expect 0 "the section of networks" models.zst --only models
says out "Wan, in denoise"

# ---- compilations ----

cat >compiles.py <<'PY'
import logging, sys, types, vptrace
if "asked" in sys.argv:
    vptrace.compilations()
import torch._dynamo as dynamo
handler = dynamo.callback.callback_handler
handler.clear()  # torch._dynamo.reset()
with vptrace.trace("compiles.zst", profile="none", overwrite=True):
    with vptrace.block(2), vptrace.step(5):
        for function in handler.starts:
            function(types.SimpleNamespace(compile_id="3/1"))
        logging.getLogger("torch._dynamo.guards.__recompiles").debug(
            "Recompiling function %s in %s:12\n    triggered by the following guard failure(s):\n    - 3/0: tensor 'x' size mismatch. expected 4, actual 8",
            "forward", "/models/causal.py")
        for function in handler.ends:
            function()
        for function in handler.starts:
            function(types.SimpleNamespace(compile_id="4/1"))
        verbose = logging.getLogger("torch._dynamo.guards.__recompiles_verbose")
        verbose.setLevel(logging.DEBUG)
        verbose.debug(
            "Recompiling function g in a.py:1\n    triggered by the following guard failure(s):\n    guard 0 failures:\n"
            "    - 0/0: flag == False          # if flag:  # a.py:4 in g\n    - User stack trace:\n    -   File \"a.py\", line 4, in g")
        for function in handler.ends:
            function()
    for function in handler.starts:  # of an older torch
        function()
    for function in handler.ends:
        function()
PY
for asked in "python3 compiles.py asked" "env VPTRACE_COMPILATIONS=1 TORCH_TRACE=traced python3 compiles.py"; do
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	$preload $asked >out 2>err || fail "compilations: $(tail -n 1 err)"
	same "$asked: its log is not printed" "" "$(cat err)"
	report compiles.zst
	same "$asked: compilations in their step, with the reason, and one that says nothing" \
		"[('3/1', 'forward in causal.py:12', \"3/0: tensor 'x' size mismatch. expected 4, actual 8\", 2, 5), ('4/1', 'g in a.py:1', '0/0: flag == False # if flag: # a.py:4 in g', 2, 5), ('?', None, None, None, None)]" \
		"$(value '[(c["id"], c["function"], c["reason"], c["block"], c["step"]) for c in r["compilations"]]')"
done
same "the folder of torch's trace" "$work/traced" "$(value 'r["system"]["versions"]["torch.trace"]')"
same "nobody asks" "[]" "$($preload python3 compiles.py 2>&1; report compiles.zst; value 'r["compilations"]')"

# Compiled code has no place for a range, and a program that asks for a whole graph fails if one is not traced.
python "what torch.compile traces" -W error <<'PY'
import vptrace
early = vptrace.stage("early")
import torch, torch._dynamo.eval_frame

@vptrace.stage("decorated")
def decorated(x):
    return x
@vptrace.step(timestep=lambda x: 1 / 0)
def asked(x):
    return x
@vptrace.range("counted", flop="count")
def counted(x):
    return x
@vptrace.block(0)
def generator(x):
    return (yield x)
counts = [vptrace.request("r"), vptrace.block(), vptrace.step(), vptrace.context_pass(), vptrace.range("r"), vptrace.component("c")]
with vptrace.trace("traced.zst", profile="none", overwrite=True):
    torch.compiler.compiling = True
    with early, vptrace.stage("s", frames=object()), vptrace.range("r", flop="count"), vptrace.block(index=lambda: 1 / 0):
        vptrace.mark("m"), vptrace.fact("f", 1), vptrace.frames_ready(object()), vptrace.memory("l"), vptrace.tag("t", 1)
    for one in counts:
        with one:
            pass
    assert (decorated(1), asked(2), counted(3), list(generator(4))) == (1, 2, 3, [4])
    assert vptrace.counter("c", object()) == vptrace.metadata("traced", 1) == vptrace.Code.OK
    torch.compiler.compiling = False
    with early, vptrace.step():
        decorated(1)
assert {"ranged", "__enter__", "enter", "mark", "counter"} <= set(torch._dynamo.eval_frame.skipped), torch._dynamo.eval_frame.skipped
PY
"$VPT_ANALYZE" cat traced.zst >rows
same "is not recorded" "decorated early step" "$(sed -n 's/.*"kind":"range".*"name":"\([a-z]*\)".*/\1/p' rows | sort | paste -sd' ' -)"
same "nor is a mark, a counter or a fact" 0 "$(grep -c -e '"kind":"mark"' -e '"series":"c"' -e '"traced"' -e 'tag\.t' rows)"
same "networks by the class that torch.compile wraps" "model.Wrapped.parameters" "$($preload python3 -c '
import vptrace
class Wrapped:
    pass
class OptimizedModule:
    _orig_mod = Wrapped()
    def parameters(self):
        return []
said = []
vptrace._capture.metadata = lambda key, value: said.append(key)
vptrace.model(OptimizedModule())
print(said[0])' 2>&1)"

# ---- the history of memory ----

python "the history of memory" -W error <<'PY'
import os, vptrace
vptrace.memory_history(max_entries=500)
import torch
with vptrace.trace("history.zst", profile="none", overwrite=True) as capture:
    pass
assert torch.cuda.memory.recorded == [500]
assert open("history.zst.memory.pickle").read() == "history of 500 entries"
PY
report history.zst
same "its path is in the report" "$work/history.zst.memory.pickle" "$(value 'r["system"]["versions"]["memory.history"]')"
expect 0 "and in the text" history.zst --full
says out "history.zst.memory.pickle"
expect 0 "and on the page" history.zst --format html -o history.html
same "the page names it" 1 "$(grep -c 'history.zst.memory.pickle' history.html | sed 's/[1-9][0-9]*/1/')"

python "a history without CUDA" <<'PY'
import os, warnings, vptrace
vptrace.memory_history()
import torch
torch.cuda.is_initialized = lambda: False
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        with vptrace.trace("cpu.zst", profile="none", overwrite=True):
            pass
assert [str(w.message) for w in caught] == ["vptrace: memory history: torch has not used CUDA, so there is none"], caught
assert not os.path.exists("cpu.zst.memory.pickle")
PY

python "a torch that is another one" <<'PY'
import sys, types, warnings, vptrace
broken = types.ModuleType("torch.cuda")
broken._lazy_call = lambda function: function()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sys.modules["torch.cuda"], sys.modules["torch._dynamo"] = broken, types.ModuleType("torch._dynamo")
    vptrace.memory_history()
    vptrace.compilations()
    vptrace.memory_peaks()
    with vptrace.trace("broken.zst", profile="none", overwrite=True):
        vptrace.memory("alone")
        with vptrace.stage("s"), vptrace.block(0):
            pass
        @vptrace.range("r", flop="count")
        def work(x):
            return x
        sys.modules["torch.utils"] = sys.modules["torch.utils.flop_counter"] = None
        assert work(3) == 3 and work(3) == 3
texts = sorted({str(w.message) for w in caught})
assert len(texts) == 3 and 'flop="count"' in texts[0] and all("memory history: AttributeError" in text for text in texts[1:]), texts
PY

# ---- shapes, and what vptrace run asks for ----

cases=$((cases + 1))
PYTHONPATH="$source/tracer/python" python3 - >out 2>err <<'PY' || fail "operations of convolutions: $(tail -n 1 err)"
import sys
sys.path.remove("")  # where a module named torch lies that is none
from vptrace_marks import convolutions, shapes

class Tensor:
    def __init__(self, *shape):
        self.shape = shape

class Conv:
    def __init__(self, weight, stride, padding, dilation, groups=1, transposed=False):
        self.weight, self.stride, self.padding, self.dilation = Tensor(*weight), stride, padding, dilation
        self.groups, self.transposed = groups, transposed

for rule, flop, module, image in (
        ("2 images, 8 x 6 places", 2 * 2 * 4 * 3 * 9 * 8 * 6, Conv((4, 3, 3, 3), (1, 1), (1, 1), (1, 1)), (2, 3, 8, 6)),
        ("every second place", 2 * 2 * 4 * 3 * 9 * 4 * 2, Conv((4, 3, 3, 3), (2, 2), (1, 0), (1, 1)), (2, 3, 8, 6)),
        ("a dilated kernel", 2 * 2 * 4 * 3 * 9 * 4 * 2, Conv((4, 3, 3, 3), (1, 1), (0, 0), (2, 2)), (2, 3, 8, 6)),
        ("two groups", 2 * 2 * 4 * 3 * 9 * 8 * 6, Conv((4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 2), (2, 6, 8, 6)),
        ("as large as before", 2 * 2 * 4 * 3 * 9 * 8 * 6, Conv((4, 3, 3, 3), (1, 1), "same", (2, 2)), (2, 3, 8, 6)),
        ("an even kernel too", 2 * 2 * 4 * 3 * 4 * 8 * 6, Conv((4, 3, 2, 2), (1, 1), "same", (1, 1)), (2, 3, 8, 6)),
        ("no padding", 2 * 2 * 4 * 3 * 9 * 6 * 4, Conv((4, 3, 3, 3), (1, 1), "valid", (1, 1)), (2, 3, 8, 6)),
        ("a video without batch", 2 * 4 * 3 * 3 * 3 * 8 * 6, Conv((4, 3, 3, 1, 1), (1,) * 3, (0,) * 3, (1,) * 3), (3, 5, 8, 6)),
        ("a transposed one", 2 * 2 * 3 * 4 * 9 * 8 * 6, Conv((3, 4, 3, 3), (2, 2), (1, 1), (1, 1), 1, True), (2, 3, 8, 6)),
        ("other channels", None, Conv((4, 3, 3, 3), (1, 1), (1, 1), (1, 1)), (2, 5, 8, 6)),
        ("too few dimensions", None, Conv((4, 3, 3, 3), (1, 1), (1, 1), (1, 1)), (8, 6)),
        ("a kernel that is too large", None, Conv((4, 3, 3, 3), (1, 1), (0, 0), (1, 1)), (2, 3, 2, 6)),
        ("in both dimensions", None, Conv((4, 3, 3, 3), (1, 1), (0, 0), (1, 1)), (2, 3, 2, 2)),
        ("no convolution", None, Tensor(3), (2, 3, 8, 6))):
    found = convolutions.operations(module, (Tensor(*image),))
    assert found == flop, (rule, found, flop)
assert shapes.annotation((Tensor(1, 3, 8),), Conv((4, 3, 3), (1,), (1,), (1,))) == b'{"kind":"range","shapes":"1x3x8","flop":576}'
assert shapes.annotation((Tensor(1, 3, 8),), Tensor(3)) == b'{"kind":"range","shapes":"1x3x8"}'
try:
    import torch
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:
    print("SKIPPED: operations as PyTorch counts them: no PyTorch")
else:
    nn = torch.nn
    for module, image in ((nn.Conv2d(6, 4, 3, 2, 1, groups=2), (2, 6, 9, 8)), (nn.Conv3d(3, 4, (3, 2, 1), padding="same"), (1, 3, 5, 8, 6)),
                          (nn.ConvTranspose2d(3, 4, 3, 2, 1), (2, 3, 8, 6)), (nn.Conv2d(3, 4, 3, dilation=2), (3, 9, 8))):
        with FlopCounterMode(display=False) as mode:
            module(torch.zeros(image))
        assert convolutions.operations(module, (torch.zeros(image),)) == mode.get_total_flops(), module
PY
cat out

cat >pipeline.py <<'PY'
class Tensor:
    def __init__(self, *shape):
        self.shape = shape

class DiT:
    def forward(self, x, t, text=None):
        return x

    def generator(self, x):
        yield x
PY
cat >app.py <<'PY'
import sys
import torch, pipeline, torch._dynamo
model, tensor = pipeline.DiT(), pipeline.Tensor
for _ in range(2):
    model.forward(tensor(1, 16, 60), 5, text=tensor(1, 512))
model.forward(tensor(2, 16, 60), tensor())
model.forward(3, "none")
list(model.generator(tensor(4)))
assert torch.cuda.resets == (0 if "plain" in sys.argv else 12), torch.cuda.resets
PY
cat >dit.marks <<'PY'
pipeline:DiT.forward   = stage transformer
pipeline:DiT.generator = stage stream
PY
if [ -n "$preload" ] || [ ! -e "$bin/vptrace" ]; then
	echo "SKIPPED: what vptrace run asks for: it needs a library without sanitizers"
else
	cases=$((cases + 1))
	PYTHONPATH="$work" "$bin/vptrace" run --simulate --overwrite -o asked.zst --mark ./dit.marks --shapes --memory-peaks --memory-history --compilations -- python3 app.py >out 2>err ||
		fail "vptrace run: $(cat err)"
	"$VPT_ANALYZE" export asked.zst --format jsonl -o tables --only range --force --no-progress 2>err
	same "shapes of the inputs that have some, in the range of the mark" "1x16x60 1x512,1x16x60 1x512,2x16x60" \
		"$(grep -ho 'shapes\\":\\"[0-9x ]*' tables/range.jsonl | sed 's/.*"//' | paste -sd, -)"
	same "and their range is the function's" 3 "$(grep -c '"name":"DiT.forward"' tables/range.jsonl)"
	same "the stages stay" "4 2" "$(grep -c '"name":"transformer"' tables/range.jsonl) $(grep -c '"name":"stream"' tables/range.jsonl)"
	report asked.zst
	same "the history of memory lies beside it" "$work/asked.zst.memory.pickle history of 100000 entries" \
		"$(value 'r["system"]["versions"]["memory.history"]') $(cat asked.zst.memory.pickle)"
	PYTHONPATH="$work" "$bin/vptrace" run --simulate --overwrite -o plain.zst --mark ./dit.marks -- python3 app.py plain >out 2>err ||
		fail "nothing asked for: $(cat err)"
	same "nothing asked for" "0 no" "$("$VPT_ANALYZE" cat plain.zst -k range | grep -c DiT.forward) $([ -e plain.zst.memory.pickle ] && echo yes || echo no)"
fi

# ---- how long ranges took ----

python "the summary" <<'PY'
import time, warnings, vptrace
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert vptrace.summary() == [] and "there is no capture yet" in str(caught[-1].message), caught
with vptrace.trace("timings.zst", profile="none", overwrite=True):
    for _ in range(3):
        with vptrace.range("long"):
            time.sleep(0.003)
    with vptrace.range("short"):
        pass
rows = vptrace.summary()
assert [(row.name, row.count) for row in rows] == [("long", 3), ("short", 1)], rows
assert rows[0].total_ms >= 9 and rows[0].min_ms >= 3 and rows[0].max_ms >= rows[0].mean_ms >= rows[0].min_ms, rows
assert abs(rows[0].total_ms - 3 * rows[0].mean_ms) < 0.01 and rows[0].gpu_mean_ms is None
lines = str(rows).splitlines()
assert lines[0].split() == ["range", "count", "total", "ms", "mean", "min", "max", "GPU", "mean"] and len(lines) == 3, lines
assert lines[1].split()[:2] == ["long", "3"], lines
assert vptrace.summary("timings.zst") == rows
try:
    vptrace.summary("missing.zst", strict=True)
    raise AssertionError("a file that is not there")
except vptrace.VptraceError as error:
    assert "missing.zst" in str(error)
PY

finish
