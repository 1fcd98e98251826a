#!/usr/bin/env python3
"""Measures what the Python stacks of a PyTorch program cost, by vptrace, py-spy and torch.profiler.

    stacks.py BUILD [--rounds 5] [--steps 2500]

The program runs small operators on the CPU, in modules, and takes some seconds. In each round every way runs it once, in an
order that rotates from round to round. The cost of a way is the median over the rounds of the time of its steps divided by
that of the bare program in the same round, with the least and the most; and the same of the processor time of the program's
thread, which a busy machine changes less. Start, end and export are not part of it.

BUILD is a build of vptrace with the simulated CUDA (VPT_TESTS=ON): vptrace samples only threads that call CUDA, so every
step sets 64 bytes of simulated memory, in all ways. No GPU is used. Needs PyTorch and py-spy, beside the Python that runs this.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HZ = 200  # vptrace's default; py-spy's is 100


# ---- the program ----


def make_model():
    import torch

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(16)
            self.linear = torch.nn.Linear(16, 16)

        def forward(self, x):
            return x + torch.relu(self.linear(self.norm(x)))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList(Block() for _ in range(8))

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    torch.set_num_threads(1)
    return Model(), torch.zeros(4, 16)


def take_steps(model, x, cuda, count):
    memory = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(64))
    for _ in range(count):
        model(x)
        cuda.cudaMemsetAsync(memory, 0, ctypes.c_size_t(64), None)
    cuda.cudaDeviceSynchronize()


def program(cuda_path, steps, profile):
    """Prints the seconds that the steps took, those of processor time among them, and those to end the profile."""
    import torch

    cuda = ctypes.CDLL(cuda_path)
    model, x = make_model()
    with torch.inference_mode():
        take_steps(model, x, cuda, 100)
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True)
        if profile:
            profiler.start()
        began, own = time.perf_counter(), time.thread_time()
        take_steps(model, x, cuda, steps)
        took, own = time.perf_counter() - began, time.thread_time() - own
    began = time.perf_counter()
    if profile:
        profiler.stop()
        profiler.export_chrome_trace(profile)
    print(json.dumps({"seconds": took, "own": own, "end": time.perf_counter() - began}))


# ---- the ways ----


def ways_of(build, folder):
    """Name: the words before the program's, its option, and the file that is written."""
    vptrace, capture, plain = os.path.join(build, "vptrace"), os.path.join(folder, "stacks.zst"), os.path.join(folder, "plain.zst")
    spy = os.path.join(os.path.dirname(sys.executable), "py-spy")
    spied, profile = os.path.join(folder, "spied.txt"), os.path.join(folder, "profile.json")
    return {
        "bare": ([], "", None),
        "vptrace without stacks": ([vptrace, "run", "--stacks", "off", "-o", plain, "--"], "", plain),
        "vptrace": ([vptrace, "run", "--stacks", str(HZ), "-o", capture, "--"], "", capture),
        "py-spy": ([spy, "record", "-r", str(HZ), "-f", "raw", "-o", spied, "--"], "", spied),
        "torch.profiler(with_stack=True)": ([], profile, profile),
    }


def run(way, build, steps):
    words, profile, path = way
    if path and os.path.exists(path):
        os.unlink(path)
    command = words + [sys.executable, "-W", "ignore", os.path.abspath(__file__), build, "--steps", str(steps), "--program"]
    standin = os.path.join(build, "standin")
    environment = dict(os.environ, VPTRACE_LIBCUPTI=os.path.join(standin, "libcupti.so.13"), VPT_STANDIN_TIME="real")
    done = subprocess.run(command + ["--profile", profile], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit("%s: exit status %d: %s" % (" ".join(command[:3]), done.returncode, done.stderr.decode()))
    return dict(json.loads(lines[-1]), bytes=os.path.getsize(path) if path else 0)


def compare(build, rounds, steps):
    with tempfile.TemporaryDirectory() as folder:
        ways = ways_of(build, folder)
        names, found = list(ways), {name: [] for name in ways}
        for i in range(rounds):
            first = i % len(names)
            for name in names[first:] + names[:first]:
                found[name].append(run(ways[name], build, steps))
    bare = [f["seconds"] for f in found["bare"]]
    print("%d steps take %.2f s (%.2f to %.2f); %d rounds" % (steps, statistics.median(bare), min(bare), max(bare), rounds))
    for name in names[1:]:
        costs, own = (sorted(f[key] / b[key] for f, b in zip(found[name], found["bare"])) for key in ("seconds", "own"))
        print("%-33s time x %.3f (%.3f to %.3f), processor time x %.3f (%.3f to %.3f), %.1f s to end, %.2f MB" % (
            name, statistics.median(costs), costs[0], costs[-1], statistics.median(own), own[0], own[-1],
            statistics.median(f["end"] for f in found[name]), found[name][-1]["bytes"] / 1e6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--profile", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program:
        program(os.path.join(options.build, "standin", "libcudart.so.13"), options.steps, options.profile)
    else:
        compare(os.path.abspath(options.build), options.rounds, options.steps)


main()
