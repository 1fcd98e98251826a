#!/usr/bin/env python3
"""Checks whether a capture is complete and consistent.

    check_capture.py --analyze PROGRAM --report REPORT.json CAPTURE [--blocks N] [--steps N] [--ranges-only]

The report must be complete, with nothing lost. Every op must have a launch and be in a request; no op may begin
before its launch or end after the last wait. Annotations must be present, and the file small. --ranges-only:
for a run without a GPU.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import subprocess
import sys

import table

MIB = 1048576
WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy",
         "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize")
DOMAINS = ("vptrace", "")  # of annotations by NVTX, and by the library's own functions


def rows(program, capture, kind):
    text = subprocess.run([program, "cat", capture, "--kind", kind, "--format", "csv"],
                          check=True,
                          stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    return list(csv.DictReader(io.StringIO(text)))


def check_books(report):
    verdict = report["verdict"]
    table.equal("received - written - dropped", verdict["received"] - verdict["written"] - verdict["dropped"],
                0)
    table.equal("dropped", verdict["dropped"], 0, "records", "of %d received" % verdict["received"])
    for key in ("ops_without_launch", "invalid", "unmatched_ranges", "damaged_chunks"):
        table.equal(key.replace("_", " "), verdict[key], 0)


def check_verdict(report):
    """Rows from the report's verdict; without a GPU it cannot be complete."""
    verdict = report["verdict"]
    table.say("complete", "ok" if verdict["complete"] else "failed", note="; ".join(verdict["reasons"]))


def check_times(ops, calls):
    """Checks rows: an op begins after its launch, and ends before the last wait does."""
    begin = {call["correlation"]: int(call["start_ns"]) for call in calls}
    early = sum(int(op["start_ns"]) < begin.get(op["correlation"], 0) for op in ops)
    table.equal("ops before their launch", early, 0, note="of %d" % len(ops))
    waits = [int(c["start_ns"]) + int(c["duration_ns"]) for c in calls if c["id"] in WAITS]
    if not waits:
        table.say("ops after the last wait", "skipped", note="the program never waits for the device")
        return
    late = sum(int(op["start_ns"]) + int(op["duration_ns"]) > max(waits) for op in ops)
    table.equal("ops after the last wait", late, 0, note="of %d" % len(ops))


def check_requests(report):
    """Checks that every op is in a request that the pipeline annotates."""
    counts = report["counts"]
    names = {request["name"] for request in report["requests"] if request["source"] == "annotation"}
    inside = sum(r["ops"] for r in report["ranges"] if r["name"] in names and r["domain"] in DOMAINS)
    table.equal("ops in a request", inside, counts["kernels"] + counts["memcpy"] + counts["memset"])


def check_annotations(report, ranges, blocks, steps, with_gpu):
    names = [row["name"] for row in ranges]
    for word, wanted in (("block", blocks), ("step", steps)):
        if wanted:
            found = sum(name == word or name.startswith(word + " ") for name in names)
            table.equal(word + " ranges", found, wanted)
    if with_gpu and blocks:
        found = sum((request["blocks"] or {}).get("count", 0) for request in report["requests"])
        table.equal("blocks in the report", found, blocks)


def in_short(lines):
    """Combines rows of checks into one, with the failed ones if there are any."""
    fields = [line.split("\t") for line in lines]
    sound = sum(row[1] == "ok" for row in fields)
    values = ", ".join("%s %s %s" % (row[0], row[2], row[3]) for row in fields
                       if row[0] in ("kernels", "size"))
    dropped = ", ".join(row[5] for row in fields if row[0] == "dropped")
    table.equal("checks that hold", sound, sum(row[1] != "skipped" for row in fields), "",
                "%s; %s" % (values, dropped))
    for row in fields:
        if row[1] != "ok":
            table.say(*row)


def check(o, report):
    check_books(report)
    ranges = rows(o.analyze, o.capture, "range")
    check_annotations(report, ranges, o.blocks, o.steps, not o.ranges_only)
    if not o.ranges_only:
        check_verdict(report)
        kernels = rows(o.analyze, o.capture, "kernel")
        check_times(kernels + rows(o.analyze, o.capture, "copy"), rows(o.analyze, o.capture, "call"))
        table.say("kernels", "ok" if kernels else "failed", len(kernels), "", "> 0")
        if not o.injected:
            check_requests(report)
    table.within("size", os.path.getsize(o.capture) / MIB, 1.0, "MiB")


def main(words):
    p = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("capture")
    p.add_argument("--analyze", required=True)
    p.add_argument("--report", required=True)
    p.add_argument("--blocks", type=int, default=0)
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--ranges-only", action="store_true")
    p.add_argument("--injected", action="store_true", help="the capture includes the warm-up")
    o = p.parse_args(words)
    with open(o.report, encoding="utf-8") as file:
        report = json.load(file)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        check(o, report)
    in_short(out.getvalue().splitlines())


if __name__ == "__main__":
    main(sys.argv[1:])
