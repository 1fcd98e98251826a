#!/usr/bin/env python3
"""Shows how torch.profiler and vptrace behave in one process.

    coexist.py CASE CAPTURE --analyze PROGRAM [--device cpu]

CASE: profiler-during (it starts and stops while a capture runs), trace-during (the other way round),
after (vptrace after torch.profiler has ended), or twice (two captures, for comparison). Every case launches
the same number of kernels in each of three parts. It prints the behaviour that clients.py expects with this
PyTorch's Kineto, and the observed one: what vptrace recorded and reported, and what the profile contains.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tracer", "python"))

import vptrace  # pylint: disable=wrong-import-position

import clients  # pylint: disable=wrong-import-position
import table  # pylint: disable=wrong-import-position
import torch  # pylint: disable=wrong-import-position

LAUNCHES = 1000


def launch(device):
    x = torch.zeros(16, device=device)
    for _ in range(LAUNCHES):
        x.add_(1)
    if device == "cuda":
        torch.cuda.synchronize()


def profiler(device):
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=kinds)


def kernels_of(profile):
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profile.events())


# ---- the cases: each returns captures as (name, summary, how many kernels were launched), and the profile as
# (profile, launched) or None ----


def during(device, path):
    with vptrace.trace(path, overwrite=True) as capture:
        launch(device)
        with profiler(device) as profile:
            launch(device)
        launch(device)
    return [("capture around a profile", capture.summary, 3 * LAUNCHES)], (profile, LAUNCHES)


def inside(device, path):
    with profiler(device) as profile:
        launch(device)
        with vptrace.trace(path, overwrite=True) as capture:
            launch(device)
        launch(device)
    return [("capture inside of a profile", capture.summary, LAUNCHES)], (profile, 3 * LAUNCHES)


def after(device, path):
    with profiler(device) as profile:
        launch(device)
    launch(device)
    with vptrace.trace(path, overwrite=True) as capture:
        launch(device)
    return [("capture after a profile", capture.summary, LAUNCHES)], (profile, LAUNCHES)


def twice(device, path):
    captures = []
    for number in ("first", "second"):
        with vptrace.trace(path.replace(".zst", "-%s.zst" % number), overwrite=True) as capture:
            launch(device)
        captures.append((number + " capture", capture.summary, LAUNCHES))
    return captures, None


CASES = {"profiler-during": during, "trace-during": inside, "after": after, "twice": twice}

# ---- observations ----


def report_of(analyze, path):
    """The report of a capture; an empty one if there is no capture."""
    text = ""
    if path and os.path.exists(path):
        text = subprocess.run([analyze, path, "--format", "json", "--no-progress"],
                              check=False,
                              stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    return json.loads(text) if text else {"verdict": {"complete": False}, "counts": {"kernels": 0}}


def look(analyze, name, summary, launched):
    """Prints the content of a capture, and returns its result."""
    report = report_of(analyze, summary.path)
    kernels, is_complete = report["counts"]["kernels"], report["verdict"]["complete"]
    table.say(name + ": " + summary.code.name, "measured", kernels, "kernels",
              note="%d were launched; %s; %s" % (launched, "complete" if is_complete else "not complete",
                                                 summary.reason or "no complaint"))
    return clients.outcome(kernels, launched, is_complete)


def judge(case, kineto, found, profile):
    table.say("Kineto " + kineto, "measured", torch.__version__, note="expected: " +
              clients.expected_in_words(case, kineto))
    is_profile_whole = True
    if profile:
        kernels = kernels_of(profile[0])
        is_profile_whole = kernels >= profile[1]
        table.say("the profile", "measured", kernels, "kernels", note="%d were launched" % profile[1])
    for outcome in found:
        is_expected = clients.is_expected(case, kineto, outcome, is_profile_whole)
        table.say("as expected", "ok" if is_expected else "failed", outcome,
                  note="seen: %s%s" %
                  (clients.IN_WORDS[outcome], "" if is_profile_whole else "; the profile lacks some"))


def main(words):
    p = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("case", choices=CASES)
    p.add_argument("capture")
    p.add_argument("--analyze", required=True)
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    o = p.parse_args(words)
    launch(o.device)
    captures, profile = CASES[o.case](o.device, o.capture)
    found = [look(o.analyze, *capture) for capture in captures]
    if o.device == "cpu":
        table.say("as expected", "skipped", note="a CPU has no kernels")
        return
    judge(o.case, clients.kineto_of(clients.library_of(torch)), found, profile)


if __name__ == "__main__":
    main(sys.argv[1:])
