#!/usr/bin/env python3
"""A video-diffusion pipeline shaped like Self-Forcing, with random weights, annotated for vptrace.

    python3 bench/pipelines/self_forcing.py --trace run.zst     # then: vptrace-analyze run.zst
    python3 bench/pipelines/self_forcing.py --tiny --device cpu # takes a second, needs no GPU

A causal transformer denoises a video block by block. A block has 3 latent frames of 1,560 tokens. It takes 4
denoising steps, then one more pass that writes the block's keys and values into a cache, so that each block
attends to all earlier ones. A causal 3-D convolution decoder makes 4 video frames of each latent frame, which
are copied to the host. Nothing is downloaded and the pictures are noise: only shapes, kernels, copies and
waits matter. Options add faults that vptrace should find.

Pipeline.generate() shows how to annotate a pipeline: request, stage, block, step, context pass, frames ready.
vptrace is imported before torch, so that torch's own NVTX ranges are recorded as well.

Simpler than the original: positions are rotated along one axis, the text is random, there is no guidance.
"""

import argparse
import contextlib
import json
import os
import sys
import time
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tracer", "python"))
if "VPTRACE_LIBRARY" not in os.environ and os.path.exists(ROOT + "/build/libvptrace.so"):
    os.environ["VPTRACE_LIBRARY"] = ROOT + "/build/libvptrace.so"

import vptrace  # pylint: disable=wrong-import-position

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as missing:
    sys.exit("self_forcing.py: expected PyTorch 2.5 or later, but %s cannot import it: %s" % (sys.executable, missing))
try:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    SDPBackend.CUDNN_ATTENTION  # the newest of what is used here
except (ImportError, AttributeError):
    sys.exit("self_forcing.py: expected PyTorch 2.5 or later, found %s" % torch.__version__)


class Shape(typing.NamedTuple):
    """Sizes of the models. A token is 2 x 2 latent pixels, a latent pixel 8 x 8 of the video."""

    layers: int
    heads: int
    head: int
    rows: int  # tokens of a latent frame
    columns: int
    text_tokens: int
    feed_forward: int
    decoder: tuple  # channels at 1, 2, 4 and 8 times the latent's resolution
    blocks: int
    steps: int

    @property
    def width(self):
        return self.heads * self.head

    @property
    def frame_tokens(self):
        return self.rows * self.columns


FULL = Shape(30, 12, 128, 30, 52, 512, 8960, (256, 192, 128, 64), 7, 4)
SMALL = FULL._replace(layers=8, decoder=(128, 96, 64, 32))
TINY = Shape(2, 2, 16, 2, 3, 8, 64, (8, 8, 4, 4), 3, 2)

LATENTS = 3  # latent frames of a block
CHANNELS = 16  # of a latent frame
TEMPORAL = 4  # video frames of a latent one
ATTENTION = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}


def frames_of(block):
    """The decoder makes one frame of a video's first latent frame, and four of every other."""
    return LATENTS * TEMPORAL if block else 1 + (LATENTS - 1) * TEMPORAL


def timesteps(steps):
    """From 1000 down in equal parts: 1000, 750, 500, 250 for four."""
    return [1000.0 * (steps - i) / steps for i in range(steps)]


# ---- the transformer ----


def heads_of(x, shape):
    """(1, tokens, width) as (1, heads, tokens, head)."""
    return x.unflatten(-1, (shape.heads, shape.head)).transpose(1, 2)


def rotated(x, cos, sin):
    """Rotary position embedding of (1, heads, tokens, head)."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Layer(nn.Module):
    """Attention over the cache, attention over the text, feed-forward. --compile compiles the three methods
    around the two attentions."""
    def __init__(self, shape):
        super().__init__()
        width = shape.width
        self.shape = shape
        self.modulation = nn.Parameter(torch.zeros(6, width))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm_q, self.norm_k = nn.RMSNorm(width), nn.RMSNorm(width)
        self.norm_text = nn.LayerNorm(width)
        self.text_q, self.text_kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.text_out = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(nn.Linear(width, shape.feed_forward), nn.GELU("tanh"),
                                          nn.Linear(shape.feed_forward, width))

    def before(self, x, moment, cos, sin):
        """The queries, keys and values of self-attention."""
        shift, scale = (self.modulation + moment)[:2]
        q, k, v = self.qkv(functional.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift).chunk(3, -1)
        q, k = heads_of(self.norm_q(q), self.shape), heads_of(self.norm_k(k), self.shape)
        return rotated(q, cos, sin), rotated(k, cos, sin), heads_of(v, self.shape)

    def between(self, x, attended, moment, text):
        """Adds the result of self-attention; the queries, keys and values of the text's attention."""
        x = x + self.out(attended.transpose(1, 2).flatten(2)) * (self.modulation + moment)[2]
        k, v = self.text_kv(text).chunk(2, -1)
        q = self.text_q(self.norm_text(x))
        return x, heads_of(q, self.shape), heads_of(k, self.shape), heads_of(v, self.shape)

    def after(self, x, attended, moment):
        """Adds the result of the text's attention, and the feed-forward part."""
        shift, scale, gate = (self.modulation + moment)[3:]
        x = x + self.text_out(attended.transpose(1, 2).flatten(2))
        return x + self.feed_forward(functional.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift) * gate

    def forward(self, x, moment, text, cos, sin, cache, start):
        tokens = x.shape[1]
        q, k, v = self.before(x, moment, cos, sin)
        cache[0, :, :, start:start + tokens] = k
        cache[1, :, :, start:start + tokens] = v
        keys, values = cache[:, :, :, :start + tokens]
        attended = functional.scaled_dot_product_attention(q, keys, values)
        x, q, k, v = self.between(x, attended, moment, text)
        return self.after(x, functional.scaled_dot_product_attention(q, k, v), moment)


class Transformer(nn.Module):
    """Predicts the flow from the latents of one block to noise, given the blocks in the cache."""
    def __init__(self, shape):
        super().__init__()
        width = shape.width
        self.shape = shape
        self.patches = nn.Linear(CHANNELS * 4, width)
        self.time = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, 6 * width))
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.head = nn.Linear(width, CHANNELS * 4)
        tokens = shape.blocks * LATENTS * shape.frame_tokens
        angles = torch.outer(
            torch.arange(tokens).float(), 10000.0**(-torch.arange(shape.head // 2).float() * 2 / shape.head))
        dtype = self.head.weight.dtype
        self.register_buffer("cos", angles.cos().to(dtype), persistent=False)
        self.register_buffer("sin", angles.sin().to(dtype), persistent=False)
        self.register_buffer("cache",
                             torch.zeros(shape.layers, 2, 1, shape.heads, tokens, shape.head, dtype=dtype),
                             persistent=False)

    def to_tokens(self, latents):
        s = self.shape
        x = latents.reshape(1, CHANNELS, LATENTS, s.rows, 2, s.columns, 2)
        return x.permute(0, 2, 3, 5, 1, 4, 6).reshape(1, LATENTS * s.frame_tokens, CHANNELS * 4)

    def to_latents(self, tokens):
        s = self.shape
        x = tokens.reshape(1, LATENTS, s.rows, s.columns, CHANNELS, 2, 2)
        return x.permute(0, 4, 1, 2, 5, 3, 6).reshape(1, CHANNELS, LATENTS, 2 * s.rows, 2 * s.columns)

    def moment(self, timestep):
        angles = timestep.float() * 10000.0**(-torch.arange(128, device=timestep.device) / 128)
        features = torch.cat((angles.cos(), angles.sin())).to(self.head.weight.dtype)
        return self.time(features).unflatten(0, (6, -1))

    def forward(self, latents, timestep, text, start, visit):
        """`start`: how many tokens of the cache come before this block. `visit(layer)` is a context around
        each layer."""
        x, moment = self.patches(self.to_tokens(latents)), self.moment(timestep)
        cos, sin = self.cos[start:start + x.shape[1]], self.sin[start:start + x.shape[1]]
        for layer, cache in zip(self.layers, self.cache):
            with visit(layer, x):
                x = layer(x, moment, text, cos, sin, cache, start)
        return self.to_latents(self.head(functional.layer_norm(x, x.shape[-1:])))


class TextEncoder(nn.Module):
    """A few layers over random tokens. They use the back-end of --attention, which the fast path of
    torch's encoder layers would ignore."""
    def __init__(self, shape):
        super().__init__()
        torch.backends.mha.set_fastpath_enabled(False)
        self.embedding = nn.Embedding(1000, shape.width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                shape.width, shape.heads, 4 * shape.width, dropout=0, batch_first=True, norm_first=True)
            for _ in range(4))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return x


# ---- the decoder ----


class CausalConv(nn.Module):
    """A 3-D convolution that sees the present and two past frames, which it keeps from block to block."""
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, 3, padding=(0, 1, 1))
        self.past = None

    def forward(self, x):
        past = torch.zeros_like(x[:, :, :1]).repeat(1, 1, 2, 1, 1) if self.past is None else self.past
        x = torch.cat((past, x), 2)
        self.past = x[:, :, -2:].clone()
        return self.conv(x)


class Decoder(nn.Module):
    """Latent frames to video frames: 8 times as wide and high, 4 times as many but for the very first."""
    def __init__(self, shape):
        super().__init__()
        channels = shape.decoder
        self.first = CausalConv(CHANNELS, channels[0])
        self.stages = nn.ModuleList(
            nn.ModuleList((CausalConv(c, c), CausalConv(c, after)))
            for c, after in zip(channels, channels[1:] + channels[-1:]))
        self.last = CausalConv(channels[-1], 3)
        self.is_first = True

    def reset(self):
        """Begins a new video."""
        self.is_first = True
        for module in self.modules():
            if isinstance(module, CausalConv):
                module.past = None

    def forward(self, latents):
        x = self.first(latents)
        for number, (conv, after) in enumerate(self.stages):
            x = after(functional.silu(x + conv(functional.silu(x))))
            if number < 2:
                x = x.repeat_interleave(2, 2)
                x = x[:, :, 1:] if self.is_first else x
            if number < 3:
                x = functional.interpolate(x, scale_factor=(1, 2, 2))
        self.is_first = False
        pictures = torch.tanh(self.last(functional.silu(x)))
        return ((pictures[0] + 1) * 127.5).to(torch.uint8)


# ---- faults and variants of a pipeline ----


class Offloaded:
    """Keeps the weights of each layer in host memory and copies them to the device for one call."""
    def __init__(self, layers, device, pinned):
        self._device = device
        self._homes = {
            layer: [(p, p.data.cpu().pin_memory() if pinned else p.data.cpu()) for p in layer.parameters()]
            for layer in layers
        }
        for home in self._homes.values():
            for parameter, host in home:
                parameter.data = host

    @contextlib.contextmanager
    def visit(self, layer, _):
        home = self._homes[layer]
        for parameter, host in home:
            parameter.data = torch.empty_like(host, device=self._device).copy_(host, non_blocking=True)
        yield
        for parameter, host in home:
            parameter.data = host


@contextlib.contextmanager
def looked_at(_, x):
    """Reads one number of each layer, as a check for NaN does: the host waits for the GPU."""
    yield
    x[0, 0, 0].item()


class Replayed:
    """A pass of each block is captured once as a CUDA graph, and replayed: the cache's length is part
    of the capture."""
    def __init__(self, model):
        self._model, self._graphs, self._inputs, self._pool = model, {}, None, None

    def __call__(self, latents, timestep, text, start, visit):
        if self._inputs is None:
            self._inputs = [x.clone() for x in (latents, timestep, text)]
        for mine, given in zip(self._inputs, (latents, timestep, text)):
            mine.copy_(given)
        if start not in self._graphs:
            self._model(*self._inputs, start, visit)  # libraries initialise outside the capture
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._pool):
                result = self._model(*self._inputs, start, visit)
            self._pool = self._pool or graph.pool()
            self._graphs[start] = graph, result
        graph, result = self._graphs[start]
        graph.replay()
        return result


class Moments:
    """Moments on a stream: CUDA events, or on a CPU the clock."""
    def __init__(self, device):
        self._on_gpu = device.type == "cuda"

    def now(self):
        if not self._on_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between_ms(self, first, second):
        return first.elapsed_time(second) if self._on_gpu else (second - first) * 1000


# ---- the pipeline ----


class Pipeline:
    def __init__(self, shape, options):
        self.shape, self.options = shape, options
        self.device = torch.device(options.device)
        self.on_gpu = self.device.type == "cuda"
        self.moments = Moments(self.device)
        self.dtype = getattr(torch, options.dtype)
        torch.manual_seed(options.seed)
        before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)
        with self.device:
            self.encoder = TextEncoder(shape).eval()
            self.transformer = Transformer(shape).eval()
            self.decoder = Decoder(shape).eval()
            self.prompt = torch.randint(1000, (1, shape.text_tokens))
            self.timesteps = torch.tensor(timesteps(shape.steps) + [0.0], dtype=torch.float32)
            self.pixels = torch.empty(shape.blocks,
                                      3,
                                      LATENTS * TEMPORAL,
                                      16 * shape.rows,
                                      16 * shape.columns,
                                      dtype=torch.uint8,
                                      device="cpu",
                                      pin_memory=self.on_gpu and not options.pageable)
        torch.set_default_dtype(before)
        self.parameters = sum(p.numel() for p in self.transformer.parameters())
        self.visit = lambda layer, x: contextlib.nullcontext()
        if options.sync_per_layer:
            self.visit = looked_at
        if options.offload:
            self.visit = Offloaded(self.transformer.layers, self.device, self.on_gpu
                                   and not options.pageable).visit
        if options.compile:
            for layer in self.transformer.layers:
                for name in ("before", "between", "after"):
                    setattr(layer, name, torch.compile(getattr(layer, name), dynamic=False))
        self.predict = Replayed(self.transformer) if options.cuda_graph else self.transformer
        self.side = torch.cuda.Stream() if options.two_streams else None

    def noise(self):
        return torch.randn(1,
                           CHANNELS,
                           LATENTS,
                           2 * self.shape.rows,
                           2 * self.shape.columns,
                           dtype=self.dtype,
                           device=self.device)

    def denoise(self, index, text):
        """The clean latents of block `index`, whose keys and values are in the cache afterwards."""
        start = index * LATENTS * self.shape.frame_tokens
        schedule = timesteps(self.shape.steps) + [0.0]
        latents = self.noise()
        with vptrace.stage("denoise"):
            for i in range(self.shape.steps):
                with vptrace.step(i, timestep=schedule[i]):
                    flow = self.predict(latents, self.timesteps[i], text, start, self.visit)
                    clean = latents - flow * (schedule[i] / 1000)
                    share = schedule[i + 1] / 1000
                    latents = clean * (1 - share) + self.noise() * share if share else clean
        with vptrace.context_pass(self.shape.steps):
            self.predict(latents, self.timesteps[-1], text, start, self.visit)
        return latents

    def decode(self, index, latents):
        """The frames of block `index`, on their way to the host. Returns the moment of their arrival."""
        with vptrace.stage("vae_decode"):
            frames = self.decoder(latents)
        with vptrace.stage("to_host"):
            self.pixels[index, :, :frames.shape[1]].copy_(frames, non_blocking=True)
        return self.moments.now()

    def decode_aside(self, index, latents):
        """decode() on the other stream, while this one continues with the next block."""
        self.side.wait_stream(torch.cuda.current_stream())
        latents.record_stream(self.side)
        with torch.cuda.stream(self.side):
            return self.decode(index, latents)

    def wait(self, moment):
        if self.on_gpu:
            moment.synchronize()

    @torch.inference_mode()
    def generate(self, name):
        """One video. Returns its blocks with the moments at which they were done."""
        self.decoder.reset()
        done, latents = [], []
        with vptrace.request(name):
            begin = self.moments.now()
            with vptrace.stage("text_encode"):
                text = self.encoder(self.prompt)
            for index in range(self.shape.blocks):
                with vptrace.block(index, frames=frames_of(index), latents=LATENTS):
                    latents.append(self.denoise(index, text))
                    if self.options.vae_at_end:
                        done.append(self.moments.now())
                    elif self.side:
                        done.append(self.decode_aside(index, latents.pop()))
                    else:
                        done.append(self.decode(index, latents.pop()))
                        self.wait(done[-1])
                if not self.side and not self.options.vae_at_end:
                    # The mark means: everything that this thread has launched so far is needed by the frames.
                    vptrace.frames_ready(index, frames=frames_of(index))
                elif self.side and index:
                    self.wait(done[index - 1])  # a viewer would get the previous block
            for index, clean in enumerate(latents):
                end = self.decode(index, clean)
            end = end if latents else done[-1]
            self.wait(end)
        return begin, done, end

    def timed(self, name):
        """One video, as numbers."""
        from_ns = time.perf_counter_ns()
        begin, done, end = self.generate(name)
        if self.on_gpu:
            torch.cuda.synchronize()
        wall_ms = (time.perf_counter_ns() - from_ns) / 1e6
        ends = [self.moments.between_ms(begin, moment) for moment in done]
        frames = [frames_of(index) for index in range(len(ends))]
        total_ms = self.moments.between_ms(begin, end)
        result = {
            "name": name,
            "wall_ms": wall_ms,
            "total_ms": total_ms,
            "fps_end_to_end": sum(frames) / total_ms * 1000,
            "blocks": [{
                "index": i,
                "frames": f,
                "end_ms": e
            } for i, (f, e) in enumerate(zip(frames, ends))],
        }
        if len(ends) > 1 and not self.options.vae_at_end:
            steady_ms = ends[-1] - ends[0]
            result["fps"] = sum(frames[1:]) / steady_ms * 1000
            result["bps"] = (len(ends) - 1) / steady_ms * 1000
        return result


# ---- the command line ----


def count(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parser():
    p = argparse.ArgumentParser(
        allow_abbrev=False,
        description=__doc__.split("\n")[0],
        epilog="Uses the library in VPTRACE_LIBRARY, or build/libvptrace.so.")
    size = p.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true", help="8 layers and a smaller decoder: a few GB")
    size.add_argument("--tiny", action="store_true", help="minimal sizes, for tests on a CPU")
    for name in ("layers", "blocks", "steps"):
        p.add_argument("--" + name, type=count, metavar="N", help="override the number of the chosen size")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    p.add_argument("--dtype",
                   choices=("bfloat16", "float16", "float32"),
                   help="bfloat16 on a GPU, else float32")
    p.add_argument("--attention", choices=ATTENTION, default="flash", help="back-end of SDPA (flash)")
    p.add_argument("--seed", type=int, default=0)
    wrong = p.add_argument_group("faults to add")
    wrong.add_argument("--sync-per-layer", action="store_true", help="call .item() in each layer")
    wrong.add_argument("--offload",
                       action="store_true",
                       help="copy the weights of each layer from the host in each pass")
    wrong.add_argument("--pageable",
                       action="store_true",
                       help="use pageable memory for frames and offloaded weights")
    built = p.add_argument_group("variants")
    built.add_argument("--cuda-graph",
                       action="store_true",
                       help="capture a pass of each block once and replay it")
    built.add_argument("--compile", action="store_true", help="use torch.compile except for attention")
    built.add_argument("--two-streams", action="store_true", help="run decoder and copies during the next block")
    built.add_argument("--vae-at-end", action="store_true", help="decode all blocks after the last one")
    out = p.add_argument_group("recording")
    out.add_argument("--repeat", type=count, default=1, metavar="N", help="number of recorded videos (1)")
    out.add_argument("--warmup", type=int, metavar="N", help="number of videos before them (1; with --tiny 0)")
    out.add_argument("--trace",
                     metavar="FILE",
                     help="write a vptrace capture (otherwise use CUDA_INJECTION64_PATH)")
    out.add_argument("--profiler", metavar="FILE", help="write a trace of torch.profiler (.json or .json.gz)")
    out.add_argument("--events", metavar="FILE", help="write block times by CUDA events, FPS and BPS, as JSON")
    return p


def read_options(words):
    p = parser()
    o = p.parse_args(words)
    o.dtype = o.dtype or ("bfloat16" if o.device == "cuda" else "float32")
    o.warmup = (0 if o.tiny else 1) if o.warmup is None else o.warmup
    forbidden = (
        (o.trace and o.profiler, "--trace and --profiler cannot be combined: only one can use CUPTI"),
        (o.device == "cpu"
         and (o.cuda_graph or o.two_streams), "--cuda-graph and --two-streams require --device cuda"),
        (o.device == "cpu"
         and o.attention not in ("flash", "math"), "--device cpu supports only --attention flash and math"),
        (o.cuda_graph
         and (o.sync_per_layer or o.offload), "--cuda-graph cannot be combined with --sync-per-layer or --offload"),
        (o.sync_per_layer and o.offload, "--sync-per-layer and --offload cannot be combined"),
        (o.offload and o.compile, "--offload and --compile cannot be combined"),
        (o.two_streams and o.vae_at_end, "--two-streams and --vae-at-end cannot be combined: nothing would overlap"),
        (o.device == "cuda"
         and not torch.cuda.is_available(), "PyTorch finds no GPU; use --device cpu with --tiny"),
    )
    for is_wrong, text in forbidden:
        if is_wrong:
            p.error(text)
    return o


def shape_of(o):
    shape = TINY if o.tiny else SMALL if o.small else FULL
    given = {name: getattr(o, name) for name in ("layers", "blocks", "steps") if getattr(o, name)}
    return shape._replace(**given)


def recorder(o):
    """The context in which the videos are recorded."""
    if o.trace:
        return vptrace.trace(o.trace)
    if o.profiler:
        activities = [torch.profiler.ProfilerActivity.CPU]
        if o.device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        return torch.profiler.profile(activities=activities)
    return contextlib.nullcontext()


def main(words):
    o = read_options(words)
    pipeline = Pipeline(shape_of(o), o)
    where = torch.cuda.get_device_name() if o.device == "cuda" else "cpu"
    vptrace.metadata("model.parameters", pipeline.parameters)
    vptrace.metadata("pipeline", "self_forcing.py " + " ".join(words))
    with sdpa_kernel(ATTENTION[o.attention]):
        for number in range(o.warmup):
            pipeline.timed("warm-up %d" % number)
        with recorder(o) as recording:
            videos = [pipeline.timed("video %d" % number) for number in range(o.repeat)]
    if o.profiler:
        recording.export_chrome_trace(o.profiler)
    result = {
        "schema": "vptrace.pipeline_events/1",
        "device": where,
        "clock": "CUDA events" if o.device == "cuda" else "the host's clock",
        "torch": torch.__version__,
        "options": words,
        "parameters": pipeline.parameters,
        "peak_bytes": torch.cuda.max_memory_allocated() if o.device == "cuda" else 0,
        "requests": videos,
    }
    if o.trace:
        stats = recording.summary.stats
        result["capture"] = {
            "path": recording.summary.path,
            "code": recording.summary.code.name,
            "reason": recording.summary.reason,
            "received": stats.received,
            "written": stats.written,
            "dropped": stats.dropped,
            "cupti_dropped": stats.cupti_dropped,
        }
    if o.events:
        with open(o.events, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    last = videos[-1]
    print("%s: %d blocks in %.1f ms%s" %
          (where, len(last["blocks"]), last["total_ms"], ", %.2f FPS, %.3f BPS" %
           (last["fps"], last["bps"]) if "fps" in last else ""))
    if o.device == "cpu":
        print("on a cpu: these numbers say nothing about a GPU")
    if o.trace:
        print("capture: %s" % result["capture"])


if __name__ == "__main__":
    main(sys.argv[1:])
