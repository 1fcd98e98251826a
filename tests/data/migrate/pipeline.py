"""What the programs of these pages call: a model whose layers are copies on the GPU."""

import ctypes
import os

_FOLDER = os.environ["VPT_STANDIN"]
ctypes.CDLL(_FOLDER + "/libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
_CUDA = ctypes.CDLL(_FOLDER + "/libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
_MEMORY = ctypes.c_void_p()
assert not _CUDA.cudaMalloc(ctypes.byref(_MEMORY), 4096)


class Weight:
    """What vptrace.model() reads of a parameter."""

    dtype = "torch.bfloat16"

    def numel(self):
        """Of owl-wms' world model."""
        return 1093823296

    def element_size(self):
        """In bytes."""
        return 2


class Model:
    """Eight layers."""

    def parameters(self):
        """As torch.nn.Module has it."""
        return [Weight()]

    def __call__(self, value, layers=8):
        for _ in range(layers):
            assert not _CUDA.cudaMemset(_MEMORY, 0, ctypes.c_size_t(4096))
        return value


def prompts(count):
    """Some prompts."""
    return ["prompt %d" % i for i in range(count)]
