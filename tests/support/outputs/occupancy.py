#!/usr/bin/env python3
"""Compares theoretical occupancy in an export with what PyTorch's profiler wrote into the trace that was exported.

    pftrace.py EXPORT --slices | occupancy.py TRACE.json.gz

The profiler tells, in whole per cent, how full a multiprocessor is: its blocks, but no more than the grid has for each. It says 0
where a block takes more than 48 KiB of shared memory, which CUDA gives to who asks for it; these are left out.
"""
import ast
import gzip
import json
import re
import sys

trace = json.load(gzip.open(sys.argv[1]))
gpus = {d["id"]: d for d in trace.get("deviceProperties", [])}
documented = {}
for line in sys.stdin:
    launch = re.search(r" kernel \".*\]\] (\{.*?\})(?: waited for .*)?$", line)
    if line.startswith("GPU ") and launch:
        a = ast.literal_eval(launch.group(1))
        shared = a["shared_mem_static"] + a["shared_mem_dynamic"]
        documented[a["device"], a["grid_size"], a["workgroup_size"], a["registers_per_thread"], shared] = a
same, differ = 0, []
for e in trace["traceEvents"]:
    k = e.get("args", {})
    if e.get("cat") != "kernel" or not k.get("est. achieved occupancy %") or k["device"] not in gpus:
        continue
    gpu, (gx, gy, gz), (bx, by, bz) = gpus[k["device"]], k["grid"], k["block"]
    a = documented.get((k["device"], gx * gy * gz, bx * by * bz, k["registers per thread"], k["shared memory"]), {})
    blocks = min((v for key, v in a.items() if key.startswith("occupancy_limit_")), default=0)
    full = 100 * blocks * -(-bx * by * bz // 32) / (gpu["maxThreadsPerMultiprocessor"] // 32)
    waves = gx * gy * gz / gpu["numSms"] / blocks if blocks else 0
    per_cent = min(blocks, gx * gy * gz / gpu["numSms"]) * bx * by * bz / gpu["maxThreadsPerMultiprocessor"] * 100
    if abs(per_cent - k["est. achieved occupancy %"]) <= 1 and abs(a["sm__maximum_warps_per_active_cycle_pct"] - full) < 1e-9 \
            and abs(a["waves_per_multiprocessor"] - waves) < 1e-9 and a["thread_count"] == gx * gy * gz * bx * by * bz:
        same += 1
    else:
        differ.append((k, a))
print(same, "kernels alike")
if len(sys.argv) > 2 and not same:
    sys.exit("no kernel to compare")
if differ:
    sys.exit(f"{len(differ)} differ: {differ[0]}")
