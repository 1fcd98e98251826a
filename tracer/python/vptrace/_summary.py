"""How long ranges took, in the process that was recorded, for scripts that print it."""

import os
import typing

from . import _library
from ._library import complain
from ._results import Code, VptraceError

_NAME_MOST = 40


class Timing(typing.NamedTuple):
    """All ranges of one name, in milliseconds. Those of the host are from start to end; of the GPU, from the start of the first
    kernel or copy that they launched to the end of the last, None where they launched nothing."""

    name: str
    count: int
    total_ms: float
    mean_ms: float
    min_ms: float
    max_ms: float
    gpu_mean_ms: typing.Optional[float]


class Timings(list):
    """A list of Timing, by total, descending. str() is a table."""

    def __str__(self):
        width = max([len("range")] + [min(len(row.name), _NAME_MOST) for row in self])
        lines = ["%-*s %7s %11s %9s %9s %9s %9s" % (width, "range", "count", "total ms", "mean", "min", "max", "GPU mean")]
        for row in self:
            gpu = "-" if row.gpu_mean_ms is None else "%.2f" % row.gpu_mean_ms
            lines.append("%-*s %7d %11.2f %9.2f %9.2f %9.2f %9s" % (
                width, row.name[:_NAME_MOST], row.count, row.total_ms, row.mean_ms, row.min_ms, row.max_ms, gpu))
        return "\n".join(lines)


def _timing(row):
    host, gpu = row["host"], row["gpu"]
    gpu_mean = gpu["mean_ns"] / 1e6 if gpu and gpu.get("count") else None
    return Timing(row["name"], host["count"], host["total_ns"] / 1e6, host["mean_ns"] / 1e6, host["min_ns"] / 1e6,
                  host["max_ns"] / 1e6, gpu_mean)


def summary(path=None, *, strict=False):
    """How often each range of the last capture ran, and for how long: Timings, to print after stop(), or after the block of trace().

        print(vptrace.summary())

    `path` names another capture. It reads the file, so recording costs nothing more, and takes as long as a report. Needs
    libvptrace_tables.so, as load() does. Without it, or without a file, the result is empty, with one warning; with strict=True a
    VptraceError. The report has the same as `ranges`, and stages, components and blocks with their times on the GPU.
    """
    from . import _tables  # pylint: disable=import-outside-toplevel  # programs that are traced need none of it

    if path is None and _library.loaded and _library.loaded.path:
        path = os.fsdecode(_library.loaded.path() or b"")
    try:
        if not path:
            raise VptraceError(Code.EIDLE, "there is no capture yet")
        ranges = _tables.report_of(path)["ranges"]
    except (VptraceError, OSError, ValueError) as error:
        complain(getattr(error, "code", Code.EFILE), "summary: %s" % error, strict)
        return Timings()
    rows = [_timing(row) for row in ranges if row["host"]["count"]]
    return Timings(sorted(rows, key=lambda row: (-row.total_ms, row.name)))
