#!/usr/bin/env python3
"""demo_schedule.py - works out when everything in the demo must have happened, and compares.

    demo_schedule.py STANDIN.H PLAN               prints the schedule's figures as JSON
    demo_schedule.py STANDIN.H PLAN CHECKS...     compares them with
        --log LOG               each op with what VPT_STANDIN_LOG wrote
        --report REPORT         all with `vptrace-analyze --format json --top 100000 --min-gap 1ns --warmup 1`
        --grown BASE CAUSE      of all causes of idle time CAUSE grew most against the plan BASE ("none": none grew)

PLAN is what `vptrace-demo --print-plan` says the host does. The simulated GPU's rules are those of standin.h, from
which only the numbers are read; the rules of gaps and blocks are those of DEFINITIONS.md, those of causes in
demo_causes.py. It shares no code with the simulation, the tracer or the analyzer, is slow, and does one thing after
the other. Time begins at the first deed.
"""
import json
import re
import sys
from fractions import Fraction

from demo_causes import CAUSES, Piece, causes_of

PIECES_LISTED = 64  # of a gap in the report


class Contract:
    """The numbers of standin.h."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        self.number = {name: int(value) for name, value in re.findall(r"STANDIN_([A-Z_]+) = (\d+)", text)}
        self.cost = {name: int(value) for name, value in re.findall(r"\bX\((\w+), (\d+)\)", text)}

    def copy_ns(self, size_bytes, rate):
        return self.number["COPY_NS"] + -(-size_bytes * 1000 // self.number[rate])


# deed: CUDA call, its name among the costs, its kind
CALLS = {
    "launch": ("cudaLaunchKernel", "LaunchKernel", "kernel launch"),
    "replay": ("cudaGraphLaunch", "GraphLaunch", "graph launch"),
    "clear": ("cudaMemsetAsync", "MemsetAsync", "memset"),
    "on_device": ("cudaMemcpyAsync", "MemcpyAsync", "copy"),
    "to_device": ("cudaMemcpyAsync", "MemcpyAsync", "copy"),
    "to_host": ("cudaMemcpyAsync", "MemcpyAsync", "copy"),
    "allocate": ("cudaMalloc", "Malloc", "allocation"),
    "free": ("cudaFree", "Free", "allocation"),
    "sync_stream": ("cudaStreamSynchronize", "StreamSynchronize", "sync"),
    "sync_event": ("cudaEventSynchronize", "StreamSynchronize", "sync"),
    "record": ("cudaEventRecord", "EventRecord", "query"),
    "wait": ("cudaStreamWaitEvent", "StreamWaitEvent", "stream wait"),
    "capture": ("cudaStreamBeginCapture", None, "begin capture"),
    "end_capture": ("cudaStreamEndCapture", None, "end capture"),
    "instantiate": ("cudaGraphInstantiate", "GraphInstantiate", "graph build"),
    "destroy_graph": ("cudaGraphDestroy", None, "not recorded"),
}


class Call:
    def __init__(self, number, thread, name, kind, start, stack):
        self.id, self.thread, self.name, self.kind, self.start, self.end = number, thread, name, kind, start, None
        self.stack = list(stack)  # the ranges open at its start, outermost first


class Op:
    def __init__(self, kind, name, stream, launch, start, end):
        self.kind, self.name, self.stream, self.launch = kind, name, stream, launch
        self.start, self.end = start, end


class Range:
    def __init__(self, deed, thread, start, outer):
        self.name, self.kind, self.thread, self.start, self.end = deed["name"], deed["kind"], thread, start, None
        self.index, self.frames, self.outer = deed.get("index"), deed.get("frames"), outer
        self.ops, self.stages = [], []


class Machine:
    """One host, one device."""

    def __init__(self, contract):
        self.c = contract
        self.now = 0
        self.calls, self.ops, self.ranges, self.marks = {}, [], [], []  # calls: by thread
        self.call_count, self.stacks = 0, {}
        self.tail = {"legacy": 0, "main": 0, "side": 0}  # end of the last op
        self.waits_until = {"legacy": 0, "main": 0, "side": 0}
        self.events, self.graphs, self.capturing = {}, {}, None
        self.launch_ends = []

    # ---- what a call does ----

    def enter(self, deed, what):
        name, cost, kind = CALLS[what]
        thread = deed.get("thread", 0)
        if deed.get("blocking"):
            name = "cudaMemcpy"
        if deed.get("blocking") or what in ("to_host", "to_device") and not deed["pinned"]:
            kind = "blocking copy"
        self.call_count += 1
        call = Call(self.call_count, thread, name, kind, self.now, self.stacks.setdefault(thread, []))
        self.calls.setdefault(thread, []).append(call)
        self.now += self.c.cost[cost] if cost else self.c.number["CALL_NS"]
        return call

    def leave(self, call):
        call.end = self.now

    def wait_for_room(self):
        room = len(self.launch_ends) - self.c.number["QUEUE"]
        if room >= 0:
            self.now = max(self.now, self.launch_ends[room])

    def ready(self, stream):
        """When the stream has nothing before what comes next."""
        tails = [self.tail[stream], self.waits_until[stream]]
        if stream == "legacy":
            tails.append(self.tail["main"])
        elif stream == "main":
            tails.append(self.tail["legacy"])
        return max(tails)

    def queue(self, kind, name, stream, launch, duration):
        start = max(self.now + self.c.number["SUBMIT_NS"], self.ready(stream))
        op = Op(kind, name, stream, launch, start, start + duration)
        self.tail[stream] = op.end
        self.ops.append(op)
        for opened in launch.stack:
            opened.ops.append(op)
        return op

    def wait_until(self, time):
        if time > self.now:
            self.now = time + self.c.number["WAKE_NS"]

    # ---- deeds ----

    def copy_rate(self, deed):
        if deed["do"] == "on_device":
            return "DEVICE_RATE"
        return "PINNED_RATE" if deed["pinned"] else "PAGEABLE_RATE"

    def op_of(self, deed):
        """Kind, name and duration."""
        if deed["do"] == "launch":
            return "kernel", deed["kernel"], deed["ns"]
        rate = "DEVICE_RATE" if deed["do"] == "clear" else self.copy_rate(deed)
        return ("memset" if deed["do"] == "clear" else "memcpy"), None, self.c.copy_ns(deed["bytes"], rate)

    def do_work_on_device(self, deed):
        call = self.enter(deed, deed["do"])
        if self.capturing is not None:
            self.capturing.append(self.op_of(deed))
            return self.leave(call)
        self.wait_for_room()
        op = self.queue(*self.op_of(deed)[:2], deed["stream"], call, self.op_of(deed)[2])
        self.launch_ends.append(op.end)
        if deed["do"] in ("to_device", "to_host") and not deed["pinned"]:
            self.wait_until(op.end)
        return self.leave(call)

    def do_replay(self, deed):
        call = self.enter(deed, "replay")
        self.wait_for_room()
        for kind, name, duration in self.graphs[deed["graph"]]:
            op = self.queue(kind, name, deed["stream"], call, duration)
        self.launch_ends.append(op.end)
        self.leave(call)

    def do_captured(self, deed):
        self.leave(self.enter(deed, "end_capture"))
        self.graphs[deed["graph"]], self.capturing = self.capturing, None
        self.leave(self.enter(deed, "instantiate"))
        self.leave(self.enter(deed, "destroy_graph"))

    def do(self, deed):
        what, thread = deed["do"], deed.get("thread", 0)
        stack = self.stacks.setdefault(thread, [])
        if what == "work":
            self.now += deed["ns"]
        elif what in ("launch", "to_device", "to_host", "on_device", "clear"):
            self.do_work_on_device(deed)
        elif what == "replay":
            self.do_replay(deed)
        elif what == "captured":
            self.do_captured(deed)
        elif what == "push":
            opened = Range(deed, thread, self.now, stack[-1] if stack else None)
            for outer in stack:
                outer.stages.append(opened)
            self.ranges.append(opened)
            stack.append(opened)
        elif what == "pop":
            stack.pop().end = self.now
        elif what == "mark":
            self.marks.append((deed, thread, len(self.ops), list(stack)))
        else:
            self.do_plain_call(deed)

    def do_plain_call(self, deed):
        what = deed["do"]
        call = self.enter(deed, what)
        if what == "sync_stream":
            self.wait_until(self.ready(deed["stream"]))
        elif what == "sync_event":
            self.wait_until(self.events[deed["event"]])
        elif what == "record":
            self.events[deed["event"]] = max(self.ready(deed["stream"]), self.now)
        elif what == "wait":
            self.waits_until[deed["stream"]] = max(self.waits_until[deed["stream"]], self.events[deed["event"]])
        elif what == "capture":
            self.capturing = []
        self.leave(call)


# ---- figures ----

def union_ns(ops):
    total, until = 0, None
    for op in sorted(ops, key=lambda op: op.start):
        if until is None or op.start > until:
            until = op.start
        if op.end > until:
            total, until = total + op.end - until, op.end
    return total


def is_comm(op):
    return op.kind == "kernel" and "nccl" in op.name


def rows_of(gaps):
    """[cause, place, call, ns, gaps, ns inside another call] of all pieces, by what they waited for."""
    rows = {}
    for _, _, pieces in gaps:
        for piece in pieces:
            row, ns = rows.setdefault(piece.key(), [0, 0, 0]), piece.end - piece.start
            row[0] += ns
            row[2] += ns if piece.inside and piece.blamed and piece.blamed is not piece.inside else 0
        for key in {piece.key() for piece in pieces}:
            rows[key][1] += 1
    return sorted_rows([*key, *row] for key, row in rows.items())


def sorted_rows(rows):
    return sorted(rows, key=lambda row: (-row[3], str(row)))


def device(machine, gaps):
    ops = machine.ops
    kernels = [op for op in ops if op.kind == "kernel"]
    compute = union_ns([op for op in kernels if not is_comm(op)])
    work, busy = union_ns(kernels), union_ns(ops)
    first, last = min(op.start for op in ops), max(op.end for op in ops)
    return {
        "ops": len(ops), "active_ns": last - first, "busy_ns": busy, "idle_ns": last - first - busy,
        "gaps": len(gaps), "longest_gap_ns": max((end - start for start, end, *_ in gaps), default=0),
        "kernel_ns": sum(op.end - op.start for op in kernels), "compute_ns": compute,
        "exposed_comm_ns": work - compute, "exposed_copy_ns": busy - work,
        "causes": rows_of(gaps),
    }


def block_end(machine, block):
    """The end of its last op; with a mark, of the last that the mark's thread launched before it."""
    for deed, thread, count, stack in machine.marks:
        if block in stack and deed["kind"] == "frames":
            return max(op.end for op in machine.ops[:count] if op.launch.thread == thread)
    return max(op.end for op in block.ops)


def busy_between(machine, start, end):
    return union_ns([Op(op.kind, op.name, op.stream, op.launch, max(op.start, start), min(op.end, end))
                     for op in machine.ops if op.start < end and op.end > start])


def envelope_ns(ranges):
    """The sum of their times on the GPU: from the first op's start to the last one's end."""
    return sum(max(op.end for op in r.ops) - min(op.start for op in r.ops) for r in ranges if r.ops)


def is_attention(op):
    return op.kind == "kernel" and re.search("FlashAttn|fmha|SoftMax", op.name) is not None


def attention_share(machine, start, end):
    """Attention's part of busy time: where k ops run at once, each has a k-th of it."""
    ops = [op for op in machine.ops if op.start < end and op.end > start]
    edges = sorted({start, end, *(t for op in ops for t in (op.start, op.end) if start < t < end)})
    changes = {t: [0, 0] for t in edges}
    for op in ops:
        for time, step in ((max(op.start, start), 1), (min(op.end, end), -1)):
            changes[time][0] += step
            changes[time][1] += step if is_attention(op) else 0
    total, running, attention = Fraction(0), 0, 0
    for t, after in zip(edges, edges[1:]):
        running, attention = running + changes[t][0], attention + changes[t][1]
        if attention:
            total += Fraction(attention * (after - t), running)
    return total


def block_of(machine, block, end, previous_end):
    start = min(op.start for op in block.ops)
    since = start if previous_end is None else previous_end
    busy = busy_between(machine, since, end)
    return {"index": block.index, "frames": block.frames, "start_ns": start, "end_ns": end,
            "latency_ns": end - start, "period_ns": end - since, "busy_ns": busy, "idle_ns": end - since - busy,
            "attention_ns": attention_share(machine, since, end)}


def idle_between(gaps, start, end):
    """Idle time by cause."""
    sums = {}
    for _, _, pieces in gaps:
        for piece in pieces:
            ns = min(piece.end, end) - max(piece.start, start)
            if ns > 0:
                sums[piece.cause] = sums.get(piece.cause, 0) + ns
    return sums


def periods_of(block):
    """From the first op of each of its steps to that of the next one."""
    starts = [min(op.start for op in r.ops) for r in block.stages if r.kind == "step" and r.ops]
    return [after - before for before, after in zip(starts, starts[1:])]


def mean_ns(periods, steps):
    """Of the periods; of the steps' own times if no step follows another."""
    return Fraction(sum(periods), len(periods)) if periods else Fraction(envelope_ns(steps), len(steps))


def request_of(machine, gaps, request, warmup):
    blocks = [r for r in request.stages if r.kind == "block"]
    ends = [block_end(machine, block) for block in blocks]
    series = [block_of(machine, block, end, ends[i - 1] if i else None)
              for i, (block, end) in enumerate(zip(blocks, ends))]
    measured, inside = series[warmup:], [r for block in blocks[warmup:] for r in block.stages]
    span = sum(block["period_ns"] for block in measured)
    frames, busy = sum(b["frames"] for b in measured), sum(b["busy_ns"] for b in measured)
    steps = [r for r in inside if r.kind == "step"]
    periods = [ns for block in blocks[warmup:] for ns in periods_of(block)]
    s_per_it = mean_ns(periods, steps) / 10**9 if steps else None
    all_frames = sum(b["frames"] for b in series)
    end_to_end = max(op.end for op in request.ops) - request.start
    second = Fraction(10**9)
    # Frames that are decoded after the last block are not made at the blocks' rate.
    outside = any(r.name == "vae_decode" and r not in block.stages for r in request.stages for block in blocks[-1:]
                  if r.start > block.start)
    rate = frames * second / span
    return {
        "series": series,
        "idle": idle_between(gaps, measured[0]["end_ns"] - measured[0]["period_ns"], measured[-1]["end_ns"]),
        "request": {"frames": all_frames, "ttfb_ns": ends[0] - request.start,
                    "fps_end_to_end": all_frames * second / end_to_end},
        "blocks": {"count": len(series), "measured": len(measured), "frames": frames, "span_ns": span,
                   "busy_ns": busy, "idle_ns": span - busy, "fps": None if outside else rate, "denoise_rate": rate if outside else None,
                   "bps": len(measured) * second / span, "fps_busy": frames * second / busy,
                   "fps_denoise": frames * second / envelope_ns(steps)},
        "steps": {"count": sum(r.kind == "step" for r in request.stages), "periods": len(periods),
                  "steps_per_s": 1 / s_per_it if s_per_it else None, "s_per_it": s_per_it, "time": envelope_ns(steps),
                  "context": envelope_ns([r for r in inside if r.kind == "context"])},
    }


def schedule(contract, plan, warmup):
    machine = Machine(contract)
    for deed in plan:
        machine.do(deed)
    kinds, gaps = [op.kind for op in machine.ops], causes_of(machine)
    requests = [request_of(machine, gaps, r, warmup) for r in machine.ranges if r.kind == "request"]
    return machine, {
        "counts": {"kernels": kinds.count("kernel"), "memcpy": kinds.count("memcpy"), "memset": kinds.count("memset"),
                   "ranges": len(machine.ranges), "marks": len(machine.marks)},
        "device": device(machine, gaps), "requests": requests, "gaps": gaps,
    }


# ---- comparing ----

class Differences:
    def __init__(self):
        self.compared, self.found = 0, []

    def same(self, what, expected, found):
        self.compared += 1
        if expected != found:
            self.found.append(f"{what}: the schedule says {expected}, the report {found}")

    def near(self, what, expected, found):
        """A number that is printed with six decimals."""
        self.compared += 1
        if not isinstance(found, (int, float)) or abs(float(expected) - found) > 1e-6:
            self.found.append(f"{what}: the schedule says {float(expected)}, the report {found}")


def compare_devices(d, expected, report):
    d.same("devices", 1, len(report["devices"]))
    found = report["devices"][0]
    for key, value in expected["device"].items():
        if key != "causes":
            d.same(key, value, found[key])
    rows = [[row[key] for key in ("cause", "range", "call", "ns", "gaps", "inside_ns")] for row in found["causes"]
            if row["cause"] not in ("before first work", "after last work")]
    d.same("causes", expected["device"]["causes"], sorted_rows(rows))
    for key, value in expected["counts"].items():
        d.same(key, value, report["counts"][key])


def compare_figures(d, name, expected, found):
    for key, value in expected.items():
        if isinstance(value, Fraction) and value.denominator > 1:
            d.near(f"{name} {key}", value, found[key])
        else:
            d.same(f"{name} {key}", value, found[key]["total_ns"] if isinstance(found[key], dict) else found[key])


def compare_request(d, name, expected, found, origin):
    """`origin`: the time in the report of the schedule's time 0."""
    compare_figures(d, name, expected["request"], found)
    compare_figures(d, name + " blocks", expected["blocks"], found["blocks"])
    compare_figures(d, name + " steps", expected["steps"], found["steps"])
    parts = {part["name"]: part["ns"] for part in found["blocks"]["parts"] if part["kind"] == "idle"}
    d.same(name + " idle time of blocks", expected["idle"], parts)
    series = found["blocks"]["series"]
    d.same(name + " series", len(expected["series"]), len(series))
    for block, other in zip(expected["series"], series):
        times = {key: block[key] + origin for key in ("start_ns", "end_ns")}
        compare_figures(d, f"{name} block {block['index']}", {**block, **times}, other)


def merged(pieces):
    """[cause, ns, call, range] of pieces in order; neighbours that say the same are one."""
    found = []
    for cause, ns, call, place in pieces:
        if found and [found[-1][0], *found[-1][2:]] == [cause, call, place]:
            found[-1][1] += ns
        else:
            found.append([cause, ns, call, place])
    return found


def listed(pieces):
    """The first ones, and of more how much each cause has in all: the report does not list more."""
    sums = {}
    for cause, ns, _, _ in pieces:
        sums[cause] = sums.get(cause, 0) + ns
    return pieces[:PIECES_LISTED - 1], sums


def gap_row(start, end, pieces, origin):
    """A gap as the report lists it, with the cause that has most of it."""
    pieces = merged([[p.cause, p.end - p.start, p.call, p.place] for p in pieces])
    sums = listed(pieces)[1]
    headline = min(sums, key=lambda cause: (-sums[cause], CAUSES.index(cause)))
    longest = max((piece for piece in pieces if piece[0] == headline), key=lambda piece: piece[1])
    return [start + origin, end - start, headline, *longest[2:], listed(pieces)]


def compare_gaps(d, gaps, report, origin):
    found = [[g["start_ns"], g["duration_ns"], g["cause"], g["call"], g["range"],
              listed(merged([[p[key] for key in ("cause", "ns", "call", "range")] for p in g["pieces"]]))]
             for g in report["gaps"] if g["after"] and g["before"]]
    expected = [gap_row(*gap, origin) for gap in gaps]
    d.same("listed gaps", len(expected), len(found))
    for row, other in zip(expected, sorted(found, key=lambda row: row[0])):
        d.same(f"gap at {row[0]}", row, other)


def compare_report(d, expected, report):
    compare_devices(d, expected, report)
    verdict = report["verdict"]
    d.same("complete", True, verdict["complete"])
    d.same("received", verdict["written"] + verdict["dropped"], verdict["received"])
    d.same("dropped", 0, verdict["dropped"])
    d.same("simulated", True, report["input"]["simulated"])
    d.same("requests", len(expected["requests"]), len(report["requests"]))
    if len(report["requests"]) == len(expected["requests"]):
        # Both begin with the same op: what the host did before the first deed is not in the plan.
        first = report["requests"][0]["blocks"]["series"][0]["start_ns"]
        origin = first - expected["requests"][0]["series"][0]["start_ns"]
        compare_gaps(d, expected["gaps"], report, origin)
        for i, (request, found) in enumerate(zip(expected["requests"], report["requests"])):
            compare_request(d, f"request {i}", request, found, origin)


def compare_log(d, machine, lines):
    """The simulation's own log: "start end stream kind name ..." of each op, in the order of their launches."""
    found = [line.split()[:5] for line in lines]
    d.same("ops", len(machine.ops), len(found))
    for i, (op, (start, end, _, kind, name)) in enumerate(zip(machine.ops, found)):
        d.same(f"op {i}", (op.start - machine.ops[0].start, op.end - machine.ops[0].start, op.kind, op.name or "-"),
               (int(start) - int(found[0][0]), int(end) - int(found[0][0]), kind, name))


def idle_by_cause(figures):
    sums = {}
    for cause, _, _, ns, *_ in figures["device"]["causes"]:
        sums[cause] = sums.get(cause, 0) + ns
    return sums


def grown(figures, base):
    """The cause whose idle time grew most, or "none"."""
    now, then = idle_by_cause(figures), idle_by_cause(base)
    growth = {cause: ns - then.get(cause, 0) for cause, ns in now.items()}
    most = max(growth, key=growth.get, default=None)
    return most if most and growth[most] > 0 else "none"


def as_json(value):
    return [value.cause, value.end - value.start, value.call, value.place] if isinstance(value, Piece) else float(value)


def read_plan(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main(arguments):
    contract = Contract(arguments[0])
    machine, expected = schedule(contract, read_plan(arguments[1]), 1)
    if len(arguments) == 2:
        print(json.dumps(expected, indent=1, default=as_json))
        return 0
    d = Differences()
    for what, *words in zip(arguments[2:], arguments[3:], arguments[4:] + [None]):
        if what == "--log":
            with open(words[0], encoding="utf-8") as file:
                compare_log(d, machine, file)
        elif what == "--report":
            with open(words[0], encoding="utf-8") as file:
                compare_report(d, expected, json.load(file))
        elif what == "--grown":
            base = schedule(contract, read_plan(words[0]), 1)[1]
            d.same("the cause that grew most", words[1], grown(expected, base))
    for line in d.found[:20]:
        print(line)
    print(f"{d.compared} figures compared, {len(d.found)} differ")
    return 1 if d.found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
