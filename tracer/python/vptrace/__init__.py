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

A program that you do not want to change gets its ranges from mark_calls(), or from `vptrace run`. At the begin
and end of a stage or request the memory of torch's allocator is sampled as counters memory.allocated, memory.reserved
and memory.peak, the most in it, without waiting for the GPU.

A range costs one or two microseconds of Python, even while nothing is recorded. Ranges nest, and belong
to the thread that opened them: a with-block must not keep one open across a yield or an await. A decorated
generator or coroutine has a range for each stretch between two of them, so blocks and steps count stretches. With
enabled=False a range is none, and so it is in code that torch.compile traces. A value that is no number where one is
expected is recorded as text, with one warning.

The module needs libvptrace.so. It uses the one that this process has already loaded, else the one in the
environment variable VPTRACE_LIBRARY, the one that CUDA or NVTX is configured to load, the one in this
package, or the one that the system's loader finds.
Without the library all functions do nothing, and start() and trace() print one warning; with strict=True
they raise an exception. Failures of the library are warnings too, unless strict: a traced program must run
as it does untraced.

The environment variables VPTRACE_OUTPUT, VPTRACE_PROFILE, VPTRACE_MEMORY and the others of vptrace.h
override the arguments below.
"""

import sys

from . import _capture, _compiling, _first_range, _launcher, _library, _said, _suspending, _torch_memory  # pylint: disable=unused-import  # also for vptrace_marks
from ._capture import (
    counter, metadata, pause, resume, schedule, snapshot, start, statistics, status, stop, tag, trace)
from ._library import available, last_error, version
from ._ranges import block, component, context_pass, fact, frames_ready, mark, range, request, stage, step  # pylint: disable=redefined-builtin
from ._results import Code, State, Statistics, Summary, VptraceError, VptraceWarning
from ._said import compilations, memory_history, model
from ._summary import summary
from ._torch import unwrap_torch_nvtx, wrap_torch_nvtx
from ._torch_memory import memory, memory_peaks

__all__ = [  # not range, which would hide Python's own
    "Code", "State", "Statistics", "Summary", "VptraceError", "VptraceWarning", "available", "block",
    "compilations", "component", "context_pass", "counter", "fact", "frames_ready", "last_error", "load", "mark", "mark_calls", "memory",
    "memory_history", "memory_peaks", "metadata", "model", "pause", "request", "resume", "schedule", "snapshot", "start", "stage",
    "statistics", "status", "step", "stop", "summary", "tag", "trace",
    "unmark_calls", "unwrap_torch_nvtx", "version", "wrap_torch_nvtx",
]

for _class in (Code, State, Statistics, Summary, VptraceError, VptraceWarning):
    _class.__module__ = __name__  # what a traceback shows


def load(path, tables=(), *, range=None, request=None):  # pylint: disable=redefined-builtin,redefined-outer-name
    """Reads a capture, or a trace of another tool, and returns a Trace:

        run = vptrace.load("run.zst")
        run.report["devices"][0]["busy_ns"]
        pandas.DataFrame.from_arrow(run.ops).groupby("stage")["duration_ns"].sum()
        ops = run.ops; duckdb.sql("select family, sum(duration_ns) from ops group by 1")

    `tables` names those wanted, of `vptrace-analyze export --help`, or by short names: ops (kernels and copies), calls, ranges, gaps,
    causes, requests, blocks, stages, steps and stacks, which are the default; None: all. They are in memory,
    where pandas, polars, DuckDB, pyarrow and nanoarrow take them without a copy; texts are dictionaries. `range` and
    `request` limit the window as the options of vptrace-analyze do.

    Raises ValueError where an argument is wrong, OSError where the file cannot be opened, VptraceError where it is no trace, or
    where there is no libvptrace_tables.so. What is missing from a damaged file is in report["verdict"], and `complete` is False.
    """
    from . import _tables  # pylint: disable=import-outside-toplevel  # programs that are traced need none of it

    return _tables.Trace(path, _tables.USUAL if tables == () else tables, range, request)


def mark_calls(*marks):
    """Puts ranges around functions of the program and of its libraries, now and when they are imported, and returns
    the number of functions marked so far. Each argument is the name of a preset, the path of a mark file, "auto" for all presets,
    "modules:N" for every torch.nn.Module down to a depth, or lines in the format of a mark file:

        vptrace.mark_calls("diffusers")
        vptrace.mark_calls("my_model.sampler:Sampler.denoise = step index=i")
        vptrace.mark_calls("__main__:generate = request")  # of the script itself; call it below the function

    README.md next to this package describes the lines. A mistake in them raises a ValueError with its place. Without
    the library nothing is marked. unmark_calls() undoes all marks. (mark() is different: it marks a moment.)
    """
    from ._own import load  # pylint: disable=import-outside-toplevel

    return load("vptrace_marks").start(sys.modules[__name__], marks)


def unmark_calls():
    """Restores every function that mark_calls(), or `vptrace run`, has marked."""
    from ._own import load  # pylint: disable=import-outside-toplevel

    load("vptrace_marks").stop()


_compiling.follow()
_first_range.follow()
_said.from_environment()
