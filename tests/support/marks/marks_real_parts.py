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


class AllIsSafe(torch.nn.Module):
    """Instead of a package that loads large models."""

    device, dtype = torch.device("cpu"), torch.float32

    def check_text_safety(self, prompt):  # pylint: disable=unused-argument
        return True

    def check_video_safety(self, video):
        return video


def cosmos_transformer():
    import diffusers

    return diffusers.CosmosTransformer3DModel(
        in_channels=4, out_channels=4, num_attention_heads=2, attention_head_dim=16, num_layers=2, mlp_ratio=2, text_embed_dim=32,
        adaln_lora_dim=4, max_size=(4, 32, 32), patch_size=(1, 2, 2), rope_scale=(2.0, 1.0, 1.0), concat_padding_mask=True,
        extra_pos_embed_type="learnable").eval()


def cosmos_vae():
    import diffusers

    return diffusers.AutoencoderKLCosmos(
        latent_channels=4, encoder_block_out_channels=(8, 8, 8, 8), decode_block_out_channels=(8, 8, 8, 8), attention_resolutions=(8, ),
        resolution=64, num_layers=2, patch_size=4, spatial_compression_ratio=4, temporal_compression_ratio=4).eval()


def framepack():
    import diffusers
    import transformers

    transformer = diffusers.HunyuanVideoFramepackTransformer3DModel(
        in_channels=4, out_channels=4, num_attention_heads=2, attention_head_dim=10, num_layers=1, num_single_layers=1,
        num_refiner_layers=1, patch_size=2, patch_size_t=1, guidance_embeds=True, text_embed_dim=16, pooled_projection_dim=8,
        rope_axes_dim=(2, 4, 4), has_image_proj=True, image_proj_dim=16, has_clean_x_embedder=True).eval()
    vae = diffusers.AutoencoderKLHunyuanVideo(
        latent_channels=4, down_block_types=("HunyuanVideoDownBlock3D", ) * 4, up_block_types=("HunyuanVideoUpBlock3D", ) * 4,
        block_out_channels=(8, 8, 8, 8), layers_per_block=1, norm_num_groups=4, mid_block_add_attention=True).eval()
    sight = transformers.SiglipVisionModel(transformers.SiglipVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=8)).eval()
    return diffusers.HunyuanVideoFramepackPipeline(
        text_encoder=None, tokenizer=None, text_encoder_2=None, tokenizer_2=None, transformer=transformer, vae=vae,
        scheduler=FlowMatchEulerDiscreteScheduler(shift=7.0), image_encoder=sight,
        feature_extractor=transformers.SiglipImageProcessor(size={"height": 32, "width": 32}))
