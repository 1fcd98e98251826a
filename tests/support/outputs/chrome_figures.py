"""chrome_figures.py TRACE.json.gz EXPORT.json: what an export for Chrome estimates of a kernel's launch is what PyTorch's profiler
wrote into the trace that was exported: blocks and warps for each multiprocessor, and the occupancy.

The profiler says 0 where a block takes more than 48 KiB of shared memory, which CUDA gives to who asks for it: these are left out.
"""
import gzip
import json
import sys

KEYS = ("blocks per SM", "warps per SM", "est. achieved occupancy %")


def kernels(trace):
    return [event["args"] for event in trace["traceEvents"]
            if event.get("cat") == "kernel" and event.get("args", {}).get(KEYS[0]) is not None]


def shape(args):
    return str([args[key] for key in ("device", "grid", "block", "registers per thread", "shared memory")])


wanted = {shape(args): args for args in kernels(json.load(gzip.open(sys.argv[1])))}
found = {shape(args): args for args in kernels(json.load(open(sys.argv[2], encoding="utf-8")))}
same = 0
for key, args in wanted.items():
    if not args[KEYS[2]]:
        continue
    assert key in found, ("nothing is said of", args)
    for name, most in zip(KEYS, (1e-3, 1e-3, 1)):
        assert abs(found[key][name] - args[name]) <= most + 1e-6 * abs(args[name]), (name, found[key], args)
    same += 1
print(same, "launches alike")
