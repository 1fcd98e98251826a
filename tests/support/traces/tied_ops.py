"""Traces whose ops begin at the same nanosecond on several streams, and have no length or little: whole microseconds.

make SEED FILE     writes one as PyTorch's profiler does
check FILE FOLDER  compares an exported folder of CSV files with it: each op has its own family, call and range
calls FILE REPORT  compares the calls in the JSON report's tables with it
"""
import csv
import json
import random
import sys

FAMILIES = {"flash_fwd_kernel": "attention", "sm80_xmma_gemm": "gemm", "vectorized_elementwise_kernel": "elementwise"}


def make(seed, path):
    chance = random.Random(seed)
    events = []
    streams = [9, 7, 23, 8]  # in no order, so that numbers differ from the order of appearance
    for i in range(1, 200):
        ts = 100 + 4 * i
        name = chance.choice(list(FAMILIES))
        gpu = chance.randrange(2)
        start, length = ts + chance.choice((1, 5, 9)), chance.choice((0, 0, 1, 3))
        events.append({"ph": "X", "cat": "user_annotation", "name": f"r{i}", "pid": 1, "tid": 1, "ts": ts, "dur": 3})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 1,
                       "dur": 1, "args": {"correlation": i}})
        copy = chance.random() < 0.2
        args = {"device": gpu, "context": gpu + 1, "stream": chance.choice(streams), "correlation": i}
        if copy:
            args["bytes"] = i
        events.append({"ph": "X", "cat": "gpu_memcpy" if copy else "kernel",
                       "name": "Memcpy DtoD (Device -> Device)" if copy else name,
                       "pid": gpu, "tid": 7, "ts": start, "dur": length, "args": args})
    chance.shuffle(events)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)


def read(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return ([e for e in events if e["cat"] in ("kernel", "gpu_memcpy")],
            {e["args"]["correlation"]: e for e in events if e["cat"] == "cuda_runtime"})


def check(path, folder):
    ops, calls = read(path)
    rows = {}
    for table in "kernel", "copy":
        with open(f"{folder}/{table}.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows[int(row["correlation"])] = row
    assert len(rows) == len(ops) > 150, (len(rows), len(ops))
    assert sum(o["dur"] == 0 for o in ops) > 50
    first = min(e["ts"] for e in calls.values())
    offset = min(int(r["call_start_ns"]) for r in rows.values()) - first * 1000
    for op in ops:
        i = op["args"]["correlation"]
        row = rows[i]
        wanted = {"family": "memcpy" if op["cat"] == "gpu_memcpy" else FAMILIES[op["name"]], "call": "cudaLaunchKernel",
                  "range": f"r{i}", "call_tid": "1", "call_start_ns": str(calls[i]["ts"] * 1000 + offset)}
        found = {key: row[key] for key in wanted}
        assert found == wanted, (op, found, wanted)


def count_calls(path, report):
    ops, _ = read(path)
    with open(report, encoding="utf-8") as file:
        report = json.load(file)
    for name in FAMILIES:
        wanted = sum(o["name"] == name for o in ops)
        found = [k["calls"] for k in report["kernels"] if k["name"] == name]
        assert found == [wanted], (name, found, wanted)
        family = [f["calls"] for f in report["families"] if f["family"] == FAMILIES[name]]
        assert family == [wanted], (FAMILIES[name], family, wanted)
    copies = sum(o["cat"] == "gpu_memcpy" for o in ops)
    assert sum(c["count"] for c in report["copies"]) == copies > 10
    assert sum(b["calls"] for b in report["attention"]["backends"]) == sum(o["name"] == "flash_fwd_kernel" for o in ops)


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
elif sys.argv[1] == "check":
    check(sys.argv[2], sys.argv[3])
else:
    count_calls(sys.argv[2], sys.argv[3])
