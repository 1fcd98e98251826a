#!/usr/bin/env python3
"""demo_knobs.py - what the report blames on each thing that is wrong, and what the run without it saves.

    demo_knobs.py STANDIN.H       with VPT_BIN and VPT_ANALYZE; captures are written to the current folder

Each row has one thing wrong. `blamed` is what the report says of it: idle time by causes, places and calls, copies,
attention. `saved` is by how much the time from the first op to the last is shorter where only that is taken away:
a knob, both runs being traced and reported, or some deeds of the plan, where demo_schedule.py says when all happens
(cli_demo.sh holds it against the simulation). Blame is never below what is saved, and at most a tenth above.

A host that was late has to launch until it is ahead again: the time of these calls and their latency is part of the
blame. `alone` is the ratio of the first thing that is blamed, without them.

A row that cannot keep this has a reason and its ratio; it fails as well when the ratio changes.
"""
import json
import os
import re
import subprocess
import sys

from demo_schedule import Contract, Machine

SMALL = "--blocks 3 --steps 2 --layers 3 "
BARE = SMALL + "--reference --scale 0.03 "  # passes of 3 ms, and nothing that the host would wait for
RELAUNCH = "launch call|launch latency"


# ---- what a report blames: functions of the report and of the one without the knob ----

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


def eager_sequences(report, _):
    return sum(round(row["gain_at_most_ms"] * 1e6) for row in report["findings"] if row["id"] == "eager-attention")


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


def frame_waits(deed, contract):
    return same_op(deed, contract) if deed.get("blocking") else deed


def frame_work(deed, _):
    return None if deed["do"] == "work" and deed["ns"] == 20_000_000 else deed


def allocations(deed, _):
    return None if deed["do"] == "allocate" else deed


def exchange(deed, _):
    return None if "nccl" in deed.get("kernel", "") else deed


def same_op(deed, contract):
    """In place of a copy from pageable memory: something as long, which nobody waits for."""
    return {"do": "launch", "kernel": "copy", "stream": deed["stream"],
            "ns": contract.copy_ns(deed["bytes"], "PAGEABLE_RATE")}


# ---- the table ----

class Row:
    """`less`: the knob to leave out, or what to take from the plan."""

    def __init__(self, what, options, less, blamed, ratio=None, reason=None):
        self.what, self.options, self.less, self.blamed = what, options, less, blamed
        self.ratio, self.reason = ratio, reason


FRAMES = [idle("blocking copy", "to_host"), idle("launch rate|" + RELAUNCH, "step 0")]
TABLE = [
    Row(".item() twice a layer, and what it is for", SMALL + "--sync-per-layer", "--sync-per-layer",
        [idle("blocking copy|sync", "self_attn"), idle("host code|" + RELAUNCH, "self_attn"),
         copies("device", "pageable")]),
    Row("the waits of .item() alone", SMALL + "--sync-per-layer", item_waits,
        [idle("blocking copy|sync", "self_attn"), idle(RELAUNCH, "self_attn")], 0.5484,
        "what is left of the first .item()'s wait does not count for the gap after the second"),
    Row("weights from pageable memory", SMALL + "--offload", "--offload",
        [copies("pageable", "device"), idle("blocking copy", call="cudaMemcpyAsync"),
         idle(RELAUNCH, call="cudaLaunchKernel")]),
    Row("eager attention, less the fused kernels", SMALL + "--eager", "--eager", [eager_sequences, fused_instead]),
    Row("eager attention", SMALL + "--eager", "--eager", [eager_sequences], 1.3324,
        "how long fused kernels would take no trace says: the bound is the whole sequence"),
    Row("a slow host", BARE + "--slow-host 60000", "--slow-host 60000",
        [idle("launch rate"), idle("host code|" + RELAUNCH)]),
    Row("a stalling host", BARE + "--slow-host 900000", "--slow-host 900000", [idle("host code"), idle(RELAUNCH)]),
    Row("a slow host where more is wrong", SMALL + "--slow-host 60000", "--slow-host 60000",
        [idle("launch rate"), idle("host code|" + RELAUNCH)], 0.9068,
        "allocations and the wait for frames have what would be hidden behind kernels without either"),
    Row("a stalling host where more is wrong", SMALL + "--slow-host 900000", "--slow-host 900000",
        [idle("host code"), idle(RELAUNCH)], 0.9973, "as above"),
    Row("a graph captured in each block", SMALL + "--graph", "--graph",
        [idle("graph build"), idle("launch rate", "step 0"), idle(RELAUNCH, "step 0")]),
    Row("cudaMalloc between small kernels", SMALL + "--scale 0.05", allocations, [idle("allocation")]),
    Row("the wait for frames", SMALL, frame_waits, FRAMES),
    Row("the host code after that wait", SMALL, frame_work, FRAMES),
    Row("a short wait for frames", SMALL + "--scale 0.05", frame_waits, [idle("blocking copy", "to_host")]),
    Row("the host code after a short wait", SMALL + "--scale 0.05", frame_work, [idle("host code")], 0.3880,
        "as long as the wait was, either would save the time: it is the wait's"),
    Row("host code in another thread", SMALL + "--threads", frame_work, [idle("host code"), idle("sync", "to_host")]),
    Row("the wait for frames of another stream", SMALL + "--two-streams", frame_work, [idle("sync", "to_host")]),
    Row("communication between ranks", SMALL + "--ranks 2 --rank 1", exchange, [communication]),
]


# ---- running ----

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
            command = [os.environ["VPT_ANALYZE"], capture, "--format", "json", "--top", "100000"]
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            self.reports[options] = json.loads(text)
        return self.reports[options]

    def planned_ns(self, options, taken):
        """From the first op to the last, where the deeds in the plan are `taken`."""
        machine = Machine(self.contract)
        for deed in json.loads(self.demo(options + " --print-plan")):
            deed = taken(deed, self.contract)
            if deed:
                machine.do(deed)
        return max(op.end for op in machine.ops) - min(op.start for op in machine.ops)

    def measure(self, row):
        """What each of the row's parts blames, and what is saved."""
        report, without = self.report(row.options), None
        if callable(row.less):
            saved = report["devices"][0]["active_ns"] - self.planned_ns(row.options, row.less)
        else:
            without = self.report(row.options.replace(row.less, ""))
            saved = report["devices"][0]["active_ns"] - without["devices"][0]["active_ns"]
        return [blamed(report, without) for blamed in row.blamed], saved


def verdict(row, blamed, saved):
    kept = saved > 0 and saved <= blamed and 10 * blamed <= 11 * saved
    if row.ratio is None:
        return "" if kept else "FAIL"
    if kept or round(blamed / saved, 4) != row.ratio:
        return f"FAIL: expected {row.ratio:.4f}, {row.reason}"
    return "expected: " + row.reason


def main(arguments):
    runs, failed = Runs(Contract(arguments[0])), 0
    print(f"{'what is wrong':42} {'without':20} {'blamed ms':>11} {'saved ms':>11} {'ratio':>7} {'alone':>7}")
    for row in TABLE:
        parts, saved = runs.measure(row)
        says = verdict(row, sum(parts), saved)
        failed += says.startswith("FAIL")
        ratio, alone = (ns / saved if saved > 0 else float("inf") for ns in (sum(parts), parts[0]))
        less = row.less if isinstance(row.less, str) else row.less.__name__.replace("_", " ")
        print(f"{row.what:42} {less:20} {sum(parts) / 1e6:11.3f} {saved / 1e6:11.3f} {ratio:7.4f} {alone:7.4f}",
              says)
    print(f"{len(TABLE)} knobs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
