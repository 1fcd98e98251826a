"""A program with slow lines, each in a stage of its own: the samples of that stage must name the line marked with the stage's name.
Usage: slow_lines.py OUTPUT.zst [SECONDS]; needs the tracer, its module and the stand-in CUDA."""
import _thread
import asyncio
import ctypes
import sys
import threading
import time

import seccomp_filter
import vptrace

cuda = ctypes.CDLL("libcudart.so.13")
libc = ctypes.CDLL(None)
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0


def call_cuda():
    pointer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(pointer), 64)
    cuda.cudaFree(pointer)


class Module:
    def __init__(self, depth):
        self.children = [Module(depth - 1) for _ in range(3)] if depth else []

    def named_modules(self, prefix=""):
        yield prefix, self
        for i, child in enumerate(self.children):
            for item in child.named_modules("%s.%d" % (prefix, i)):
                yield item


def sleeps(end):
    while time.monotonic() < end:
        time.sleep(.1)  # sleep


def blocks_in_c(end):
    while time.monotonic() < end:
        libc.usleep(100000)  # blocked


def holds_the_gil(end, usleep=ctypes.PyDLL(None).usleep):
    while time.monotonic() < end:
        usleep(50000)  # gil


def walks(end, model=Module(6)):
    while time.monotonic() < end:
        for name, module in model.named_modules(): pass  # walk


def waits_for_a_lock(end):
    lock = threading.Lock()

    def hold():
        time.sleep(max(0, end - time.monotonic()))
        lock.release()
    lock.acquire()
    _thread.start_new_thread(hold, ())  # does not wait for it, as Thread.start() does
    lock.acquire()  # lock


async def leaf():
    while time.monotonic() < leaf.end:
        time.sleep(.05)  # coroutine


async def middle():
    await leaf()


def runs_a_coroutine(end):
    leaf.end = end
    asyncio.run(middle())


def catches(end):
    while time.monotonic() < end:
        try:
            raise ValueError
        except ValueError:
            libc.usleep(50000)  # handler


PLANTS = (("sleep", sleeps), ("blocked", blocks_in_c), ("gil", holds_the_gil), ("walk", walks), ("lock", waits_for_a_lock),
          ("coroutine", runs_a_coroutine), ("handler", catches))

if __name__ == "__main__":
    seccomp_filter.install()
    # Real time: the stand-in's own clock stands still while the host waits.
    with vptrace.trace(sys.argv[1], overwrite=True) as capture:
        call_cuda()
        time.sleep(.2)
        for name, plant in PLANTS:
            with vptrace.stage(name):
                plant(time.monotonic() + seconds)
            call_cuda()
    if capture.summary.code not in (0, None):
        print(capture.summary.reason, file=sys.stderr)
