#!/usr/bin/env python3
"""marks_real.py - marks on the real diffusers and torch, on the CPU: tiny models with random weights.

    marks_real.py pipelines         ranges of Wan and FLUX pipelines; what is expected follows from their arguments
    marks_real.py compile           graph breaks and results of compiled models, for a run with marks and one without
    marks_real.py cost              what a marked call of a torch.nn.Module costs

The environment says what is marked, as in real use. No GPU is needed or used.
"""
import json
import os
import sys
import time

import marked
import torch
import vptrace
from diffusers import WanPipeline
from marks_real_parts import flux_transformer, run_flux, wan_parts, wan_transformer


def wan(two):
    return WanPipeline(**wan_parts(), transformer_2=wan_transformer() if two else None, boundary_ratio=0.875 if two else None)


def run_wan(two, guidance, steps=3, compile=None):  # pylint: disable=redefined-builtin
    torch.manual_seed(0)
    pipe = wan(two)
    pipe.set_progress_bar_config(disable=True)
    if compile == "module":
        pipe.transformer = torch.compile(pipe.transformer, backend="eager")
    elif compile == "in place":
        pipe.transformer.compile(backend="eager")
    elif compile == "blocks":
        pipe.transformer.compile_repeated_blocks(backend="eager")
    texts = torch.randn(1, 8, 32)
    return pipe(prompt_embeds=texts, negative_prompt_embeds=texts, height=16, width=16, num_frames=9, num_inference_steps=steps,
                guidance_scale=guidance, output_type="pt", generator=torch.Generator().manual_seed(0)).frames


def wan_ranges(steps, passes):
    lines = ["request WanPipeline frames=9", "  stage text_encode"]
    for step in range(steps):
        lines += ["  step %d" % step] + ["    stage transformer"] * passes + ["    stage scheduler_step"]
    return lines + ["  stage vae_decode"]


def flux_ranges(steps):
    lines = ["request FluxPipeline", "  stage text_encode"]
    for step in range(steps):
        lines += ["  step %d" % step, "    stage transformer", "    stage scheduler_step"]
    return lines + ["  stage vae_decode"]


def same(what, found, expected):
    if found != expected:
        import difflib  # pylint: disable=import-outside-toplevel

        print("FAIL: %s\n%s" % (what, "\n".join(difflib.unified_diff(expected, found, "expected", "found", lineterm="", n=30))))
        sys.exit(1)
    print("ok: %s: %d ranges" % (what, len(found)))


def listener():
    """The library that the marks call, replaced by one that writes down what it is asked for."""
    library = marked.Library()
    vptrace.unmark_calls()
    vptrace._library.loaded = library  # pylint: disable=protected-access
    vptrace.mark_calls("diffusers")
    return library


def pipelines():
    library = listener()
    for what, run, expected in (
            ("Wan", lambda: run_wan(False, 1.0), wan_ranges(3, 1)),
            ("Wan with guidance", lambda: run_wan(False, 5.0), wan_ranges(3, 2)),
            ("Wan 2.2 with two transformers", lambda: run_wan(True, 5.0, steps=4), wan_ranges(4, 2)),
            ("Wan, transformer compiled", lambda: run_wan(False, 5.0, compile="module"), wan_ranges(3, 2)),
            ("Wan, transformer compiled in place", lambda: run_wan(False, 5.0, compile="in place"), wan_ranges(3, 2)),
            ("Wan, its blocks compiled", lambda: run_wan(False, 5.0, compile="blocks"), wan_ranges(3, 2)),
            ("FLUX", run_flux, flux_ranges(2)),
    ):
        torch._dynamo.reset()  # pylint: disable=protected-access
        library.lines.clear()
        run()
        same(what, library.lines, expected)
    assert library.depth == 0


def inputs():
    torch.manual_seed(0)
    return {
        "wan": (wan_transformer(), {"hidden_states": torch.randn(1, 16, 3, 4, 4), "timestep": torch.tensor([500]),
                                    "encoder_hidden_states": torch.randn(1, 8, 32)}),
        "flux": (flux_transformer(), {"hidden_states": torch.randn(1, 16, 4), "timestep": torch.tensor([0.5]),
                                      "encoder_hidden_states": torch.randn(1, 8, 32), "pooled_projections": torch.randn(1, 32),
                                      "img_ids": torch.zeros(16, 3), "txt_ids": torch.zeros(8, 3)}),
    }


def scaled(x):
    """Of the script: marks_real.sh marks it as `__main__:scaled`."""
    return 2 * x


def compiled():
    """Prints facts, as JSON, that must be the same with and without marks."""
    dynamo, facts = torch._dynamo, {}  # pylint: disable=protected-access
    for name, (model, named) in inputs().items():
        class Outer(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, **named):
                return self.inner(**named, return_dict=False)[0] * 2

        for what, callable_ in (("alone", model), ("in another", Outer(model)),
                                ("in a function", lambda model=model, **named: model(**named, return_dict=False)[0] + 1)):
            dynamo.reset()
            explained = dynamo.explain(callable_)(**named)
            facts["%s %s" % (name, what)] = {"graphs": explained.graph_count, "breaks": explained.graph_break_count,
                                             "ops": explained.op_count}
        for what, callable_ in ((" whole", Outer(model)), (" whole, alone", model)):
            dynamo.reset()
            whole = torch.compile(callable_, backend="eager", fullgraph=True)
            with torch.no_grad():
                result = whole(**named)
                result = result if isinstance(result, torch.Tensor) else result[0]
                facts[name + what] = "%.5f" % result.double().sum().item()
                dynamo.utils.counters.clear()
                whole(**named)
                facts[name + what + ", compiled again"] = dynamo.utils.counters["stats"].get("unique_graphs", 0)
    dynamo.reset()
    explained = dynamo.explain(lambda x: scaled(x) + 1)(torch.ones(3))
    whole = torch.compile(lambda x: scaled(x) + 1, backend="eager", fullgraph=True)
    facts["of the script"] = [explained.graph_count, explained.graph_break_count, explained.op_count, whole(torch.ones(3)).tolist()]
    alone = torch.compile(scaled, backend="eager")
    dynamo.utils.counters.clear()
    facts["of the script, alone"] = [alone(torch.ones(3)).tolist(), dynamo.utils.counters["stats"].get("unique_graphs", 0)]
    assert hasattr(scaled, "__vptrace_marks__") == os.environ["VPTRACE_MARK"].endswith(".marks"), "scaled is not marked as it should be"
    print(json.dumps(facts, indent=1, sort_keys=True))


def cost():
    """A module's call with and without its mark, and a request of 20 steps, the best of many."""
    class Nothing(torch.nn.Module):
        def forward(self, x):
            return x

    module, x = Nothing(), torch.zeros(1)
    sys.modules["nothing"] = type(sys)("nothing")
    sys.modules["nothing"].Nothing = Nothing

    def best():
        least = 1e9
        for _ in range(500):
            begin = time.perf_counter_ns()
            for _ in range(200):
                module(x)
            least = min(least, (time.perf_counter_ns() - begin) / 200)
        return least

    plain = best()
    vptrace.start("cost.zst", profile="none", overwrite=True)
    vptrace.mark_calls("nothing:Nothing.forward = stage nothing")
    marked_ns = best()
    print("a marked module's call: %.0f ns more than %.0f ns, while recording" % (marked_ns - plain, plain))

    def request():
        for chunk in range(1):
            for timestep in range(20):
                module(chunk + timestep)

    def requests():
        least = 1e9
        for _ in range(200):
            begin = time.perf_counter_ns()
            request()
            least = min(least, time.perf_counter_ns() - begin)
        return least

    vptrace.unmark_calls()
    plain = requests()
    vptrace.mark_calls("nothing:Nothing.forward = pass")
    begin = time.perf_counter_ns()
    request()
    first, passes_ns = time.perf_counter_ns() - begin, requests()
    print("20 passes of a module in loops: %.1f us more than %.1f us, while recording; %.1f ms the first time" % (
        (passes_ns - plain) / 1000, plain / 1000, first / 1e6))
    vptrace.stop()


if __name__ == "__main__":
    {"pipelines": pipelines, "compile": compiled, "cost": cost}[sys.argv[1]]()
