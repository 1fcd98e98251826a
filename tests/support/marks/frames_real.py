#!/usr/bin/env python3
"""frames_real.py - what requests of the real diffusers were asked for and made, on the CPU: tiny models with random weights.

Frames are those of the result, whatever its form; none for latents, pictures and failures. What is expected follows from the
arguments of each call and the rounding of its pipeline. No GPU is needed or used.
"""
import sys

import torch
from diffusers import (AutoencoderKLTemporalDecoder, EulerDiscreteScheduler, StableVideoDiffusionPipeline,
                       UNetSpatioTemporalConditionModel)
from marks_real import listener, wan
from marks_real_parts import flux


def run_wan(prompt=None, guidance=1.0, **named):
    torch.manual_seed(0)
    pipe = wan(False)
    pipe.set_progress_bar_config(disable=True)
    given = {"num_frames": 9, "output_type": "pt", **named}
    texts = torch.randn(len(prompt) * given["num_videos_per_prompt"] if prompt else 1, 8, 32)
    if prompt:
        pipe.encode_prompt = lambda **_: (texts, texts)
    else:
        given.update(prompt_embeds=texts, negative_prompt_embeds=texts)
    return pipe(prompt, height=16, width=16, num_inference_steps=2, guidance_scale=guidance,
                generator=torch.Generator().manual_seed(7), **given)


def run_failing():
    torch.manual_seed(0)
    pipe = wan(False)
    pipe.set_progress_bar_config(disable=True)

    def fail(*_, **__):
        raise MemoryError("simulated")

    pipe.vae.decode = fail
    texts = torch.randn(1, 8, 32)
    try:
        pipe(prompt_embeds=texts, height=16, width=16, num_frames=9, num_inference_steps=2, guidance_scale=1.0)
    except MemoryError:
        return
    raise AssertionError("the program's exception is lost")


def run_flux():
    pipe = flux()
    pipe.set_progress_bar_config(disable=True)
    pipe(prompt_embeds=torch.randn(2, 8, 32), pooled_prompt_embeds=torch.randn(2, 32), height=8, width=8, num_inference_steps=2)


def run_svd():
    """Nobody gives a number of frames: the model's configuration has it."""
    from PIL import Image  # pylint: disable=import-outside-toplevel
    from transformers import CLIPImageProcessor, CLIPVisionConfig, CLIPVisionModelWithProjection  # pylint: disable=import-outside-toplevel

    torch.manual_seed(0)
    unet = UNetSpatioTemporalConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=32, in_channels=8, out_channels=4, num_frames=6,
        down_block_types=("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"),
        up_block_types=("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"), cross_attention_dim=32, num_attention_heads=8,
        projection_class_embeddings_input_dim=96, addition_time_embed_dim=32)
    vae = AutoencoderKLTemporalDecoder(block_out_channels=[32, 64], down_block_types=["DownEncoderBlock2D"] * 2, latent_channels=4)
    encoder = CLIPVisionModelWithProjection(CLIPVisionConfig(
        hidden_size=32, projection_dim=32, num_hidden_layers=1, num_attention_heads=4, image_size=224, intermediate_size=37, patch_size=56))
    pipe = StableVideoDiffusionPipeline(
        vae=vae, image_encoder=encoder, unet=unet, feature_extractor=CLIPImageProcessor(crop_size=32, size=32),
        scheduler=EulerDiscreteScheduler(sigma_min=0.002, sigma_max=700, use_karras_sigmas=True, prediction_type="v_prediction",
                                         timestep_type="continuous"))
    pipe.set_progress_bar_config(disable=True)
    pipe(Image.new("RGB", (32, 32)), height=32, width=32, num_inference_steps=2)


SIZE = "height=16 width=16"
CASES = (
    ("tensors", run_wan, "frames=9", SIZE + " steps=2 guidance=1.0 seed=7 batch=1 frames_asked=9"),
    ("two texts, two videos each, a number that is rounded", lambda: run_wan(["a cat", "a dog"], num_frames=11, num_videos_per_prompt=2),
     "frames=36", SIZE + " steps=2 guidance=1.0 seed=7 batch=4 frames_asked=44"),
    ("arrays", lambda: run_wan(output_type="np"), "frames=9", SIZE + " steps=2 guidance=1.0 seed=7 batch=1 frames_asked=9"),
    ("pictures", lambda: run_wan(output_type="pil", num_frames=5), "frames=5",
     SIZE + " steps=2 guidance=1.0 seed=7 batch=1 frames_asked=5"),
    ("a tuple", lambda: run_wan(return_dict=False, guidance=5.0), "frames=9",
     SIZE + " steps=2 guidance=5.0 seed=7 batch=1 frames_asked=9"),
    ("latents", lambda: run_wan(output_type="latent"), "", SIZE + " steps=2 guidance=1.0 seed=7 output=latent"),
    ("a failure", run_failing, "", SIZE + " steps=2 guidance=1.0 error=MemoryError"),
    ("images", run_flux, "", "height=8 width=8 steps=2 guidance=3.5 batch=2"),
    ("a number in the model's configuration", run_svd, "frames=6", "height=32 width=32 steps=2 batch=1"),
)


def main():
    library = listener()
    failed = 0
    for what, run, frames, facts in CASES:
        library.lines.clear()
        library.metadata_seen.clear()
        run()
        request, = [line for line in library.lines if line.startswith("request ")]
        found = request.split()[2:], sorted(fact[len("request."):] for fact in library.metadata_seen)
        expected = frames.split(), sorted(facts.split())
        failed += found != expected
        print("ok: %s: %s" % (what, " ".join(found[0])) if found == expected else
              "FAIL: %s: found %r, expected %r" % (what, found, expected))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
