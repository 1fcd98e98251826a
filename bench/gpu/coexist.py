#!/usr/bin/env python3
"""What happens when torch.profiler and vptrace are in one process.

    coexist.py CASE CAPTURE [--device cpu]

CASE: profiler-during (it starts and stops while a capture runs), trace-during (the other way round),
after (vptrace after torch.profiler has ended), or twice (two captures, for comparison). Every case launches
the same number of kernels in each of three parts, and says what vptrace recorded of them and what it said.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tracer", "python"))

import vptrace  # pylint: disable=wrong-import-position

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


def say(name, capture):
    summary = capture.summary
    table.say(name + ": code", "measured", summary.code.name, note=summary.reason)
    table.say(name + ": received",
              "measured",
              summary.stats.received,
              "records",
              note="dropped %d, by CUPTI %d; buffers kept %d" %
              (summary.stats.dropped, summary.stats.cupti_dropped, summary.stats.buffers_kept))


def during(device, path):
    with vptrace.trace(path, overwrite=True) as capture:
        launch(device)
        with profiler(device) as profile:
            launch(device)
        launch(device)
    say("capture around a profile", capture)
    table.say("the profile in it: kernels",
              "measured",
              kernels_of(profile),
              note="%d were launched" % LAUNCHES)


def inside(device, path):
    with profiler(device) as profile:
        launch(device)
        with vptrace.trace(path, overwrite=True) as capture:
            launch(device)
        launch(device)
    say("capture inside of a profile", capture)
    table.say("the profile around it: kernels",
              "measured",
              kernels_of(profile),
              note="%d were launched" % (3 * LAUNCHES))


def after(device, path):
    with profiler(device):
        launch(device)
    launch(device)
    with vptrace.trace(path, overwrite=True) as capture:
        launch(device)
    say("capture after a profile", capture)


def twice(device, path):
    for number in ("first", "second"):
        with vptrace.trace(path, overwrite=True) as capture:
            launch(device)
        say("%s capture" % number, capture)


CASES = {"profiler-during": during, "trace-during": inside, "after": after, "twice": twice}


def main(words):
    if len(words) not in (2, 4) or words[0] not in CASES or words[2:3] not in ([], ["--device"]):
        print(__doc__, file=sys.stderr)
        return 2
    device = words[3] if words[2:] else "cuda"
    launch(device)
    CASES[words[0]](device, words[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
