#!/usr/bin/env python3
"""What reading a long trace of PyTorch's profiler costs.

    kineto.py BUILD TRACE.json[.gz] [MEGABYTES]

Repeats the events of TRACE, each time later and with other correlation ids, up to MEGABYTES (490), in $TMPDIR. Prints, for
`info` and the report: processor time of the best of 5 runs on one thread, bytes of text in a second of it, peak memory."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

TIMES = re.compile(rb'("ts": *)(\d+)')
IDS = re.compile(
    rb'("(?:correlation|id|External id|Ev Idx|Python id|Python parent id|wait_on_cuda_event_record_corr_id)": *)(\d+)')


def shifted(pattern, text, by):
    return pattern.sub(lambda m: m.group(1) + b"%d" % (int(m.group(2)) + by), text)


def repeat(path, size, out):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as source:
        text = source.read()
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]")
    events = text[begin:end].rstrip()
    times = sorted(int(m.group(2)) for m in TIMES.finditer(events))
    # Marks of the profiler itself can be far away.
    span = times[len(times) * 99 // 100] - times[len(times) // 100] + 1000
    if times[-1] - times[0] < 10 * span:
        span = times[-1] - times[0] + 1000
    ids = max(int(m.group(2)) for m in IDS.finditer(events)) + 1
    written = out.write(text[:begin])
    n = 0
    while written < size:
        part = shifted(IDS, shifted(TIMES, events, n * span), n * ids)
        written += out.write((b"," if n else b"") + part)
        n += 1
    out.write(text[end:])
    out.flush()


def in_a_child(work, *args):
    """The memory of this program would count as that of programs that it starts."""
    child = os.fork()
    if not child:
        work(*args)
        os._exit(0)
    os.waitpid(child, 0)


def measure(command):
    """Processor time and memory of the run that took least."""
    runs = []
    for _ in range(5):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = os.wait4(child.pid, 0)[2]
        runs.append((usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return min(runs)


def main():
    build, trace = sys.argv[1:3]
    size = float(sys.argv[3]) * 1e6 if len(sys.argv) > 3 else 490e6
    analyze = os.path.join(build, "vptrace-analyze")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        in_a_child(repeat, trace, size, out)
        written = os.path.getsize(out.name)
        print(f"{os.path.basename(trace)}, {written / 1e6:.0f} MB")
        for command in ["info"], ["analyze", "-j1"]:
            seconds, mib = measure([analyze, *command, out.name])
            print(f"{command[0]:8} {seconds:5.2f} s  {written / 1e6 / seconds:4.0f} MB/s  {mib:4.0f} MiB")


main()
