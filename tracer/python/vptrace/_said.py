"""What else a program with torch may say, where it asks for it: its networks, compilations, the history of its memory. Nothing here
imports torch."""

import atexit
import logging
import os
import re
import sys
import threading

from . import _annotation, _capture, _library, _torch
from ._library import as_bytes, complain
from ._results import Code

# ---- networks ----


def _sizes(module):
    """Parameters by type, and bytes of parameters and buffers."""
    dtypes, total = {}, 0
    for parameter in module.parameters():
        count = int(parameter.numel())
        name = str(parameter.dtype).rpartition(".")[2]
        dtypes[name] = dtypes.get(name, 0) + count
        total += count * int(parameter.element_size())
    for buffer in module.buffers() if hasattr(module, "buffers") else ():
        total += int(buffer.numel()) * int(buffer.element_size())
    return dtypes, total


def _name_of(module):
    """Its class; of a module that torch.compile() has wrapped, the class of what it wraps."""
    return type(getattr(module, "_orig_mod", module)).__name__


def _say_model(module, name, stage):
    dtypes, total = _sizes(module)
    row = {"parameters": sum(dtypes.values()), "bytes": total}
    row["dtypes"] = " ".join("%s:%d" % pair for pair in sorted(dtypes.items(), key=lambda pair: -pair[1]))
    if stage is not None:
        row["stage"] = stage
    for key, value in row.items():
        if value != "":
            _capture.metadata("model.%s.%s" % (name, key), value)
    return row


def model(module, name=None, stage=None):
    """Records how many parameters a torch.nn.Module has, of which types, and their bytes with those of the buffers, as facts of the
    run "model.NAME.parameters", ".bytes", ".dtypes" and ".stage". A pipeline of diffusers says it for each of its components.

        vptrace.model(pipe.transformer, stage="transformer")
        vptrace.model(pipe)

    `name` is the module's class unless given, and `stage` the name of the stage that runs it. Returns the facts: a dictionary, for a
    pipeline one by name. Packed weights count as they are stored. Reads sizes alone, so it waits for no GPU; a module that cannot be
    read is warned about once, and gives {}. Before start() the facts are kept for the next capture."""
    try:
        if not callable(getattr(module, "parameters", None)):
            parts = {key: part for key, part in module.components.items() if callable(getattr(part, "parameters", None))}
            return {key: model(part, key if name is None else "%s.%s" % (name, key), stage) for key, part in parts.items()}
        return _say_model(module, _name_of(module) if name is None else name, stage)
    except Exception as error:  # pylint: disable=broad-except  # whatever the program's own classes raise
        complain(Code.EINVAL, "model: expected a torch.nn.Module or a pipeline with components, found %s (%s)" % (
            type(module).__name__, type(error).__name__), False)
        return {}


# ---- compilations ----

_RECOMPILES = "torch._dynamo.guards.__recompiles"  # the logger of the reasons
_VERBOSE = _RECOMPILES + "_verbose"  # has them instead if the program asks for more
_REASON = re.compile(r"(?:- )*(\d+/\d+: .*)")  # of a version of the code, "0/1: tensor 'x' size mismatch"
_open = threading.local()  # its attribute `count`: compilations that are open on this thread
_follows = False


def _id_of(arguments):
    """Of a compilation, "3/1", which newer versions of torch tell."""
    found = getattr(arguments[0], "compile_id", None) if arguments else None
    return str(found) if found else "?"


def _compile_begins(*arguments):
    if _library.loaded is not None:
        compile_id = _id_of(arguments)
        _annotation.push(b"torch.compile", _annotation.annotation(kind="range", compile=compile_id))
        _open.count = getattr(_open, "count", 0) + 1


def _compile_ends(*arguments):  # pylint: disable=unused-argument
    if _library.loaded is not None and getattr(_open, "count", 0):
        _open.count -= 1
        _library.loaded.range_pop()


def reason_of(message):
    """The function and the reason in torch's words: "forward in model.py:12", "0/0: tensor 'x' size mismatch at index 0"."""
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    function = lines[0] if lines else ""
    for prefix in ("Recompiling function ", "Recompiling "):
        if function.startswith(prefix):
            function = function[len(prefix):]
            break
    reasons = [found.group(1) for found in map(_REASON.match, lines) if found]  # below some, where the guard is from
    reasons = reasons or [line[2:] if line.startswith("- ") else line for line in lines[1:] if not line.startswith("triggered by")]
    place, colon, number = function.rpartition(":")
    before, word, path = place.rpartition(" in ")
    if colon and word:
        function = "%s in %s:%s" % (before, os.path.basename(path), number)
    return function, "; ".join(" ".join(reason.split()) for reason in reasons)


class _Reasons(logging.Handler):
    """Hears why torch compiles again."""

    def emit(self, record):
        try:
            function, reason = reason_of(record.getMessage())
            if _library.loaded is not None:
                _annotation.mark(as_bytes(reason or function), _annotation.annotation(kind="recompile", function=function))
        except Exception:  # pylint: disable=broad-except  # the program's compilation is not ours to spoil
            pass


_reasons = _Reasons(logging.DEBUG)


def _hear_reasons():
    """torch formats the reasons only if it is asked to log them; then they stay with us unless the program logs them itself."""
    logger = logging.getLogger(_RECOMPILES)
    try:
        state = sys.modules["torch._logging._internal"].log_state
        if not state.is_artifact_enabled("recompiles"):
            state.enable_artifact("recompiles")
            logger.propagate = False
    except Exception:  # pylint: disable=broad-except  # another version
        pass
    logger.setLevel(logging.DEBUG)
    for name in (_RECOMPILES, _VERBOSE):
        logging.getLogger(name).addHandler(_reasons)


def _register(handler):
    for register, function in (("register_start_callback", _compile_begins), ("register_end_callback", _compile_ends)):
        if hasattr(handler, register):
            getattr(handler, register)(function)


def _outlive_resets(handler):
    """torch._dynamo.reset() clears the callbacks of everybody."""
    clear = handler.clear

    def clear_others():
        try:
            clear()
        finally:
            _register(handler)

    try:
        handler.clear = clear_others
    except Exception:  # pylint: disable=broad-except  # another version
        pass


def _follow_compilations(dynamo):
    global _follows  # pylint: disable=global-statement
    if _follows:
        return
    _follows = True
    handler = getattr(sys.modules.get("torch._dynamo.callback") or dynamo, "callback_handler", None)
    _register(handler)
    if hasattr(handler, "clear"):
        _outlive_resets(handler)
    _hear_reasons()


def compilations():
    """Records each compilation of torch.compile from now on: when, in which block and step, for how long, and, if it is another version
    of the code, why: the guard that failed. The same as VPTRACE_COMPILATIONS=1 and `vptrace run --compilations`. It turns on torch's
    log "recompiles", whose messages it keeps to itself unless the program logs them. Takes effect when torch._dynamo is imported;
    what an older torch does not tell is left out. If TORCH_TRACE is set, the report names its folder, for tlparse. Never fails."""
    folder = os.environ.get("TORCH_TRACE")
    if folder:
        _capture.metadata("torch.trace", os.path.abspath(folder))
    _torch.when_imported("torch._dynamo", _follow_compilations)


# ---- the history of memory ----

_history = {"asked": False, "entries": 100_000}


def _record_history():
    """Perhaps called by torch itself, as CUDA begins, which must not fail for this."""
    try:
        sys.modules["torch.cuda"].memory._record_memory_history(max_entries=_history["entries"])
    except Exception as error:  # pylint: disable=broad-except
        complain(Code.EINVAL, "memory history: %s: %s" % (type(error).__name__, error), False)


def _begin_history(cuda):
    lazy = getattr(cuda, "_lazy_call", None)  # when CUDA has begun; at once if it has
    (lazy or (lambda function: function()))(_record_history)


def _dump_history():
    """Before a capture ends: beside its file."""
    if not _history["asked"] or not _library.loaded or not _library.loaded.path:
        return
    cuda, path = sys.modules.get("torch.cuda"), os.fsdecode(_library.loaded.path() or b"")
    try:
        if cuda is None or not path:
            return
        if not cuda.is_initialized():
            complain(Code.EINVAL, "memory history: torch has not used CUDA, so there is none", False)
            return
        path += ".memory.pickle"
        cuda.memory._dump_snapshot(path)
        _capture.metadata("memory.history", path)
    except Exception as error:  # pylint: disable=broad-except
        complain(Code.EFILE, "memory history: %s: %s" % (type(error).__name__, error), False)


def memory_history(max_entries=100_000):
    """Asks PyTorch for the history of its memory, and writes it beside the capture, as NAME.zst.memory.pickle, when the capture ends.
    The report has its path; PyTorch's memory_viz shows it. The same as VPTRACE_MEMORY_HISTORY=1 and `vptrace run --memory-history`.
    `max_entries` is how many of the newest allocations PyTorch keeps. Each allocation then costs PyTorch some microseconds. A
    process that os._exit() or a signal ends writes none. Never fails."""
    _history["entries"] = int(max_entries)
    if not _history["asked"]:
        _history["asked"] = True
        _capture.before_stop.append(_dump_history)
        atexit.register(_dump_history)  # of a capture that the library ends by itself
    _torch.when_imported("torch.cuda", _begin_history)


def from_environment():
    """What `vptrace run` asks for by variables."""
    for variable, function in (("VPTRACE_COMPILATIONS", compilations), ("VPTRACE_MEMORY_HISTORY", memory_history)):
        if os.environ.get(variable, "") not in ("", "0"):
            function()
