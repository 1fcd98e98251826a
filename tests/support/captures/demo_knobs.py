#!/usr/bin/env python3
"""demo_knobs.py - what the report blames on each thing that is wrong, and what the run without it saves.

    demo_knobs.py STANDIN.H       with VPT_BIN and VPT_ANALYZE; captures are written to the current folder

Each row takes one thing away. `blamed` is what the report says of it: the gain of a cause, that is what removing it alone
would save at most; where several causes go at once, their idle time by places and calls; copies, attention. `saved` is
by how much the time from the first op to the last is shorter without it: without a knob, both runs being traced and
reported, without some deeds of the plan, or without all of the plan that is of one cause, where demo_schedule.py says
when all happens (cli_demo.sh holds it against the simulation). Blame is never below what is saved, and at most a tenth
above.

A host that was late has to launch until it is ahead again: the time of these calls and their latency is part of the
idle time. `alone` is the ratio of the first thing that is blamed, without them.

Where the report gives a range, what is saved lies in it. A row that cannot keep this has a reason and its ratio; it
fails as well when the ratio changes.
"""
import json
import os
import re
import subprocess
import sys

from demo_causes import LAUNCH_LATENCY_NS, LAUNCH_RATE_NS
from demo_schedule import CALLS, Contract, Machine

SMALL = "--blocks 3 --steps 2 --layers 3 "
BARE = SMALL + "--reference --scale 0.03 "  # passes of 3 ms, and nothing that the host would wait for
NEXT_LAUNCH = "the next launch would come sooner too: its call and its way to the GPU have causes of their own"
RELAUNCH = "launch call|launch latency"


# ---- what a report blames: functions of the report and of the one without the knob ----

def gain(cause):
    """What removing the cause would save at most."""
    return lambda report, _: sum(row["at_most_ns"] for row in report["devices"][0]["gains"] if row["cause"] == cause)


def idle(causes, place=".*", call=".*"):
    """Idle time by regular expressions; where there is no name it is empty."""
    wanted = [re.compile(expression) for expression in (causes, place, call)]

    def blamed(report, _):
        return sum(row["ns"] for row in report["devices"][0]["causes"] if all(
            expression.fullmatch(row[key] or "") for expression, key in zip(wanted, ("cause", "range", "call"))))
    return blamed


def copies(source, target):
    """Those that the run without the knob does not have."""
    def sum_of(report):
        return sum(row["total_ns"] for row in report["copies"] if (row["source"], row["target"]) == (source, target))
    return lambda report, without: sum_of(report) - sum_of(without)


def communication(report, _):
    return report["devices"][0]["exposed_comm_ns"]


def eager(key):
    return lambda report, _: sum(round(row[key] * 1e6) for row in report["findings"] if row["id"] == "eager-attention")


def finding(name):
    """What the finding says that its fix would save."""
    return lambda report, _: sum(round(row["gain_at_most_ms"] * 1e6) for row in report["findings"] if row["id"] == name)


def fused_instead(report, without):
    """Less the fused kernels that the run without the knob has in their place."""
    def sum_of(of):
        return sum(row["total_ns"] for row in of["attention"]["backends"])
    return sum_of(report) - sum_of(without)


# ---- what is taken away: of the deeds of a plan; None is no deed ----

def item_waits(deed, contract):
    if deed["do"] == "to_host" and deed["bytes"] == 8:
        return same_op(deed, contract)
    return None if deed["do"] == "sync_stream" else deed


def instead(call):
    """Long host code after a wait in the call, which not waiting there would have saved too."""
    def blamed(report, _):
        return sum(row["instead_ns"] for d in report["devices"] for row in d["causes"] if row["instead_call"] == call)
    return blamed


def frame_waits(deed, contract):
    return same_op(deed, contract) if deed.get("blocking") else deed


def frame_work(deed, _):
    return None if deed["do"] == "work" and deed["ns"] == 20_000_000 else deed


def host_work(deed, _):
    return None if deed["do"] == "work" else deed


def exchange(deed, _):
    return None if "nccl" in deed.get("kernel", "") else deed


def same_op(deed, contract):
    """In place of a copy from pageable memory: something as long, which nobody waits for."""
    return {"do": "launch", "kernel": "copy", "stream": deed["stream"],
            "ns": contract.copy_ns(deed["bytes"], "PAGEABLE_RATE")}


def is_call(deed):
    return deed["do"] in CALLS and CALLS[deed["do"]][2] not in ("query", "not recorded")


def is_blocking(deed):
    return deed.get("blocking") or deed["do"] in ("to_host", "to_device") and not deed["pinned"]


def stretches_of(plan, contract):
    """How long the host code lasts that each deed is a part of: from call to call of its thread."""
    lengths, last = [], {}
    for deed in plan:
        thread = deed.get("thread", 0)
        if is_call(deed) or thread not in last:
            last[thread] = [0]
        lengths.append(last[thread])
        if is_call(deed):
            del last[thread]
        elif deed["do"] == "record":
            last[thread][0] += contract.cost["EventRecord"]
        elif deed["do"] == "work":
            last[thread][0] += deed["ns"]
    return [length[0] for length in lengths]


class Without:
    """A plan less all that is of one cause: what the report's gain of that cause is about."""

    def __init__(self, cause):
        self.cause, self.__name__ = cause, cause

    def kept(self, deed, stretch_ns, of_copy, capturing, contract):
        if deed["do"] == "work":
            cause = "host code" if stretch_ns >= LAUNCH_RATE_NS else "launch rate"
            return None if self.cause == cause and not capturing else deed
        if deed["do"] in ("allocate", "free"):
            return None if self.cause == "allocation" else deed
        if deed["do"] in ("sync_stream", "sync_event"):
            return None if self.cause == ("blocking copy" if of_copy else "sync") else deed
        return same_op(deed, contract) if is_blocking(deed) and self.cause == "blocking copy" else deed

    def plan(self, plan, contract):
        copied, capturing = {}, False  # threads whose last call was a blocking copy, just now
        for deed, stretch_ns in zip(plan, stretches_of(plan, contract)):
            thread = deed.get("thread", 0)
            if deed["do"] in ("capture", "captured"):
                capturing = deed["do"] == "capture"
            kept = self.kept(deed, stretch_ns, copied.get(thread), capturing, contract)
            if kept:
                yield kept
            if is_call(deed) or deed["do"] == "work" and deed["ns"] >= LAUNCH_LATENCY_NS:
                copied[thread] = is_blocking(deed)


# ---- the table ----

class Row:
    """`less`: the knob to leave out, or what to take from the plan. `least`: the lower end, where there is a range."""

    def __init__(self, what, options, less, blamed, ratio=None, reason=None, least=None):
        self.what, self.options, self.less, self.blamed = what, options, less, blamed
        self.ratio, self.reason, self.least = ratio, reason, least


def one_cause(what, options, cause, ratio=None, reason=None):
    """A row about all that is of one cause."""
    return Row(what, options, Without(cause), [gain(cause)], ratio, reason)


def mixture(options, *causes, ratio=None, reason=None):
    """Several knobs at once, a row for each cause that is worth one."""
    small = "" if "--blocks" in options else SMALL
    return [one_cause(options, small + options, cause, ratio, reason) for cause in causes]


# A gain is of a device as a whole: it counts gaps that close, and knows of no stream when its work would end.
STREAMS_OVERLAP = ("launched sooner, the work of one stream runs beside the other's: all ends sooner, but no gap of the "
                   "device closes")
STREAMS_WAIT = ("a host that comes sooner waits for the frames of the other stream instead, which do not end as much "
                "sooner")
OTHER_THREAD = ("the thread that launches would wait for the other thread's work on the frames instead, which no call and "
                "no record shows")
COPY, CODE, RATE, ALLOCATION, SYNC = "blocking copy", "host code", "launch rate", "allocation", "sync"
TABLE = [
    Row(".item() twice a layer, and what it is for", SMALL + "--sync-per-layer", "--sync-per-layer",
        [idle("blocking copy|sync", "self_attn"), idle("host code|" + RELAUNCH, "self_attn"),
         copies("device", "pageable")]),
    one_cause("the waits of .item() and for frames", SMALL + "--sync-per-layer", COPY),
    Row("the waits of .item() alone", SMALL + "--sync-per-layer", item_waits, [finding("small-reads")]),
    Row("the waits for frames alone", SMALL + "--sync-per-layer", frame_waits,
        [instead("cudaMemcpy"), idle("blocking copy", call="cudaMemcpy")], 0.9989, NEXT_LAUNCH),
    Row("the waits of .item() alone, a slow host", SMALL + "--sync-per-layer --slow-host 30000", item_waits,
        [finding("small-reads")]),
    Row("the waits for frames alone, a slow host", SMALL + "--sync-per-layer --slow-host 30000", frame_waits,
        [instead("cudaMemcpy"), idle("blocking copy", call="cudaMemcpy")], 0.9919, NEXT_LAUNCH),
    Row("the waits of .item() alone, small kernels", SMALL + "--sync-per-layer --scale 0.3", item_waits,
        [finding("small-reads")]),
    Row("the waits for frames alone, small kernels", SMALL + "--sync-per-layer --scale 0.3", frame_waits,
        [instead("cudaMemcpy"), idle("blocking copy", call="cudaMemcpy")], 0.9981, NEXT_LAUNCH),
    Row("weights from pageable memory", SMALL + "--offload", "--offload",
        [copies("pageable", "device"), idle("blocking copy", call="cudaMemcpyAsync"),
         idle(RELAUNCH, call="cudaLaunchKernel")]),
    Row("eager attention, less the fused kernels", SMALL + "--eager", "--eager",
        [eager("gain_at_most_ms"), fused_instead]),
    Row("eager attention", SMALL + "--eager", "--eager", [eager("gain_at_most_ms")], least=eager("gain_from_ms"),
        reason="a range: how long fused kernels would take no trace says"),
    Row("a slow host", BARE + "--slow-host 60000", "--slow-host 60000", [gain(RATE), gain(CODE)]),
    Row("a stalling host", BARE + "--slow-host 900000", "--slow-host 900000", [gain(CODE)]),
    Row("a slow host where more is wrong", SMALL + "--slow-host 60000", host_work, [gain(RATE), gain(CODE)]),
    one_cause("a stalling host where more is wrong", SMALL + "--slow-host 900000", CODE),
    Row("a graph captured in each block", SMALL + "--graph", "--graph",
        [idle("graph build"), idle("launch rate", "step 0"), idle(RELAUNCH, "step 0")]),
    one_cause("cudaMalloc between small kernels", SMALL + "--scale 0.05", ALLOCATION),
    Row("the wait for frames", SMALL, frame_waits, [gain(COPY)]),
    Row("the host code after that wait", SMALL, frame_work, [gain(CODE)]),
    Row("a short wait for frames", SMALL + "--scale 0.05", frame_waits, [gain(COPY)]),
    Row("the host code after a short wait", SMALL + "--scale 0.05", frame_work, [gain(CODE)]),
    Row("host code in another thread", SMALL + "--threads", frame_work, [gain(CODE)]),
    Row("the host code after another stream's frames", SMALL + "--two-streams", frame_work, [gain(CODE)]),
    one_cause("the wait for frames of another stream", SMALL + "--two-streams", SYNC),
    Row("communication between ranks", SMALL + "--ranks 2 --rank 1", exchange, [communication]),
    *mixture("--sync-per-layer --slow-host 30000", COPY, ALLOCATION, RATE, CODE),
    *mixture("--eager --sync-per-layer --scale 0.3", COPY, ALLOCATION, RATE, CODE),
    *mixture("--offload --sync-per-layer --slow-host 20000 --scale 0.2", COPY, ALLOCATION, RATE, CODE),
    *mixture("--ranks 2 --rank 1 --sync-per-layer --slow-host 120000", COPY, ALLOCATION, CODE),
    *mixture("--graph --slow-host 150000", COPY, ALLOCATION, CODE),
    *mixture("--graph --two-streams --slow-host 90000 --scale 0.05", ALLOCATION, RATE, CODE),
    *mixture("--sync-per-layer --two-streams --scale 0.3", SYNC, COPY, ALLOCATION, RATE, CODE),
    *mixture("--blocks 2 --steps 2 --layers 4 --vae-at-end --requests 2 --scale 0.02", COPY, ALLOCATION, RATE, CODE),
    *mixture("--blocks 4 --steps 4 --layers 30 --slow-host 10000 --scale 0.2", COPY, ALLOCATION, RATE, CODE),
    *mixture("--threads --scale 0.1", ALLOCATION, CODE),
    *mixture("--threads --scale 0.1", RATE, ratio=3.2001, reason=OTHER_THREAD),
    *mixture("--offload --two-streams --scale 0.1", ALLOCATION),
    *mixture("--offload --two-streams --scale 0.1", COPY, ratio=1.1272, reason=STREAMS_WAIT),
    *mixture("--offload --two-streams --scale 0.1", CODE, ratio=0.9979, reason=STREAMS_OVERLAP),
    *mixture("--offload --two-streams --scale 0.1", RATE, ratio=0.6210, reason=STREAMS_OVERLAP),
    *mixture("--two-streams --slow-host 90000 --scale 0.1", RATE, ratio=1.1998, reason=STREAMS_WAIT),
]


# ---- running ----

def check_fps(report):
    """No cause of idle time is worth more than if the GPU were never idle."""
    most = max((request["blocks"]["fps_busy"] or 0 for request in report["requests"]), default=0)
    for finding in report["findings"]:
        fps = finding.get("fps_to") if finding.get("gain_shared_ms") is not None else None
        if fps and fps > most + 0.001:
            sys.exit(f"{finding['id']}: at most {fps} FPS, but {most} where the GPU never stands idle")


class Runs:
    def __init__(self, contract):
        self.contract, self.bin, self.reports = contract, os.environ["VPT_BIN"], {}

    def demo(self, options, **more):
        return subprocess.run([self.bin + "/vptrace-demo", *options.split()], check=True, stdout=subprocess.PIPE,
                              env={**os.environ, **more}).stdout

    def report(self, options):
        """What the analyzer says of a traced run."""
        if options not in self.reports:
            library, capture = self.bin + "/libvptrace.so", f"knob{len(self.reports)}.zst"
            self.demo(options, CUDA_INJECTION64_PATH=library, NVTX_INJECTION64_PATH=library, VPTRACE_OUTPUT=capture)
            command = [os.environ["VPT_ANALYZE"], capture, "--format", "json", "--top", "100000", "--no-predict"]
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            self.reports[options] = json.loads(text)
            check_fps(self.reports[options])
        return self.reports[options]

    def planned_ns(self, options, less):
        """From the first op to the last, where something is taken from the plan."""
        machine, plan = Machine(self.contract), json.loads(self.demo(options + " --print-plan"))
        if isinstance(less, Without):
            plan = less.plan(plan, self.contract)
        else:
            plan = filter(None, (less(deed, self.contract) for deed in plan))
        for deed in plan:
            machine.do(deed)
        return max(op.end for op in machine.ops) - min(op.start for op in machine.ops)

    def measure(self, row):
        """What each of the row's parts blames, what is saved, and the least that is said to be."""
        report, without = self.report(row.options), None
        if not isinstance(row.less, str):
            saved = report["devices"][0]["active_ns"] - self.planned_ns(row.options, row.less)
        else:
            without = self.report(row.options.replace(row.less, ""))
            saved = report["devices"][0]["active_ns"] - without["devices"][0]["active_ns"]
        least = row.least(report, without) if row.least else None
        return [blamed(report, without) for blamed in row.blamed], saved, least


def verdict(row, blamed, saved, least):
    if least is not None:
        return row.reason if 0 < least <= saved <= blamed else f"FAIL: not between {least} and {blamed} ns"
    kept = saved > 0 and saved <= blamed and 10 * blamed <= 11 * saved
    if row.ratio is None:
        return "" if kept else "FAIL"
    if kept or round(blamed / saved, 4) != row.ratio:
        return f"FAIL: expected {row.ratio:.4f}, {row.reason}"
    return "expected: " + row.reason


def main(arguments):
    runs, failed = Runs(Contract(arguments[0])), 0
    print(f"{'what is wrong':76} {'without':20} {'blamed ms':>11} {'saved ms':>11} {'ratio':>7} {'alone':>7}")
    for row in TABLE:
        parts, saved, least = runs.measure(row)
        says = verdict(row, sum(parts), saved, least)
        failed += says.startswith("FAIL")
        ratio, alone = (ns / saved if saved > 0 else float("inf") for ns in (sum(parts), parts[0]))
        less = row.less if isinstance(row.less, str) else row.less.__name__.replace("_", " ")
        print(f"{row.what:76} {less:20} {sum(parts) / 1e6:11.3f} {saved / 1e6:11.3f} {ratio:7.4f} {alone:7.4f}",
              says)
    print(f"{len(TABLE)} knobs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
