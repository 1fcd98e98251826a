"""ranks_pipeline.py FOLDER STAGE: writes traces of four ranks, as PyTorch's profiler does, of which each sends its result to the next one;
STAGE computes 1.5 times as long as the others. The host runs ahead, and waits at the end of each step."""

import json
import os
import sys

START_US = 1_700_000_000_000_000
STAGES, STEPS, PARTS, WORK_US, SEND_US = 4, 10, 6, 900, 60
SEND = "ncclDevKernel_SendRecv"


class Rank:
    def __init__(self, number):
        self.number, self.host, self.tail, self.calls, self.events = number, 0.0, 0.0, 0, []

    def put(self, cat, name, tid, start, length, **args):
        pid = 0 if cat == "kernel" else 1000 + self.number
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": START_US + start, "dur": length,
                            "args": args})

    def launch(self):
        self.calls += 1
        self.put("cuda_runtime", "cudaLaunchKernel", 1, self.host, 5, correlation=self.calls)
        self.host += 5
        return max(self.tail, self.host + 2)

    def run(self, name, stream, start, end):
        self.put("kernel", name, stream, start, end - start, device=0, context=1, stream=stream, correlation=self.calls,
                 grid=[24, 1, 1], block=[512, 1, 1])
        self.tail = end


def send(a, b):
    begins = []
    for rank in a, b:
        rank.put("cpu_op", "record_param_comms", 1, rank.host, 6, **{
            "Collective name": "send", "In msg nelems": 8 << 20, "Out msg nelems": 8 << 20, "dtype": "BFloat16", "Group size": 2,
            "Process Group Name": str(a.number), "Process Group Ranks": json.dumps([a.number, b.number])})
        rank.host += 0.5
        begins.append(rank.launch())
    for rank, begin in zip((a, b), begins):
        rank.run(SEND, 30, begin, max(begins) + SEND_US)


def main(folder, heavy):
    ranks = [Rank(number) for number in range(STAGES)]
    for step in range(STEPS):
        begins = [rank.host for rank in ranks]
        for _ in range(PARTS):
            for rank in ranks:
                start = rank.launch()
                rank.run("sm90_xmma_gemm_bf16", 7, start, start + (WORK_US * 3 // 2 if rank.number == heavy else WORK_US))
                if rank.number + 1 < STAGES:
                    send(rank, ranks[rank.number + 1])
        for rank, begin in zip(ranks, begins):
            rank.calls += 1
            end = rank.tail + 3
            rank.put("cuda_runtime", "cudaStreamSynchronize", 1, rank.host, end - rank.host, correlation=rank.calls)
            rank.host = end
            rank.put("user_annotation", "ProfilerStep#%d" % step, 1, begin, end - begin)
    os.makedirs(folder)
    for rank in ranks:
        with open(os.path.join(folder, "rank%d.json" % rank.number), "w", encoding="utf-8") as f:
            info = {"backend": "nccl", "rank": rank.number, "world_size": STAGES}
            json.dump({"schemaVersion": 1, "host_name": "node0", "distributedInfo": info,
                       "traceEvents": sorted(rank.events, key=lambda e: e["ts"])}, f)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
