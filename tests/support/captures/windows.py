"""Compares a capture of host_windows with the whole run's: it must have exactly the rows that begin inside its windows, and the work
of the GPU that was launched inside.

windows.py WHOLE PART BEGIN END [BEGIN END]...   times on the simulated clock; "-" as an END is the end of the run

WHOLE and PART are rows as `vptrace-analyze cat` prints them. A range that is open when a window opens begins with it. A range that
is open when the capture ends by itself ends there: not before the last window's end, not after its own. What lies between windows
must be reported as a pause. Prints what differs."""
import json
import sys

FOREVER = 1 << 64
EVENTS = {"kernel": "start_ns", "call": "start_ns", "mark": "time_ns", "sync": "start_ns", "range": "start_ns"}


def rows(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def begin_inside(start, end, windows):
    """Where the recorded part of [start, end] begins; None: nothing of it is recorded."""
    for opened, closed in windows:
        if opened <= start < closed:
            return start
        if start < opened < end:
            return opened
    return None


def key(row):
    """What identifies a row in both runs."""
    begin = row[EVENTS[row["kind"]]]
    name = row.get("name") or row.get("id") or row.get("sync_kind")
    return row["kind"], name, begin, begin + row.get("duration_ns", 0)


def with_own_end(row, wanted, closed):
    """The key of a row of PART; where the capture's end cut a range, that of the range it is part of."""
    kind, name, begin, end = key(row)
    if kind == "range" and row["unmatched"] and end >= closed:
        for other in wanted:
            if other[:3] == (kind, name, begin) and other[3] >= end:
                return other
    return kind, name, begin, end


def expected(whole, windows):
    launches = {row["correlation"]: row["start_ns"] for row in whole if row["kind"] == "call"}
    out = []
    for row in (r for r in whole if r["kind"] in EVENTS):
        kind, name, begin, end = key(row)
        inside = begin_inside(begin, end if kind == "range" else begin, windows)
        if inside is None and kind == "kernel":
            launch = launches[row["correlation"]]
            inside = begin if begin_inside(launch, launch, windows) else None
        if inside is not None:
            out.append((kind, name, inside, end))
    return sorted(out)


def main():
    whole, part = rows(sys.argv[1]), rows(sys.argv[2])
    times = [FOREVER if t == "-" else int(t) for t in sys.argv[3:]]
    windows = list(zip(times[::2], times[1::2]))
    wanted = expected(whole, windows)
    found = sorted(with_own_end(r, wanted, windows[-1][1]) for r in part if r["kind"] in EVENTS)
    for row in wanted:
        if row not in found:
            print("missing", row)
    for row in found:
        if row not in wanted:
            print("unwanted", row)
    if not wanted:
        print("nothing is expected: the windows are wrong")
    pauses = [(r["start_ns"], r["start_ns"] + r["duration_ns"]) for r in part if r["kind"] == "loss"]
    if any(r["loss_kind"] != "paused" for r in part if r["kind"] == "loss"):
        print("a loss that is no pause")
    for (_, closed), (opened, _) in zip(windows, windows[1:]):
        if (closed, opened) not in pauses:
            print("no pause from", closed, "to", opened, "among", pauses)
    ended = any(r["kind"] == "meta" and r["key"] == "capture.ended" for r in part)  # by itself: nothing follows
    if windows[-1][1] != FOREVER and not ended and windows[-1][1] not in [p[0] for p in pauses]:
        print("no pause from", windows[-1][1], "on, among", pauses)
    for opened, _ in pauses:
        if opened > windows[-1][0] and opened != windows[-1][1]:
            print("a pause from", opened, "after the last window's begin, among", pauses)
    if windows[0][0] not in [p[1] for p in pauses] and windows[0][0] > min(key(r)[2] for r in whole if r["kind"] in EVENTS):
        print("no pause until", windows[0][0], "among", pauses)


main()
