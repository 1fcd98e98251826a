"""32 threads that call CUDA, and meanwhile call, raise, run generators and coroutines, compile code that is freed at once, and end.
Usage: busy.py OUTPUT.zst SECONDS. Prints how many threads there were."""
import asyncio
import ctypes
import os
import sys
import threading
import time

import vptrace

cuda = ctypes.CDLL("libcudart.so.13")
end = time.monotonic() + float(sys.argv[2])
counts = []


def call_cuda():
    pointer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(pointer), 64)
    cuda.cudaFree(pointer)


def numbers(n):
    yield n
    if n:
        for x in numbers(n - 1):
            yield x


def recurse(n):
    if n:
        return recurse(n - 1)
    raise ValueError


async def waits(n):
    if n:
        await waits(n - 1)
    else:
        await asyncio.sleep(0)


def fresh(n):
    space = {}
    exec(compile("\n" * n + "def f(x):\n return [x for y in range(20)]", "fresh_%d.py" % n, "exec"), space)
    return space["f"](n)


def work(index):
    n = 0
    while time.monotonic() < end:
        n += 1
        sum(numbers(12))
        try:
            recurse(n % 60)
        except ValueError:
            pass
        fresh(n % 50)
        if n % 8 == 0:
            call_cuda()
        if n % 16 == 0:
            asyncio.run(waits(8))
        if index % 4 == 0 and n % 64 == 0:
            t = threading.Thread(target=call_cuda)
            t.start()
            t.join()
        if index == 1 and n % 64 == 0:
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
    counts.append(n)


sys.setswitchinterval(1e-4)
with vptrace.trace(sys.argv[1], overwrite=True, stacks_hz=1000):
    call_cuda()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(counts))
