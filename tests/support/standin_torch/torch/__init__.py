"""As much of PyTorch as bench/gpu/coexist.py uses, on the simulated GPU: a tensor launches kernels, and the
profiler is a client of CUPTI as Kineto is.

STANDIN_KINETO in the environment: "subscribes", as Kineto does at its first profile, and keeps the subscription;
else it does not subscribe. lib/libtorch_cpu.so beside this file, which a test writes, says the same to those who
look there. The simulated libraries come first in LD_LIBRARY_PATH."""

import ctypes

from . import autograd, profiler  # noqa: F401

__version__ = "standin"

_PTX = (b".version 6.4\n.target sm_75\n.address_size 64\n"
        b".visible .entry add_(.param .u64 ns) { ret; }\n")


class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def check(code):
    if code:
        raise RuntimeError("error %d" % code)


class _Kernel:
    """Loaded when the first tensor needs it."""
    def __init__(self):
        self.cudart = ctypes.CDLL("libcudart.so.13")
        library, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cudart.cudaLibraryLoadData(ctypes.byref(library), _PTX, None, None, 0, None, None, 0))
        check(self.cudart.cudaLibraryGetKernel(ctypes.byref(self.handle), library, b"add_"))
        launch = self.cudart.cudaLaunchKernel
        launch.argtypes = [
            ctypes.c_void_p, _Dim3, _Dim3,
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_void_p
        ]

    def launch(self):
        ns = ctypes.c_uint64(1000)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
        check(self.cudart.cudaLaunchKernel(self.handle, _Dim3(1, 1, 1), _Dim3(32, 1, 1), arguments, 0, None))


_kernel = None


class _Tensor:
    def __init__(self, device):
        global _kernel  # pylint: disable=global-statement
        self.is_on_gpu = device == "cuda"
        if self.is_on_gpu and not _kernel:
            _kernel = _Kernel()

    def add_(self, _):
        if self.is_on_gpu:
            _kernel.launch()


def zeros(_, device):
    return _Tensor(device)


class cuda:  # pylint: disable=invalid-name
    @staticmethod
    def synchronize():
        check(_kernel.cudart.cudaDeviceSynchronize())
