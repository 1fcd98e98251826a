"""A pipeline of 50 steps that computes and waits in Python before each operation, on the main thread or in a worker, as servers run it."""
import asyncio
import ctypes
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

cuda = ctypes.CDLL("libcudart.so.13")


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(100))


def generate(steps=50):
    pointer = ctypes.c_void_p()
    compute(.05)
    cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64))
    for _ in range(steps):
        compute(.008)
        time.sleep(.004)
        cuda.cudaMemset(pointer, 0, ctypes.c_size_t(64))
    cuda.cudaDeviceSynchronize()


async def served():
    await asyncio.gather(*(asyncio.to_thread(generate, 25) for _ in range(2)))


def pooled():
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(generate, 25).result()


def started():
    thread = threading.Thread(target=generate)
    thread.start()
    thread.join()


{"main": generate, "thread": started, "pool": pooled, "asyncio": lambda: asyncio.run(asyncio.to_thread(generate)),
 "served": lambda: asyncio.run(served())}[sys.argv[1]]()
