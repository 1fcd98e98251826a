#!/usr/bin/env python3
"""Compares captures with torch.profiler's traces of the same program: number of kernels, their names,
copies, and the time of all kernels.

    compare_profiler.py --analyze PROGRAM --ours CAPTURE... --theirs TRACE...

They are of different runs, since only one profiler can record. Kernel times therefore differ slightly: the
limit is 0.1 %, or the difference between the runs of one side.
"""

import argparse
import collections
import csv
import ctypes
import ctypes.util
import gzip
import io
import json
import subprocess
import sys

import table

LIMIT = 0.001


def demangler():
    """The demangler of the C++ library, which torch.profiler uses too; without it names stay mangled."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6")
        function = library.__cxa_demangle
    except (OSError, AttributeError):
        return lambda name: name
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]

    def demangle(name):
        status = ctypes.c_int()
        text = function(name.encode(), None, None, ctypes.byref(status))
        if not text:
            return name
        result = ctypes.string_at(text).decode("utf-8", "replace")
        libc.free(text)
        return result

    return demangle


class Work:
    """Kernels by name, their time, copies and memsets."""
    def __init__(self):
        self.names = collections.Counter()
        self.kernel_ns = 0
        self.copies = self.memsets = 0

    @property
    def kernels(self):
        return sum(self.names.values())


def of_capture(rows_of, demangle):
    """`rows_of(kind)`: the rows of a kind, as dictionaries."""
    work, known = Work(), {}
    for row in rows_of("kernel"):
        name = row["name"]
        if name not in known:
            known[name] = demangle(name)
        work.names[known[name]] += 1
        work.kernel_ns += int(row["duration_ns"])
    for row in rows_of("copy"):
        if row["copy_kind"].lower() == "memset":
            work.memsets += 1
        else:
            work.copies += 1
    return work


def of_trace(trace, demangle=lambda name: name):
    work = Work()
    for event in trace["traceEvents"]:
        category = event.get("cat", "").lower()
        if event.get("ph") != "X":
            continue
        if category == "kernel":
            work.names[demangle(event["name"])] += 1
            work.kernel_ns += round(float(event["dur"]) * 1000)
        elif category == "gpu_memcpy":
            work.copies += 1
        elif category == "gpu_memset":
            work.memsets += 1
    return work


def spread(works):
    """The difference between the runs of one side, as a share."""
    times = [work.kernel_ns for work in works]
    return (max(times) - min(times)) / max(times)


def differing(ours, theirs):
    """The names with different counts, in words."""
    names = (ours.names - theirs.names) + (theirs.names - ours.names)
    return "; ".join("%s: %d, theirs %d" % (name[:60], ours.names[name], theirs.names[name])
                     for name, _ in names.most_common(3))


def compare(ours, theirs):
    """Lists of Work."""
    if not theirs[0].kernels:
        table.say("kernels", "failed", 0, limit="> 0", note="the profiler's trace has none")
        return
    table.equal("kernels", ours[0].kernels, theirs[0].kernels, note=differing(ours[0], theirs[0]))
    names = sum(((ours[0].names - theirs[0].names) + (theirs[0].names - ours[0].names)).values())
    table.equal("kernels whose name differs", names, 0, note="of %d names" % len(theirs[0].names))
    table.equal("copies", ours[0].copies, theirs[0].copies)
    table.equal("memsets", ours[0].memsets, theirs[0].memsets)
    mean_ours = sum(work.kernel_ns for work in ours) / len(ours)
    mean_theirs = sum(work.kernel_ns for work in theirs) / len(theirs)
    noise = max(spread(ours), spread(theirs))
    off = abs(mean_ours - mean_theirs) / mean_theirs
    table.within("time of kernels differs", 100 * off, 100 * max(LIMIT, noise), "%",
                 "ours %.3f ms; runs of one side differ by %.3f %%" % (mean_ours / 1e6, 100 * noise))


def rows_by(program, capture):
    def rows_of(kind):
        text = subprocess.run([program, "cat", capture, "--kind", kind, "--format", "csv"],
                              check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
        return csv.DictReader(io.StringIO(text))

    return rows_of


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        return json.load(file)


def main(words):
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--analyze", required=True)
    parser.add_argument("--ours", nargs="+", required=True)
    parser.add_argument("--theirs", nargs="+", required=True)
    o = parser.parse_args(words)
    demangle = demangler()
    compare([of_capture(rows_by(o.analyze, path), demangle) for path in o.ours],
            [of_trace(load(path), demangle) for path in o.theirs])


if __name__ == "__main__":
    main(sys.argv[1:])
