"""Memory of torch's allocator: at the begin and end of stages and requests, and at moments with a label. Nothing here imports torch."""

import os
import sys
import threading
import time

from . import _annotation, _compiling, _library
from ._library import as_bytes, complain
from ._results import Code

_MEMORY_EVERY_NS = 50_000_000  # for stages of one name
_MEMORY_NAMES = 1024
_memory_next = {}  # by name


def _read_memory(device=None):
    """What torch's allocator holds on a device, else the current one, reserves, and held at most since its last reset; None: another
    allocator, or CUDA is not used. Reads only the allocator, never the GPU."""
    cuda = sys.modules.get("torch.cuda")
    try:
        if cuda is None or not cuda.is_initialized():
            return None
        stats = cuda.memory_stats_as_nested_dict() if device is None else cuda.memory_stats_as_nested_dict(device)
        used = stats["allocated_bytes"]["all"]
        return used["current"], stats["reserved_bytes"]["all"]["current"], used["peak"]
    except Exception:  # pylint: disable=broad-except
        return None


def _tell_memory(held, reserved, most):
    counter = _library.loaded.counter
    counter(b"memory.allocated", held, b"bytes")
    counter(b"memory.reserved", reserved, b"bytes")
    counter(b"memory.peak", most, b"bytes")


# ---- peaks, exactly: where the program asked for it ----

class _Peak:
    """The most since it was opened, of a device."""

    def __init__(self, device):
        self.device, self.most = device, 0


_peaks = []  # that are open, of all threads
_peaks_lock = threading.Lock()
resets = os.environ.get("VPTRACE_MEMORY_PEAKS", "") not in ("", "0")  # whether they are asked for, of blocks too


def memory_peaks(enabled=True):
    """Whether the peak of memory is measured exactly, for stages, components, blocks and requests, and between two labels of memory():
    torch.cuda.reset_peak_memory_stats() is called at each begin and end. **That changes what the program itself reads** with
    torch.cuda.max_memory_allocated() and the like, so it is off unless asked for, here, with VPTRACE_MEMORY_PEAKS=1 or
    `vptrace run --memory-peaks`. A begin and an end cost some 20 us each."""
    global resets  # pylint: disable=global-statement
    resets = bool(enabled)


def _fold(device):
    """Tells every open peak of the device what the allocator's peak was, and resets it. Returns what _read_memory() does."""
    with _peaks_lock:
        now = _read_memory()
        if now:
            for peak in _peaks:
                if peak.device == device:
                    peak.most = max(peak.most, now[2])
            sys.modules["torch.cuda"].reset_peak_memory_stats()
        return now


def _device():
    try:
        return int(sys.modules["torch.cuda"].current_device())
    except Exception:  # pylint: disable=broad-except
        return -1


def _open_peak():
    device = _device()
    now = _fold(device)
    if not now:
        return None
    peak = _Peak(device)
    peak.most = now[0]
    with _peaks_lock:
        _peaks.append(peak)
    _tell_memory(now[0], now[1], now[0])
    return peak


def _close_peak(peak):
    now = _fold(peak.device)
    with _peaks_lock:
        _peaks.remove(peak)
    if now:
        _tell_memory(now[0], now[1], max(peak.most, now[0]))


# ---- stages and requests ----

def _sample_at_begin(key):
    now = time.monotonic_ns()
    if now < _memory_next.get(key, 0):
        return None
    began = _read_memory()
    if began:
        if len(_memory_next) >= _MEMORY_NAMES:
            _memory_next.clear()
        _memory_next[key] = now + _MEMORY_EVERY_NS
        _tell_memory(began[0], began[1], began[0])
    return began


def memory_begins(owner, args=()):
    """Before a stage or request begins: samples the memory of torch's allocator. Returns what memory_ends() needs; None: nothing is
    to be sampled. At most 20 times per second for those of one name, which `owner` and the class of the first of `args` stand for:
    others are left out, unless memory_peaks() asks for all. Never fails."""
    if "torch.cuda" not in sys.modules:
        return None
    try:
        return _open_peak() if resets else _sample_at_begin((owner, type(args[0]) if args else None))
    except Exception:  # pylint: disable=broad-except  # numbers that are none
        return None


def memory_ends(began):
    """Before it ends: samples memory.allocated and memory.reserved, as they are now, and memory.peak, the most that was allocated
    in it. That is the allocator's own peak if it has risen; else the larger of begin and end, since the allocator does not tell
    more, and resetting its peak would change what the program sees, see memory_peaks(). Never fails."""
    try:
        if isinstance(began, _Peak):
            _close_peak(began)
            return
        ended = began and _read_memory()
        if ended:
            held, reserved, most = ended
            _tell_memory(held, reserved, most if most > began[2] else max(began[0], held))
    except Exception:  # pylint: disable=broad-except
        pass


# ---- labels ----

_labels = {}  # by device: (allocated, peak) at the newest label, or the _Peak that is open since
_labels_lock = threading.Lock()


def _peak_since(device, held, peak):
    """The most since the label before, and whether it may not have been more."""
    before = _labels.get(device)
    if isinstance(before, _Peak):
        with _peaks_lock:
            _peaks.remove(before)
        return max(before.most, peak), True
    if before is None or peak > before[1]:
        return peak, True  # the allocator's own has risen
    since_reset = peak if peak < before[1] else 0  # the program has reset it meanwhile
    return max(before[0], held, since_reset), False


def _ordinal(device):
    """Of what torch calls a device: 1, "cuda:1", torch.device("cuda", 1). None: the current one."""
    if device is None or isinstance(device, int):
        return device
    name, _, number = str(device).partition(":")
    if not number:
        return None if name == "cuda" else int(name)
    return int(number)


def _label(name, device):
    device = _ordinal(device)
    own = _device() if device is None else device
    exact = resets and device is None  # the peak of the current device is what is reset
    now = _fold(own) if exact else _read_memory(device)
    if not now:
        _annotation.mark(name, _annotation.annotation(kind="memory"))
        return
    held, reserved, peak = now
    with _labels_lock:
        most, is_exact = _peak_since(own, held, peak)
        if exact:
            _labels[own] = opened = _Peak(own)
            opened.most = held
            with _peaks_lock:
                _peaks.append(opened)
        else:
            _labels[own] = held, peak
    _annotation.mark(name, _annotation.annotation(
        kind="memory", allocated=held, reserved=reserved, peak=most, exact=1 if is_exact else None, device=own if own >= 0 else None))


def memory(label, device=None):
    """Records what torch's allocator holds now on the current device, or on `device`, 1 or "cuda:1": memory("after_load"). The report has
    a table by label: allocated, reserved, how much of that is not allocated, and the most allocated since the label before. Of a
    label in a loop the newest values count, and the growth is shown.

    torch does not tell the most since a moment: it is exact where torch's own peak has risen since the label before, or with
    memory_peaks(); else it is the larger of both ends. Without torch, or before it uses CUDA, the label is recorded without bytes.
    Reads the allocator, in some 20 us; waits for no GPU, and never fails. Any thread."""
    if _library.loaded is None or _compiling.tracing():
        return
    try:
        _label(as_bytes(label), device)
    except Exception as error:  # pylint: disable=broad-except
        complain(Code.EINVAL, "memory: %s; recorded without bytes" % type(error).__name__, False)
        _annotation.mark(as_bytes(label), _annotation.annotation(kind="memory"))
