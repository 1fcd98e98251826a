"""ranks_merged.py FOLDER FILE [first]: writes the traces of a job, as of ranks_job.py, to one file with all ranks: FILE.json as programs
that merge PyTorch's traces do, a label in front of each process; FILE.sqlite as Nsight Systems exports a run of several processes, each
with a GPU of its own, which is "first" for each where CUDA_VISIBLE_DEVICES shows it no other. Every time is kept, in ns."""

import json
import os
import re
import sqlite3
import sys


def traces(folder):
    for r in range(len(os.listdir(folder))):
        with open(os.path.join(folder, "rank%d.json" % r), encoding="utf-8") as f:
            yield r, json.load(f, parse_float=str)


def to_ns(text):
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def merge(folder, path):
    events, base = [], None
    for r, trace in traces(folder):
        base = trace["baseTimeNanoseconds"]
        for e in trace["traceEvents"]:
            is_kernel = e["cat"] == "kernel"
            e["pid"] = "[TP%02d] %s" % (r, e["pid"])
            if "correlation" in e["args"]:
                e["args"]["correlation"] += r * 1000000
            if is_kernel:
                e["args"]["device"] = r
                e["pid"] = "[TP%02d] %d" % (r, r)
            events.append(e)
    text = ",\n".join(json.dumps(e) for e in events)
    text = re.sub(r'"(ts|dur)": "([0-9.]+)"', r'"\1": \2', text)
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion":1,"baseTimeNanoseconds":%d,"traceEvents":[\n%s\n]}\n' % (base, text))


def export(folder, path, device="own"):
    db = sqlite3.connect(path)
    names = {}

    def name(text):
        return names.setdefault(text, len(names) + 1)

    db.execute("create table StringIds(id integer primary key, value text)")
    db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, "
               "demangledName, shortName, gridX, gridY, gridZ)")
    db.execute("create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId, returnValue)")
    db.execute("create table NVTX_EVENTS(start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId)")
    for r, trace in traces(folder):
        process = (1000 + r) << 24
        origin = trace["baseTimeNanoseconds"] - 1000000000
        for e in trace["traceEvents"]:
            start = to_ns(e["ts"]) + (trace["baseTimeNanoseconds"] - origin)
            end = start + to_ns(e["dur"])
            args = e["args"]
            if e["cat"] == "kernel":
                db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?, ?, ?, 1, ?, ?, ?, ?, ?, 24, 1, 1)",
                           (start, end, 0 if device == "first" else r, args["stream"], args["correlation"],
                            process, name(e["name"]), name(e["name"])))
            elif e["cat"] == "cuda_runtime":
                db.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?, ?, ?, ?, ?, 0)",
                           (start, end, process + 1, args["correlation"], name(e["name"] + "_v7000")))
            elif e["cat"] == "user_annotation":
                db.execute("insert into NVTX_EVENTS values(?, ?, 59, 0, 0, 0, ?, ?, NULL, NULL, 0)", (start, end, e["name"], process + 1))
    db.executemany("insert into StringIds values(?, ?)", [(i, text) for text, i in names.items()])
    db.commit()


if __name__ == "__main__":
    (export if sys.argv[2].endswith(".sqlite") else merge)(*sys.argv[1:])
