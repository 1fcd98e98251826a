"""Records the GPU work of this process into a capture file, for vptrace-analyze to read later.

    import vptrace                      # before the first use of torch's NVTX, so that it is recorded

    with vptrace.trace("wan.zst") as capture:
        with vptrace.request("a cat surfing"):
            with vptrace.stage("text encoding"):
                ...
            for index in range(7):
                with vptrace.block(index, frames=12, latents=3):
                    for i, t in enumerate(timesteps):
                        with vptrace.step(i, timestep=t):
                            ...
                    with vptrace.context_pass(len(timesteps)):
                        ...
                    vptrace.frames_ready(index, frames=12)
    print(capture.summary)

Each range function returns a context manager that is also a decorator:

    @vptrace.stage("VAE decoding")
    def decode(latents): ...

and their values may then be functions of the arguments:

    @vptrace.block(index=lambda model, i, noise: i, latents=lambda model, i, noise: noise.shape[1])
    def generate_block(model, i, noise): ...

A program that you do not want to change gets its ranges from mark_calls(), or from `vptrace run`. At the end
of a stage or request the memory of torch's allocator is sampled as counters memory.allocated, memory.reserved
and memory.peak, without waiting for the GPU.

A range costs one or two microseconds of Python, even while nothing is recorded. Ranges nest, and belong
to the thread that opened them; a generator or a coroutine must not keep one open across a yield or an
await.

The module needs libvptrace.so. It uses the one that this process has already loaded, else the one in the
environment variable VPTRACE_LIBRARY, the one that CUDA or NVTX is configured to load, the one next to this
file, or the one that the system's loader finds.
Without the library all functions do nothing, and start() and trace() print one warning; with strict=True
they raise an exception. Failures of the library are warnings too, unless strict: a traced program must run
as it does untraced.

The environment variables VPTRACE_OUTPUT, VPTRACE_PROFILE, VPTRACE_MEMORY and the others of vptrace.h
override the arguments below.
"""

import atexit
import ctypes
import enum
import functools
import importlib.abc
import importlib.util
import inspect
import os
import sys
import threading
import time
import typing
import warnings

__all__ = [  # not range, which would hide Python's own
    "Code", "State", "Statistics", "Summary", "VptraceError", "VptraceWarning", "available", "block",
    "context_pass", "counter", "frames_ready", "last_error", "mark", "mark_calls", "metadata", "pause",
    "request", "resume", "schedule", "snapshot", "start", "stage", "statistics", "status", "step", "stop", "trace",
    "unmark_calls", "unwrap_torch_nvtx", "version", "wrap_torch_nvtx",
]


class Code(enum.IntEnum):
    """What start() and stop() return. The names are those of vptrace.h."""

    OK = 0
    EINVAL = -1  # invalid option or environment variable
    EBUSY = -2  # a capture is already running; it continues
    EIDLE = -3  # no capture is running
    ENOMEM = -4
    EFILE = -5  # the file cannot be created or written
    ENOCUPTI = -6  # ranges only: no usable CUPTI or driver
    ETAKEN = -7  # ranges only: another profiler holds CUPTI in this process
    EDENIED = -8  # ranges only: the driver does not allow tracing for this user
    ETIMEOUT = -9  # stopped, but the GPU or CUPTI took too long: records are missing
    EFORKED = -10  # this process was forked from a traced one and records nothing
    MISSING = -100  # there is no libvptrace.so; returned only by this module


class State(enum.IntEnum):
    """What status() returns."""

    STOPPED = 0
    RUNNING = 1
    RANGES_ONLY = 2  # CUPTI is unavailable, or another client has it now: see last_error()
    PAUSED = 3
    FAILED = 4  # the file could not be written: nothing more is recorded
    INERT = 5  # a forked child


class VptraceWarning(RuntimeWarning):
    """Something is not recorded; the program continues."""


class VptraceError(RuntimeError):
    """Replaces a warning if strict=True. `code` is a Code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Statistics(typing.NamedTuple):
    """Numbers of a capture. received = written + dropped."""

    received: int = 0  # records delivered by CUPTI, NVTX and this program
    written: int = 0  # of the received: in the file
    dropped: int = 0  # of the received: not in the file
    cupti_dropped: int = 0  # records that CUPTI itself could not deliver
    invalid: int = 0  # of the written: records with invalid times
    chunks: int = 0
    file_bytes: int = 0
    names_dropped: int = 0  # names beyond the limit of distinct names
    buffers_kept: int = 0  # buffers that CUPTI had not returned when the capture ended
    cupti_records: int = 0  # records delivered by CUPTI; all but the filtered are received
    filtered: int = 0
    stop_code: int = 0
    unfinished: int = 0  # of the written: work that the GPU had not done at the stop
    samples: int = 0  # of the received: values that the library sampled


class Summary(typing.NamedTuple):
    """The result of a capture."""

    path: typing.Optional[str]  # of the file; None: unknown, or nothing was recorded
    code: Code  # the first Code of start() and stop() that was not OK
    reason: str  # in words; "" if the code is OK
    stats: Statistics

    @property
    def complete(self):
        """Whether everything that happened is in the file."""
        missing = self.stats.dropped + self.stats.cupti_dropped + self.stats.unfinished
        return self.code == Code.OK and not missing


_PROFILES = {"default": 0, "lite": 1, "full": 2, "coarse": 3, "none": 4}
_RECORDING = (Code.OK, Code.ENOCUPTI, Code.ETAKEN, Code.EDENIED)


# ---- the library ----


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("overwrite", ctypes.c_int),
        ("profile", ctypes.c_int),
        ("memory_limit_bytes", ctypes.c_uint64),
        ("flush_interval_ms", ctypes.c_uint32),
        ("stop_timeout_ms", ctypes.c_uint32),
        ("compression_level", ctypes.c_int),
        ("cupti_path", ctypes.c_char_p),
        ("synchronize", ctypes.c_int),
        ("device_buffers", ctypes.c_uint32),
        ("capture", ctypes.c_char_p),
        ("duration_ns", ctypes.c_uint64),
        ("max_bytes", ctypes.c_uint64),
        ("ring", ctypes.c_char_p),
        ("snapshot_on", ctypes.c_char_p),
        ("counters_ms", ctypes.c_int),
        ("stacks_hz", ctypes.c_int),
    ]


class _Stats(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_size_t)]
    _fields_ += [
        (name, ctypes.c_int if name == "stop_code" else ctypes.c_uint64)
        for name in Statistics._fields
    ]


class _Note(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("frames", ctypes.c_int64),
        ("latents", ctypes.c_int64),
        ("timestep", ctypes.c_double),
    ]


_text, _note, _stats = ctypes.c_char_p, ctypes.POINTER(_Note), ctypes.POINTER(_Stats)

# Functions that may wait; other threads of Python continue meanwhile.
_WAITING = {
    "start": (ctypes.c_int, [ctypes.POINTER(_Options)]),
    "stop": (ctypes.c_int, [_stats]),
    "pause": (ctypes.c_int, []),
    "resume": (ctypes.c_int, []),
    "metadata": (ctypes.c_int, [_text, _text]),
    "status": (ctypes.c_int, []),
    "statistics": (ctypes.c_int, [_stats]),
    "last_error": (_text, []),
    "version": (_text, []),
}

# Functions that never wait. They keep the interpreter's lock: releasing and acquiring it takes a hundred
# times longer than the call if another thread of Python is busy.
_QUICK = {
    "range_push": (None, [_text]),
    "range_pop": (None, []),
    "range_start": (ctypes.c_uint64, [_text]),
    "range_end": (None, [ctypes.c_uint64]),
    "mark": (None, [_text]),
    "note_push": (None, [_text, _note]),
    "note_mark": (None, [_text, _note]),
    "counter": (ctypes.c_int, [_text, ctypes.c_double, _text]),
}


class _Library:
    """The functions of libvptrace.so by their names without the prefix."""

    def __init__(self, path):
        for loader, table in ((ctypes.CDLL, _WAITING), (ctypes.PyDLL, _QUICK)):
            library = loader(path)
            for name, (result, arguments) in table.items():
                function = getattr(library, "vptrace_" + name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        self._handle = library
        self.path = None
        if hasattr(library, "vptrace_path"):  # newer than the rest
            self.path = ctypes.CDLL(path).vptrace_path
            self.path.restype, self.path.argtypes = _text, []
        self.snapshot = None
        if hasattr(library, "vptrace_snapshot"):
            self.snapshot = ctypes.CDLL(path).vptrace_snapshot
            self.snapshot.restype, self.snapshot.argtypes = ctypes.c_int, [_text]

    def quick(self, name):
        """One of _QUICK without declared types, for a caller that passes bytes and pointers alone."""
        function = self._handle["vptrace_" + name]
        function.restype = None
        return function


def _mapped():
    """The copy in this process; two copies would compete for CUPTI."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            for line in maps:
                path = line.rstrip("\n").split(" ")[-1]
                if os.path.basename(path).startswith("libvptrace.so"):
                    return path
    except OSError:
        pass
    return None


def _load():
    """The library, or None and the errors of each attempt."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libvptrace.so")
    tried = []
    named = os.environ.get("VPTRACE_LIBRARY")
    injected = [os.environ.get(kind + "_INJECTION64_PATH", "") for kind in ("CUDA", "NVTX")]  # as `vptrace run` does
    injected = [path for path in injected if os.path.basename(path).startswith("libvptrace.so")]
    for path in (_mapped(), named, *injected, beside, "libvptrace.so.0", "libvptrace.so"):
        if not path:
            continue
        try:
            return _Library(path), ""
        except (OSError, AttributeError) as error:
            tried.append(str(error))
    return None, "; ".join(tried)


# Loaded on import: its constructor registers it with NVTX, which checks only at a program's first range.
_library, _why_missing = _load()
_said = set()
_lock = threading.Lock()


def _bytes(text):
    if isinstance(text, bytes):
        return text
    return str(text).encode("utf-8", "replace")


def _complain(code, text, strict):
    """Raises, or warns once per text."""
    if strict:
        raise VptraceError(code, text)
    with _lock:
        first = text not in _said
        _said.add(text)
    if not first:
        return
    level, frame = 1, sys._getframe()
    while frame and frame.f_code.co_filename == __file__:  # report the line of the program
        level, frame = level + 1, frame.f_back
    warnings.warn("vptrace: " + text, VptraceWarning, stacklevel=level)


def _result(number, names=Code):
    """A number of the library as a Code; one that is newer than this module stays a number."""
    try:
        return names(number)
    except ValueError:
        return number


def _failed(number, strict):
    """The Code of what a function returned; warns or raises unless it is OK."""
    code = _result(number)
    if code != Code.OK:
        _complain(code, last_error() or "failed with code %d" % number, strict)
    return code


def _numbers(stats):
    return Statistics(*(getattr(stats, name) for name in Statistics._fields))


# ---- the capture ----


def available():
    """Whether libvptrace.so is loaded."""
    return _library is not None


def version():
    """The library's version, as "0.1.0"; "" without a library."""
    return _library.version().decode("utf-8", "replace") if _library else ""


def last_error():
    """Why the last call that failed in this thread failed; "" if none did."""
    if not _library:
        return "there is no libvptrace.so: " + _why_missing
    return (_library.last_error() or b"").decode("utf-8", "replace")


def _options(*, path, profile, cupti_path, synchronize, duration_s, **given):
    if profile is not None and profile not in _PROFILES:
        raise ValueError(
            "profile: expected %s, found %r" % (", ".join(map(repr, _PROFILES)), profile))
    if not 0 <= duration_s < 2**63 / 1e9:
        raise ValueError("duration_s: expected seconds, found %r" % (duration_s,))
    for name in ("capture", "ring", "snapshot_on"):
        given[name] = _bytes(given[name]) if given[name] else None
    return _Options(
        struct_bytes=ctypes.sizeof(_Options),
        path=None if path is None else os.fsencode(path),
        profile=_PROFILES[profile or "default"],
        cupti_path=None if cupti_path is None else os.fsencode(cupti_path),
        synchronize=1 if synchronize else -1,
        duration_ns=round(duration_s * 1e9),
        **given,
    )


def _torch_is_profiling():
    """Whether a profiler of torch is active here. Does not import torch. The profiler need not use CUPTI; whether it does is
    unknown."""
    autograd = getattr(sys.modules.get("torch"), "autograd", None)
    if getattr(getattr(autograd, "profiler", None), "_is_profiler_enabled", False):
        return True  # in the process, from torch 2.1 on
    try:
        return bool(autograd._profiler_enabled())  # in this thread
    except AttributeError:
        return False


def _start_beside_torch(options, strict):
    """Records ranges only: otherwise one of the two would lose the GPU's records, mostly without an error."""
    text = ("a profiler of torch is active in this process, and only one can have the GPU's records: "
            "do not use both at the same time")
    if strict:
        raise VptraceError(Code.ETAKEN, text)
    if os.environ.get("VPTRACE_PROFILE") in (None, "", "none"):
        ranges = _Options.from_buffer_copy(options)  # its texts are those of `options`
        ranges.profile = _PROFILES["none"]
        _library.metadata(b"cupti.unavailable", _bytes(text))
        number = _library.start(ctypes.byref(ranges))
        if number != Code.OK:
            return _failed(number, strict), last_error()
        text += "; only ranges are recorded"
    else:  # the variable overrides options
        text += "; nothing is recorded"
    _complain(Code.ETAKEN, text, strict)
    return Code.ETAKEN, text


def _captures():
    """Whether this thread's stream of torch is being captured; the library does not see the begin."""
    cuda = sys.modules.get("torch.cuda")
    asked = getattr(cuda, "is_current_stream_capturing", None)
    try:
        return bool(asked and cuda.is_initialized() and asked())
    except Exception:  # pylint: disable=broad-except
        return True


def _start(options, strict):
    """The Code, and the reason in words unless it is OK."""
    if not _library:
        text = "nothing is recorded: " + last_error()
        _complain(Code.MISSING, text, strict)
        return Code.MISSING, last_error()
    atexit.unregister(_stop_at_exit)
    atexit.register(_stop_at_exit)
    if _torch_is_profiling() and _library.status() == State.STOPPED:
        return _start_beside_torch(options, strict)
    if _captures():  # waiting for the device would break the capture
        options = _Options.from_buffer_copy(options)
        options.synchronize = -1
    number = _library.start(ctypes.byref(options))
    if strict and number in _RECORDING[1:]:
        reason = last_error()
        _library.stop(None)  # strict requires a complete capture
        raise VptraceError(_result(number), reason)
    code = _failed(number, strict)
    return code, last_error() if code != Code.OK else ""


def start(path=None, *, profile=None, overwrite=False, memory_limit_bytes=0, flush_interval_ms=0,
          stop_timeout_ms=0, compression_level=0, cupti_path=None, synchronize=True, device_buffers=0,
          capture=None, duration_s=0, max_bytes=0, ring=None, snapshot_on=None, counters_ms=0, stacks_hz=0,
          strict=False):
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
    synchronize         whether stop() first waits for launched work; otherwise unfinished work has no
                        times. No device is synchronized while a stream is being captured
    device_buffers      limit of the 3.2 MB buffers that CUPTI may allocate on the device per context, for
                        graphs with millions of nodes; 0: CUPTI's own limit
    capture             when to record: "now", "api", "cudaProfilerApi", "nvtx:RANGE", "nvtx:RANGE:N", "step:A-B"
                        or "delay:S"
    duration_s          ends the capture after this much recorded time; 0: no limit
    max_bytes           ends the capture before the file exceeds this, at least 1 MiB; 0: no limit
    ring                a flight recorder, as "30s" or "64M": keeps the last of the capture in memory, see
                        snapshot()
    snapshot_on         writes the ring by itself: "mark:NAME", "slow:K" or "signal:NAME"
    counters_ms         time between samples of GPU, process and machine, 100 to 60000; 0: 500 if the GPU's
                        work is recorded; -1: none
    stacks_hz           samples per second of the Python stacks of threads that call CUDA, 1 to 1000; 0: 200 if
                        the GPU's work is recorded; -1: none
    """
    return _start(_options(path=path, profile=profile, overwrite=overwrite,
                           memory_limit_bytes=memory_limit_bytes, flush_interval_ms=flush_interval_ms,
                           stop_timeout_ms=stop_timeout_ms, compression_level=compression_level,
                           cupti_path=cupti_path, synchronize=synchronize, device_buffers=device_buffers,
                           capture=capture, duration_s=duration_s, max_bytes=max_bytes, ring=ring,
                           snapshot_on=snapshot_on, counters_ms=counters_ms, stacks_hz=stacks_hz), strict)[0]


def _stop():
    """The Code, the reason in words, the Statistics."""
    stats = _Stats(struct_bytes=ctypes.sizeof(_Stats))
    code = _result(_library.stop(ctypes.byref(stats)))
    return code, last_error() if code != Code.OK else "", _numbers(stats)


def stop(strict=False):
    """Drains, closes the file, and returns its Statistics; without a running capture those of the last one."""
    if not _library:
        return Statistics(stop_code=Code.MISSING)
    code, reason, stats = _stop()
    if code not in (Code.OK, Code.EIDLE):
        _complain(code, reason, strict)
    return stats


def _stop_at_exit():
    """Stops before the interpreter and CUDA shut down; the library would do it later, when less of them is left."""
    if _library.status() not in (State.STOPPED, State.INERT):
        stop()


def pause():
    """Discards events until resume(): a pause, not a loss. Returns a Code."""
    return _result(_library.pause()) if _library else Code.MISSING


def resume():
    """Ends a pause. Returns a Code."""
    return _result(_library.resume()) if _library else Code.MISSING


def snapshot(path=None, *, strict=False):
    """Writes what the flight recorder (VPTRACE_RING) holds to a file; recording goes on. Without a path: the
    capture's own name. A name that is taken gets a number. Returns the file's name, None if it failed."""
    if not _library:
        return None
    if not _library.snapshot:
        _complain(Code.MISSING, "this libvptrace.so is too old for snapshots", strict)
        return None
    if _failed(_library.snapshot(None if path is None else os.fsencode(path)), strict) != Code.OK:
        return None
    return os.fsdecode(_library.path())


def status():
    """A State. STOPPED without a library."""
    return _result(_library.status(), State) if _library else State.STOPPED


def statistics():
    """The Statistics of the running capture, or of the last one."""
    stats = _Stats(struct_bytes=ctypes.sizeof(_Stats))
    if _library:
        _library.statistics(ctypes.byref(stats))
    return _numbers(stats)


def metadata(key, value):
    """Records a fact about the run: metadata("model.parameters", 1.3e9). Before start() it is kept for the
    next capture; the latest value of a key counts. Returns a Code."""
    return _result(_library.metadata(_bytes(key), _bytes(value))) if _library else Code.MISSING


def counter(name, value, unit=None):
    """Adds a sample to a series: counter("kv cache", used, "bytes"). Returns a Code."""
    if not _library:
        return Code.MISSING
    unit = None if unit is None else _bytes(unit)
    return _result(_library.counter(_bytes(name), value, unit))


class schedule:  # pylint: disable=invalid-name
    """The iterations of a loop that a trace records. After `skip_first` iterations, it omits `wait` and `warmup`
    iterations and records `active` iterations, again and again, `repeat` times; 0: until the trace ends. Omitted
    iterations are a pause of the capture: they count neither as idle time nor as a loss.

        with vptrace.trace("run.zst", schedule=vptrace.schedule(wait=1, warmup=1, active=3)) as capture:
            for prompt in prompts:
                generate(prompt)
                capture.step()

    Call it with the number of an iteration: returns whether this iteration is recorded.
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
    schedule() and step(). Any function that takes an iteration's number and returns whether to record it will do.

    If a capture is already running, for example of `vptrace run`, it continues and is not stopped here, and a
    schedule has no effect.
    After the block, `summary` is a Summary; before, None. An exception of the block is never suppressed.
    """

    def __init__(self, path=None, *, schedule=None, profile=None, overwrite=False, memory_limit_bytes=0,  # pylint: disable=redefined-outer-name
                 flush_interval_ms=0, stop_timeout_ms=0, compression_level=0, cupti_path=None,
                 synchronize=True, device_buffers=0, capture=None, duration_s=0, max_bytes=0, ring=None,
                 snapshot_on=None, counters_ms=0, stacks_hz=0, strict=False):
        if schedule is not None and not callable(schedule):
            raise ValueError("schedule: expected schedule(...) or a function of the iteration, found %r" % (schedule,))
        self._schedule, self._iteration = schedule, 0
        self._options = _options(path=path, profile=profile, overwrite=overwrite,
                                 memory_limit_bytes=memory_limit_bytes, flush_interval_ms=flush_interval_ms,
                                 stop_timeout_ms=stop_timeout_ms, compression_level=compression_level,
                                 cupti_path=cupti_path, synchronize=synchronize, device_buffers=device_buffers,
                                 capture=capture, duration_s=duration_s, max_bytes=max_bytes, ring=ring,
                                 snapshot_on=snapshot_on, counters_ms=counters_ms, stacks_hz=stacks_hz)
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
        """The iteration of the schedule has ended and the next one begins. Returns whether that is recorded; without a
        schedule all are."""
        self._iteration += 1
        return self._follow_schedule()

    def __exit__(self, kind, error, traceback):
        code, reason, stats, path = self._code, self._reason, Statistics(), None
        ended, why = Code.OK, ""
        if code in _RECORDING:
            ended, why, stats = _stop()
            path = _library.path() if _library.path else None
        if ended == Code.EIDLE:  # stop() was called in the block
            ended = Code.OK
        if code == Code.OK:
            code, reason = ended, why if ended else ""
        self.summary = Summary(os.fsdecode(path) if path else None, code, reason, stats)
        if ended != Code.OK:
            _complain(ended, why, self._strict and kind is None)
        return False

    def __call__(self, function):
        _refuse_suspending(function)

        @functools.wraps(function)
        def traced(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return traced


# ---- ranges ----


def _refuse_suspending(function):
    if (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function)):
        raise TypeError("%s: expected a plain function; use a with-block that contains no yield "
                        "or await" % getattr(function, "__qualname__", function))


class _Asking:
    """A decorator whose values are functions of the decorated one's arguments."""

    def __init__(self, make, values):
        self._make, self._values = make, values

    def __enter__(self):
        raise TypeError("expected values, found a function of the arguments, which only a decorated function has")

    def __exit__(self, kind, error, traceback):
        return False

    def __call__(self, function):
        _refuse_suspending(function)
        make, values = self._make, self._values

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            if _library is None:
                return function(*args, **kwargs)
            with make(**{k: v(*args, **kwargs) if callable(v) else v for k, v in values.items()}):
                return function(*args, **kwargs)

        return ranged


def _ask(make, **values):
    """The _Range, or if some values are functions, what asks them at each call."""
    return _Asking(make, values) if any(map(callable, values.values())) else make(**values)


class _Range:
    """A range that may be entered any number of times, on any thread."""

    __slots__ = ("_name", "_note")

    def __init__(self, name, note=None):
        self._name, self._note = _bytes(name), note

    def __enter__(self):
        if _library is not None:
            if self._note is None:
                _library.range_push(self._name)
            else:
                _library.note_push(self._name, self._note)
        return self

    def __exit__(self, kind, error, traceback):
        if _library is not None:
            _library.range_pop()
        return False

    def __call__(self, function):
        _refuse_suspending(function)

        @functools.wraps(function)
        def ranged(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return ranged


class _Stage(_Range):
    """A range at whose end torch's memory is of interest."""

    __slots__ = ()

    def __exit__(self, kind, error, traceback):
        if _library is not None:
            _library.range_pop()
            _memory_at_the_end()
        return False


def _describe(kind, index=None, frames=None, latents=None, timestep=None):
    """The role of a range in a video pipeline; a missing number is negative. Numbers may be anything that int()
    and float() accept, including a tensor of one element, which waits for the GPU."""
    numbers = [-1 if n is None else int(n) for n in (index, frames, latents)]
    return _Note(kind, *numbers, -1.0 if timestep is None else float(timestep))


def range(name):  # pylint: disable=redefined-builtin
    """A range of any kind."""
    return _Range(name)


def request(name, frames=None):
    """One requested video. `frames` is the number of all its video frames, if no block gives its own."""
    return _ask(lambda name, frames: _Stage(name, _describe(1, frames=frames)), name=name, frames=frames)


def stage(name):
    """A part of the pipeline: "text encoding", "VAE decoding" ..."""
    return _ask(lambda name: _Stage(name, _describe(2)), name=name)


def block(index, frames=None, latents=None):
    """One generated block of frames. `index` counts from 0 in its request; `frames` is the number of video
    frames, `latents` that of latent frames."""
    return _ask(lambda **values: _Range("block", _describe(3, **values)), index=index, frames=frames, latents=latents)


def step(index, timestep=None):
    """One denoising iteration. `index` counts from 0 in its block; `timestep` is that of the schedule."""
    return _ask(lambda **values: _Range("step", _describe(4, **values)), index=index, timestep=timestep)


def context_pass(index):
    """The pass that writes the KV cache; `index` counts among the steps of its block."""
    return _ask(lambda index: _Range("context pass", _describe(5, index)), index=index)


def frames_ready(index, frames=None):
    """Marks the moment when the frames of block `index` are ready to be shown."""
    if _library is not None:
        _library.note_mark(b"frames ready", _describe(6, index, frames))


def mark(name):
    """Marks a moment."""
    if _library is not None:
        _library.mark(_bytes(name))


# ---- memory of torch, at the end of stages ----

_MEMORY_EVERY_NS = 10_000_000
_memory_next = 0  # pylint: disable=invalid-name


def _memory_at_the_end():
    """Samples the memory of torch's allocator on the current device, as counters memory.allocated, memory.reserved and
    memory.peak in bytes, at most 100 times per second. Reads only the allocator, never the GPU; does nothing if torch
    is not imported or has not used CUDA. The peak is the allocator's since its last reset."""
    global _memory_next  # pylint: disable=global-statement
    cuda = sys.modules.get("torch.cuda")
    if cuda is None:
        return
    now = time.monotonic_ns()
    if now < _memory_next:
        return
    _memory_next = now + _MEMORY_EVERY_NS
    try:
        if not cuda.is_initialized():
            return
        stats = cuda.memory_stats_as_nested_dict()
        used, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
        _library.counter(b"memory.allocated", used["current"], b"bytes")
        _library.counter(b"memory.reserved", reserved["current"], b"bytes")
        _library.counter(b"memory.peak", used["peak"], b"bytes")
    except Exception:  # pylint: disable=broad-except  # another allocator, or no memory of its own
        pass


# ---- marks around functions that do not use vptrace ----


def mark_calls(*marks):
    """Puts ranges around functions of the program and of its libraries, now and when they are imported, and returns
    the number of functions marked so far. Each argument is the name of a preset, the path of a mark file, "auto" for all presets,
    "modules:N" for every torch.nn.Module down to a depth, or lines in the format of a mark file:

        vptrace.mark_calls("diffusers")
        vptrace.mark_calls("my_model.sampler:Sampler.denoise = step index=i")

    README.md next to this module describes the lines. A mistake in them raises a ValueError with its place. Without
    the library nothing is marked. unmark_calls() undoes all marks. (mark() is different: it marks a moment.)
    """
    import vptrace_marks  # pylint: disable=import-outside-toplevel

    return vptrace_marks.start(sys.modules[__name__], marks)


def unmark_calls():
    """Restores every function that mark_calls(), or `vptrace run`, has marked."""
    if "vptrace_marks" in sys.modules:
        sys.modules["vptrace_marks"].stop()


# ---- torch.cuda.nvtx, for a program that used it before importing this module ----

_NVTX = "torch.cuda.nvtx"
_wrapped = {}  # the original functions by name


def _wrapper_of_start(range_start, ids):
    def wrapped(msg):
        theirs, ours = range_start(msg), _library.range_start(_bytes(msg))
        if not ours:
            return theirs
        ids[ours] = theirs
        return ours

    return wrapped


def _wrapper_of_end(range_end, ids):
    def wrapped(range_id):
        theirs = ids.pop(range_id, None)
        if theirs is None:
            return range_end(range_id)
        _library.range_end(range_id)
        return range_end(theirs)

    return wrapped


def _wrapper(function, ours):
    def wrapped(*args, **named):
        result = function(*args, **named)
        ours(*(_bytes(a) for a in (*args, *named.values())))
        return result

    return wrapped


def _is_heard(nvtx):
    """NVTX returns a negative depth if no tool is attached."""
    depth = nvtx.range_push("vptrace: is NVTX heard?")
    nvtx.range_pop()
    return depth >= 0


def _wrap(nvtx, force):
    if _wrapped or (not force and _is_heard(nvtx)):
        return bool(_wrapped)
    ids = {}
    makers = {
        "range_push": lambda f: _wrapper(f, _library.range_push),
        "range_pop": lambda f: _wrapper(f, _library.range_pop),
        "mark": lambda f: _wrapper(f, _library.mark),
        "range_start": lambda f: _wrapper_of_start(f, ids),
        "range_end": lambda f: _wrapper_of_end(f, ids),
    }
    for name, make in makers.items():
        function = getattr(nvtx, name, None)
        if function is not None:
            _wrapped[name] = function
            setattr(nvtx, name, functools.wraps(function)(make(function)))
    return True


class _WrapWhenImported(importlib.abc.MetaPathFinder):
    """Is the first of the finders until torch.cuda.nvtx is imported."""

    def __init__(self, force):
        self._force = force

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NVTX:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec and spec.loader and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def then_wrap(module):
                execute(module)
                _wrap(module, self._force)

            spec.loader.exec_module = then_wrap
        return spec


def wrap_torch_nvtx(force=False):
    """Records the ranges of torch.cuda.nvtx in a program that used NVTX before it imported this module, when
    NVTX already found no tool. From now on range_push, range_pop, range (through these two), mark,
    range_start and range_end also call vptrace. Functions imported by name earlier do not change, nor do
    the ranges that torch makes in C++ (emit_nvtx).

    Does nothing if a tool is attached to NVTX, since every range would be recorded twice; use `force` if
    this is another tool. If torch is not imported yet, this takes effect when it is. Returns whether
    vptrace is called from now on; None: decided when torch is imported.
    """
    if _library is None:
        return False
    if _NVTX in sys.modules:
        return _wrap(sys.modules[_NVTX], force)
    if not any(isinstance(finder, _WrapWhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WrapWhenImported(force))
    return None


def unwrap_torch_nvtx():
    """Undoes wrap_torch_nvtx()."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _WrapWhenImported)]
    for name, function in _wrapped.items():
        setattr(sys.modules[_NVTX], name, function)
    _wrapped.clear()
