#!/usr/bin/env python3
"""causes_oracle.py - random captures, answered by the model in C and by the one in Python that lies beside the real traces.

    causes_oracle.py BLAME-FOLDER FORMATS-FOLDER MODEL-PROGRAM FIRST COUNT

Captures are read by decode.py, so the two share neither a reader nor a line of the model. Each piece of each gap must agree, with
its call and its place. Prints what differs, and in the end how many traces have each cause.
"""
import inspect
import json
import os
import subprocess
import struct
import sys
import tempfile
import textwrap

sys.path[:0] = [sys.argv[1], os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import blame  # noqa: E402
import decode  # noqa: E402

OPEN_END = 1 << 62
FOREIGN = 3  # the level of process-wide ranges of other threads: after all of the thread's own, before the profiler's step


def read(page, path):
    """The rows of a capture as the Python model's events, its window and its pauses."""
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    t, stream_waits, pauses, wide, opened, threads = blame.Trace(), [], [], [], {}, set()
    start, last, clock = struct.unpack_from("<Q", data, 16)[0], 0, None
    for chunk in decode.chunks(page, data):
        for lane in chunk.lanes.values():
            if lane["lane_type"] == 1:
                threads.add("%d/%d" % (lane["pid"], lane["tid"]))
        for row in chunk.rows():
            kind = row["kind"]
            if kind == "clock":
                clock = row["trace_ns"]
            if kind == "open":
                words = row["lane"].split()
                key = (words[1], words[3], row["start_ns"], row["name"], row["domain"], row["range_kind"])
                opened[key] = OPEN_END
            if "duration_ns" not in row:
                continue
            a, b = row["start_ns"], row["start_ns"] + row["duration_ns"]
            last = max(last, b if b >= a else 0)
            if kind in ("kernel", "copy"):
                corr = (row["pid"], row["correlation"]) if row["correlation"] else None
                pageable = b >= a and kind == "copy" and "pageable" in (row["source_memory"], row["target_memory"])
                name = row["name"] if kind == "kernel" else "%s %s %s" % (
                    row["copy_kind"], row["source_memory"], row["target_memory"])
                t.ops.append(blame.Op(str(row["device"]), "%d/%d" % (row["pid"], row["stream"]), a, b, kind, corr, name,
                                      row["graph_node"] or None, pageable))
            elif kind == "call":
                name = row["name"] or row["id"]
                corr = (row["pid"], row["correlation"]) if row["correlation"] else None
                t.calls.append(blame.Call(a, b, name, corr, blame.kind_of(name), "%d/%d" % (row["pid"], row["tid"])))
            elif kind == "range":
                key = (str(row["pid"]), str(row["tid"]), a, row["name"], row["domain"], row["range_kind"])
                opened[key] = b
            elif kind == "sync" and row["sync_kind"] == "stream waits for event" and row["lane"] and "stream" in row["lane"]:
                words = row["lane"].split()
                if blame.valid_stream(words[7]):
                    corr = (int(words[1]), row["correlation"]) if row["correlation"] else None
                    stream_waits.append((a, (words[3], words[1] + "/" + words[7]), corr))
            elif kind == "overhead":
                words = row["lane"].split() if row["lane"] else None
                cause = blame.overhead_cause(row["overhead_kind"])
                if cause and b > a:
                    t.overhead.append((a, b, cause, "%s/%s" % (words[1], words[3]) if words else None))
            elif kind == "loss" and row["loss_kind"] == "paused":
                pauses.append((a, b))
            elif kind == "loss" and row["loss_kind"] != "cap" and b > a:
                t.lost.append((a, b))
    for (pid, tid, a, name, domain, how), b in opened.items():
        level = {"cpu_op": 1, "python_function": 2}.get(domain, 0)
        is_wide = how == "start/end" or name.startswith("ProfilerStep#")
        of = [x for x in threads if x.startswith(pid + "/")] if is_wide else [pid + "/" + tid]
        for thread in of:
            foreign = how == "start/end" and thread != pid + "/" + tid and not name.startswith("ProfilerStep#")
            t.ranges[thread].append((a, b, FOREIGN if foreign else level, name))
    # Of calls with one number that begin together the longest is an op's own: the Python model takes the first.
    t.calls.sort(key=lambda c: -c.end)
    blame.told(t, stream_waits)
    end = last if clock is None else clock
    t.window = lambda: (start, end)
    return t, pauses


def without(pieces, pauses):
    for a, b in pauses:
        if b <= a:
            continue
        pieces = [(max(s, lo), min(e, hi), *rest) for s, e, *rest in pieces for lo, hi in ((s, a), (b, e))
                  if min(e, hi) > max(s, lo)]
    return sorted(pieces)


def late_with_allocations():
    """The Python model's late() with a rule that is newer: an allocation of more than 100 us after a wait keeps its time, too."""
    old = 'p.cause == "host code" and p.call is None and p.span >= LOAD'
    new = '(p.cause == "allocation" and p.call.end - p.call.start > STALL if p.call else p.cause == "host code" and p.span >= LOAD)'
    source = textwrap.dedent(inspect.getsource(blame.Blame.late))
    assert source.count(old) == 1, "the Python model has another rule for long code: %s" % source
    names = {}
    exec(source.replace(old, new), blame.__dict__, names)
    return names["late"]


class Model(blame.Blame):
    """Ops clipped to the window; a gap that is all paused is none."""

    late = late_with_allocations()

    def __init__(self, t, pauses):
        super().__init__(t)
        self.pauses = pauses
        for name, thread in self.threads.items():  # whatever has a launch inside submits, also where two calls share it
            inner = [c for c in t.calls if c.thread == name and c.kind in blame.SUBMITS and c.end >= c.start]
            thread.submits = [c for c in thread.real if c.kind in blame.SUBMITS or any(blame.inside(x, c) for x in inner)]
            thread.submit_start = [c.start for c in thread.submits]
            thread.levels.insert(FOREIGN, blame.Ranges([r for r in t.ranges.get(name, []) if r[2] == FOREIGN]))
        clipped = []
        for o in t.ops:
            s, e = max(o.start, self.w0), min(o.end, self.w1)
            if (s, e) != (o.start, o.end) and e > s:
                o = o._replace(start=s, end=e)
            if e > s:
                clipped.append(o)
        t.ops = clipped

    def gap(self, g0, g1, before, k):
        if not without([(g0, g1)], self.pauses):
            return g0, g1, []
        a, b, pieces = super().gap(g0, g1, before, k)
        return a, b, without([p for p in pieces if p[1] > p[0]], self.pauses)


def answers(t, pauses):
    out = {}
    for device, gaps in Model(t, pauses).devices().items():
        for g in gaps:
            if g[2]:
                head = blame.headline(g)
                out[device, g[0]] = (g[1], [tuple(p) for p in g[2]], (head[0], head[2], head[3]))
    return out


def answers_in_c(program, path):
    says = json.loads(subprocess.run([program, path], stdout=subprocess.PIPE, check=True).stdout)
    out = {}
    for g in says["gaps"]:
        pieces = [(p["start_ns"], p["start_ns"] + p["ns"], p["cause"], p["call"] or "", p["range"] or "") for p in g["pieces"]]
        out[str(g["device"]), g["start_ns"]] = (g["end_ns"], pieces, (g["cause"], g["call"] or "", g["range"] or ""))
    return out


def main(formats, program, first, count):
    page, differ, have = decode.Page(formats), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.zst")
        for seed in range(first, first + count):
            subprocess.run([program, "--random", str(seed), str(seed % 4), path], check=True)
            theirs, ours = answers(*read(page, path)), answers_in_c(program, path)
            for cause in {p[2] for g in ours.values() for p in g[1]}:
                have[cause] = have.get(cause, 0) + 1
            for gap in sorted(set(theirs) | set(ours)):
                if theirs.get(gap) != ours.get(gap):
                    differ += 1
                    print("seed %d, gap %s:\n  in Python %s\n  in C      %s" % (seed, gap, theirs.get(gap), ours.get(gap)))
                    break
    print("%d traces, %d differ" % (count, differ))
    for cause in blame.CAUSES:
        print("%6d %s" % (have.get(cause, 0), cause))
    sys.exit(bool(differ))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
