#!/usr/bin/env python3
"""Checks whether a fix saves the time that the report gives.

    blame.py --blamed WITH.json WITHOUT.json --times WITH... -- WITHOUT... --findings ID+...

Arguments: two reports (of the program with the fault, and without), the times of untraced runs of both
programs (files of self_forcing.py --events, or reports, which have them too), and the findings that represent
the fault. The blamed time is the sum of their gains in the first report minus that in the second. The findings
must therefore cover different times, as idle time and copying do.
"""

import json
import statistics
import sys

import table


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def gain_ms(report, ids):
    return sum(f["gain_at_most_ms"] or 0 for f in report["findings"] if f["id"] in ids)


def length_ms(document):
    """Times of all videos: from events, or from a report's requests."""
    if "verdict" in document:
        return sum(r["end_ns"] - r["start_ns"] for r in document["requests"]) / 1e6
    return sum(request["total_ms"] for request in document["requests"])


def compare(reports, ids, with_ms, without_ms):
    """Lists of lengths; the medians count."""
    blamed = gain_ms(reports[0], ids) - gain_ms(reports[1], ids)
    saved = statistics.median(with_ms) - statistics.median(without_ms)
    noise = max(max(times) - min(times) for times in (with_ms, without_ms))
    promised = max(blamed, 0) * 1.05 + noise
    table.say("blamed, at most", "measured", blamed, "ms", note=" + ".join(ids))
    table.say("really saved",
              "measured",
              saved,
              "ms",
              note="of %.1f ms; runs differ by %.1f ms" % (statistics.median(with_ms), noise))
    if saved > 0:
        table.say("blamed / saved", "measured", blamed / saved, "")
    table.say("not more is saved than promised", "ok" if saved <= promised else "failed", saved, "ms",
              "<= %.6g" % promised, "promise + 5 % + what runs differ by")
    table.say("the fault is found", "ok" if blamed > 0 else "failed", blamed, "ms", "> 0")


def read(words):
    """(reports, ids, files with, files without); None: misused."""
    try:
        blamed, times, findings = (words.index(name) for name in ("--blamed", "--times", "--findings"))
        middle = words.index("--", times)
    except ValueError:
        return None
    reports, ids = words[blamed + 1:times], words[findings + 1:]
    faulty, sound = words[times + 1:middle], words[middle + 1:findings]
    if len(reports) != 2 or len(ids) != 1 or not faulty or not sound:
        return None
    return reports, ids[0].split("+"), faulty, sound


def main(words):
    given = read(words)
    if not given:
        print(__doc__, file=sys.stderr)
        return 2
    reports, ids, faulty, sound = given
    compare([load(path) for path in reports], ids, [length_ms(load(path)) for path in faulty],
            [length_ms(load(path)) for path in sound])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
