"""marks_real_parts.py - tiny models of diffusers with random weights, for marks_real.py and marks_pipelines.py."""
import torch
from diffusers import (AutoencoderKL, AutoencoderKLWan, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel,
                       SkyReelsV2Transformer3DModel, UniPCMultistepScheduler, WanTransformer3DModel)

SIZES = {"patch_size": (1, 2, 2), "num_attention_heads": 2, "attention_head_dim": 12, "in_channels": 16, "out_channels": 16,
         "text_dim": 32, "freq_dim": 256, "ffn_dim": 32, "num_layers": 2, "cross_attn_norm": True,
         "qk_norm": "rms_norm_across_heads", "rope_max_seq_len": 32}


def wan_transformer():
    return WanTransformer3DModel(**SIZES).eval()


def skyreels_transformer():
    return SkyReelsV2Transformer3DModel(**SIZES).eval()


def wan_vae():
    return AutoencoderKLWan(base_dim=3, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True]).eval()


def wan_parts():
    scheduler = UniPCMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0)
    return {"tokenizer": None, "text_encoder": None, "vae": wan_vae(), "scheduler": scheduler, "transformer": wan_transformer()}


def flux_transformer():
    return FluxTransformer2DModel(patch_size=1, in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16,
                                  num_attention_heads=2, joint_attention_dim=32, pooled_projection_dim=32, axes_dims_rope=[4, 4, 8]).eval()


def flux():
    vae = AutoencoderKL(sample_size=32, in_channels=3, out_channels=3, block_out_channels=(4, ), layers_per_block=1, latent_channels=1,
                        norm_num_groups=1, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.0609, scaling_factor=1.5035)
    return FluxPipeline(scheduler=FlowMatchEulerDiscreteScheduler(), text_encoder=None, tokenizer=None, text_encoder_2=None,
                        tokenizer_2=None, vae=vae, transformer=flux_transformer())


def run_flux(steps=2):
    torch.manual_seed(0)
    pipe = flux()
    pipe.set_progress_bar_config(disable=True)
    return pipe(prompt_embeds=torch.randn(1, 8, 32), pooled_prompt_embeds=torch.randn(1, 32), height=8, width=8,
                num_inference_steps=steps, output_type="pt").images
