"""The capture of this process: its start and stop, its facts and counters, and the schedule of a loop."""

import atexit
import ctypes
import functools
import inspect
import os

from . import _compiling, _library, _torch
from ._library import Options, Stats, as_bytes, as_code, as_statistics, complain, failed, last_error
from ._ranges import words_of
from ._results import Code, State, Statistics, Summary, VptraceError

_PROFILES = {"default": 0, "lite": 1, "full": 2, "coarse": 3, "none": 4}
before_stop = []  # what is called before a capture ends, for vptrace_marks
_RECORDING = (Code.OK, Code.ENOCUPTI, Code.ETAKEN, Code.EDENIED)


def _joined(tags):
    texts = ["%s=%s" % pair for pair in tags.items()]
    for text in texts:
        if "," in text:
            raise ValueError("tags: expected keys and values without a comma, found %r" % text)
    return ",".join(texts)


def _options(*, path, profile, cupti_path, synchronize, duration_s, **given):
    if profile is not None and profile not in _PROFILES:
        raise ValueError(
            "profile: expected %s, found %r" % (", ".join(map(repr, _PROFILES)), profile))
    if not 0 <= duration_s < 2**63 / 1e9:
        raise ValueError("duration_s: expected seconds, found %r" % (duration_s,))
    if isinstance(given["tags"], dict):
        given["tags"] = _joined(given["tags"])
    for name in ("capture", "ring", "snapshot_on", "tags"):
        given[name] = as_bytes(given[name]) if given[name] else None
    return Options(
        struct_bytes=ctypes.sizeof(Options),
        path=None if path is None else os.fsencode(path),
        profile=_PROFILES[profile or "default"],
        cupti_path=None if cupti_path is None else os.fsencode(cupti_path),
        synchronize=1 if synchronize else -1,
        duration_ns=round(duration_s * 1e9),
        **given,
    )


def _start_beside_torch(options, strict):
    """Records ranges only: otherwise one of the two would lose the GPU's records, mostly without an error."""
    text = ("a profiler of torch is active in this process, and only one can have the GPU's records: "
            "do not use both at the same time")
    if strict:
        raise VptraceError(Code.ETAKEN, text)
    if os.environ.get("VPTRACE_PROFILE") in (None, "", "none"):
        ranges = Options.from_buffer_copy(options)  # its texts are those of `options`
        ranges.profile = _PROFILES["none"]
        _library.loaded.metadata(b"cupti.unavailable", as_bytes(text))
        number = _library.loaded.start(ctypes.byref(ranges))
        if number != Code.OK:
            return failed(number, strict), last_error()
        text += "; only ranges are recorded"
    else:  # the variable overrides options
        text += "; nothing is recorded"
    complain(Code.ETAKEN, text, strict)
    return Code.ETAKEN, text


def _start(options, strict):
    """The Code, and the reason in words unless it is OK."""
    if not _library.loaded:
        text = "nothing is recorded: " + last_error()
        complain(Code.MISSING, text, strict)
        return Code.MISSING, last_error()
    atexit.unregister(_stop_at_exit)
    atexit.register(_stop_at_exit)
    if _torch.is_profiling() and _library.loaded.status() == State.STOPPED:
        return _start_beside_torch(options, strict)
    if _torch.is_capturing():  # waiting for the device would break the capture
        options = Options.from_buffer_copy(options)
        options.synchronize = -1
    number = _library.loaded.start(ctypes.byref(options))
    if strict and number in _RECORDING[1:]:
        reason = last_error()
        _library.loaded.stop(None)  # strict requires a complete capture
        raise VptraceError(as_code(number), reason)
    code = failed(number, strict)
    return code, last_error() if code != Code.OK else ""


def start(path=None, *, profile=None, overwrite=False, memory_limit_bytes=0, flush_interval_ms=0,
          stop_timeout_ms=0, compression_level=0, cupti_path=None, synchronize=True, device_buffers=0,
          capture=None, duration_s=0, max_bytes=0, ring=None, snapshot_on=None, counters_ms=0, stacks_hz=0,
          tags=None, strict=False):
    """Starts recording and returns a Code: OK; ENOCUPTI, ETAKEN or EDENIED if only ranges are recorded;
    another one if nothing is. Each Code but OK is warned about once, or raised with strict=True. While a
    profiler of torch is active, the Code is ETAKEN.

    path                the output file, created with the first record. %p is the process id, %h the host,
                        %r the rank, %q{VAR} a variable, %% a percent sign. If the file exists, a number is
                        added to the name. Default: vptrace-<script>-<pid>.zst in the working folder
    profile             "default", "lite" (kernels, copies, launches, ranges), "full" (also memory
                        operations), "coarse" (one record per CUDA graph), "none" (ranges only)
    overwrite           whether to replace an existing regular file
    memory_limit_bytes  beyond it the newest records are dropped and counted; 0: 256 MiB
    flush_interval_ms   at most the records of this time are lost if the process dies; 0: 1000
    stop_timeout_ms     the longest wait for the GPU and CUPTI at the end; 0: 5000
    compression_level   zstd level, -7 to 19; 0: 1
    cupti_path          a libcupti to load instead of the one found
    synchronize         whether stop() first waits for launched work; if not, unfinished work has no times. No
                        device is synchronized while a stream is being captured
    device_buffers      limit of the 3.2 MB buffers that CUPTI may allocate on the device per context, for
                        graphs with millions of nodes; 0: CUPTI's own limit
    capture             when to record: "now", "api", "cudaProfilerApi", "nvtx:RANGE", "nvtx:RANGE:N", "request:A-B",
                        "block:A-B", "step:A-B", "request:wait=1,active=3,repeat=2" or "delay:S"
    duration_s          ends the capture after this much recorded time; 0: no limit
    max_bytes           ends the capture before the file exceeds this, at least 1 MiB; 0: no limit
    ring                a flight recorder, such as "30s" or "64M": keeps the last part of the capture in memory,
                        see snapshot()
    snapshot_on         writes the ring on these events: "mark:NAME", "slow:K" or "signal:NAME"
    counters_ms         time between samples of GPU, process and machine, 100 to 60000; 0: 500 if the GPU's
                        work is recorded; -1: none
    stacks_hz           the most samples per second of the Python stacks of threads that call CUDA or make ranges; 0: 200
                        if the GPU's work is recorded; -1: none; vptrace.h says how many are taken
    tags                what reports call the run: {"model": "wan"}, or "model=wan,steps=50"
    """
    return _start(_options(path=path, profile=profile, overwrite=overwrite,
                           memory_limit_bytes=memory_limit_bytes, flush_interval_ms=flush_interval_ms,
                           stop_timeout_ms=stop_timeout_ms, compression_level=compression_level,
                           cupti_path=cupti_path, synchronize=synchronize, device_buffers=device_buffers,
                           capture=capture, duration_s=duration_s, max_bytes=max_bytes, ring=ring,
                           snapshot_on=snapshot_on, counters_ms=counters_ms, stacks_hz=stacks_hz, tags=tags), strict)[0]


def _stop():
    """The Code, the reason in words, the Statistics."""
    stats = Stats(struct_bytes=ctypes.sizeof(Stats))
    for function in list(before_stop):
        function()
    code = as_code(_library.loaded.stop(ctypes.byref(stats)))
    return code, last_error() if code != Code.OK else "", as_statistics(stats)


def stop(strict=False):
    """Ends the capture, closes the file, and returns its Statistics; without a running capture, those of the last one."""
    if not _library.loaded:
        return Statistics(stop_code=Code.MISSING)
    code, reason, stats = _stop()
    if code not in (Code.OK, Code.EIDLE):
        complain(code, reason, strict)
    return stats


def _stop_at_exit():
    """Stops before the interpreter and CUDA shut down. The library itself would stop only during their shutdown."""
    if _library.loaded.status() not in (State.STOPPED, State.INERT):
        stop()


def pause():
    """Discards events until resume(): a pause, not a loss. Returns a Code."""
    return as_code(_library.loaded.pause()) if _library.loaded else Code.MISSING


def resume():
    """Ends a pause. Returns a Code."""
    return as_code(_library.loaded.resume()) if _library.loaded else Code.MISSING


def snapshot(path=None, *, strict=False):
    """Writes what the flight recorder (VPTRACE_RING) holds to a file; recording continues. Without a path, the file
    has the capture's name. If the file exists, a number is added to the name. Returns the file's name, or None if
    it failed."""
    if not _library.loaded:
        return None
    if not _library.loaded.snapshot:
        complain(Code.MISSING, "this libvptrace.so is too old for snapshots", strict)
        return None
    if failed(_library.loaded.snapshot(None if path is None else os.fsencode(path)), strict) != Code.OK:
        return None
    return os.fsdecode(_library.loaded.path())


def status():
    """A State. STOPPED without a library."""
    return as_code(_library.loaded.status(), State) if _library.loaded else State.STOPPED


def statistics():
    """The Statistics of the running capture, or of the last one."""
    stats = Stats(struct_bytes=ctypes.sizeof(Stats))
    if _library.loaded:
        _library.loaded.statistics(ctypes.byref(stats))
    return as_statistics(stats)


def metadata(key, value):
    """Records a fact about the run: metadata("model.parameters", 1.3e9). Before start() it is kept for the
    next capture; the latest value of a key counts. Returns a Code."""
    if _compiling.tracing():
        return Code.OK
    return as_code(_library.loaded.metadata(as_bytes(key), as_bytes(value))) if _library.loaded else Code.MISSING


def tag(key, value):
    """Gives the capture a tag, as `vptrace run --tag KEY=VALUE` does: reports show it, and `trend` selects by it. Returns a Code."""
    if _compiling.tracing():
        return Code.OK
    return metadata(b"tag." + as_bytes(key), value)


def counter(name, value, unit=None):
    """Adds a sample to a series: counter("cache hit", 1), counter("kv cache", used, "bytes"). The report's mean is
    of the samples; if the unit is one of bytes, "%", "W", "C", "MHz" or a rate ("frames/s"), it is by time.
    Returns a Code."""
    if _compiling.tracing():
        return Code.OK
    if not _library.loaded:
        return Code.MISSING
    unit = None if unit is None else as_bytes(unit)
    try:
        value = float(value)
    except Exception:  # pylint: disable=broad-except  # whatever the program's own types raise
        complain(Code.EINVAL, "counter: expected a number, found %s; recorded as a mark" % type(value).__name__, False)
        _library.loaded.mark(b"%s = %s" % (as_bytes(name), words_of(value)))
        return Code.EINVAL
    return as_code(_library.loaded.counter(as_bytes(name), value, unit))


class schedule:  # pylint: disable=invalid-name
    """The iterations of a loop that a trace records. After `skip_first` iterations, the trace omits `wait` and `warmup`
    iterations and records `active` iterations. This is repeated `repeat` times; 0: until the trace ends. Omitted
    iterations are a pause of the capture: they count neither as idle time nor as loss. What an active iteration launches is
    recorded until it has ended, also where the host runs ahead of the GPU.

        with vptrace.trace("run.zst", schedule=vptrace.schedule(wait=1, warmup=1, active=3)) as capture:
            for prompt in prompts:
                generate(prompt)
                capture.step()

    Call it with the number of an iteration; it returns whether this iteration is recorded.
    """

    def __init__(self, *, wait=0, warmup=0, active=1, repeat=0, skip_first=0):
        for name, number, least in (("wait", wait, 0), ("warmup", warmup, 0), ("active", active, 1),
                                    ("repeat", repeat, 0), ("skip_first", skip_first, 0)):
            if not isinstance(number, int) or number < least:
                raise ValueError("%s: expected a whole number from %d, found %r" % (name, least, number))
        self._idle, self._cycle, self._repeat, self._skip = wait + warmup, wait + warmup + active, repeat, skip_first

    def __call__(self, iteration):
        cycle, place = divmod(iteration - self._skip, self._cycle)
        return cycle >= 0 and place >= self._idle and not 0 < self._repeat <= cycle


class trace:  # pylint: disable=invalid-name
    """A capture as a context manager and a decorator. The arguments are those of start(), and a schedule: see
    schedule() and step(). A schedule may be any function that takes an iteration's number and returns whether to
    record it.

    If a capture is already running, for example that of `vptrace run`, it continues and is not stopped here, and a
    schedule has no effect. After the block, `summary` is a Summary; before, None. An exception of the block is never
    suppressed.
    """

    def __init__(self, path=None, *, schedule=None, profile=None, overwrite=False, memory_limit_bytes=0,  # pylint: disable=redefined-outer-name
                 flush_interval_ms=0, stop_timeout_ms=0, compression_level=0, cupti_path=None,
                 synchronize=True, device_buffers=0, capture=None, duration_s=0, max_bytes=0, ring=None,
                 snapshot_on=None, counters_ms=0, stacks_hz=0, tags=None, strict=False):
        if schedule is not None and not callable(schedule):
            raise ValueError("schedule: expected schedule(...) or a function of the iteration, found %r" % (schedule,))
        self._schedule, self._iteration = schedule, 0
        self._options = _options(path=path, profile=profile, overwrite=overwrite,
                                 memory_limit_bytes=memory_limit_bytes, flush_interval_ms=flush_interval_ms,
                                 stop_timeout_ms=stop_timeout_ms, compression_level=compression_level,
                                 cupti_path=cupti_path, synchronize=synchronize, device_buffers=device_buffers,
                                 capture=capture, duration_s=duration_s, max_bytes=max_bytes, ring=ring,
                                 snapshot_on=snapshot_on, counters_ms=counters_ms, stacks_hz=stacks_hz, tags=tags)
        self._strict = strict
        self._code, self._reason = Code.OK, ""
        self.summary = None

    def __enter__(self):
        self.summary = None
        self._code, self._reason = _start(self._options, self._strict)
        self._iteration = 0
        self._follow_schedule()
        return self

    def _follow_schedule(self):
        """Pauses or resumes. Returns whether this iteration is recorded."""
        if self._code not in _RECORDING:
            return False
        if self._schedule is None:
            return True
        recorded = bool(self._schedule(self._iteration))
        (resume if recorded else pause)()
        return recorded

    def step(self):
        """Ends the iteration of the schedule and begins the next one. Returns whether that one is recorded; without a
        schedule, all are."""
        self._iteration += 1
        return self._follow_schedule()

    def __exit__(self, kind, error, traceback):
        code, reason, stats, path = self._code, self._reason, Statistics(), None
        ended, why = Code.OK, ""
        if code in _RECORDING:
            ended, why, stats = _stop()
            path = _library.loaded.path() if _library.loaded.path else None
        if ended == Code.EIDLE:  # stop() was called in the block
            ended = Code.OK
        if code == Code.OK:
            code, reason = ended, why if ended else ""
        self.summary = Summary(os.fsdecode(path) if path else None, code, reason, stats)
        if ended != Code.OK:
            complain(ended, why, self._strict and kind is None)
        return False

    def __call__(self, function):
        if inspect.isasyncgenfunction(function):

            async def traced(*args, **kwargs):
                with self:
                    async for item in function(*args, **kwargs):
                        yield item
        elif inspect.iscoroutinefunction(function):

            async def traced(*args, **kwargs):
                with self:
                    return await function(*args, **kwargs)
        elif inspect.isgeneratorfunction(function):

            def traced(*args, **kwargs):
                with self:
                    return (yield from function(*args, **kwargs))
        else:

            def traced(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)

        return functools.wraps(function)(traced)
