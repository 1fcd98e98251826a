"""Compares the captures of host_schedules with what was launched in their windows.

schedules.py ANALYZER FOLDER [gives-up]   FOLDER/out is what the program printed, FOLDER/0.zst and so on are its captures

Each op launched in a window must be in the capture, or be one of those that the verdict says are missing; then the capture is
not complete. Any other op must be one that the GPU began in a window, and the verdict counts it as launched while recording
was paused. A device's busy and idle time are its window. The report has each step and request that the host ran inside,
whatever the GPU did when; each step but a window's last has a period, if one stream keeps them in order. Prints what differs,
then how many ops were launched in windows, how many of these are there, how many are named as missing, and how many others
there are."""
import collections
import json
import re
import subprocess
import sys


class Launched:  # pylint: disable=too-few-public-methods
    """What one capture's loop launched, by what tells ops apart."""

    def __init__(self, what):
        self.what, self.inside, self.outside = what, collections.Counter(), collections.Counter()
        self.windows, self.marked = 0, {"step": [], "request": []}

    def mark(self, is_inside, kind):
        if is_inside:
            self.marked[kind].append(self.windows)
        self.windows += not is_inside


def read_program(path):
    captures = []
    with open(path) as lines:
        for line in lines:
            number, rest = line.rstrip("\n").split(" ", 1)
            if rest.startswith("schedule "):
                captures.append(Launched(rest))
            else:
                is_inside, kind, value = rest.split(" ")
                launched = captures[int(number)]
                if kind in launched.marked:
                    launched.mark(is_inside == "1", kind)
                    continue
                (launched.inside if is_inside == "1" else launched.outside)[kind, int(value)] += 1
    return captures


def rows_of(analyzer, path, kind):
    text = subprocess.run([analyzer, "cat", "--kind", kind, path], check=False, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in text.splitlines()]


def ops_of(analyzer, path):
    """The capture's ops whose times are known, and those of them that began in a pause."""
    known, off = collections.Counter(), collections.Counter()
    pauses = [(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in rows_of(analyzer, path, "loss")
              if row["loss_kind"] == "paused"]
    for kind in ("kernel", "copy"):
        for row in rows_of(analyzer, path, kind):
            start, op = row["start_ns"], (kind, row["duration_ns"] if kind == "kernel" else row["bytes"])
            if start and row["duration_ns"] >= 0:
                known[op] += 1
                off[op] += any(opened <= start < closed for opened, closed in pauses)
    return known, off


def named_in(reasons):
    """The ops that the verdict says are missing."""
    return sum(int(number) for reason in reasons for number in re.findall(
        r"^(\d+) operations? (?:had|has) not ended|^(\d+) operations? .*unfinished|^(\d+) kernels? (?:is|are) missing", reason)
        for number in number if number)


def marked_differences(launched, report):
    steps, requests = launched.marked["step"], launched.marked["request"]
    found = [r["steps"] for r in report["requests"]]
    count, periods = (sum(s[key] for s in found) for key in ("count", "periods"))
    followed = sum(one == other for one, other in zip(steps, steps[1:]))
    if steps and count != len(steps):
        yield "%d steps, not %d" % (count, len(steps))
    if steps and launched.what.endswith(" 1") and periods != followed:
        yield "%d steps with %d periods, not %d" % (count, periods, followed)
    if requests and len(report["requests"]) != len(requests):
        yield "%d requests, not %d" % (len(report["requests"]), len(requests))


def differences(launched, known, off, report, may_lack):
    lacking, others = launched.inside - known, known - launched.inside
    verdict, missing = report["verdict"], sum(lacking.values())
    named = named_in(verdict["reasons"])
    if missing and not may_lack:
        yield "lacks %s" % list(lacking.elements())[:5]
    if missing != named:
        yield "lacks %d ops, and names %d: %s" % (missing, named, verdict["reasons"])
    if verdict["complete"] != (missing == 0):
        yield "complete: %s, lacks %d: %s" % (verdict["complete"], missing, verdict["reasons"])
    if others - launched.outside:
        yield "has ops that nobody launched: %s" % list((others - launched.outside).elements())[:5]
    if others & off:
        yield "has ops of pauses: %s" % list((others & off).elements())[:5]
    if not may_lack and (sum(others.values()) != verdict["early_ops"] or
                         verdict["ops_without_launch"] != verdict["early_ops"]):
        yield "%d others, %d without launch, %d early" % (
            sum(others.values()), verdict["ops_without_launch"], verdict["early_ops"])
    if not may_lack:
        yield from marked_differences(launched, report)
    for device in report["devices"]:
        if device["busy_ns"] + device["window_idle_ns"] != device.get("window_ns"):
            yield "device %d: busy %d + idle %d is not its window %d" % (
                device["device"], device["busy_ns"], device["window_idle_ns"], device["window_ns"])


def main():
    analyzer, folder, may_lack = sys.argv[1], sys.argv[2], len(sys.argv) > 3
    sums = collections.Counter()
    for number, launched in enumerate(read_program(folder + "/out")):
        path = "%s/%d.zst" % (folder, number)
        known, off = ops_of(analyzer, path)
        text = subprocess.run([analyzer, "--format", "json", path], check=False, stdout=subprocess.PIPE).stdout
        report = json.loads(text)
        for difference in differences(launched, known, off, report, may_lack):
            print("capture %d, %s: %s" % (number, launched.what, difference))
        there = sum((launched.inside & known).values())
        sums += collections.Counter(inside=sum(launched.inside.values()), there=there, others=sum(known.values()) - there,
                                    named=named_in(report["verdict"]["reasons"]))
    print("launched %(inside)d there %(there)d named %(named)d others %(others)d" % sums)


main()
