#!/bin/sh
# The Python module: without its library it does nothing and says so once; with it ranges, notes, counters and facts reach the
# capture, failures are warnings unless strict, and torch's NVTX functions can be made to call it.
# shellcheck disable=SC1091,SC2016,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
command -v python3 >/dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "python3 is older than 3.8"

# A copy, so that no libvptrace.so lies beside it and nothing is written into the sources.
cp -r "$source/tracer/python/vptrace" "$work" || exit 1
unset VPTRACE_LIBRARY VPTRACE_OUTPUT VPTRACE_OVERWRITE VPTRACE_PROFILE VPTRACE_MEMORY VPTRACE_FLUSH_MS VPTRACE_STOP_MS \
	VPTRACE_LEVEL VPTRACE_LIBCUPTI VPTRACE_SYNC VPTRACE_DEVICE_BUFFERS NVTX_INJECTION64_PATH RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK PMIX_RANK
PYTHONPATH=$work
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
cd "$work" || exit 1

# python RULE [ARGUMENTS]: runs the program on standard input, saved as demo.py; it must end well.
python() {
	rule=$1
	shift
	cases=$((cases + 1))
	cat >demo.py
	$preload python3 "$@" demo.py >out 2>err </dev/null || fail "$rule: expected exit code 0"
}
preload=

# ---- the same structs as in the header ----

VPTRACE_HEADER=$source/tracer/vptrace.h python "structs have the header's fields" -W ignore <<'PY'
import ctypes, os, re, vptrace

header = re.sub(r"/\*.*?\*/", "", open(os.environ["VPTRACE_HEADER"]).read(), flags=re.S)
kinds = {"size_t": ctypes.c_size_t, "uint64_t": ctypes.c_uint64, "uint32_t": ctypes.c_uint32, "int": ctypes.c_int,
         "enum vptrace_profile": ctypes.c_int, "const char *": ctypes.c_char_p, "int64_t": ctypes.c_int64, "double": ctypes.c_double}

def fields(struct):
    for line in re.search(r"struct %s \{(.*?)\};" % struct, header, re.S).group(1).split(";"):
        line = " ".join(line.split())
        for kind in sorted(kinds, key=len, reverse=True):
            if line.startswith(kind):
                yield from ((name.strip(), kinds[kind]) for name in line[len(kind):].split(","))
                break
        else:
            assert not line, line

for struct, ours in (("vptrace_stats", vptrace._library.Stats), ("vptrace_options", vptrace._library.Options),
                     ("vptrace_note", vptrace._library.Note)):
    assert list(fields(struct)) == [tuple(f) for f in ours._fields_], (struct, list(fields(struct)), ours._fields_)
PY

# ---- without the library ----

cat >nothing.py <<'PY'
"""No libvptrace.so can be found, whatever is installed here."""
import ctypes

def refuse(path):
    raise OSError("%s: not today" % path)

kept, ctypes.CDLL = ctypes.CDLL, refuse
import vptrace
ctypes.CDLL = kept
PY

python "without library all is quiet until something is to be recorded" -W error <<'PY'
import nothing, vptrace
assert not vptrace.available() and vptrace.version() == ""
assert vptrace.status() == vptrace.State.STOPPED
assert vptrace.snapshot() is None
assert vptrace.metadata("k", "v") == vptrace.counter("c", 1) == vptrace.pause() == vptrace.resume() == vptrace.Code.MISSING
assert vptrace.statistics().received == 0 and vptrace.stop().stop_code == vptrace.Code.MISSING
with vptrace.request("r"), vptrace.stage("s"), vptrace.block(0, frames=3, latents=1), vptrace.step(0, timestep=1):
    vptrace.frames_ready(0, frames=3)
    vptrace.mark("m")
@vptrace.stage("s")
def twice(x):
    "Doubles."
    return 2 * x
assert twice(4) == 8 and twice.__doc__ == "Doubles." and twice.__name__ == "twice"
assert vptrace.wrap_torch_nvtx() is False
PY

python "without library one warning" <<'PY'
import warnings, nothing, vptrace
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert vptrace.start() == vptrace.Code.MISSING
    for _ in "abc":
        with vptrace.trace("t.zst") as capture:
            pass
assert [w.category for w in caught] == [vptrace.VptraceWarning], caught
assert "libvptrace.so: not today" in str(caught[0].message)
assert caught[0].filename.endswith("demo.py") and caught[0].lineno == 4
summary = capture.summary
assert summary.path is None and summary.code == vptrace.Code.MISSING and not summary.complete
assert "there is no libvptrace.so" in summary.reason and summary.stats == vptrace.Statistics()
PY

python "without library strict raises" -W error <<'PY'
import nothing, vptrace
for attempt in (lambda: vptrace.start(strict=True), lambda: vptrace.trace(strict=True).__enter__()):
    try:
        attempt()
        raise SystemExit("nothing was raised")
    except vptrace.VptraceError as error:
        assert error.code == vptrace.Code.MISSING
PY

python "exceptions of the program pass through" -W ignore <<'PY'
import nothing, vptrace
try:
    with vptrace.trace() as capture, vptrace.stage("s"):
        raise KeyError("mine")
except KeyError:
    assert capture.summary.code == vptrace.Code.MISSING
else:
    raise SystemExit("lost")
PY

python "mistakes in the program are exceptions" <<'PY'
import nothing, vptrace
for options in ({"profile": "fast"}, {"profile": 0}):
    try:
        vptrace.trace(**options)
        raise SystemExit("a profile was taken")
    except ValueError as error:
        assert "expected 'default', 'lite', 'full', 'coarse', 'none', found" in str(error)
PY

cat >suspending.py <<'PY'
"""Functions that suspend, and programs that run them to their ends: what they give, whatever is around them."""
import asyncio

log = []

def some(n, stop=None):
    try:
        for i in range(n):
            log.append((yield i))
    except KeyError as error:
        log.append(error.args[0])
        yield "caught"
    finally:
        log.append("closed")
    return "result"

async def later(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n

async def both(n):
    for i in range(n):
        await asyncio.sleep(0)
        log.append((yield i))

def run(around):
    log.clear()
    generator = around(some)(3)
    given = [next(generator), generator.send("sent"), generator.throw(KeyError("thrown"))]
    try:
        next(generator)
    except StopIteration as stop:
        given.append(stop.value)
    open_one = around(some)(3)
    next(open_one)
    open_one.close()
    async def use():
        items = [item async for item in around(both)(2)]
        return items, await asyncio.gather(around(later)(2), around(later)(3))
    return given, asyncio.run(use()), list(log)
PY
python "functions that suspend, without the library" -W error <<'PY'
import inspect, nothing, suspending, vptrace
plain = suspending.run(lambda function: function)
for around in (vptrace.stage("s"), vptrace.block(lambda n: n), vptrace.range("r"), vptrace.stage("s", enabled=False)):
    assert suspending.run(around) == plain, around
assert inspect.isgeneratorfunction(vptrace.stage("s")(suspending.some)) and inspect.iscoroutinefunction(vptrace.step()(suspending.later))
assert inspect.isasyncgenfunction(vptrace.stage("s")(suspending.both)) and vptrace.stage("s")(suspending.some).__name__ == "some"
PY

python "the source is Python 3.8" <<'PY'
import ast, glob
for name in glob.glob("vptrace/*.py"):
    ast.parse(open(name).read(), feature_version=(3, 8))
PY

[ "$failures" = 0 ] || finish
[ -e "$bin/libvptrace.so" ] || skip "the module without its library is fine; $bin/libvptrace.so is not built"

# ---- with it ----

VPTRACE_LIBRARY=$bin/libvptrace.so
export VPTRACE_LIBRARY
if ! python3 -c 'import vptrace; raise SystemExit(not vptrace.available())' 2>err; then
	runtime=$(ldd "$VPTRACE_LIBRARY" | awk '/lib[at]san/ { print $3; exit }')
	[ -n "$runtime" ] && preload="env LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0"
	$preload python3 -c 'import vptrace; print(vptrace.last_error())' >why 2>err
	if grep -q '[at]san' why; then
		skip "a library with sanitizers built in cannot be loaded by python3: $(cat why)"
	fi
	same "the library can be loaded" "" "$(cat why)"
	[ "$failures" = 0 ] || finish
fi

# rows CAPTURE KIND: its rows, a line each: names and what else tells them apart.
rows() {
	"$VPT_ANALYZE" cat "$1" -k "$2" -f csv >rows 2>err || fail "$rule: $1 cannot be read"
}

python "a capture" -W error <<'PY'
import os, threading, vptrace
assert vptrace.available() and vptrace.version()
assert vptrace.stop().stop_code in (vptrace.Code.OK, vptrace.Code.EIDLE)
vptrace.metadata("session.tag", "früh")
vptrace.tag("model", "wan")
capture = vptrace.trace("t.zst", profile="none", flush_interval_ms=50, tags={"steps": 50, "model": "other"})
assert capture.summary is None
with capture:
    assert vptrace.status() in (vptrace.State.RUNNING, vptrace.State.RANGES_ONLY)
    with vptrace.request("a cat"):
        for index in (0, 1):
            with vptrace.block(index, frames=12, latents=3):
                with vptrace.step(0, timestep=500.5):
                    pass
                with vptrace.step(1):
                    pass
                with vptrace.context_pass(2):
                    pass
                vptrace.frames_ready(index, frames=12)
    @vptrace.stage("VAE decoding")
    def decode(depth):
        return decode(depth - 1) if depth else "done"
    assert decode(2) == "done"
    def elsewhere():
        with vptrace.range("elsewhere"):
            pass
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    with vptrace.range(b"bytes"), vptrace.range(7):
        vptrace.mark("a mark")
    assert vptrace.counter("kv cache", 3.5, "bytes") == vptrace.Code.OK
    assert vptrace.counter("queue", 2) == vptrace.Code.OK
    assert vptrace.metadata("model.parameters", 1300000000) == vptrace.Code.OK
assert vptrace.status() == vptrace.State.STOPPED
summary = capture.summary
assert summary.code == vptrace.Code.OK and summary.reason == "" and summary.complete, summary
assert summary.stats.received == summary.stats.written == 20, summary.stats
assert summary.stats.file_bytes == os.path.getsize("t.zst") and summary.stats.chunks >= 1
assert summary.path == (os.path.abspath("t.zst") if vptrace._library.loaded.path else None), summary
assert vptrace.statistics() == summary.stats
assert os.stat("t.zst").st_mode & 0o777 == 0o600
try:
    vptrace.start(tags={"model": "a,b"})
except ValueError as error:
    assert "without a comma" in str(error), error
else:
    raise AssertionError("a comma in a tag")
PY
"$VPT_ANALYZE" t.zst --format json >report.json 2>err
same "tags: those of tag() win" "{'steps': '50', 'model': 'wan'}" "$(python3 -c 'import json; print(json.load(open("report.json"))["system"]["tags"])' 2>&1)"
rows t.zst range
for line in "1 a cat" "2 block" "4 step" "2 context pass" "3 VAE decoding" "1 elsewhere" "1 bytes" "1 7"; do
	same "ranges: $line" "${line%% *}" "$(grep -c ",${line#* }," rows)"
done
rows t.zst mark
same "marks" "2 1" "$(grep -c ',frames ready,' rows) $(grep -c ',a mark,' rows)"
rows t.zst counter
same "counters" "1 1" "$(grep -c 'kv cache,bytes,.*3.5' rows) $(grep -c 'queue,' rows)"
if have zstd "the capture as zstd reads it"; then
	zstd -dcq t.zst >raw 2>err
	for text in '{"kind":"request"}' '{"kind":"stage"}' '{"kind":"block","index":1,"frames":12,"latents":3}' \
		'{"kind":"step","index":0,"timestep":500.5}' '{"kind":"step","index":1}' '{"kind":"frames","index":0,"frames":12}' \
		model.parameters 1300000000 session.tag früh; do
		grep -aqF "$text" raw || fail "the capture lacks $text"
	done
	grep -aq '"kind":"step","index":2.*"context":1' raw || fail "the capture lacks its context pass"
fi

python "options reach the library, each in its place" <<'PY'
import os, vptrace
for options, words in (
    ({"memory_limit_bytes": 1}, "options.memory_limit_bytes: expected 16 MiB to 1 TiB, found 1"),
    ({"flush_interval_ms": 2}, "options.flush_interval_ms: expected 10 ms to 3600000 ms, found 2"),
    ({"stop_timeout_ms": 3600001}, "options.stop_timeout_ms: expected 1 ms to 3600000 ms, found 3600001"),
    ({"device_buffers": 100001}, "options.device_buffers: expected 0 to 100000, found 100001"),
    ({"compression_level": 99}, "options.compression_level: expected -7 to 19, found 99"),
    ({"cupti_path": "/" + "x" * 5000}, "options.cupti_path: expected a path of at most 4095 bytes, found 5001"),
    ({"path": "dir/."}, 'options.path: "dir/.": expected a file name, found a folder'),
):
    try:
        vptrace.start(**dict(options, strict=True))
        raise SystemExit("%r was taken" % options)
    except vptrace.VptraceError as error:
        assert error.code == vptrace.Code.EINVAL and words in str(error), error
with vptrace.trace("over.zst", profile="none"), vptrace.range("old"):
    pass
old = open("over.zst", "rb").read()
with vptrace.trace("over.zst", profile="none", overwrite=True, synchronize=True), vptrace.range("x"):
    pass
assert open("over.zst", "rb").read() != old
with vptrace.trace("over.zst", profile="none"), vptrace.range("x"):
    pass
assert os.path.exists("over-2.zst")
PY

python "the end does not wait with synchronize=False, or while torch captures a graph" <<'PY'
import sys, types, vptrace
real, asked = vptrace._library.loaded.start, []
def start(options):
    asked.append(options._obj.synchronize)
    return real(options)
vptrace._library.loaded.start = start
def captures():
    if capturing is None:
        raise RuntimeError("CUDA error: unknown")
    return capturing
cuda = types.SimpleNamespace(is_current_stream_capturing=captures, is_initialized=lambda: True)
again = vptrace.trace("sync.zst", profile="none", overwrite=True)
def wait_of(capture):
    with capture:
        pass
    return asked.pop()
assert wait_of(again) == 1
assert wait_of(vptrace.trace("sync.zst", profile="none", overwrite=True, synchronize=False)) == -1
sys.modules["torch.cuda"] = cuda
for capturing, wait in ((True, -1), (False, 1), (None, -1), (False, 1)):
    assert wait_of(again) == wait, (capturing, wait)
cuda.is_initialized, capturing = lambda: False, True
assert wait_of(again) == 1
PY

python "the environment wins, the script names the file" <<'PY'
import glob, os, vptrace
os.environ["VPTRACE_PROFILE"] = "none"
with vptrace.trace(profile="full", strict=True), vptrace.range("x"):
    pass
assert os.path.exists("vptrace-demo-%d.zst" % os.getpid()), glob.glob("*")
os.environ["VPTRACE_OUTPUT"] = "from-%q{WHO}.zst"
os.environ["WHO"] = "a/b"
with vptrace.trace("other.zst"), vptrace.range("x"):
    pass
assert os.path.exists("from-a_b.zst") and not os.path.exists("other.zst")
PY

python "a capture that runs already goes on" <<'PY'
import warnings, vptrace
with vptrace.trace("outer.zst", profile="none") as outer:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with vptrace.trace("inner.zst", profile="none") as inner, vptrace.range("inside"):
            pass
    assert len(caught) == 1, caught
    assert vptrace.status() != vptrace.State.STOPPED
    with vptrace.range("after"):
        pass
assert inner.summary.code == vptrace.Code.EBUSY and outer.summary.stats.written == 2, outer.summary
PY

python "pauses" -W error <<'PY'
import vptrace
assert vptrace.pause() == vptrace.resume() == vptrace.Code.EIDLE
with vptrace.trace("pause.zst", profile="none") as capture:
    for paused in (False, True, False):
        if paused:
            assert vptrace.pause() == vptrace.Code.OK and vptrace.status() == vptrace.State.PAUSED
        with vptrace.range("paused" if paused else "recorded"):
            pass
        if paused:
            assert vptrace.resume() == vptrace.Code.OK
assert capture.summary.stats.written == 2, capture.summary
PY

python "windows, limits and a ring" -W error <<'PY'
import os, time, vptrace
with vptrace.trace("window.zst", profile="none", capture="nvtx:inside") as capture:
    for name in ("before", "inside", "after"):
        with vptrace.range(name):
            pass
assert capture.summary.stats.written == 1, capture.summary
with vptrace.trace("short.zst", profile="none", duration_s=0.05) as capture:
    with vptrace.range("x"):
        pass
    for _ in range(1000):
        if vptrace.status() == vptrace.State.STOPPED:
            break
        time.sleep(0.01)
    assert vptrace.status() == vptrace.State.STOPPED
with vptrace.trace("ring.zst", profile="none", ring="30s", snapshot_on="mark:now") as capture:
    with vptrace.range("x"):
        pass
    assert vptrace.snapshot("taken.zst") == os.path.abspath("taken.zst")
assert os.path.exists("taken.zst") and not os.path.exists("ring.zst")
assert vptrace.start("api.zst", profile="none", max_bytes=1 << 20, capture="api") == vptrace.Code.OK
vptrace.stop()
for wrong, words in (
    ({"duration_s": -1}, "duration_s: expected seconds, found -1"),
    ({"capture": "later"}, "capture: expected now, api,"),
    ({"ring": "1x"}, "ring"),
):
    try:
        vptrace.start(**wrong, strict=True)
        raise SystemExit("%r was taken" % wrong)
    except (ValueError, vptrace.VptraceError) as error:
        assert words in str(error), error
PY

python "a file that cannot be made" <<'PY'
import warnings, vptrace
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with vptrace.trace("absent/t.zst", profile="none") as capture, vptrace.range("x"):
        pass
assert capture.summary.code == vptrace.Code.EFILE and "absent/t.zst" in capture.summary.reason, capture.summary
assert len(caught) == 1 and caught[0].filename.endswith("demo.py"), caught
try:
    with vptrace.trace("absent/t.zst", profile="none", strict=True), vptrace.range("x"):
        pass
    raise SystemExit("nothing was raised")
except vptrace.VptraceError as error:
    assert error.code == vptrace.Code.EFILE
PY

for ending in pass 'raise SystemExit(0)' 'vptrace.range("open").__enter__()'; do
	rm -f exit.zst
	python "a program that ends without stop: $ending" -W error <<PY
import vptrace
vptrace.start("exit.zst", profile="none")
with vptrace.range("kept"):
    $ending
PY
	rows exit.zst range
	same "ranges after: $ending" 1 "$(grep -c ',kept,' rows)"
done

python "a forked child records nothing" -W ignore <<'PY'
import os, vptrace
with vptrace.trace("fork.zst", profile="none") as capture:
    with vptrace.range("before"):
        pass
    child = os.fork()
    if not child:
        with vptrace.range("in the child"):
            pass
        good = vptrace.status() == vptrace.State.INERT and vptrace.start("child.zst") == vptrace.Code.EFORKED
        os._exit(0 if good and not os.path.exists("child.zst") else 1)
    assert os.waitpid(child, 0)[1] == 0
    with vptrace.range("after"):
        pass
assert capture.summary.stats.written == 2, capture.summary
PY
rows fork.zst range
same "only the parent's ranges" 0 "$(grep -c 'in the child' rows)"

python "a stop in the block" -W error <<'PY'
import vptrace
with vptrace.trace("stopped.zst", profile="none") as capture, vptrace.range("x"):
    pass
with vptrace.trace("stopped.zst", profile="none") as capture:
    with vptrace.range("x"):
        pass
    assert vptrace.stop().written == 1
assert capture.summary.complete and capture.summary.stats.written == 1, capture.summary
PY

python "twice in one process, the same objects" -W error <<'PY'
import vptrace
capture, some = vptrace.trace("again.zst", profile="none"), vptrace.range("some")
@capture
def traced():
    with some:
        with some:
            return 5
for _ in (1, 2):
    assert traced() == 5
    assert capture.summary.stats.written == 2, capture.summary
PY
[ -e again-2.zst ] || fail "the second capture has no file of its own"

# ---- a profiler of torch ----
# As torch's: a function that tells of this thread and, from 2.1 on, a variable that tells of the process. torch is never imported for it.

mkdir -p profiled/torch/autograd
: >profiled/torch/__init__.py
: >profiled/torch/autograd/profiler.py
cat >profiled/torch/autograd/__init__.py <<'PY'
enabled = False

def _profiler_enabled():
    return enabled
PY
for age in old new; do
	VPTRACE_LIBRARY=$bin/libvptrace.so AGE=$age python "beside a profiler of torch, $age" <<'PY'
import os, sys, warnings
sys.path.insert(0, "profiled")
import vptrace
assert "torch" not in sys.modules

def expect(code, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with vptrace.trace("torch.zst", overwrite=True, **options) as capture:
            vptrace.mark("m")
    assert capture.summary.code == code, capture.summary
    return capture.summary, [str(w.message) for w in said]

plain, _ = expect(vptrace.Code.ENOCUPTI)  # there is no GPU here
assert "torch" not in sys.modules
import torch.autograd.profiler
expect(vptrace.Code.ENOCUPTI)

def profiler(on):
    if os.environ["AGE"] == "new":
        torch.autograd.profiler._is_profiler_enabled = on
    else:
        torch.autograd.enabled = on

profiler(True)
summary, said = expect(vptrace.Code.ETAKEN)
assert len(said) == 1 and "a profiler of torch is active" in said[0] and "only ranges are recorded" in said[0], said
assert "a profiler of torch is active" in summary.reason and not summary.complete
assert summary.path.endswith("torch.zst") and summary.stats.received == plain.stats.received
os.rename("torch.zst", "beside.zst")
try:
    vptrace.start("torch.zst", overwrite=True, strict=True)
    raise SystemExit("strict did not raise")
except vptrace.VptraceError as error:
    assert error.code == vptrace.Code.ETAKEN
assert vptrace.status() == vptrace.State.STOPPED
profiler(False)
expect(vptrace.Code.ENOCUPTI)
PY
	expect 3 "beside a profiler of torch, $age: the report" beside.zst --full
	tr '\n' ' ' <out | tr -s ' ' >flat
	grep -q "recording of GPU work was refused: a profiler of torch is active" flat || fail "the report does not say why"
done
VPTRACE_LIBRARY=$bin/libvptrace.so VPTRACE_PROFILE=lite python "a profile that was asked for from outside" -W ignore <<'PY'
import sys
sys.path.insert(0, "profiled")
import torch.autograd.profiler, vptrace
torch.autograd.profiler._is_profiler_enabled = True
assert vptrace.start("none.zst") == vptrace.Code.ETAKEN and vptrace.status() == vptrace.State.STOPPED
PY
[ ! -e none.zst ] || fail "a profile that was asked for from outside: there is a capture"

# ---- functions that suspend, values that are none ----

python "functions that suspend" -W error <<'PY'
import suspending, vptrace
plain = suspending.run(lambda function: function)
with vptrace.trace("stretches.zst", profile="none"):
    assert suspending.run(vptrace.stage("stretch")) == plain
    for decorated in (vptrace.stage("off", enabled=False), vptrace.range("off", enabled=False), vptrace.block(enabled=False),
                      vptrace.step(enabled=False), vptrace.context_pass(enabled=False), vptrace.request("off", enabled=False)):
        assert decorated(suspending.some) is suspending.some
        with decorated:
            pass
captures = []
@vptrace.trace("whole.zst", profile="none")
def whole():
    with vptrace.range("in it"):
        pass
    captures.append((yield vptrace.status()))
generator = whole()
assert next(generator) in (vptrace.State.RUNNING, vptrace.State.RANGES_ONLY)
assert list(generator) == [] and vptrace.status() == vptrace.State.STOPPED
PY
rows stretches.zst range
# 4 of the generator, of which one ends with its result; 1 of that which is closed; 3 of later(2), 4 of later(3); 5 of both(2)
same "a range for each stretch" "17 0" "$(grep -c ',stretch,' rows) $(grep -c ',off,' rows)"
rows whole.zst range
same "a capture around a generator" 1 "$(grep -c ',in it,' rows)"

python "values that are none" -W error::vptrace.VptraceWarning -W default <<'PY'
import math, warnings, vptrace
class Odd:
    def __str__(self):
        raise RuntimeError("no text")
    __int__ = __float__ = __str__
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with vptrace.trace("wrong.zst", profile="none"):
        with vptrace.request("r", frames="many"):
            for _ in (0, 1):
                with vptrace.block("first", frames=[1, 2], latents=2**70):
                    with vptrace.step(timestep="late"), vptrace.step(Odd(), timestep=math.inf):
                        pass
            vptrace.frames_ready("last", frames=Odd())
            vptrace.fact(Odd(), Odd())
        assert vptrace.counter("queue", "long") == vptrace.Code.EINVAL
        assert vptrace.counter("queue", 10**400) == vptrace.Code.EINVAL
        vptrace.metadata("odd", Odd())
        vptrace.tag(Odd(), Odd())
        with vptrace.stage(Odd()), vptrace.range(None), vptrace.block(index=lambda: 3):
            vptrace.mark(Odd())
        @vptrace.block(index=lambda i: i / 0, frames=lambda i: 12)
        def work(i):
            return i
        assert work(5) == 5
        @vptrace.request("asked for")
        def asked():
            yield 1
        assert list(asked()) == [1]
        class Model:
            @vptrace.stage("static")
            @staticmethod
            def held(x):
                return x
            @vptrace.step(timestep=lambda cls, x: x)
            @classmethod
            def of_class(cls, x):
                return cls.__name__, x
            @vptrace.range("counted", flop="count")
            @staticmethod
            async def later(x):
                return x
        assert Model.held(3) == Model().held(3) == 3 and Model.of_class(4) == Model().of_class(4) == ("Model", 4)
        import asyncio
        assert asyncio.run(Model().later(5)) == 5
texts = sorted(str(w.message) for w in caught)
assert all(w.category is vptrace.VptraceWarning for w in caught) and len(set(texts)) == len(texts), texts
for text in ("vptrace: request: frames: expected a number, found str; recorded as text",
             "vptrace: block: latents: expected a number, found 1180591620717411303424; recorded as text",
             "vptrace: counter: expected a number, found str; recorded as a mark",
             "vptrace: index: expected a function of the arguments, which failed with ZeroDivisionError; not recorded"):
    assert text in texts, texts
PY
rows wrong.zst range
same "they are text" "r frames=many;block index=first frames=list latents=1180591620717411303424;step timestep=late;step index=Odd timestep=inf;<Odd>;None;block index=function;asked for" \
	"$(for name in 'r frames=many' 'block index=first frames=list latents=1180591620717411303424' 'step timestep=late' 'step index=Odd timestep=inf' '<Odd>' None 'block index=function' 'asked for'; do
		grep -q ",$name," rows && printf '%s%s' "$separator" "$name"
		separator=';'
	done)"
same "those of a class too" "2 1" "$(grep -c ',static,' rows) $(grep -c ',counted,' rows)"
rows wrong.zst mark
same "and marks" 3 "$(grep -c -e 'frames ready index=last frames=Odd' -e 'queue = long' -e 'queue = int' rows)"

# ---- torch.cuda.nvtx ----

mkdir -p torch/cuda
: >torch/__init__.py
: >torch/cuda/__init__.py
cat >torch/cuda/nvtx.py <<'PY'
"""As torch's: strings only, range goes through push and pop, negative depths where nobody listens."""
from contextlib import contextmanager

depth, calls = -2, []

def range_push(msg):
    if not isinstance(msg, str):
        raise TypeError("expected a str")
    calls.append("push " + msg)
    return depth

def range_pop():
    calls.append("pop")
    return depth

def range_start(msg):
    calls.append("start " + msg)
    return 0 if depth < 0 else 77

def range_end(range_id):
    calls.append("end %d" % range_id)

def mark(msg):
    "Marks."
    calls.append("mark " + msg)

@contextmanager
def range(msg, *args, **kwargs):
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
PY
cat >use_nvtx.py <<'PY'
import vptrace
from torch.cuda import nvtx

def use(path):
    """The numbers of ranges and marks that a capture of some use of NVTX holds."""
    nvtx.calls.clear()
    with vptrace.trace(path, profile="none", overwrite=True) as capture:
        assert nvtx.range_push("pushed") == nvtx.depth and nvtx.range_pop() == nvtx.depth
        with nvtx.range("step {}", 3):
            nvtx.mark(msg="marked")
        one, two = nvtx.range_start("one"), nvtx.range_start("two")
        nvtx.range_end(one)
        nvtx.range_end(range_id=two)
        try:
            nvtx.range_push(7)
            raise SystemExit("torch's own check is gone")
        except TypeError:
            pass
    id = 0 if nvtx.depth < 0 else 77
    assert nvtx.calls == ["push pushed", "pop", "push step 3", "mark marked", "pop", "start one", "start two",
                          "end %d" % id, "end %d" % id], nvtx.calls
    return capture.summary.stats.written
PY

python "NVTX that nobody hears is wrapped" -W error <<'PY'
import vptrace
from torch.cuda import nvtx
from use_nvtx import use
assert use("nvtx.zst") == 0
assert vptrace.wrap_torch_nvtx() is True
assert use("nvtx.zst") == 5
assert vptrace.wrap_torch_nvtx() is True
assert nvtx.mark.__doc__ == "Marks."
vptrace.unwrap_torch_nvtx()
assert use("unwrapped.zst") == 0
PY
rows nvtx.zst range
for name in pushed "step 3" one two; do
	same "torch's range $name" 1 "$(grep -c ",$name," rows)"
done

python "NVTX that is heard is left alone" -W error <<'PY'
import vptrace
from torch.cuda import nvtx
from use_nvtx import use
nvtx.depth = 0
assert vptrace.wrap_torch_nvtx() is False
assert use("heard.zst") == 0
assert vptrace.wrap_torch_nvtx(force=True) is True
assert use("heard.zst") == 5
PY

python "NVTX that is imported later" -W error <<'PY'
import sys, vptrace
import torch
finders = list(sys.meta_path)
assert vptrace.wrap_torch_nvtx() is None and vptrace.wrap_torch_nvtx() is None
assert len(sys.meta_path) == len(finders) + 1
from use_nvtx import use
assert sys.meta_path == finders
assert use("later.zst") == 5
PY

python "waiting for torch can be given up" -W error <<'PY'
import vptrace
vptrace.wrap_torch_nvtx()
vptrace.unwrap_torch_nvtx()
from use_nvtx import use
assert use("given-up.zst") == 0
PY

# README's example for Python, as it stands there.
sed -n '/^```python$/,/^```$/p' "$source/README.md" | grep -v '^```' >readme.py
VPTRACE_PROFILE=none python "README's example" -W error <readme.py
expect 0 "what README's example recorded" cat mine.zst --kind range
says out '"name":"step"'

# ---- the command of an installation by pip ----

# command_of RULE CODE VARIABLE=...: what the entry point prints, with `--version`
command_of() {
	rule=$1
	code=$2
	shift 2
	cases=$((cases + 1))
	$preload env VPTRACE_LIBRARY= "$@" "$interpreter" -c 'import sys; sys.argv[1:] = ["--version"]; from vptrace._command import main; main()' >out 2>err </dev/null
	found=$?
	[ "$found" = "$code" ] || fail "$rule: expected exit code $code, found $found"
}

mkdir -p scripts programs/bin programs/lib
printf '#!/bin/sh\nexit 9\n' >scripts/vptrace
chmod +x scripts/vptrace
ln -s "$bin/vptrace" programs/bin/vptrace
version=$("$bin/vptrace" --version)
interpreter=$(python3 -c 'import sys; print(sys.executable)')
command_of "VPTRACE_BIN is a folder" 0 VPTRACE_BIN="$bin"
same "$rule" "$version" "$(cat out)"
command_of "VPTRACE_BIN is a program" 0 VPTRACE_BIN="$bin/vptrace"
same "$rule" "$version" "$(cat out)"
command_of "VPTRACE_BIN is neither" 1 VPTRACE_BIN="$work/scripts" PATH="$work/programs/bin:$PATH"
says err "vptrace: VPTRACE_BIN: expected a program, or a folder with the program vptrace, found $work/scripts"
command_of "beside the library" 0 VPTRACE_LIBRARY="$bin/libvptrace.so"
same "$rule" "$version" "$(cat out)"
command_of "on PATH; a script is not the program" 0 PATH="$work/scripts:$work/programs/bin:$PATH"
same "$rule" "$version" "$(cat out)"
command_of "nowhere" 1 PATH="$work/scripts"
same "one sentence" 1 "$(wc -l <err | tr -d ' ')"
says err "vptrace: the program vptrace is neither named by VPTRACE_BIN nor beside a libvptrace.so, of which there is none, nor on PATH: "
cp "$bin"/libvptrace.so programs/lib
command_of "in the folder bin beside that of the library" 0 VPTRACE_LIBRARY="$work/programs/lib/libvptrace.so"
same "$rule" "$version" "$(cat out)"
finish
