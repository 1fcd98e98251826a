"""Memory of torch's allocator at the begin and end of stages and requests. Nothing here imports torch."""

import sys
import time

from . import _library

_MEMORY_EVERY_NS = 50_000_000  # for stages of one name
_MEMORY_NAMES = 1024
_memory_next = {}  # by name


def _read_memory():
    """What torch's allocator holds on the current device, reserves, and held at most since its last reset; None: another
    allocator, or CUDA is not used. Reads only the allocator, never the GPU."""
    cuda = sys.modules.get("torch.cuda")
    try:
        if cuda is None or not cuda.is_initialized():
            return None
        stats = cuda.memory_stats_as_nested_dict()
        used = stats["allocated_bytes"]["all"]
        return used["current"], stats["reserved_bytes"]["all"]["current"], used["peak"]
    except Exception:  # pylint: disable=broad-except
        return None


def _tell_memory(held, reserved, most):
    counter = _library.loaded.counter
    counter(b"memory.allocated", held, b"bytes")
    counter(b"memory.reserved", reserved, b"bytes")
    counter(b"memory.peak", most, b"bytes")


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
    others are left out. Never fails."""
    if "torch.cuda" not in sys.modules:
        return None
    try:
        return _sample_at_begin((owner, type(args[0]) if args else None))
    except Exception:  # pylint: disable=broad-except  # numbers that are none
        return None


def memory_ends(began):
    """Before it ends: samples memory.allocated and memory.reserved, as they are now, and memory.peak, the most that was allocated
    in it. That is the allocator's own peak if it has risen; else the larger of begin and end, since the allocator does not tell
    more, and resetting its peak would change what the program sees. Never fails."""
    try:
        ended = began and _read_memory()
        if ended:
            held, reserved, most = ended
            _tell_memory(held, reserved, most if most > began[2] else max(began[0], held))
    except Exception:  # pylint: disable=broad-except
        pass
