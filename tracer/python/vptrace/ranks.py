"""Reports of several ranks, condensed by whatever runs a function for each of many files.

    from vptrace import ranks
    job = ranks.summarize(paths)                        # one after the other
    job = ranks.summarize(paths, map=client.map)        # Dask
    job = ranks.summarize(paths, map=pool.map)          # multiprocessing, concurrent.futures
    print(job.report())
    job.save("job.vps")

Each call runs `vptrace-analyze summarize` for one path, on the machine where the engine runs it; only its result, some 10 bytes for each
collective, comes back. So the path must lead to the capture there, and vptrace must be installed there. The result is the same bytes
whatever ran it, and in whatever order.
"""

import builtins
import functools
import json
import os
import subprocess
import tempfile
import typing

from . import _command

__all__ = ["Job", "RanksError", "merge", "report", "summarize"]

_DONE, _DAMAGED, _LIMIT = 0, 3, 4


class RanksError(RuntimeError):
    """vptrace-analyze could not do it; the text is what it says."""


class Job(typing.NamedTuple):
    """Condensed ranks of a job."""

    data: bytes  # a file of `vptrace-analyze summarize` or `merge`, NAME.vps
    messages: typing.Tuple[str, ...] = ()  # what the program said of files that it could not read whole

    def save(self, path):
        """Writes NAME.vps, which `vptrace-analyze ranks` reads as it reads captures."""
        with open(path, "wb") as file:
            file.write(self.data)

    def report(self, format="text", options=()):
        """The report of `vptrace-analyze ranks`: "text", "md", "html" as a text, "json" as a dictionary. `options` are its other
        options, such as ["--base", "one.zst"]."""
        return report(self, format=format, options=options)


def _run(words, accepted=(_DONE, _DAMAGED)):
    """The output of vptrace-analyze, and what it said."""
    program = _command.find("vptrace-analyze")
    if program is None:
        raise RanksError("the program vptrace-analyze is neither beside libvptrace.so nor on PATH; VPTRACE_BIN names a folder with it")
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = tuple(done.stderr.decode("utf-8", "replace").splitlines())
    if done.returncode not in accepted:
        raise RanksError("\n".join(said) or "vptrace-analyze ended with exit status %d" % done.returncode)
    return done.stdout, said


def _to_file(command, options, paths):
    """What a command writes to a file that -o names."""
    with tempfile.TemporaryDirectory(prefix="vptrace-") as folder:
        path = os.path.join(folder, "out.vps")
        said = _run([command, *options, "-o", path, "--", *paths])[1]
        with open(path, "rb") as file:
            return Job(file.read(), said)


def _summarize(path, options=()):
    return _to_file("summarize", ["--no-progress", *options], [os.fspath(path)])


def _result(part):
    """Of an engine whose map gives futures, what one holds."""
    result = getattr(part, "result", None)
    return result() if callable(result) else part


def summarize(paths, map=builtins.map, options=()):
    """Condenses the captures of a job's ranks and joins them: a Job.

    `map(function, list)` is any engine's: it returns the results in any order, or futures with result(). Each path is a capture, a trace
    of PyTorch's profiler, an export of Nsight Systems, a summary, an archive or a folder. `options` are those of
    `vptrace-analyze summarize`. RanksError: one of the paths gives no rank at all.
    """
    function = functools.partial(_summarize, options=tuple(options))
    return merge(*[_result(part) for part in map(function, list(paths))])


def merge(*jobs):
    """Joins condensed ranks; in any order and any steps, and twice, to the same bytes."""
    messages = tuple(text for job in jobs for text in job.messages)
    with tempfile.TemporaryDirectory(prefix="vptrace-") as folder:
        paths = []
        for i, job in enumerate(jobs):
            paths.append(os.path.join(folder, "%d.vps" % i))
            job.save(paths[-1])
        merged = _to_file("merge", [], paths) if paths else None
    if merged is None:
        raise RanksError("expected the captures of a job's ranks, found none")
    return Job(merged.data, messages + merged.messages)


def report(job, format="text", options=()):
    """The report of a Job, see Job.report()."""
    with tempfile.TemporaryDirectory(prefix="vptrace-") as folder:
        path = os.path.join(folder, "job.vps")
        job.save(path)
        out = _run(["ranks", "--no-progress", "--format", format, *options, "--", path], (_DONE, _DAMAGED, _LIMIT))[0]
    text = out.decode("utf-8", "replace")
    return json.loads(text) if format == "json" else text
