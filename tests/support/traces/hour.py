#!/usr/bin/env python3
"""hour.py FILE: writes an hour of a pipeline on eight GPUs as a trace of PyTorch's profiler: 4,000 blocks of four steps and a
VAE, kernels of a hundred names, some late blocks, a wait in each step."""
import json
import sys

KERNELS = ["flash_fwd_kernel<{}>", "sm90_xmma_gemm_bf16_{}", "vectorized_elementwise_kernel<{}>", "layer_norm_kernel_{}",
           "cudnn_conv_implicit_{}", "ncclDevKernel_AllReduce_{}", "reduce_kernel<{}>", "triton_poi_fused_{}"]


def events():
    at, n = 1000.0, 0
    for block in range(4000):
        length = 880000.0 + (block % 7) * 4000 + (300000 if block % 97 == 0 else 0)
        yield {"ph": "X", "cat": "user_annotation", "name": f"block {block}", "pid": 1, "tid": 2, "ts": at, "dur": length}
        for part in range(5):
            begin, end = at + part * length / 5 + 10, at + (part + 1) * length / 5 - 10
            name = "vae_decode" if part == 4 else f"step {part}"
            yield {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 2, "ts": begin, "dur": end - begin}
            for gpu in range(8):
                n += 1
                launch = begin + 20 + gpu * 15
                yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": launch,
                       "dur": 8, "args": {"correlation": n}}
                yield {"ph": "X", "cat": "kernel", "name": KERNELS[(block + part + gpu) % 8].format(n % 13), "pid": gpu, "tid": 7,
                       "ts": launch + 12, "dur": (end - begin) * (70 + (n * 7) % 25) / 100,
                       "args": {"device": gpu, "context": 1, "stream": 7, "correlation": n}}
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 2, "ts": begin + 200,
                   "dur": end - begin - 230}
        at += length


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write('{"schemaVersion": 1, "traceEvents": [\n')
        for i, event in enumerate(events()):
            out.write((",\n" if i else "") + json.dumps(event))
        out.write("\n]}\n")


if __name__ == "__main__":
    main()
