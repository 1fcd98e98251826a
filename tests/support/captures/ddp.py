"""Training with DDP, as PyTorch's profiler records it: a simulation of two host threads and two streams.

ddp.py [steps=5] [passes=4] [layers=12] [bucket=3] [comm_us=900] [no_sync=1] [marks=step|pass|none] [threads=1]
       [scatter=1] [loss=1] [tensor=1] [bytes=1] [seed=1] >trace.json

no_sync: gradients are summed in the last pass of a step only. threads=1: the main thread does all. scatter: FSDP instead of DDP.
loss: the main thread sums the loss in each pass. tensor: it also sums activations, as tensor parallelism does. bytes: the trace says
the size of messages.
"""
import json
import random
import sys

options = dict(steps=5, passes=4, layers=12, bucket=3, comm_us=900, no_sync=0, marks="step", threads=2,
               scatter=0, loss=0, tensor=0, bytes=0, seed=1)
for word in sys.argv[1:]:
    key, value = word.split("=")
    options[key] = value if key == "marks" else int(value)
O = type("Options", (), options)

MAIN, AUTOGRAD, COMPUTE, COMM = 100, 101, 7, 20
LAUNCH_US, GAP_US, DELAY_US = 6, 4, 5
events = []
clock = {MAIN: 0.0, AUTOGRAD: 0.0}
free = {COMPUTE: 0.0, COMM: 0.0}
correlation = 0


def add(name, cat, start, end, tid, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid,
                   "ts": round(start, 3), "dur": round(end - start, 3), "args": args})


def call(thread, name, us=LAUNCH_US):
    global correlation
    start = clock[thread] + GAP_US
    clock[thread] = start + us
    correlation += 1
    add(name, "cuda_runtime", start, clock[thread], thread, correlation=correlation)
    return start


def launch(thread, stream, name, us, grid):
    start = max(call(thread, "cudaLaunchKernel") + DELAY_US, free[stream] + 1)
    free[stream] = start + us
    add(name, "kernel", start, free[stream], stream, device=0, context=1, stream=stream, correlation=correlation,
        grid=[grid, 1, 1], block=[256, 1, 1])
    return clock[thread]


def follow(thread, stream, other):
    call(thread, "cudaEventRecord", 2)
    call(thread, "cudaStreamWaitEvent", 2)
    free[stream] = max(free[stream], free[other])


def collective(thread, name, said, us, grid, count):
    begin = clock[thread]
    follow(thread, COMM, COMPUTE)
    launch(thread, COMM, "ncclDevKernel_" + name + "(ncclDevKernelArgsStorage<4096ul>)", us, grid)
    if O.bytes:
        add("record_param_comms", "cpu_op", begin + 1, clock[thread] + 1, thread,
            **{"Collective name": said, "In msg nelems": count, "Out msg nelems": count, "dtype": "Float",
               "Process Group Name": "0", "Group size": 8})


SUM = "AllReduce_Sum_f32_RING_LL"


def sum_now(thread):
    """An all-reduce that the compute stream waits for at once."""
    collective(thread, SUM, "allreduce", 120, 24, 4000000)
    follow(thread, COMPUTE, COMM)


def backward(thread, is_summed, jitter):
    for layer in reversed(range(O.layers)):
        launch(thread, COMPUTE, "ampere_bf16_s16816gemm_bf16_128x128_nt", 200 * jitter(), 432)
        launch(thread, COMPUTE, "ampere_bf16_s16816gemm_bf16_128x128_tn", 200 * jitter(), 432)
        if O.tensor:
            sum_now(thread)
        if layer % O.bucket == 0:
            us = O.comm_us * jitter()
            if O.scatter:
                collective(thread, "ReduceScatter_Sum_f32_RING_LL", "reduce_scatter", us, 24, 6000000)
            elif is_summed:
                collective(thread, SUM, "allreduce", us, 24, 6000000 + layer)
    if is_summed or O.scatter:
        follow(thread, COMPUTE, COMM)


def one_pass(step, number):
    # Both of a pair have the same times.
    random.seed(O.seed * 1000003 + step * 1009 + number)
    jitter = lambda: random.uniform(0.95, 1.05)
    begin = clock[MAIN]
    for _ in range(O.layers):
        launch(MAIN, COMPUTE, "ampere_bf16_s16816gemm_bf16_128x128_nn", 200 * jitter(), 432)
        if O.tensor:
            sum_now(MAIN)
    if O.loss:
        collective(MAIN, SUM, "allreduce", 15, 1, 1)
    thread = MAIN if O.threads == 1 else AUTOGRAD
    clock[thread] = max(clock[thread], clock[MAIN] + (0 if thread == MAIN else 15))
    backward(thread, not O.no_sync or number == O.passes - 1, jitter)
    clock[MAIN] = max(clock[MAIN], clock[thread] + 10)
    return begin


for step in range(O.steps):
    begin = clock[MAIN]
    for number in range(O.passes):
        begin_pass = one_pass(step, number)
        if number == O.passes - 1:
            for _ in range(4):
                launch(MAIN, COMPUTE, "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", 150, 132)
            call(MAIN, "cudaStreamSynchronize")
            clock[MAIN] = max(clock[MAIN], free[COMPUTE] + 5)
            events[-1]["dur"] = round(clock[MAIN] - events[-1]["ts"], 3)
        if O.marks == "pass":
            add("ProfilerStep#%d" % (step * O.passes + number), "user_annotation", begin_pass, clock[MAIN], MAIN)
    if O.marks == "step":
        add("ProfilerStep#%d" % step, "user_annotation", begin, clock[MAIN], MAIN)
    clock[MAIN] += 20

json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8,
           "computeMinor": 0, "numSms": 108, "totalGlobalMem": 85899345920}],
           "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}, "traceEvents": events}, sys.stdout)
