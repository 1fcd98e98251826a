"""marks_loops.py - loops of published pipelines, and loops that make it hard to see steps and blocks, for marks_passes.py: what it is,
the program, what it makes. `?step` and `?block`: what was taken for one is said to be a guess.
"""
CASES = (
    ("self forcing: given frames cached in a loop, then blocks with numbers by tensors", """
    class Pipe(Base):
        denoising_step_list = Schedule(4)
        def generator(self, x, t, **kw): return model(x, t, text, **kw)
        def __call__(self, n, given):
            current_start_frame = 0
            for _ in range(given):
                self.generator(new(), new(), kv_cache=[{}], current_start=current_start_frame * 1560)
                current_start_frame += 3
            for current_num_frames in [3] * n:
                x = new()
                for index, current_timestep in enumerate(self.denoising_step_list):
                    if index < 3:
                        y = self.generator(x, new(), kv_cache=[{}], current_start=current_start_frame * 1560)
                        x = y + 1
                    else:
                        y = self.generator(x, new(), kv_cache=[{}], current_start=current_start_frame * 1560)
                self.generator(y, new(), kv_cache=[{}], current_start=current_start_frame * 1560)
                current_start_frame += current_num_frames
            vae.decode(x)
    Pipe()(2, 2)
    """, "r[c c b[1 1 1 1 c] b[1 1 1 1 c] vae_decode]"),
    ("causvid: rollouts of blocks in one function, with a position", """
    class Pipe(Base):
        def __call__(self):
            for rollout_index in range(2):
                for block_index in range(2):
                    x = new()
                    for t in Schedule(2):
                        x = model(x, t, text, kv_cache=[{}], current_start=block_index * 4680)
                    model(x, new(), text, kv_cache=[{}], current_start=block_index * 4680)
                vae.decode(x)
    Pipe()()
    """, "r[b[1 1 c] b[1 1 c] vae_decode b[1 1 c] b[1 1 c] vae_decode]"),
    ("rollouts of blocks without a cache", """
    class Pipe(Base):
        def __call__(self):
            for segment in range(2):
                for chunk in range(2):
                    x = new()
                    for t in Schedule(2):
                        x = model(x, t, text)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1] b[1 1] b[1 1] b[1 1] vae_decode]"),
    ("longlive: prompts switch, cache written anew, one loop", """
    class Pipe(Base):
        def recache(self, frames):
            for i in range(0, 6, 3):
                model(new(), new(), text, kv_cache=[{}], current_start=i)
        def __call__(self):
            segment_idx, current = 0, 0
            for current_num_frames in [3, 3, 3]:
                if current == 6:
                    segment_idx += 1
                    self.recache(current)
                x = new()
                for index, t in enumerate(Schedule(2)):
                    x = model(x, t, text, kv_cache=[{}], current_start=current)
                model(x, new(), text, kv_cache=[{}], current_start=current)
                current += current_num_frames
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 c] b[1 1 c] b[c c 1 1 c] vae_decode]"),
    ("framepack: sections, k-diffusion with a model function, guidance", """
    class Solver:
        def __init__(self, fn): self.fn = fn
        def sample(self, x, sigmas):
            for i in range(len(sigmas) - 1):
                x = x + self.fn(x, sigmas[i + 0])
            return x
    def wrapper(transformer):
        def k_model(x, sigma):
            a = transformer(x, sigma, text)
            b = transformer(x, sigma, empty)
            return a + b
        return k_model
    class Sigmas(list):
        pass
    for latent_padding in reversed(range(3)):
        is_last_section = latent_padding == 0
        x = Solver(wrapper(model)).sample(new(), [0.9, 0.6, 0.3, 0.0])
        vae.decode(x)
    """, "b[2 2 2 vae_decode] b[2 2 2 vae_decode] b[2 2 2 vae_decode]"),
    ("skyreels: a matrix of steps with frames behind each other", """
    class Pipe(Base):
        def __call__(self):
            for i in range(2):
                step_matrix = [new() for _ in range(3)]
                for i, timestep_i in enumerate(step_matrix):
                    v = model(new(), timestep_i, text) + model(new(), timestep_i, empty)
                    for idx in range(2):
                        scheduler.step(v, new())
            vae.decode(v)
    Pipe()()
    """, "r[b[2ss 2ss 2ss] b[2ss 2ss 2ss] vae_decode] ?block"),
    ("two denoisers, high and low noise, guidance each", """
    class Low(Model): pass
    low = Low()
    class Pipe(Base):
        def __call__(self):
            x = new()
            for i, t in enumerate(Schedule(4)):
                current = model if i < 2 else low
                a = current(x, t, text)
                b = current(x, t, empty)
                x = scheduler.step(a + b, x)
            vae.decode(x)
    Pipe()()
    """, "r[2s 2s 2s 2s vae_decode]"),
    ("two denoisers in two loops", """
    class Low(Model): pass
    low = Low()
    class Pipe(Base):
        def __call__(self):
            x, ts = new(), Schedule(4)
            for t in ts[:2]:
                x = scheduler.step(model(x, t, text), x)
            for t in ts[2:]:
                x = scheduler.step(low(x, t, text), x)
            vae.decode(x)
    Pipe()()
    """, "r[1s 1s 1s 1s vae_decode]"),
    ("steps without a pass: a cache skips them", """
    class Pipe(Base):
        def __call__(self):
            x, v = new(), new()
            for i, t in enumerate(Schedule(6)):
                if i % 2 == 0:
                    v = model(x, t, text)
                x = scheduler.step(v, x)
            vae.decode(x)
    Pipe()()
    """, "r[1s scheduler_step 1s scheduler_step 1s scheduler_step vae_decode]"),
    ("steps without a pass, without a scheduler", """
    class Pipe(Base):
        def __call__(self):
            x, v = new(), new()
            for i, t in enumerate(Schedule(6)):
                if i % 2 == 0:
                    v = model(x, t, text) + model(x, t, empty)
                x = x + v
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("a generator of steps that its caller drives", """
    class Pipe(Base):
        def steps(self):
            x = new()
            for i, t in enumerate(Schedule(3)):
                x = x + model(x, t, text) + model(x, t, empty)
                yield x
        def __call__(self):
            for x in self.steps():
                pass
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("a generator of chunks that its caller drives", """
    class Pipe(Base):
        def chunks(self):
            for chunk in range(2):
                x = new()
                for i, t in enumerate(Schedule(3)):
                    x = model(x, t, text, kv_cache=[])
                model(x, new(), text, kv_cache=[])
                yield x
        def __call__(self):
            for z in self.chunks():
                vae.decode(z)
    Pipe()()
    """, "r[b[1 1 1 c] vae_decode b[1 1 1 c] vae_decode]"),
    ("a recursive function", """
    class Pipe(Base):
        def go(self, x, ts):
            if not len(ts):
                return x
            x = x + model(x, ts[0], text) + model(x, ts[0], empty)
            return self.go(x, ts[1:])
        def __call__(self):
            vae.decode(self.go(new(), [new(), new(), new()]))
    Pipe()()
    """, "r[2 2 2 vae_decode] ?step"),
    ("context pass first", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for k in range(3):
                model(x, new(), text, kv_cache=[])
                x = new()
                for t in Schedule(2):
                    x = model(x, t, text, kv_cache=[])
            vae.decode(x)
    Pipe()()
    """, "r[b[c 1 1] b[c 1 1] b[c 1 1] vae_decode]"),
    ("nested guidance: perturbed, image and text", """
    class Guide:
        def __call__(self, x, t):
            base = self.cfg(x, t)
            return base + self.perturbed(x, t)
        def cfg(self, x, t):
            return [model(x, t, c) for c in (text, empty)][0]
        def perturbed(self, x, t):
            return model(x, t, text, skip=[1])
    class Pipe(Base):
        def __call__(self):
            x, g = new(), Guide()
            for t in Schedule(3):
                x = x + g(x, t)
            vae.decode(x)
    Pipe()()
    """, "r[3 3 3 vae_decode]"),
    ("guidance batched for some steps and sequential for others", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for i, t in enumerate(Schedule(4)):
                if i < 2:
                    v = model(x, t, [text, empty])
                else:
                    v = model(x, t, text) + model(x, t, empty)
                x = x + v
            vae.decode(x)
    Pipe()()
    """, "r[1 1 2 2 vae_decode]"),
    ("a solver of a library calls a closure, at two orders", """
    class Library:
        def integrate(self, f, x, ts):
            done = 0
            while done < 3:
                k1 = f(x, ts[done])
                k2 = f(x + k1, ts[done])
                x = x + k1 + k2
                done += 1
            return x
    class Pipe(Base):
        def __call__(self):
            x = Library().integrate(lambda x, t: model(x, t, text), new(), Schedule(3))
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("progress bar by hand, while True", """
    class Pipe(Base):
        def __call__(self):
            x, i, ts = new(), 0, Schedule(3)
            while True:
                x = x + model(x, ts[i + 0], text)
                i += 1
                if i == 3:
                    break
            vae.decode(x)
    Pipe()()
    """, "r[1 1 1 vae_decode]"),
    ("map over the schedule", """
    class Pipe(Base):
        def one(self, t):
            self.x = self.x + model(self.x, t, text) + model(self.x, t, empty)
        def __call__(self):
            self.x = new()
            list(map(self.one, Schedule(3)))
            vae.decode(self.x)
    Pipe()()
    """, "r[2 2 2 vae_decode] ?step"),
    ("functools.reduce", """
    import functools
    class Pipe(Base):
        def one(self, x, t):
            return x + model(x, t, text) + model(x, t, empty)
        def __call__(self):
            vae.decode(functools.reduce(self.one, Schedule(3), new()))
    Pipe()()
    """, "r[2 2 2 vae_decode] ?step"),
    ("unrolled by hand with numbers", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            x = x + model(x, 900, text) + model(x, 900, empty)
            x = x + model(x, 600, text) + model(x, 600, empty)
            x = x + model(x, 300, text) + model(x, 300, empty)
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("restarted sampling: an outer loop of the same video", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for resample in range(2):
                for t in Schedule(2):
                    x = x + model(x, t, text)
            vae.decode(x)
    Pipe()()
    """, "r[1 1 1 1 vae_decode]"),
    ("several videos, one after the other, in a request", """
    class Pipe(Base):
        def __call__(self):
            for i in range(2):
                x = new()
                for t in Schedule(2):
                    x = x + model(x, t, text)
                vae.decode(x)
    Pipe()()
    """, "r[b[1 1 vae_decode] b[1 1 vae_decode]] ?block"),
    ("wan s2v: clips in a loop that is called num_repeat", """
    class Pipe(Base):
        def __call__(self, num_repeat):
            out = []
            for r in range(num_repeat):
                latents, timesteps = new(), Schedule(3)
                for i, t in enumerate(timesteps):
                    a = model(latents, t, text)
                    b = model(latents, t, empty)
                    latents = scheduler.step(a + b, latents)
                vae.decode(latents)
    Pipe()(2)
    """, "r[b[2s 2s 2s vae_decode] b[2s 2s 2s vae_decode]] ?block"),
    ("wan animate: segments in a while loop", """
    class Pipe(Base):
        def __call__(self, total):
            start, end, clip_len, refert_num = 0, 0, 5, 1
            all_out_frames = []
            while True:
                if start + refert_num >= total:
                    break
                mask_reft_len = 0 if start == 0 else refert_num
                timesteps = Schedule(2)
                latents = new()
                sigmas = new()
                for i, t in enumerate(timesteps):
                    v = model(latents, t, text)
                    latents = scheduler.step(v, latents)
                vae.decode(latents)
                start += clip_len - refert_num
                end += clip_len - refert_num
    Pipe()(9)
    """, "r[b[1s 1s vae_decode] b[1s 1s vae_decode]]"),
    ("helios: chunks of a pyramid with guidance, decoded one by one", """
    class Pipe(Base):
        def stage2(self, latents):
            for i_s in range(3):
                timesteps = Schedule(2)
                for idx, t in enumerate(timesteps):
                    v = model(latents, t, text)
                    w = model(latents, t, empty)
                    latents = scheduler.step(v + w, latents)
            return latents
        def __call__(self, num_latent_chunk):
            for k in range(num_latent_chunk):
                is_first_chunk = k == 0
                latents = self.stage2(new())
                vae.decode(latents)
    Pipe()(2)
    """, "r[b[2s 2s 2s 2s 2s 2s vae_decode] b[2s 2s 2s 2s 2s 2s vae_decode]]"),
    ("krea: the cache computed anew before each block, in a function", """
    class Pipe(Base):
        def recompute(self, n):
            model(new(), new(), text, kv_cache=[{}], current_start=0)
        def __call__(self, num_blocks):
            for block_idx in range(num_blocks):
                if block_idx > 0:
                    self.recompute(block_idx)
                x = new()
                for i, t in enumerate(Schedule(4)):
                    x = model(x, t, text, kv_cache=[{}], current_start=block_idx * 4680)
                vae.decode(x)
    Pipe()(3)
    """, "r[b[1 1 1 1 vae_decode] b[c 1 1 1 1 vae_decode] b[c 1 1 1 1 vae_decode]]"),
    ("lightx2v: a runner with segments and a scheduler object", """
    class Sched:
        infer_steps = 2
        def step_pre(self, i): self.x = new()
        def step_post(self): pass
    class Runner(Base):
        def infer(self, s): s.noise = model(s.x, new(), text) + model(s.x, new(), empty)
        def run_segment(self, s):
            for step_index in range(s.infer_steps):
                s.step_pre(step_index)
                self.infer(s)
                s.step_post()
        def __call__(self):
            s = Sched()
            for segment_idx in range(2):
                self.run_segment(s)
                vae.decode(s.x)
    Runner()()
    """, "r[b[2 2 vae_decode] b[2 2 vae_decode]]"),
    ("a model that writes into its argument: nobody uses its result", """
    class Pipe(Base):
        def __call__(self):
            for block in range(2):
                x = new()
                for t in Schedule(3):
                    model(x, t, text, kv_cache=[{}])
                model(x, new(), text, kv_cache=[{}])
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 1 c] b[1 1 1 c] vae_decode]"),
    ("the cache is written in the loop of steps, after the last", """
    class Pipe(Base):
        def __call__(self):
            for block in range(2):
                x, ts = new(), Schedule(3)
                for i, t in enumerate(ts):
                    x = model(x, t, text, kv_cache=[{}])
                    if i == 2:
                        model(x, new(), text, kv_cache=[{}])
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 1 c] b[1 1 1 c] vae_decode]"),
    ("numbers for timesteps, of which the last is 0", """
    class Pipe(Base):
        def __call__(self):
            for block in range(2):
                x = new()
                for t in [900, 500, 0]:
                    x = model(x, t, text, kv_cache=[{}])
                model(x, 0, text, kv_cache=[{}])
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1 1 c] b[1 1 1 c] vae_decode]"),
    ("fifo: a queue of frames with a timestep each, one leaves per step", """
    class Pipe(Base):
        def __call__(self, new_video_length):
            x = new()
            for i in range(new_video_length):
                x = x + model(x, Schedule(1), text) + model(x, Schedule(1), empty)
                vae.decode(x)
    Pipe()(3)
    """, "r[2 vae_decode 2 vae_decode 2 vae_decode]"),
    ("windows of each step", """
    class Pipe(Base):
        def __call__(self):
            x = new()
            for i, t in enumerate(Schedule(2)):
                for context in [[0, 1], [1, 2], [2, 3]]:
                    v = model(x, t, text) + model(x, t, empty)
                x = scheduler.step(v, x)
            vae.decode(x)
    Pipe()()
    """, "r[6s 6s vae_decode]"),
    ("an interactive world: while the player plays", """
    class World(Base):
        def denoise(self, x, at):
            for t in Schedule(2):
                x = model(x, t, text, kv_cache=[{}], current_start=at)
            return x
        def __call__(self):
            keys = iter("lrl")
            frame_number = 0
            while (key := next(keys, None)) is not None:
                x = self.denoise(new(), frame_number * 1560)
                model(x, new(), text, kv_cache=[{}], current_start=frame_number * 1560)
                vae.decode(x)
                frame_number += 1
    World()()
    """, "r[b[1 1 c vae_decode] b[1 1 c vae_decode] b[1 1 c vae_decode]]"),
    ("a stream: each call of a method is a chunk, its caller loops outside any request", """
    class Stream:
        def step(self, x, at):
            for t in Schedule(2):
                x = model(x, t, text, kv_cache=[{}], current_start=at)
            model(x, new(), text, kv_cache=[{}], current_start=at)
            return x
    stream = Stream()
    for at in range(0, 9, 3):
        vae.decode(stream.step(new(), at))
    """, "b[1 1 c vae_decode] b[1 1 c vae_decode] b[1 1 c vae_decode]"),
    ("each chunk is a request", """
    class Pipe(Base):
        def __call__(self, at):
            x = new()
            for t in Schedule(2):
                x = model(x, t, text, kv_cache=[{}], current_start=at)
            model(x, new(), text, kv_cache=[{}], current_start=at)
            vae.decode(x)
    for at in range(2):
        Pipe()(at)
    """, "r[b[1 1 c] vae_decode] r[b[1 1 c] vae_decode]"),
    ("after the chunks the whole video is refined", """
    class Pipe(Base):
        def __call__(self):
            for chunk in range(2):
                x = new()
                for t in Schedule(2):
                    x = model(x, t, text)
            for t in Schedule(2):
                x = model(x, t, text)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1] b[1 1] 1 1 vae_decode]"),
    ("a draft, then the chunks", """
    class Pipe(Base):
        def __call__(self):
            for t in Schedule(2):
                x = model(new(), t, text)
            for chunk in range(2):
                for t in Schedule(2):
                    x = model(x, t, text)
            vae.decode(x)
    Pipe()()
    """, "r[1 1 b[1 1] b[1 1] vae_decode]"),
    ("stages of a pyramid, no chunks", """
    class Pipe(Base):
        def __call__(self):
            for i_s in range(len([1, 2])):
                for t in Schedule(2):
                    x = model(new(), t, text)
            for stage in range(2):
                for t in Schedule(2):
                    x = model(new(), t, text)
            vae.decode(x)
    Pipe()()
    """, "r[b[1 1] b[1 1] 1 1 1 1 vae_decode] ?block"),
    ("the denoiser is called through a partial and a method", """
    import functools
    class Pipe(Base):
        def predict(self, x, t):
            f = functools.partial(model, x, t)
            return f(text) + f(empty)
        def __call__(self):
            x = new()
            for t in Schedule(3):
                x = x + self.predict(x, t)
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("try, finally and with around the steps", """
    import contextlib
    class Pipe(Base):
        def __call__(self):
            x = new()
            with contextlib.ExitStack() as stack:
                for t in Schedule(3):
                    try:
                        with contextlib.nullcontext():
                            x = x + model(x, t, text)
                            x = x + model(x, t, empty)
                    finally:
                        pass
            vae.decode(x)
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("an asynchronous pipeline", """
    import asyncio
    class Pipe(Base):
        def __call__(self):
            async def go():
                x = new()
                for t in Schedule(3):
                    x = x + model(x, t, text)
                    await asyncio.sleep(0)
                    x = x + model(x, t, empty)
                return x
            vae.decode(asyncio.run(go()))
    Pipe()()
    """, "r[2 2 2 vae_decode]"),
    ("the steps counted from the other end, with the schedule's index", """
    class Pipe(Base):
        def __call__(self):
            x, ts = new(), Schedule(3)
            for i in reversed(range(3)):
                x = x + model(x, list.__getitem__(ts, i), text)
            vae.decode(x)
    Pipe()()
    """, "r[1 1 1 vae_decode]"),
)
