"""A program that knows nothing of vptrace, for `vptrace run`. Prints what its threads did: "NAME TID BEGIN_NS END_NS [SHARE...]", and
for the stage `shares` the share of its time that each marked line took.
  shares    two lines take turns, one three times as long as the other
  sleeps    a thread that calls CUDA once and then sleeps
  never     a thread that calls no CUDA
  ranged    one that has opened a range, before its first call
  contends  a thread that shares one processor with a forked child
  deep      more frames than are recorded"""
import ctypes
import hashlib
import os
import sys
import threading
import time

cuda = ctypes.CDLL("libcudart.so.13")
libc = ctypes.CDLL(None)
seconds = float(sys.argv[1])


def call_cuda():
    pointer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(pointer), 64)
    cuda.cudaFree(pointer)


def own_threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % task) as f:
            names.append(f.read().strip())
    return names


def now():
    return time.time_ns()  # as the trace has it


def say(name, begin, *more):
    # One write: print() writes the end of a line by itself, and another thread's line may come between.
    sys.stdout.write(" ".join(map(str, (name, threading.get_native_id(), begin, now(), *more))) + "\n")
    sys.stdout.flush()


def shares():
    call_cuda()
    time.sleep(.15)
    begin, spent, work = now(), [0, 0], hashlib.pbkdf2_hmac
    while now() < begin + seconds * 1e9:
        a = now()
        work("sha256", b"", b"", 6000)  # three
        b = now()
        work("sha256", b"", b"", 2000)  # one
        spent[0] += b - a
        spent[1] += now() - b
    say("shares", begin, *[s / sum(spent) for s in spent])


def sleeps():
    call_cuda()
    time.sleep(.15)
    begin = now()
    time.sleep(seconds)  # sleeps
    say("sleeps", begin)


def never():
    begin = now()
    time.sleep(seconds)
    say("never", begin)


def ranged():
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    library.vptrace_range_push(b"ranged")
    time.sleep(.15)
    begin = now()
    time.sleep(seconds)  # ranged
    say("ranged", begin)
    library.vptrace_range_pop()


def contends():
    call_cuda()
    time.sleep(.15)
    processor = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, [processor])
    child = os.fork()
    if not child:
        threads = own_threads()
        os.write(1, b"child 0 0 0 %d\n" % len(threads))
        while True:
            pass
    begin, total = now(), 0
    while now() < begin + seconds * 1e9:
        total += 1  # contends
    os.kill(child, 9)
    os.waitpid(child, 0)
    say("contends", begin)


def descend(n):
    return descend(n - 1) if n else time.sleep(seconds)


def deep():
    call_cuda()
    begin = now()
    sys.setrecursionlimit(5000)
    descend(1500)
    say("deep", begin)


threading.stack_size(64 << 20)
first = [threading.Thread(target=f) for f in (sleeps, never, ranged, shares)]
for thread in first:
    thread.start()
for thread in first:
    thread.join()
for f in (contends, deep):
    thread = threading.Thread(target=f)
    thread.start()
    thread.join()
say("threads", 0, ",".join(own_threads()))
