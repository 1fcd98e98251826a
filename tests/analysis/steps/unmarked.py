"""Real traces without their marks: whether the steps that nothing marks are those that had been marked.

    unmarked.py strip FROM TO [N] a trace without the marks of its iterations and ranges, N times one after the other; prints how many
                                  it had: by ProfilerStep#, else by NVTX ranges called "Step ..."; of a trace without any, which is
                                  one pass of a model, N
    unmarked.py row NAME TRUE     a row of the table, from a report in JSON on stdin
    unmarked.py judge             rows on stdin: of those with a confidence of 0.9 or more nine of ten are right, of all eight

A row: name, steps marked, steps found, confidence, and whether that is right. The first step may differ from the others, since it
sets up what they reuse: one fewer is right. Nothing found claims nothing."""
import gzip
import json
import re
import shutil
import sqlite3
import sys


JOINED = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver"}


def repeated(events, times):
    """The events one after another. An id joins a call and its ops, so each time has ids of its own."""
    last = max(float(e["ts"]) + float(e.get("dur", 0)) for e in events)
    first = min(float(e["ts"]) for e in events)
    out = []
    for i in range(times):
        for e in events:
            args = dict(e.get("args") or {})
            if args.get("correlation"):
                args["correlation"] = int(args["correlation"]) + i * 10**8
            out.append(dict(e, ts=float(e["ts"]) - first + i * (last - first + 5), args=args))
    return out


def strip_kineto(path, to, times):
    raw = open(path, "rb").read()
    trace = json.loads((gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8", "replace"))
    marks = {"user_annotation", "gpu_user_annotation"}
    steps = {e["name"] for e in trace["traceEvents"] if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")}
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in marks]
    if times > 1:
        trace["traceEvents"] = repeated([e for e in trace["traceEvents"] if e.get("ph") == "X" and e.get("cat") in JOINED], times)
    with open(to, "w") as out:
        json.dump(trace, out)
    return len(steps) * times or (times if times > 1 else 0)


def strip_nsight(path, to):
    shutil.copyfile(path, to)
    db = sqlite3.connect(to)
    names = db.execute("SELECT coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId").fetchall()
    db.execute("DELETE FROM NVTX_EVENTS")
    db.commit()
    return len([n for (n,) in names if n and re.match(r"Step \d", n)])


def judge():
    rows = [line.split() for line in sys.stdin]
    wrong = []
    for least, share in ((0.9, 0.9), (0, 0.8)):
        claims = [r for r in rows if r[3] != "-" and float(r[3]) >= least]
        right = [r for r in claims if r[4] == "right"]
        print("confidence from %g: %d of %d right" % (least, len(right), len(claims)))
        if not claims or len(right) < share * len(claims):
            wrong += claims
    sys.exit(bool(wrong) or not rows)


def main():
    what = sys.argv[1]
    if what == "strip":
        if sys.argv[2].endswith(".sqlite"):
            print(strip_nsight(sys.argv[2], sys.argv[3]))
        else:
            print(strip_kineto(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1))
    elif what == "row":
        found = json.load(sys.stdin).get("steps_inferred")
        true = int(sys.argv[3])
        if found:
            right = "right" if found[0]["count"] in (true, true - 1) else "wrong"
            print(sys.argv[2], true, found[0]["count"], found[0]["confidence"], right)
        else:
            print(sys.argv[2], true, "-", "-", "nothing")
    else:
        judge()


main()
