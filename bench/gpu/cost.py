#!/usr/bin/env python3
"""Measures the cost of recording for a PyTorch program: the same work untraced, traced and profiled in turns.

    cost.py loop --variants untraced,lite,default [--rounds 12] [--launches 3000]
    cost.py pipeline --variants untraced,default [-- OPTIONS OF self_forcing.py]

`loop` launches tiny kernels as fast as it can, so the host is the limit: the worst case for a tracer.
`pipeline` makes a video. In each round every variant runs once, in an order that rotates from round to round.
The cost of a variant is the median over the rounds of its time divided by the untraced time of that round.
Variants: untraced, none, lite, default, full, coarse, profiler (torch.profiler). After its end, torch.profiler
leaves features enabled that slow the others down, so compare it in a separate run.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "pipelines"))

import self_forcing  # pylint: disable=wrong-import-position
import table  # pylint: disable=wrong-import-position
import torch  # pylint: disable=wrong-import-position
import vptrace  # pylint: disable=wrong-import-position

VARIANTS = ("untraced", "none", "lite", "default", "full", "coarse", "profiler")


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


class Loop:
    """Tiny kernels, one after the other."""

    unit = "launch"

    def __init__(self, device, launches):
        self.device, self.amount = device, launches
        self.x = torch.zeros(16, device=device)

    @torch.inference_mode()
    def __call__(self):
        for begin in range(0, self.amount, 500):  # the device's queue takes 500 without a wait
            for _ in range(min(500, self.amount - begin)):
                self.x.add_(1)
            synchronize(self.device)


class Video:
    unit = "block"

    def __init__(self, options):
        self.device = options.device
        shape = self_forcing.shape_of(options)
        self.amount = shape.blocks
        self.pipeline = self_forcing.Pipeline(shape, options)
        self.attention = self_forcing.ATTENTION[options.attention]

    def __call__(self):
        with self_forcing.sdpa_kernel(self.attention):
            self.pipeline.generate("video")
        synchronize(self.device)


class Profiled:
    """torch.profiler as vptrace.trace: a context with a summary."""

    summary = None

    def __init__(self, device):
        activities = [torch.profiler.ProfilerActivity.CPU]
        if device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.profile = torch.profiler.profile(activities=activities)

    def __enter__(self):
        self.profile.__enter__()

    def __exit__(self, *error):
        return self.profile.__exit__(*error)


class Nothing:
    summary = None

    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def recorder(variant, device, folder):
    if variant == "untraced":
        return Nothing()
    if variant == "profiler":
        return Profiled(device)
    return vptrace.trace(os.path.join(folder, variant + ".zst"), profile=variant, overwrite=True)


class Turns:
    """Times of one variant."""
    def __init__(self):
        self.work_s, self.stop_ms, self.summary = [], [], None


def one_turn(variant, work, folder, turns):
    recording = recorder(variant, work.device, folder)
    recording.__enter__()
    begin = time.perf_counter()
    work()
    end = time.perf_counter()
    recording.__exit__(None, None, None)
    turns.work_s.append(end - begin)
    turns.stop_ms.append((time.perf_counter() - end) * 1000)
    turns.summary = recording.summary


def measure(variants, work, rounds):
    results = {variant: Turns() for variant in variants}
    with tempfile.TemporaryDirectory() as folder:
        for variant in variants:  # run each once, unmeasured: libraries load, memory is allocated
            one_turn(variant, work, folder, Turns())
        for number in range(rounds):
            shift = number % len(variants)
            for variant in variants[shift:] + variants[:shift]:
                one_turn(variant, work, folder, results[variant])
    return results


def quartiles(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 4], statistics.median(ordered), ordered[len(ordered) * 3 // 4]


def say(results, work):
    base = results["untraced"]
    low, middle, high = quartiles(base.work_s)
    table.say("untraced",
              "measured",
              1e6 * middle / work.amount,
              "us a " + work.unit,
              note="quartiles %.6g to %.6g" % (1e6 * low / work.amount, 1e6 * high / work.amount))
    for variant, turns in results.items():
        if variant == "untraced":
            continue
        ratios = [100 * (mine / theirs - 1) for mine, theirs in zip(turns.work_s, base.work_s)]
        low, middle, high = quartiles(ratios)
        added = statistics.median(m - t for m, t in zip(turns.work_s, base.work_s)) / work.amount
        table.say(variant + ": slower by",
                  "measured",
                  middle,
                  "%",
                  note="quartiles %.3g to %.3g of %d pairs" % (low, high, len(ratios)))
        table.say(variant + ": added", "measured", 1e9 * added, "ns a " + work.unit)
        table.say(variant + ": stop", "measured", statistics.median(turns.stop_ms), "ms")
        if turns.summary:
            stats = turns.summary.stats
            table.equal(variant + ": dropped", stats.dropped + stats.cupti_dropped, 0, "records",
                        "of %d received; %s" % (stats.received, turns.summary.reason or "no complaint"))


def main(words):
    p = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("work", choices=("loop", "pipeline"))
    p.add_argument("--variants", default="untraced,none,lite,default,full")
    p.add_argument("--rounds", type=int, default=12)
    p.add_argument("--launches", type=int, default=3000)
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    middle = words.index("--") if "--" in words else len(words)
    o = p.parse_args(words[:middle])
    variants = o.variants.split(",")
    if variants[0] != "untraced" or not set(variants) <= set(VARIANTS):
        p.error("--variants: expected untraced and then some of %s" % ", ".join(VARIANTS[1:]))
    if o.work == "loop":
        work = Loop(o.device, o.launches)
    else:
        work = Video(self_forcing.read_options(["--device", o.device] + words[middle + 1:]))
    say(measure(variants, work, o.rounds), work)


if __name__ == "__main__":
    main(sys.argv[1:])
