#!/usr/bin/env python3
"""python_calls.py - which Python stack a thread had, computed from a profiler's trace the slow way.

    python_calls.py make SEED FILE        writes a random trace of Python calls, in random order
    python_calls.py check TRACE ROWS      compares a trace with the JSON lines of `cat --kind sample`

A call runs at a moment if it began by then and has not ended. The calls that run, in the order in which they
began, are the thread's stack; each but the last is at the line from which it called the next, if that is known. That must
be what the rows say at every moment at which a call begins or ends, and just before it; of a large trace, at some of these moments.
Shares nothing with the importer.
"""
import bisect
import decimal
import gzip
import json
import random
import re
import sys


MOMENTS_MAX = 9973


def nanoseconds(text):
    return int((decimal.Decimal(text) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))


def frame(call, callee):
    """As `cat` shows the frame of a call, at the line of the one that it makes."""
    name = call[3]
    python = re.match(r"(.*)\((\d{1,10})\): (.*)$", name, re.S)
    if python:
        file, line, function = python.groups()
        place = re.match(r"(.+):(\d{1,10})$", callee[5] or "", re.S) if callee and callee[4] == call[1] else None
        if place and place.group(1) == file and int(place.group(2)):
            line = place.group(2)
        return "%s (%s%s)" % (function, file, ":" + str(int(line)) if int(line) else "")
    return re.sub(r" at 0x[0-9a-f]*>$", ">", name)


def read_calls(path):
    """Calls by thread, as (start, number, end, name, caller's number, its line)."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        trace = json.load(file, parse_float=str, parse_int=str)
    threads = {}
    for event in trace["traceEvents"]:
        if event.get("cat") != "python_function" or event.get("ph") != "X":
            continue
        thread = int(event["pid"]), int(event["tid"])
        start = nanoseconds(event["ts"])
        if thread != (0, 0):  # threads that the profiler could not identify
            args = event["args"]
            threads.setdefault(thread, []).append(
                (start, int(args["Python id"]), start + nanoseconds(event["dur"]), event["name"],
                 int(args.get("Python parent id") or 0), args.get("CallFrom")))
    return threads


def check(path, rows):
    threads, samples, moments = read_calls(path), {}, 0
    with open(rows, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["flags"] != "0x1":
                sys.exit("a sample that is not exact: %s" % line)
            samples.setdefault((row["pid"], row["tid"]), []).append((row["time_ns"], row["stack"]))
    if set(samples) != set(threads):
        sys.exit("threads %s, expected %s" % (sorted(samples), sorted(threads)))
    for thread, calls in threads.items():
        calls.sort()
        times, stacks = zip(*samples[thread])
        if list(times) != sorted(set(times)):
            sys.exit("samples of thread %s are out of order, or two of one moment" % (thread,))
        if any(a == b for a, b in zip(stacks, stacks[1:])):
            sys.exit("a sample of thread %s repeats the one before" % (thread,))
        running, begun = [], 0
        edges = {t for call in calls for t in (call[0], call[2])}
        edges = sorted(edges | {t - 1 for t in edges})
        for now in edges[::len(edges) // MOMENTS_MAX + 1]:
            while begun < len(calls) and calls[begun][0] <= now:
                running.append(calls[begun])
                begun += 1
            running = [call for call in running if call[2] > now]
            expected = ";".join(frame(*pair) for pair in zip(running, running[1:] + [None])) or None
            at = bisect.bisect(times, now) - 1
            if expected != (stacks[at] if at >= 0 else None):
                sys.exit("thread %s at %d: found %s, expected %s" % (
                    thread, now, stacks[at] if at >= 0 else None, expected))
            moments += 1
    print("%d moments of %d threads are the same" % (moments, len(threads)))


def make(seed, path):
    rng, events, number = random.Random(seed), [], [0]
    names = (["wan/pipeline.py(%d): step_%d" % (i, i % 7) for i in range(40)] +
             ["nn.Module: Linear_%d" % i for i in range(9)] + ["a(b).py(12): f", "<built-in function isinstance>",
              "dir/quote\"d.py(3): g", "C:\\torch\\nn.py(7): h", "no line.py(0): k", "name without a place", "x): y"])

    has_lines = rng.random() < 0.7

    def call(thread, start, end, parent, depth, caller=""):
        number[0] += 1
        mine = number[0]
        name = rng.choice(names)
        if rng.random() < 0.3:
            name = "<built-in method item of Tensor object at 0x%x>" % rng.randrange(1 << 47)
        args = {"Python parent id": parent, "Python id": mine, "Ev Idx": mine}
        if rng.random() < 0.1:
            args["Python module id"] = rng.randrange(9)
        if has_lines and rng.random() < 0.9:
            file = caller.rpartition("(")[0] if rng.random() < 0.9 else "wan/pipeline.py"
            args["CallFrom"] = "%s:%d" % (file, rng.randrange(60))
        events.append({"ph": "X", "cat": "python_function", "name": name, "pid": 7, "tid": thread,
                       "ts": start / 1000, "dur": (end - start) / 1000, "args": args})
        at = start
        while depth and at < end and rng.random() < 0.8:
            begin = at + rng.choice((0, 0, 1, rng.randrange(1, 900)))
            stop = begin + rng.choice((0, 1, rng.randrange(1, 3000), end - begin))
            if begin > end or stop > end:
                break
            call(thread, begin, stop, mine, depth - 1, name)
            at = stop

    for thread in (7, 8, 9):
        at = rng.randrange(1000)
        for _ in range(rng.randrange(1, 30)):
            end = at + rng.randrange(1, 40000)
            call(thread, at, end, None, 6)
            at = end + rng.randrange(3)
    rng.shuffle(events)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file, indent=rng.choice((None, 1)),
                  separators=rng.choice(((",", ":"), (", ", ": "))))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    make(int(sys.argv[2]), sys.argv[3]) if sys.argv[1] == "make" else check(*sys.argv[2:])
