#!/usr/bin/env python3
"""Measures what marks cost a program of diffusers: its imports, and a request of 20 steps.

    marks.py BUILD [--rounds 7] [--pairs 25]

The program imports torch and pipelines of diffusers, then makes videos with a Wan pipeline of tiny random weights on the CPU: 20 steps
with guidance, 40 passes of the transformer. Times are those of the program's thread on a processor, which a busy machine changes less
than the clock.

Imports: in each round every way runs the program once, in an order that rotates from round to round: bare, recorded without marks, and
recorded with the marks of all presets. Requests: one recorded process makes them in pairs, without and with these marks, in an order that
changes from pair to pair, each after one that is not counted. A figure is the median of the ratios within the rounds or
pairs, with the middle half and the extremes. `same` is a way against itself, in the next round
or pair: what cannot be told from it is noise.

BUILD is a build of vptrace with the simulated CUDA (VPT_TESTS=ON): recording begins with the first call of CUDA, so the program makes one
before the requests. No GPU is used, and no weights are loaded. Needs PyTorch and diffusers, beside the Python that runs this.
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

STEPS = 20
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program(cuda_path, pairs):
    """Prints the processor time of the imports, and of each request, without marks and with them."""
    began = time.thread_time()
    import diffusers
    import torch

    parts = diffusers.WanPipeline, diffusers.AutoencoderKLWan, diffusers.UniPCMultistepScheduler, diffusers.WanTransformer3DModel
    found = {"imports": time.thread_time() - began, "plain": [], "marked": []}
    cuda, memory = ctypes.CDLL(cuda_path), ctypes.c_void_p()
    assert not cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(64))
    if pairs:
        pipe, texts = make_pipeline(*parts), torch.ones(1, 8, 32)
        for i in range(-1, pairs):  # the first is a warm-up
            for way in ("plain", "marked") if i % 2 else ("marked", "plain"):
                took = request(pipe, texts, way == "marked")
                if i >= 0:
                    found[way].append(took)
    print(json.dumps(found))


def request(pipe, texts, marked):
    sys.path.append(os.path.join(ROOT, "tracer", "python"))
    import vptrace

    def run_once():
        began = time.thread_time()
        pipe(prompt_embeds=texts, negative_prompt_embeds=texts, height=16, width=16, num_frames=9, num_inference_steps=STEPS,
             guidance_scale=5.0, output_type="pt")
        return time.thread_time() - began

    if marked:
        vptrace.mark_calls("auto")
    run_once()  # which reads the pipeline's code
    took = run_once()
    vptrace.unmark_calls()
    return took


def make_pipeline(pipeline, vae, scheduler, transformer):
    import torch

    torch.set_num_threads(1)
    model = transformer(patch_size=(1, 2, 2), num_attention_heads=2, attention_head_dim=12, in_channels=16, out_channels=16, text_dim=32,
                        freq_dim=256, ffn_dim=32, num_layers=2, cross_attn_norm=True, qk_norm="rms_norm_across_heads", rope_max_seq_len=32)
    pipe = pipeline(tokenizer=None, text_encoder=None, transformer=model.eval(),
                    vae=vae(base_dim=3, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True]).eval(),
                    scheduler=scheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0))
    pipe.set_progress_bar_config(disable=True)
    return pipe


# ---- the ways ----


def ways_of(build, folder):
    """Name: the words before the program's."""
    run = [os.path.join(build, "vptrace"), "run", "--overwrite", "-o", os.path.join(folder, "capture.zst")]
    return {"bare": [], "recorded": run + ["--mark", "none", "--"], "marked": run + ["--mark", "auto", "--"]}


def run(words, build, pairs=0):
    standin = os.path.join(build, "standin")
    environment = dict(os.environ, VPTRACE_LIBCUPTI=os.path.join(standin, "libcupti.so.13"), VPT_STANDIN_TIME="real",
                       VPTRACE_LIBRARY=os.path.join(build, "libvptrace.so"), HF_HUB_OFFLINE="1", DIFFUSERS_VERBOSITY="error")
    command = words + [sys.executable, "-W", "ignore", os.path.abspath(__file__), build, "--program", "--pairs", str(pairs)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit("%s: exit status %d: %s" % (" ".join(words[:3]), done.returncode, done.stderr.decode()))
    return json.loads(lines[-1])


def say(name, ones, others):
    ratios = sorted(one / other for one, other in zip(ones, others))
    more = statistics.median(one - other for one, other in zip(ones, others))
    quarter = len(ratios) // 4
    print("  %-18s x %.3f (%.3f to %.3f, all %.3f to %.3f), %+.1f ms" % (
        name, statistics.median(ratios), ratios[quarter], ratios[-1 - quarter], ratios[0], ratios[-1], more * 1e3))


def compare(build, rounds, pairs):
    with tempfile.TemporaryDirectory() as folder:
        ways = ways_of(build, folder)
        names, found = list(ways), {name: [] for name in ways}
        run(ways["bare"], build)  # what the disk has to give
        for i in range(rounds):
            first = i % len(names)
            for name in names[first:] + names[:first]:
                found[name].append(run(ways[name], build)["imports"])
        requests = run(ways["recorded"], build, pairs)
    bare, recorded, marked = (found[name] for name in names)
    print("imports: %.3f s bare, %d rounds" % (statistics.median(bare), rounds))
    say("same", bare[1:], bare)
    say("recorded / bare", recorded, bare)
    say("marked / recorded", marked, recorded)
    print("a request of %d steps: %.3f s without marks, %d pairs" % (STEPS, statistics.median(requests["plain"]), pairs))
    say("same", requests["plain"][1:], requests["plain"])
    say("marked / plain", requests["marked"], requests["plain"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=7, help="at least 2")
    parser.add_argument("--pairs", type=int, default=25, help="at least 2")
    parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if options.program:
        program(os.path.join(build, "standin", "libcudart.so.13"), options.pairs)
    else:
        compare(build, max(options.rounds, 2), max(options.pairs, 2))


main()
