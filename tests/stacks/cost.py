"""What sampling costs: processor time of the sampler's thread, and the host's own speed with and without it, in pairs.
Usage: cost.py SECONDS DEPTH [PAIRS [THREADS]], with the tracer's module, and stand-in CUDA as for slow_lines.py. One thread, or THREADS,
call CUDA and run Python code DEPTH calls deep; another one calls CUDA and sleeps."""
import ctypes
import os
import sys
import threading
import time

import vptrace

cuda = ctypes.CDLL("libcudart.so.13")
seconds, depth = float(sys.argv[1]), int(sys.argv[2])
pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
others = int(sys.argv[4]) - 1 if len(sys.argv) > 4 else 0


def call_cuda():
    pointer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(pointer), 64)
    cuda.cudaFree(pointer)


def busy(n):
    total = 0
    for i in range(n):
        total += len(str(i)) + abs(-i)
    return total


def deep(level, n):
    return busy(n) if level == 0 else deep(level - 1, n)


def sampler_used():
    """Processor time of the sampler's thread, seconds, and how often it ran: once per tick."""
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % task) as f:
            if f.read() != "vptrace-stacks\n":
                continue
        with open("/proc/self/task/%s/schedstat" % task) as f:
            used, _, times = map(int, f.read().split())
            return used / 1e9, times
    return 0, 0


def sleeper(stop):
    call_cuda()
    while not stop.wait(.1):
        pass


def worker(stop):
    call_cuda()
    while not stop.is_set():
        deep(depth, 2000)


def run(hz):
    vptrace.start("cost.zst", overwrite=True, stacks_hz=hz, counters_ms=-1)
    stop = threading.Event()
    threads = [threading.Thread(target=target, args=(stop,)) for target in [sleeper] + others * [worker]]
    for thread in threads:
        thread.start()
    call_cuda()
    time.sleep(.3)
    (used, ticks), began, own, rounds = sampler_used(), time.perf_counter(), time.thread_time(), 0
    while time.perf_counter() < began + seconds:
        deep(depth, 2000)
        rounds += 1
    took, own, (used_now, ticks_now) = time.perf_counter() - began, time.thread_time() - own, sampler_used()
    stop.set()
    for thread in threads:
        thread.join()
    vptrace.stop()
    return {"share": (used_now - used) / took, "tick": (used_now - used) / max(ticks_now - ticks, 1), "hz": (ticks_now - ticks) / took,
            "speed": rounds / own, "wall": rounds / took}


def middle(values):
    return sorted(values)[len(values) // 2]


found = []
for i in range(pairs):
    # The first of a pair is the other one next time: a machine that grows slower prefers neither.
    on, off = (run(200), run(-1)) if i % 2 else (run(-1), run(200))[::-1]
    found.append(dict(on, speed=on["speed"] / off["speed"], wall=on["wall"] / off["wall"]))
print("Python %s, %d threads, %d frames: %.0f ticks/s, %.1f us each, %.2f %% of a core; "
      "the host does %.4f of its work per second of processor time "
      "(%.4f to %.4f), %.4f per second" % (
          sys.version.split()[0], others + 2, depth + 4, middle([f["hz"] for f in found]), 1e6 * middle([f["tick"] for f in found]),
          100 * middle([f["share"] for f in found]), middle([f["speed"] for f in found]), min(f["speed"] for f in found),
          max(f["speed"] for f in found), middle([f["wall"] for f in found])))
