#!/usr/bin/env python3
"""marks_pipelines.py - pipelines of the real diffusers and torch, tiny and on the CPU, and what their marks have to find.

    marks_pipelines.py own [NAME...]        the pipelines below: of diffusers, and loops by hand in the style of published ones
    marks_pipelines.py shared FOLDER        the scripts of FOLDER, each by itself
    marks_pipelines.py table README         whether the table there has all pipelines with their truth; VPT_RECORD=1 writes it.
                                            Needs no package

The truth is (requests, steps, blocks, context passes, frames of the last request or None), then the stages. Only presets are used.
"""
import contextlib
import io
import os
import subprocess
import sys

STAGES = ("text_encode", "image_encode", "vae_encode", "transformer", "unet", "scheduler_step", "vae_decode", "audio_decode", "vocoder")

# script and arguments: the truth, from the heads of the scripts
SHARED = {
    "wan_t2v.py": ((2, 8, 0, 0, 9), {"text_encode": 2, "transformer": 16, "scheduler_step": 8, "vae_decode": 2}),
    "wan_batch.py": ((1, 2, 0, 0, 36), {"text_encode": 1, "transformer": 2, "scheduler_step": 2, "vae_decode": 1}),
    "euler_by_hand.py": ((0, 5, 0, 0, None), {"transformer": 5, "vae_decode": 1}),
    "xfuser_causal.py": ((1, 12, 3, 6, 17), {"text_encode": 1, "transformer": 18, "vae_decode": 1}),
    "compiled.py": ((5, 15, 0, 0, 9), {"text_encode": 5, "transformer": 30, "scheduler_step": 15, "vae_decode": 5}),
    "blockish.py anyflow_far": ((1, 6, 3, 2, 17), {"text_encode": 1, "transformer": 8, "scheduler_step": 6, "vae_decode": 1}),
    "blockish.py helios": ((1, 6, 3, 0, 13), {"text_encode": 1, "transformer": 12, "scheduler_step": 6, "vae_decode": 3}),
    "blockish.py skyreels_long": ((1, 6, 3, 0, 17), {"text_encode": 1, "transformer": 6, "scheduler_step": 10, "vae_decode": 1}),
    "blockish.py ltx2": ((1, 2, 0, 0, 5), {"text_encode": 1, "transformer": 2, "scheduler_step": 4, "vae_decode": 1,
                                         "audio_decode": 1, "vocoder": 1}),
    "blockish.py modular_wan": ((1, 3, 0, 0, 9), {"text_encode": 1, "transformer": 6, "scheduler_step": 3, "vae_decode": 1}),
    "vdp.py": ((2, 8, 0, 0, 5), {"unet": 16}),
}
MARKS = {"vdp.py": "vdp2.marks"}  # what a user wrote, where no preset knows the project
# What the table calls them, in its order.
TITLES = {
    "wan_t2v.py": "Wan, two requests with guidance",
    "wan_batch.py": "Wan, two prompts, two videos each",
    "euler_by_hand.py": "a loop by hand, no scheduler",
    "xfuser_causal.py": "xDiT's causal Wan",
    "compiled.py": "Wan, compiled in five ways",
    "blockish.py anyflow_far": "AnyFlow-FAR",
    "blockish.py helios": "Helios",
    "blockish.py skyreels_long": "SkyReels DF, three windows",
    "blockish.py ltx2": "LTX-2, video and audio",
    "blockish.py modular_wan": "modular Wan",
    "vdp.py": "video-diffusion-pytorch, with a mark file",
    "wan_video_to_video": "Wan, video to video",
    "skyreels_of_one_window": "SkyReels DF, one window",
    "cosmos_text_to_world": "Cosmos, text to world",
    "hunyuan_framepack": "FramePack of diffusers",
    "ddim_without_a_vae": "DDIM, a U-Net without a VAE",
    "wan_with_heun": "Wan with Heun's method",
    "flux": "FLUX",
    "self_forcing": "by hand, as Self-Forcing",
    "causvid": "by hand, as CausVid",
    "krea_realtime": "by hand, as Krea realtime",
    "longlive": "by hand, as LongLive, the prompt changes",
    "framepack": "by hand, as FramePack",
    "stream_diffusion": "by hand, as StreamDiffusion",
    "world_model": "by hand, a world model",
    "magi_windows": "by hand, windows as MAGI's",
    "heun_by_hand": "by hand, Heun's method",
    "unrolled": "by hand, without any loop",
}
# Where the frames of blocks are known: those of a causal VAE for chunks of 1, 2 and 2 latents. Helios decodes chunks of 2 one by one.
BLOCK_FRAMES = {"xfuser_causal.py": [1, 8, 8], "blockish.py anyflow_far": [1, 8, 8], "blockish.py helios": [5, 5, 5]}
OWN = {}


def pipeline(truth, **stages):
    def add(function):
        OWN[function.__name__] = function, truth, stages
        return function

    return add


# ---- diffusers ----


def _wan(kind, **more):
    import diffusers
    from marks_real_parts import wan_parts

    pipe = getattr(diffusers, kind)(**wan_parts(), **more)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def _texts(width=32):
    import torch

    return {"prompt_embeds": torch.ones(1, 8, width), "negative_prompt_embeds": torch.ones(1, 8, width)}


@pipeline((1, 2, 0, 0, 9), text_encode=1, vae_encode=1, transformer=4, scheduler_step=2, vae_decode=1)
def wan_video_to_video():
    import torch

    _wan("WanVideoToVideoPipeline")(video=torch.rand(9, 3, 16, 16), **_texts(), height=16, width=16, num_inference_steps=4, strength=0.5,
                                    guidance_scale=5.0, output_type="pt")


@pipeline((1, 3, 0, 0, 9), text_encode=1, transformer=3, scheduler_step=9, vae_decode=1)
def skyreels_of_one_window():
    import diffusers
    import torch
    from marks_real_parts import skyreels_transformer, wan_vae

    pipe = diffusers.SkyReelsV2DiffusionForcingPipeline(
        tokenizer=None, text_encoder=None, transformer=skyreels_transformer(), vae=wan_vae(),
        scheduler=diffusers.UniPCMultistepScheduler(flow_shift=8.0, use_flow_sigmas=True))
    pipe.set_progress_bar_config(disable=True)
    pipe(prompt=None, prompt_embeds=torch.ones(1, 8, 32), num_inference_steps=3, guidance_scale=1.0, height=16, width=16, num_frames=9,
         base_num_frames=9, output_type="pt")


@pipeline((1, 4, 0, 0, None), unet=4, scheduler_step=4)
def ddim_without_a_vae():
    import diffusers

    unet = diffusers.UNet2DModel(sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(4, 8),
                                 norm_num_groups=2, down_block_types=("DownBlock2D", "DownBlock2D"),
                                 up_block_types=("UpBlock2D", "UpBlock2D"))
    pipe = diffusers.DDIMPipeline(unet=unet, scheduler=diffusers.DDIMScheduler())
    pipe.set_progress_bar_config(disable=True)
    pipe(num_inference_steps=4)


@pipeline((1, 5, 0, 0, 9), text_encode=1, transformer=10, scheduler_step=5, vae_decode=1)
def wan_with_heun():
    import diffusers

    pipe = _wan("WanPipeline")
    pipe.scheduler = diffusers.FlowMatchHeunDiscreteScheduler()  # three steps of it take five
    pipe(**_texts(), height=16, width=16, num_frames=9, num_inference_steps=3, guidance_scale=5.0, output_type="pt")


@pipeline((1, 4, 0, 0, None), text_encode=1, transformer=4, scheduler_step=4, vae_decode=1)
def flux():
    from marks_real_parts import run_flux

    run_flux(4)


@pipeline((1, 2, 0, 0, 9), text_encode=1, transformer=4, scheduler_step=4, vae_decode=1)
def cosmos_text_to_world():
    """The scheduler is called twice a step."""
    import diffusers
    import torch
    from marks_real_parts import AllIsSafe, cosmos_transformer, cosmos_vae

    pipe = diffusers.CosmosTextToWorldPipeline(
        text_encoder=None, tokenizer=None, transformer=cosmos_transformer(), vae=cosmos_vae(), safety_checker=AllIsSafe(),
        scheduler=diffusers.EDMEulerScheduler(sigma_min=0.002, sigma_max=80, sigma_data=0.5, prediction_type="epsilon",
                                              final_sigmas_type="sigma_min"))
    pipe.set_progress_bar_config(disable=True)
    pipe(**_texts(), height=32, width=32, num_frames=9, num_inference_steps=2, guidance_scale=3.0, output_type="pt")


@pipeline((1, 4, 2, 0, 25), text_encode=1, image_encode=1, vae_encode=1, transformer=4, scheduler_step=4, vae_decode=2)
def hunyuan_framepack():
    """Two sections of three latent frames, the second decoded with the first and the image: 25 frames, of which 17 were asked for. Its
    loops over sections and over callbacks have the same target."""
    import torch
    from marks_real_parts import framepack

    pipe = framepack()
    pipe.set_progress_bar_config(disable=True)
    pipe(image=torch.rand(1, 3, 32, 32), prompt_embeds=torch.ones(1, 8, 16), pooled_prompt_embeds=torch.ones(1, 8),
         prompt_attention_mask=torch.ones(1, 8), height=32, width=32, num_frames=17, latent_window_size=3, num_inference_steps=2,
         output_type="pt")


# ---- loops by hand: the loops are those of the projects, the models are diffusers' ----


class Causal:
    """A wrapper as Self-Forcing's: arguments say where in the KV cache a pass is."""

    def __init__(self):
        import torch
        from marks_real_parts import wan_transformer, wan_vae

        class Wrapper(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = wan_transformer()

            def forward(self, noisy_image_or_video, conditional_dict, timestep, kv_cache=None, crossattn_cache=None,  # pylint: disable=unused-argument
                        current_start=None):  # pylint: disable=unused-argument
                return self.model(noisy_image_or_video, timestep[:, 0], conditional_dict["prompt_embeds"], return_dict=False)[0]

        self.generator, self.vae = Wrapper(), wan_vae()
        self.schedule = torch.tensor([1000, 750, 500, 250])
        self.text = {"prompt_embeds": torch.ones(1, 8, 32)}

    def noise(self, frames):
        import torch

        return torch.randn(1, 16, frames, 2, 2)

    def decode(self, latents):
        import torch

        self.vae.decode(torch.cat(latents, 2), return_dict=False)


@pipeline((0, 12, 3, 3, None), transformer=15, vae_decode=1)
def self_forcing():
    import torch

    p = Causal()
    with torch.no_grad():
        output, current_start_frame, kv_cache = [], 0, [{"k": torch.zeros(1)}]
        for current_num_frames in [3, 3, 3]:
            noisy_input = p.noise(current_num_frames)
            for index, current_timestep in enumerate(p.schedule):
                timestep = torch.ones([1, current_num_frames], dtype=torch.int64) * current_timestep
                if index < len(p.schedule) - 1:
                    denoised = p.generator(noisy_image_or_video=noisy_input, conditional_dict=p.text, timestep=timestep, kv_cache=kv_cache,
                                           current_start=current_start_frame * 1560)
                    noisy_input = denoised + torch.randn_like(denoised)
                else:
                    denoised = p.generator(noisy_image_or_video=noisy_input, conditional_dict=p.text, timestep=timestep, kv_cache=kv_cache,
                                           current_start=current_start_frame * 1560)
            output.append(denoised)
            p.generator(noisy_image_or_video=denoised, conditional_dict=p.text, timestep=torch.ones_like(timestep) * 0, kv_cache=kv_cache,
                        current_start=current_start_frame * 1560)
            current_start_frame += current_num_frames
        p.decode(output)


@pipeline((0, 6, 2, 1, None), transformer=7, vae_decode=1)
def causvid():
    import torch

    p = Causal()
    with torch.no_grad():
        output, num_blocks, kv_cache = [], 2, [{}]
        for block_index in range(num_blocks):
            noisy = p.noise(3)
            for current_timestep in p.schedule[:3]:
                noisy = p.generator(noisy, p.text, torch.ones([1, 3]) * current_timestep, kv_cache, None, block_index * 3 * 1560)
            output.append(noisy)
            if block_index < num_blocks - 1:
                p.generator(noisy, p.text, torch.zeros([1, 3]), kv_cache, None, block_index * 3 * 1560)
        p.decode(output)


@pipeline((0, 8, 2, 2, None), transformer=10, vae_decode=2)
def krea_realtime():
    """Each block first writes the cache anew from the frames before; it is decoded by itself."""
    import torch

    p = Causal()
    with torch.no_grad():
        context, kv_cache = p.noise(1), [{}]
        for block_idx in range(2):
            p.generator(context, p.text, torch.zeros([1, 1]), kv_cache, None, 0)
            x = p.noise(3)
            for t in p.schedule:
                x = p.generator(x, p.text, torch.ones([1, 3]) * t, kv_cache, None, block_idx * 4680)
            p.decode([x])
            context = x[:, :, -1:]


@pipeline((0, 8, 4, 5, None), transformer=13, vae_decode=1)
def longlive():
    """The prompt changes after two blocks: the cache is written anew, in the block that follows."""
    import torch

    p = Causal()

    def recache(latents):
        p.generator(latents, p.text, torch.zeros([1, 3]), [{}], None, 0)

    with torch.no_grad():
        output, kv_cache, segment = [], [{}], 0
        for block_start in range(0, 12, 3):
            if block_start == 6:
                segment += 1
                recache(output[-1])
            x = p.noise(3)
            for timestep in p.schedule[:2]:
                x = p.generator(x, p.text, torch.ones([1, 3]) * timestep, kv_cache, None, block_start * 1560)
            output.append(x)
            p.generator(x, p.text, torch.zeros([1, 3]), kv_cache, None, block_start * 1560)
        p.decode(output)


@pipeline((0, 6, 2, 0, None), transformer=12, vae_decode=2)
def framepack():
    """Sections, each with guidance and decoded by itself; no cache."""
    import torch
    from marks_real_parts import wan_transformer

    p, model, embeds = Causal(), wan_transformer(), (torch.ones(1, 8, 32), torch.zeros(1, 8, 32))

    def sample_hunyuan(history):
        x = p.noise(3) + history.mean()
        for i, t in enumerate(torch.linspace(1000, 250, 3)):
            cond, uncond = (model(x, t.expand(1), text, return_dict=False)[0] for text in embeds)
            x = x - 0.1 * (uncond + 5 * (cond - uncond))
        return x

    with torch.no_grad():
        history = p.noise(1)
        for latent_padding in reversed(range(2)):  # of a section
            section = latent_padding
            history = torch.cat([sample_hunyuan(history), history], 2)
            p.decode([history])
        assert section == 0


@pipeline((0, 6, 6, 0, None), transformer=6, vae_decode=6)
def stream_diffusion():
    """A batch of steps in each pass: every frame is one pass."""
    import torch
    from marks_real_parts import wan_transformer

    p, model, text = Causal(), wan_transformer(), torch.ones(2, 8, 32)
    timesteps = torch.tensor([900, 400])
    with torch.no_grad():
        buffer = p.noise(1)
        for frame in range(6):
            batch = torch.cat([p.noise(1), buffer])
            batch = model(batch, timesteps, text, return_dict=False)[0]
            buffer = batch[:1]
            p.decode([batch[1:]])


@pipeline((0, 8, 4, 4, None), transformer=12, vae_decode=4)
def world_model():
    """A frame for each action, of two steps, and then its own cache pass, whose timestep is a tensor."""
    import torch

    p = Causal()

    def denoise(x, at):
        for i in range(2):
            x = p.generator(x, p.text, torch.full([1, 1], 1000 - 500 * i), [{}], None, at)
        return x

    with torch.no_grad():
        for at, action in enumerate(("left", "left", "up", "left")):
            frame = denoise(p.noise(1), at * 1560)
            p.generator(frame, p.text, torch.zeros([1, 1]), [{}], None, at * 1560)
            p.decode([frame])
            assert action


@pipeline((0, 10, 0, 0, None), transformer=10, vae_decode=0)
def magi_windows():
    """Several chunks in each pass: a step is a pass of the window, and no chunk has a time of its own."""
    import torch
    from marks_real_parts import wan_transformer

    model, text, x = wan_transformer(), torch.ones(1, 8, 32), torch.randn(1, 16, 6, 2, 2)
    with torch.no_grad():
        for denoise_step in range(10):
            window = slice(max(0, denoise_step // 2 - 1), denoise_step // 2 + 2)
            x[:, :, window] += 0.1 * model(x[:, :, window], torch.tensor([900 - 80 * denoise_step]), text, return_dict=False)[0]


@pipeline((0, 4, 0, 0, None), transformer=8, vae_decode=1)
def heun_by_hand():
    import torch
    from marks_real_parts import wan_transformer

    p, model, text = Causal(), wan_transformer(), torch.ones(1, 8, 32)
    with torch.no_grad():
        x, sigmas = p.noise(3), torch.linspace(1, 0, 5)
        for i in range(len(sigmas) - 1):
            h = sigmas[i + 1] - sigmas[i]
            k1 = model(x, sigmas[i].expand(1) * 1000, text, return_dict=False)[0]
            k2 = model(x + h * k1, sigmas[i + 1].expand(1) * 1000, text, return_dict=False)[0]
            x = x + h * (k1 + k2) / 2
        p.decode([x])


@pipeline((0, 3, 0, 0, None), transformer=6, vae_decode=1)
def unrolled():
    """No loop at all, guidance with new latents each time: only arguments tell the steps."""
    import torch
    from marks_real_parts import wan_transformer

    p, model, text, empty = Causal(), wan_transformer(), torch.ones(1, 8, 32), torch.zeros(1, 8, 32)
    with torch.no_grad():
        x, t = p.noise(3), torch.tensor([900.0])
        v, w = model(x, t, encoder_hidden_states=text)[0], model(x + 0, t, encoder_hidden_states=empty)[0]
        x, t = x - 0.1 * (v + w), torch.tensor([600.0])
        v, w = model(x, t, encoder_hidden_states=text)[0], model(x, t, encoder_hidden_states=empty)[0]
        x, t = x - 0.1 * (v + w), torch.tensor([300.0])
        v, w = model(x, t, encoder_hidden_states=text)[0], model(x, t, encoder_hidden_states=empty)[0]
        p.decode([x - 0.1 * (v + w)])


# ---- what was found ----


def found_in(lines):
    """The counts and the stages of ranges."""
    kinds = [line.split() for line in lines]
    count = {kind: sum(words[0] == kind for words in kinds) for kind in ("request", "step", "block", "context")}
    requests = [words for words in kinds if words[0] == "request"]
    frames = [int(word[7:]) for word in (requests[-1] if requests else []) if word.startswith("frames=")]
    stages = [words[1] for words in kinds if words[0] == "stage"]
    return ((count["request"], count["step"], count["block"], count["context"], frames[0] if frames else None),
            {stage: stages.count(stage) for stage in STAGES if stage in stages})


def frames_of_blocks(lines):
    """Of each block, as far as it is known."""
    blocks = [line.split() for line in lines if line.split()[0] == "block"]
    return [next((int(word[7:]) for word in words if word.startswith("frames=")), None) for words in blocks]


def misplaced(lines):
    """Context passes in steps, and decoders in blocks that hold no other pass after them."""
    opened = []
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        opened[depth:] = [line.split()[0]]
        if opened[-1] in ("context", "block") and "step" in opened[:-1]:
            yield line.strip() + " in a step"


def say(name, truth, found, wrong):
    words = "requests %s, steps %s, blocks %s, context passes %s, frames %s" % found[0]
    stages = ", ".join("%s %d" % item for item in found[1].items())
    print("%s: %s: %s; %s" % ("FAIL" if wrong or truth != found else "ok", name, words, stages))
    if truth != found:
        print("    expected %r" % (truth, ))
    for text in wrong:
        print("    " + text)
    return bool(wrong) or truth != found


def listened(run):
    """What run() makes of a library that only listens."""
    import marked
    import vptrace

    library = vptrace._library.loaded = marked.Library()
    vptrace.mark_calls("auto")
    with contextlib.redirect_stdout(io.StringIO()):
        run()
    vptrace.unmark_calls()
    assert library.depth == 0
    return library.lines


def own(names):
    failed = 0
    for name, (function, truth, stages) in OWN.items():
        if not names or name in names:
            lines = listened(function)
            failed += say(name, (truth, {stage: n for stage, n in stages.items() if n}), found_in(lines), list(misplaced(lines)))
    print("%d pipelines, %d failed" % (len(names or OWN), failed))
    return failed


def child(script, marks):
    """One script in this process; prints its ranges after its own output."""
    import runpy

    import marked
    import vptrace

    library = vptrace._library.loaded = marked.Library()
    vptrace.mark_calls(*([os.path.abspath(marks)] if marks else []), "auto")
    runpy.run_path(script, run_name="__main__")
    sys.stdout.flush()
    print("\n==> ranges <==\n" + "\n".join(library.lines))


def shared(folder):
    os.chdir(folder)
    failed = 0
    for command, truth in SHARED.items():
        script = command.split()[0]
        if not os.path.exists(script):
            print("SKIPPED: %s/%s is not there" % (folder, script))
            continue
        done = subprocess.run([sys.executable, __file__, "child", MARKS.get(script, ""), *command.split()], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        missing = [line for line in done.stderr.splitlines() if line.startswith(("ModuleNotFoundError", "ImportError"))]
        if missing and "==> ranges <==" not in done.stdout:
            print("SKIPPED: %s: %s" % (command, missing[-1]))
            continue
        lines = done.stdout.partition("==> ranges <==\n")[2].splitlines()
        wrong = list(misplaced(lines))
        if frames_of_blocks(lines) != BLOCK_FRAMES.get(command, [None] * truth[0][2]):
            wrong.append("frames of blocks: %s" % frames_of_blocks(lines))
        failed += say(command, truth, found_in(lines), wrong)
    return failed


def table():
    """The lines of README's table."""
    truths = {**SHARED, **{name: (truth, stages) for name, (_, truth, stages) in OWN.items()}}
    assert set(truths) == set(TITLES), set(truths) ^ set(TITLES)
    yield "| pipeline | requests | steps | blocks | context passes | frames | stages |"
    yield "|---|---|---|---|---|---|---|"
    for name, title in TITLES.items():
        counts, stages = truths[name]
        cells = [title, *("" if count is None else str(count) for count in counts)]
        yield "| %s | %s |" % (" | ".join(cells), ", ".join("%s %d" % item for item in stages.items() if item[1]))


def check_table(readme):
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    lines = list(table())
    begin = text.index(lines[0])
    end = text.index("\n\n", begin)
    if os.environ.get("VPT_RECORD"):
        with open(readme, "w", encoding="utf-8") as file:
            file.write(text[:begin] + "\n".join(lines) + text[end:])
        return 0
    found = text[begin:end].splitlines()
    for line in sorted(set(found) ^ set(lines)):
        print("%s %s" % ("not the truth:" if line in found else "not in the table:", line))
    print("%d pipelines" % (len(lines) - 2))
    return found != lines


if __name__ == "__main__":
    if sys.argv[1] == "child":
        marks, sys.argv = sys.argv[2], sys.argv[3:]
        sys.path.insert(0, os.getcwd())
        child(sys.argv[0], marks)
    elif sys.argv[1] == "table":
        sys.exit(1 if check_table(sys.argv[2]) else 0)
    elif sys.argv[1] == "shared":
        sys.exit(1 if shared(sys.argv[2]) else 0)
    else:
        sys.exit(1 if own(sys.argv[2:]) else 0)
