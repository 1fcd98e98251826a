#!/usr/bin/env python3
"""fix_order.py - whether FIX FIRST has the order of the runs with one fix each.

    fix_order.py ANALYZE DEMO LIBRARY FOLDER

For each set of faults that the demo plants, beside each way in which it runs: what the runs with one fault less gain, and the
order of the findings that ask for its repair. Prints a table, then what is wrong. Gains that differ by 0.5 % of the block
are equal. A finding that predicts a least gain is in no order with what is between that and its bound.
"""
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ANALYZE, DEMO, LIBRARY, FOLDER = sys.argv[1:5]
SIZE = {"--blocks": "3", "--layers": "5"}
EQUAL = 0.005  # of a block
WORTH = 0.015  # less gain than that needs no line

# What plants a fault, and the findings that ask for its repair.
FAULTS = {
    "sync": ({"--sync-per-layer": None}, ["small-reads"]),
    "slow": ({"--slow-host": "90000"}, ["launch-rate"]),
    "offload": ({"--offload": None}, ["exposed-copy", "blocking-copy"]),
    "eager": ({"--eager": None}, ["eager-attention"]),
}
WAITS = {"sync", "offload"}  # faults that make the host wait
SLOWER = "slower host"  # code of 0.1 ms or more is no launch's
WAYS = {
    "plain": {},
    "two streams": {"--two-streams": None},
    "VAE at end": {"--vae-at-end": None},
    "threads": {"--threads": None},
    "graph": {"--graph": None},
    "fast kernels": {"--scale": "0.3"},
    "slow kernels": {"--scale": "2"},
    "two steps": {"--steps": "2"},
    SLOWER: {"--slow-host": "300000"},
}


def is_possible(faults, way):
    """A graph can hold neither waits nor copies from pageable memory."""
    if way == SLOWER:
        return "slow" in faults
    return way != "graph" or not {"sync", "offload"} & set(faults)


def record(faults, way):
    options = dict(SIZE)
    for fault in faults:
        options.update(FAULTS[fault][0])
    if way != SLOWER or "slow" in faults:
        options.update(WAYS[way])
    words = [w for option in sorted(options.items()) for w in option if w]
    path = os.path.join(FOLDER, "_".join(w.strip("-") for w in words) + ".zst")
    if not os.path.exists(path):
        env = {k: v for k, v in os.environ.items() if not k.startswith("VPTRACE_")}
        env.update(CUDA_INJECTION64_PATH=LIBRARY, NVTX_INJECTION64_PATH=LIBRARY, VPTRACE_OUTPUT=path)
        subprocess.run([DEMO] + words, env=env, check=True, stdout=subprocess.DEVNULL)
    return path


def report(run):
    done = subprocess.run([ANALYZE, record(*run), "--format", "json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def block_ms(run):
    blocks = [b for b in run["requests"][-1]["blocks"]["series"] if not b["warmup"]]
    return sum(b["period_ns"] for b in blocks) / len(blocks) / 1e6


def gain_of(f):
    return f["base_ms"] - f["predicted_ms"]


def is_in_range(f, other):
    return f["predicted_at_least"] and gain_of(f) <= gain_of(other) <= f["base_gain_ms"]


def judge(reports, faults, way):
    """Compares the lines of the run with all faults. Returns how many pairs, a line of the table, and what is wrong."""
    run = reports[faults, way]
    now = block_ms(run)
    lines = [f for f in run["findings"] if f["base"] == "block" and f["predicted_ms"]]
    rows, wrong, pairs = [], [], 0
    for fault in faults:
        wanted = ["host-stall"] if fault == "slow" and way == SLOWER else FAULTS[fault][1]
        gain = now - block_ms(reports[tuple(f for f in faults if f != fault), way])
        rows.append((gain, next((i for i, f in enumerate(lines) if f["id"] in wanted), None), fault))
        if rows[-1][1] is None and gain > WORTH * now:
            wrong.append(fault + " has no line")
    rows.sort(reverse=True)
    for (gain_a, a, fault_a), (gain_b, b, fault_b) in itertools.combinations(rows, 2):
        if gain_a - gain_b <= EQUAL * now or a is None or b is None:
            continue
        if is_in_range(lines[a], lines[b]) or is_in_range(lines[b], lines[a]):
            continue
        pairs += 1
        if a > b:
            wrong.append("%s comes after %s" % (fault_a, fault_b))
    told = [gain_of(f) / f["base_ms"] for f in lines if not f["predicted_at_least"]]
    if told != sorted(told, reverse=True):
        wrong.append("predicted gains do not fall")
    # What the host does with frames is in every run, and waits for them: all waits together hold the repair of one, and more.
    others = ["host-stall", "host-waits"] if WAITS & set(faults) else ["host-stall"]
    # Each block captures its graph: where launches are slow, a graph that is there saves most of them too.
    others += ["graph-build"] if way == "graph" and "slow" in faults else []
    first = next((i for i, f in enumerate(lines) if f["id"] not in others), None)
    if len(faults) == 1 and way != SLOWER and rows[0][0] > WORTH * now and rows[0][1] != first:
        wrong.append("its repair is not first")
    text = "%-13s%-25s%6.1f ms" % (way, "+".join(faults), now)
    for gain, line, fault in rows:
        text += "  %s %.1f, " % (fault, gain)
        text += "-" if line is None else ">=" * lines[line]["predicted_at_least"] + "%.1f" % gain_of(lines[line])
    return pairs, text, wrong


def main():
    sets = [s for n in range(len(FAULTS) + 1) for s in itertools.combinations(FAULTS, n)]
    runs = [(s, way) for way in WAYS for s in sets if is_possible(s, way) or not s or way == SLOWER]
    paths = {}
    with ThreadPoolExecutor(2) as pool:
        # The same run is recorded once.
        for run in runs:
            paths.setdefault(record(*run), run)
        read = dict(zip(paths, pool.map(report, paths.values())))
    reports = {run: read[record(*run)] for run in runs}
    print("way, faults, block; of each fault the gain of the run without it, and what is predicted")
    pairs = judged = failed = 0
    for faults, way in runs:
        if not faults or not is_possible(faults, way):
            continue
        count, text, wrong = judge(reports, faults, way)
        print(text + "".join("  WRONG: " + w for w in wrong))
        pairs, judged, failed = pairs + count, judged + 1, failed + bool(wrong)
    print("%d runs, %d pairs, %d wrong" % (judged, pairs, failed))
    return failed > 0 or pairs < 100


sys.exit(main())
