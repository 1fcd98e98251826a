#!/usr/bin/env python3
"""marks_passes.py - what the passes of a denoiser make: steps, blocks and context passes, of loops in the styles that are in use.

Each program is text that becomes a module; one line marks its denoiser, as `pass`. What it makes is written in short: `2` is a step
of two passes, `c` a context pass, `b[...]` a block, `r[...]` a request, a word a stage; `?step` and `?block` at the end say that what
was taken for one is a guess, which the report says. Torch is not needed: a tensor is an object
that fails where it is read.
"""
import importlib
import os
import shutil
import sys
import tempfile
import textwrap

import marked
import marks_loops
import vptrace
import vptrace_marks

HEAD = """
class Tensor:
    "One that must not be read."
    shape = (1, 16, 3, 2, 2)
    def refuse(self, *_):
        raise AssertionError("a tensor was read")
    __index__ = __int__ = __float__ = __bool__ = __eq__ = __getitem__ = __len__ = __iter__ = refuse
    __hash__ = object.__hash__
    def __add__(self, other): return Tensor()
class Schedule(list):
    def __init__(self, n): super().__init__(Tensor() for _ in range(n))
class Model:
    def __call__(self, x, t=None, text=None, **named): return Tensor()
class VAE:
    def decode(self, z): pass
class Base: pass
class Scheduler:
    def step(self, v, x): return Tensor()
model, vae, scheduler, other_scheduler = Model(), VAE(), Scheduler(), Scheduler()
new, text, empty = Tensor, Tensor(), Tensor()
"""

MARKS = """
M:Model.__call__ = pass
M:Model.__call__ = stage transformer
M:VAE.decode = stage vae_decode closes=block,step
M:Scheduler.step = stage scheduler_step
M:Scheduler.step = step end
M:Base+.__call__ = request
"""

# what it is, the program, what it makes
CASES = (
    ("a loop by hand, without a request", """
    x, ts = new(), Schedule(5)
    for a, b in zip(ts, ts[1:]):
        x = x + model(x, a, text)
    vae.decode(x)
    """, "1 1 1 1 vae_decode"),
    ("guidance, with one scheduler call a step", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for i, t in enumerate(Schedule(3)):
                v = model(x, t, text)
                w = model(x, t, empty)
                x = scheduler.step(v, x)
            vae.decode(x)
    Pipe()()
    """, "r[2s 2s 2s vae_decode]"),
    ("guidance as a comprehension, latents made anew for each", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for i, t in enumerate(Schedule(3)):
                v = [model(x + 0, t, c) for c in (text, empty)]
                x = x + v[0]
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("guidance in a function of its own, and a while loop", """
    class Pipe(Base):
        def predict(self, x, t):
            return model(x, t, text) + model(x, t, empty)
        def __call__(self):
            x, t = new(), 1.0
            while t > 0:
                x = x + self.predict(x, new())
                t -= 0.25
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 2 vae_decode]"),
    ("two schedulers: the second call belongs to the step", """
    class Pipe(Base):
        def __call__(self):
            x, a = new(), new()
            for t in Schedule(2):
                v = model(x, t)
                x = scheduler.step(v, x)
                a = other_scheduler.step(v, a)
            vae.decode(x)
    Pipe()()
    """, "r[1ss 1ss vae_decode]"),
    ("a scheduler for each frame", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for t in Schedule(2):
                v = model(x, t)
                for idx in range(3):
                    scheduler.step(v, x)
            vae.decode(x)
    Pipe()()
    """, "r[1sss 1sss vae_decode]"),
    ("chunks with a cache, tensors for timesteps: the result of a context pass is dropped", """
    class Pipe(Base):
        def __call__(self, n):
            current_start = 0
            for current_num_frames in [3] * n:
                x = new()
                for index, timestep in enumerate(Schedule(4)):
                    x = model(x, timestep + 0, text, kv_cache=[{}], current_start=current_start * 1560)
                model(x, new(), text, kv_cache=[{}], current_start=current_start * 1560)
                current_start += current_num_frames
            vae.decode(x)
    Pipe()(3)
    """, "r[b[1 1 1 1 c] b[1 1 1 1 c] b[1 1 1 1 c] vae_decode]"),
    ("the same in functions, with a cache that the model keeps", """
    class Pipe(Base):
        def denoise(self, x):
            for t in Schedule(2):
                x = model(x, t, text)
            return x
        def remember(self, x):
            model(x, new(), text)
        def __call__(self):
            for chunk in range(2):
                x = self.denoise(new())
                self.remember(x)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 c] b[1 1 c] vae_decode]"),
    ("the last chunk without a context pass, a flag for it in a dictionary", """
    class Pipe(Base):
        def encode(self, flag, x):
            flag["is_cache_step"] = True
            _, cache = model(x, new(), text, kv_cache_flag=dict(flag)), None
            flag["num_cached_chunks"] += 1
            flag["is_cache_step"] = False
        def __call__(self):
            flag = {"num_cached_chunks": 0, "is_cache_step": False}
            for chunk_idx in range(3):
                x = new()
                for t in Schedule(2):
                    v = model(x, t, text, kv_cache_flag=dict(flag))
                    x = scheduler.step(v, x)
                if chunk_idx < 2:
                    self.encode(flag, x)
            vae.decode(x)
    Pipe()()
    """, "r[b[1s 1s c] b[1s 1s c] b[1s 1s] vae_decode]"),
    ("chunks that are decoded one by one, without a cache", """
    class Pipe(Base):
        def __call__(self, num_latent_chunk):
            for k in range(num_latent_chunk):
                x = new()
                for i, t in enumerate(Schedule(2)):
                    x = scheduler.step(model(x, t, text) + model(x, t, empty), x)
                vae.decode(x)
    Pipe()(2)
    """, "r[b[2s 2s vae_decode] b[2s 2s vae_decode]]"),
    ("one chunk is no chunk", """
    class Pipe(Base):
        def __call__(self, num_latent_chunk):
            for k in range(num_latent_chunk):
                x = new()
                for i, t in enumerate(Schedule(2)):
                    x = scheduler.step(model(x, t, text), x)
            vae.decode(x)
    Pipe()(1)
    """, "r[1s 1s vae_decode]"),
    ("a pyramid: stages in a chunk", """
    class Pipe(Base):
        def __call__(self):
            for k in range(2):
                for stage in range(2):
                    for t in Schedule(2):
                        x = model(new(), t)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 1 1] b[1 1 1 1] vae_decode] ?block"),
    ("loops over prompts, images and initial noise make no blocks", """
    class Pipe(Base):
        def __call__(self):
            for free_init_iter in range(2):
                for prompt in ("a cat", "a dog"):
                    for t in Schedule(2):
                        x = model(new(), t)
            vae.decode(x)
    Pipe()()
    """, "r[1 1 1 1 1 1 1 1 vae_decode]"),
    ("parts of a pipeline that are called in loops", """
    class Pipe(Base):
        def loop(self):
            for i, t in enumerate(Schedule(3)):
                for name, block in {"before": lambda t: None, "denoise": self.denoise}.items():
                    block(t)
        def denoise(self, t):
            for guider_state in (text, empty):
                model(new() + 0, t, guider_state)
        def __call__(self):
            for name, block in {"set": lambda: None, "loop": self.loop}.items():
                block()
            vae.decode(new())
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("tiles of each step", """
    class Pipe(Base):
        def __call__(self):
            for i, t in enumerate(Schedule(2)):
                for tile in range(3):
                    model(new(), t)
            vae.decode(new())
    Pipe()()
    """, "r[3 3 vae_decode]"),
    ("a world model: a frame a turn, its loops counted with the same name", """
    class Pipe(Base):
        def __call__(self):
            for _ in range(3):
                for _ in range(2):
                    x = model(new(), new())
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1] b[1 1] b[1 1] vae_decode] ?block"),
    ("frames one after another, with one step each and numbers for timesteps", """
    class Pipe(Base):
        def __call__(self):
            for frame in range(3):
                x = model(new(), 500, text, kv_cache=[{}], start_frame=frame)
                y = model(x, 0, text, kv_cache=[{}], start_frame=frame)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 c] b[1 c] b[1 c] vae_decode]"),
    ("no loop at all: the position in the cache and the timesteps say it", """
    class Pipe(Base):
        def chunk(self, at):
            x = model(new(), 900, text, kv_cache=[{}], current_start=at)
            x = model(x, 900, empty, kv_cache=[{}], current_start=at)
            x = model(x, 500, text, kv_cache=[{}], current_start=at)
            x = model(x, 500, empty, kv_cache=[{}], current_start=at)
            return model(x, 0, text, kv_cache=[{}], current_start=at)
        def __call__(self):
            self.chunk(0), self.chunk(4680)
            vae.decode(new())
    Pipe()()
    """, "r[b[2 2 c] b[2 2 c] vae_decode]"),
    ("no loop at all, tensors for timesteps: the same latents are guidance", """
    class Pipe(Base):
        def __call__(self):
            x, a, b = new(), new(), new()
            v, w = model(x, a, text), model(x, a, empty)
            x = x + v
            v, w = model(x + 0, b, text), model(x + 0, b, empty)
            x = x + v
            v = model(x, new(), text)
            vae.decode(x)
    Pipe()()
    """, "r[2 2 1 vae_decode] ?step"),
    ("the same, with another name for the time, and latents made anew", """
    class Pipe(Base):
        def __call__(self):
            x, a = new(), new()
            v, w = model(x + 0, noise_level=a, text=text), model(x + 0, noise_level=a, text=empty)
            v = model(x + v, noise_level=new(), text=text)
            vae.decode(x)
    Pipe()()
    """, "r[2 1 vae_decode] ?step"),
    ("a given first frame is cached before the loops", """
    class Pipe(Base):
        def __call__(self):
            start_idx = 0
            model(new(), new(), text, kwargs={"kv_cache": [], "start_frame": 0})
            for block_idx in range(2):
                x = new()
                for i, t in enumerate(Schedule(2)):
                    x = model(x, t, text, kwargs={"kv_cache": [], "start_frame": start_idx})
                model(x, new(), text, kwargs={"kv_cache": [], "start_frame": start_idx})
                start_idx += 2
            vae.decode(x)
    Pipe()()
    """, "r[c b[1 1 c] b[1 1 c] vae_decode]"),
    ("a while loop that counts before its turn ends", """
    class Pipe(Base):
        def __call__(self):
            start = 0
            while start < 6:
                x = new()
                for t in Schedule(2):
                    x = model(x, t, text, kv_cache=[])
                start += 3
                model(x, new(), text, kv_cache=[])
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 c] b[1 1 c] vae_decode]"),
    ("a preview in the loop of steps is no end of a block", """
    class Pipe(Base):
        def __call__(self):
            for section in range(2):
                for t in Schedule(2):
                    x = scheduler.step(model(new(), t), new())
                    vae.decode(x)
            vae.decode(x)
    Pipe()()
    """, "r[b[1s vae_decode 1s vae_decode] b[1s vae_decode 1s vae_decode] vae_decode]"),
    ("videos of a script: no request, no blocks", """
    for seed in range(2):
        x = new()
        for t in Schedule(2):
            x = model(x, t)
        vae.decode(x)
    """, "1 1 vae_decode 1 1 vae_decode"),
    ("chunks of a script", """
    for prompt in ("a cat", "a dog"):
        for start in range(0, 6, 3):
            x = new()
            for t in Schedule(2):
                x = model(x, t, text, kv_cache=[])
            model(x, new(), text, kv_cache=[])
        vae.decode(x)
    """, "b[1 1 c] b[1 1 c] vae_decode b[1 1 c] b[1 1 c] vae_decode"),
    ("a module around the denoiser has the cache, and takes a part of the result", """
    class Wrapper:
        def _call_impl(self, *args, **kwargs):
            return self.forward(*args, **kwargs)
        __call__ = _call_impl
        def forward(self, x, t, kv_cache=None, current_start=None):
            return [model(x, t, text)][0]
    generator = Wrapper()
    for current_num_frames in [3, 3]:
        x = new()
        for t in Schedule(2):
            x = generator(x, t, [{}], 4680)
        generator(x, new(), [{}], 4680)
    vae.decode(x)
    """, "b[1 1 c] b[1 1 c] vae_decode"),
    ("the cache is written at the start of each turn; the last block ends with the program", """
    for block_idx in range(2):
        model(new(), new(), text, kv_cache=[{}])
        x = new()
        for t in Schedule(2):
            x = model(x, t, text, kv_cache=[{}])
        vae.decode(x)
    """, "b[c 1 1 vae_decode] b[c 1 1 vae_decode]"),
    ("guidance as a generator", """
    x = new()
    for t in Schedule(2):
        v, w = (model(x + 0, t, c) for c in (text, empty))
        x = x + v
    """, "2 2"),
    ("a request that fails leaves nothing for the next", """
    class Pipe(Base):
        def __call__(self, fails):
            for chunk in range(2):
                for t in Schedule(2):
                    x = model(new(), t)
                    if fails and chunk:
                        raise KeyError
    try:
        Pipe()(True)
    except KeyError:
        pass
    Pipe()(False)
    """, "r[b[1 1] b[1]] r[b[1 1] b[1 1]]"),
    ("the same schedule for each request", """
    ts = Schedule(1)
    class Pipe(Base):
        def denoise(self, x):
            for t in ts:
                x = model(x, t, text)
        def __call__(self):
            for prompt in range(3):
                self.denoise(new())
    Pipe()()
    """, "r[1 1 1]"),
)


def short(lines):
    """The ranges in short."""
    top = [[]]
    for line in lines:
        depth, words = (len(line) - len(line.lstrip())) // 2, line.split()
        inside = []
        del top[depth + 1:]
        top[depth].append((words, inside))
        top.append(inside)
    return " ".join(map(_shortened, top[0]))


def _shortened(item):
    (kind, name, *_), inside = item[0] + [""], item[1]
    if kind in ("request", "block"):
        return "%s[%s]" % (kind[0], " ".join(map(_shortened, inside)))
    if kind == "context":
        return "c"
    if kind == "step":
        stages = [words[1] for words, _ in inside]
        others = ["+" + stage for stage in stages if stage not in ("transformer", "scheduler_step")]
        return str(stages.count("transformer")) + "s" * stages.count("scheduler_step") + "".join(others)
    return name


def made(number, program, marks=MARKS):
    name = "parts%s" % number
    for module, text in ((name, HEAD), (name + "_used", "from %s import *\n" % name + textwrap.dedent(program))):
        with open(module + ".py", "w", encoding="utf-8") as file:
            file.write(text)
    importlib.invalidate_caches()
    library = vptrace._library.loaded = marked.Library()
    vptrace.mark_calls(*marks.replace("M:", name + ":").strip().splitlines())
    importlib.import_module(name + "_used")
    marking = vptrace_marks._marking
    problems = [line.problem for source in marking.sources for line in source.lines if line.problem]
    guesses = ["?" + key.split()[1][:-1] for key, _ in marking.guesses()]
    vptrace.unmark_calls()
    assert library.depth == 0 and not problems, (library.depth, problems)
    return " ".join([short(library.lines)] + guesses)


def other_lines_decide():
    """What lines of other kinds leave to the passes."""
    program = """
    class Pipe(Base):
        def __call__(self):
            for chunk in range(2):
                for t in Schedule(2):
                    scheduler.step(model(new(), t), new())
    Pipe()()
    """
    base = "M:Model.__call__ = stage transformer\nM:Base+.__call__ = request\nM:Model.__call__ = pass\n"
    for lines, expected in (
            ("M:Model.__call__ = step", "r[1 1 1 1]"),
            ("M:Model.__call__ = step begin\nM:Scheduler.step = step end", "r[1 1 1 1]"),
            ("M:Base+.__call__ = block", "b[r[1 1 1 1]]"),
            ("M:Model.__call__ = block begin latents=3", "r[b[1 1 1 1]]"),
            ("M:Model.__call__ = pass key=0", "r[1 1 1 1]"),
            ("M:Model.__call__ = pass key=x.shape[2]", "r[b[1 1 1 1]]"),
            ("", "r[b[1 1] b[1 1]]"),
    ):
        found = made("other%d" % len(lines), program, lines + "\n" + base)
        if found != expected:
            print("FAIL: with the lines %r\n  expected %s\n  found    %s" % (lines, expected, found))
            yield found


def frames_of_blocks_are_those_of_a_causal_vae():
    """A model with channels and a pipeline with a factor tell them."""
    program = """
    Model.config = type("Config", (), {"in_channels": 16})
    class Pipe(Base):
        vae_scale_factor_temporal = 4
        def __call__(self):
            for chunk in range(2):
                for t in Schedule(1):
                    model(new(), t, text, kv_cache=[])
    Pipe()()
    """
    made("frames", program)
    found = [line.strip() for line in vptrace._library.loaded.lines if "block" in line]
    if found != ["block 0 frames=9 latents=3", "block 1 frames=12 latents=3"]:
        print("FAIL: frames of blocks\n  found %r" % found)
        yield found


def loops_in_a_thread_end_with_it():
    """The last step and block of a thread without a request; a step that its pool's thread leaves open."""
    program = """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    def generate():
        for chunk in range(2):
            for t in Schedule(2):
                model(new(), t)
    thread = threading.Thread(target=generate)
    thread.start()
    thread.join()
    x = new()
    with ThreadPoolExecutor(1) as pool:
        for t in Schedule(2):
            for c in (text, empty):
                pool.submit(model, x, t, c).result()
            x = new()
    """
    found = made("thread", program)
    if found != "b[1 1] b[1 1] 2 2 ?step":
        print("FAIL: loops in a thread\n  found    %s" % found)
        yield found


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    sys.path.insert(0, folder)
    failed = len(list(other_lines_decide())) + len(list(frames_of_blocks_are_those_of_a_causal_vae()))
    failed += len(list(loops_in_a_thread_end_with_it()))
    cases = CASES + marks_loops.CASES
    for number, (what, program, expected) in enumerate(cases):
        found = made(number, program)
        if found != expected:
            failed += 1
            print("FAIL: %s\n  expected %s\n  found    %s" % (what, expected, found))
    shutil.rmtree(folder)
    print("%d loops" % len(cases))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
