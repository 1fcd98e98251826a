#!/usr/bin/env python3
"""Compares the FPS and BPS of a report with CUDA events that the pipeline recorded in the same run.

    compare_events.py REPORT.json EVENTS.json

REPORT.json is the output of `vptrace-analyze --format json`, EVENTS.json that of self_forcing.py --events.
Blocks of the events are counted as in the report: without warm-up, from the end of the last warm-up block to
the end of the last block.
"""

import json
import sys

import table

LIMIT_PERCENT = 0.5


def rates(blocks, warmup):
    """FPS and BPS of a request from events; None with too few blocks."""
    if not 0 < warmup < len(blocks):
        return None
    span_s = (blocks[-1]["end_ms"] - blocks[warmup - 1]["end_ms"]) / 1000
    measured = blocks[warmup:]
    return sum(block["frames"] for block in measured) / span_s, len(measured) / span_s


def off_percent(found, expected):
    return 100 * abs(found - expected) / expected


def compare_request(number, reported, measured):
    name = "video %d: " % number
    blocks = reported.get("blocks") or {}
    table.equal(name + "blocks", blocks.get("count", 0), len(measured["blocks"]))
    expected = rates(measured["blocks"], blocks.get("warmup", 0))
    for i, key in enumerate(("fps", "bps")):
        found = blocks.get(key)
        if expected is None or found is None:
            table.say(name + key,
                      "skipped",
                      note="not in the report: blocks are decoded at the end, or are too few")
            continue
        table.within(name + key + " differs", off_percent(found, expected[i]), LIMIT_PERCENT, "%",
                     "report %.4f, events %.4f" % (found, expected[i]))
    found = reported.get("fps_end_to_end")
    if found:
        table.within(name + "fps end to end differs", off_percent(found, measured["fps_end_to_end"]),
                     LIMIT_PERCENT, "%", "report %.4f, events %.4f" % (found, measured["fps_end_to_end"]))


def compare(report, events):
    """The report may have earlier requests: the warm-up of an injected capture."""
    requests, videos = report.get("requests", []), events["requests"]
    by_name = {request.get("name"): request for request in requests}
    for number, video in enumerate(videos):
        request = by_name.get(video["name"])
        if request is None:
            table.say("video %d" % number, "failed", note="the report has no request of this name")
        else:
            compare_request(number, request, video)


def main(words):
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    report, events = (json.load(open(path, encoding="utf-8")) for path in words)
    compare(report, events)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
