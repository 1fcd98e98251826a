#!/usr/bin/env python3
"""said_real.py - what a program says of itself, on the real torch, on the CPU: networks, operations, memory, compilations, and
annotations in compiled code.

    said_real.py       in a folder for its captures; VPTRACE_LIBRARY and VPTRACE_TABLES name the libraries

Each figure is compared with torch's own, or with what follows from the code. No GPU is needed or used.
"""
import json
import warnings

import torch
import vptrace
from torch.utils.flop_counter import FlopCounterMode

WIDTH = 16


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.register_buffer("positions", torch.zeros(10, dtype=torch.int64))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.out(torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2))


def same(what, found, expected):
    assert found == expected, "%s: expected %r, found %r" % (what, expected, found)
    print("ok: %s: %s" % (what, str(found)[:100]))


def captured(name, run):
    """The capture of run()."""
    with vptrace.trace(name, profile="none", overwrite=True):
        run()
    return vptrace.load(name, tables=None)


def ranges_of(trace):
    """Their names and operations, in their order."""
    rows = sorted(trace["range"], key=lambda row: row["start_ns"])
    return [(row["name"], json.loads(row["value"]).get("flop") if row["payload"] == "json" else None) for row in rows]


def networks():
    module = Attention()
    count = sum(parameter.numel() for parameter in module.parameters())
    half = Attention().to(torch.bfloat16)
    half.out.float()
    tied = torch.nn.ModuleList([torch.nn.Linear(4, 4, bias=False) for _ in range(2)])
    tied[1].weight = tied[0].weight
    narrow = torch.nn.Linear(4, 4)
    narrow.weight = torch.nn.Parameter(narrow.weight.detach().to(torch.float8_e4m3fn), requires_grad=False)
    row = vptrace.model(module, stage="denoise")
    same("a network", row, {"parameters": count, "bytes": 4 * count + 80, "dtypes": "float32:%d" % count, "stage": "denoise"})
    same("of two types", vptrace.model(half)["dtypes"], "bfloat16:%d float32:%d" % (51 * WIDTH, 17 * WIDTH))
    same("with a weight that two layers share", vptrace.model(tied)["parameters"], 16)
    same("in 8 bits", vptrace.model(narrow), {"parameters": 20, "bytes": 32, "dtypes": "float8_e4m3fn:16 float32:4"})
    with torch.device("meta"):
        same("without memory", vptrace.model(Attention())["bytes"], 4 * count + 80)
    trace = captured("models.zst", lambda: vptrace.model(torch.compile(Attention(), backend="eager")))
    same("compiled, by its own class", {m["name"] for m in trace.report["models"]}, {"Attention", "ModuleList", "Linear"})


def operations():
    module, x = Attention(), torch.randn(2, 8, WIDTH)
    with FlopCounterMode(display=False) as counter:
        module(x)
    whole = counter.get_total_flops()

    @vptrace.range("attention", flop="count")
    def run(module, x):
        return module(x)

    def calls():
        with torch.inference_mode():
            for part in (x, x, x[:1], x[:1]):
                run(module, part)
        run(Attention(), x).sum().backward()
        with FlopCounterMode(display=False) as outer:  # of the program's own
            run(module, x[:, :4])
        assert 0 < outer.get_total_flops() < whole

    found = ranges_of(captured("operations.zst", calls))
    same("operations by torch's counter", found, [("attention", count) for count in (None, whole, None, whole // 2, None, None)])


def memory():
    def labels():
        for device in (None, "cuda:0", torch.device("cuda", 1)):
            vptrace.memory("label", device)
        vptrace.memory_peaks()
        with vptrace.stage("s"), vptrace.block(0):
            pass
        vptrace.memory_peaks(False)

    report = captured("memory.zst", labels).report
    same("memory without a GPU", {row["allocated_bytes"] for row in report["memory_labels"]}, {None})


@vptrace.stage("decorated")
def decorated(x):
    return x * 2


@vptrace.step(timestep=lambda x: x.sum())
def asked(x):
    return x - 1


@vptrace.block(0)
def in_blocks(x):
    with vptrace.range("inner", flop=5), vptrace.component("part", frames=x.shape[0]), vptrace.step(0, timestep=5.0):
        y = decorated(x) + asked(x)
    vptrace.mark("here")
    vptrace.counter("compiled", 1)
    vptrace.memory("compiled")
    vptrace.frames_ready(0, frames=3)
    return y


class Annotated(torch.nn.Module):
    @vptrace.stage("forward")
    def forward(self, x):
        return in_blocks(x).sin()


def compiled():
    x = torch.randn(3, 4)
    for what, function, expected, name in (("a function", in_blocks, 3 * x - 1, "block"),
                                           ("a module", Annotated(), (3 * x - 1).sin(), "forward")):
        torch._dynamo.reset()  # pylint: disable=protected-access
        torch._dynamo.utils.counters.clear()  # pylint: disable=protected-access
        whole = torch.compile(function, backend="eager", fullgraph=True)

        def run(whole=whole, expected=expected):
            for _ in range(2):
                assert torch.allclose(whole(x), expected)

        same("annotations in %s that is compiled: a range around it" % what, ranges_of(captured("compiled.zst", run)), [(name, None)] * 2)
        same("and one graph", torch._dynamo.utils.counters["stats"]["unique_graphs"], 1)  # pylint: disable=protected-access


def recompiled():
    vptrace.compilations()

    def function(x, flag):
        return x.sin() + 1 if flag else x.cos()

    run = torch.compile(function, backend="eager", dynamic=False)

    def calls():
        for index, (rows, flag) in enumerate(((2, True), (4, True), (4, False), (4, False))):
            with vptrace.block(0), vptrace.step(index):
                run(torch.ones(rows), flag)

    torch._dynamo.reset()  # pylint: disable=protected-access
    found = [(row["id"].rpartition("/")[2], row["step"], (row["function"] or "").partition(" ")[0], row["reason"])
             for row in captured("compilations.zst", calls).report["compilations"]]
    same("compilations, in their steps", [row[:3] for row in found], [("0", 0, ""), ("1", 1, "function"), ("2", 2, "function")])
    same("and why: a size", "size mismatch at index 0. expected 2, actual 4" in found[1][3], True)
    same("a flag", "flag == True" in found[2][3] and "stack trace" not in found[2][3], True)


def main():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vptrace.VptraceWarning)
        networks()
        operations()
        memory()
        compiled()
        recompiled()


if __name__ == "__main__":
    main()
