"""ranks_job.py FOLDER [OPTION=VALUE]...: writes a job's traces as PyTorch's profiler does, a file a rank, and what is true
of them to FOLDER/truth.json. Every time is an integer of ns, so waits and blame are known exactly.

  ranks=8 steps=10 per_step=4     collectives in a step
  kernel=R:NS                     each kernel of rank R takes NS longer
  host=R:NS                       rank R's host takes NS longer before each collective
  late=R:NS                       rank R begins NS later
  jitter=NS                       work differs at random, by a fixed seed
  shift=R:NS drift=R:PPB          rank R's clock is ahead, and faster, of its own host's
  base=R:NS                       the times of rank R's file count from a moment so much later
  lack=R:FIRST:COUNT              rank R's trace lacks these collectives
  leave_out=R                     rank R has no file
  names=0                         collectives have no communicators
  groups=N                        ranks in groups of N, beside the one of all
  replicas=N                      ranks in sets of N that never meet another set, or of one rank each that meet nobody
  meet=BYTES                      but all meet in the last collective of a step, with a message of BYTES
  frames=N                        steps are called "block 3 frames=N", and the launch of their last kernel is in "vae_decode"
  gauge=R:NAME=VALUE              samples of rank R's GPU, such as SM clock=1200; of all ranks if R is *
  hosts=N                         ranks are spread over N hosts
  start=NS                        the job starts that much later
  setup=R:KEY=VALUE               distributedInfo of rank R says another backend
  overlap=N                       data parallelism: a step's all-reduces, per_step of them, run on a stream of their own beside the
                                  work on what comes next, the optimizer waits for them, and the host for that. Every Nth step,
                                  the last but one first, takes rank R's host as long as host=R:NS says
  sync=0                          of overlap=N, no records of which stream waits for what
"""

import json
import os
import random
import sys

NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
WORK, HOST, TRANSFER, LAUNCH, WAKE = 400_000, 50_000, 80_000, 5_000, 3_000
START = 1_700_000_000_000_000_000
UNITS = {"SM clock": "MHz", "Power draw": "W", "Temperature": "C", "Memory used": "B", "Clocks event reasons": "bits",
         "PyTorch allocated": "B", "PyTorch reserved": "B"}
BEFORE = 10_000_000  # us from a file's base to the job's start


def pairs(texts):
    out = {}
    for text in texts:
        rank, rest = text.split(":", 1)
        out[int(rank)] = int(rest)
    return out


class Job:
    def __init__(self, options):
        self.options = options
        self.ranks = self.number("ranks", 8)
        self.steps = self.number("steps", 10)
        self.per_step = self.number("per_step", 4)
        self.random = random.Random(7)
        self.slow = pairs(options.get("kernel", []))
        self.host = pairs(options.get("host", []))
        self.shift = pairs(options.get("shift", []))
        self.drift = pairs(options.get("drift", []))
        self.late = pairs(options.get("late", []))
        self.base = pairs(options.get("base", []))
        self.hosts = self.number("hosts", 1)
        self.group = self.number("groups", 0)
        self.replicas = self.number("replicas", 0)
        self.meet = self.number("meet", 0)
        self.gauges = [dict() for _ in range(self.ranks)]
        for text in options.get("gauge", []):
            rank, gauge = text.split(":", 1)
            name, value = gauge.split("=")
            for r in range(self.ranks) if rank == "*" else [int(rank)]:
                self.gauges[r][name] = value
        self.names = self.number("names", 1)
        self.left_out = {int(r) for r in options.get("leave_out", [])}
        self.lack = {}
        for text in options.get("lack", []):
            rank, first, count = map(int, text.split(":"))
            self.lack.setdefault(rank, set()).update(range(first, first + count))
        self.rows = []  # of each collective: ranks, arrivals, ends
        self.ops = [[] for _ in range(self.ranks)]
        self.spans = None  # of overlap=N

    def number(self, name, usual):
        return int(self.options.get(name, [usual])[-1])

    def teams(self, index):
        """The groups that meet in collective `index`."""
        everyone = list(range(self.ranks))
        if self.replicas and not (self.meet and (index + 1) % self.per_step == 0):
            return [(str(1 + g), everyone[g : g + self.replicas]) for g in range(0, self.ranks, self.replicas)]
        if not self.group or index % 2 == 0:
            return [("0", everyone)]
        return [(str(1 + g // self.group), everyone[g : g + self.group]) for g in range(0, self.ranks, self.group)]

    def run(self):
        jitter = self.number("jitter", 0)
        ends = [START + self.late.get(r, 0) for r in range(self.ranks)]
        index = 0
        for step in range(self.steps):
            begins = list(ends)
            for _ in range(self.per_step):
                arrivals = []
                for r in range(self.ranks):
                    host = HOST + self.host.get(r, 0) + (self.random.randrange(jitter) if jitter else 0)
                    work = WORK + self.slow.get(r, 0)
                    start = ends[r] + host
                    self.ops[r].append(("gemm", start, work, index, None))
                    arrivals.append(start + work)
                for name, team in self.teams(index):
                    present = [r for r in team if r not in self.left_out and index not in self.lack.get(r, ())]
                    last = max(arrivals[r] for r in team)
                    if self.replicas == 1 and len(team) == 1:
                        ends[team[0]] = last
                        continue
                    for k, r in enumerate(team):
                        ends[r] = last + TRANSFER + 1000 * (k % 2)
                        self.ops[r].append(("comm", arrivals[r], ends[r] - arrivals[r], index, (name, team)))
                    self.rows.append((index, name, present, {r: arrivals[r] for r in present}, {r: ends[r] for r in present}))
                index += 1
            for r in range(self.ranks):
                self.ops[r].append(("step", begins[r], ends[r] - begins[r], step, None))

    # ---- overlap=N: with the calls that make it so ----

    def call(self, r, name, length, **args):
        self.correlations[r] += 1
        self.put(r, "cuda_runtime", name, 1, self.hosts_at[r], length, correlation=self.correlations[r], **args)
        self.hosts_at[r] += length
        return self.correlations[r]

    def put(self, r, cat, name, tid, start, length, **args):
        self.spans[r].append((cat, name, tid, start, length, args))

    def compute(self, r, name, length):
        launch = self.call(r, "cudaLaunchKernel", LAUNCH)
        start = max(self.tails[r], self.hosts_at[r])
        self.tails[r] = start + length + self.slow.get(r, 0)
        self.put(r, "kernel", name, 7, start, self.tails[r] - start, device=0, context=1, stream=7, correlation=launch,
                 grid=[24, 1, 1], block=[512, 1, 1])

    def await_stream(self, r, waits, other):
        record = self.call(r, "cudaEventRecord", 2000)
        wait = self.call(r, "cudaStreamWaitEvent", 2000)
        if not self.number("sync", 1):
            return
        self.put(r, "cuda_sync", "Stream Wait Event", waits, self.hosts_at[r], 0, cuda_sync_kind="Stream Wait Event", device=0,
                 context=1, stream=waits, correlation=wait, wait_on_stream=other, wait_on_cuda_event_record_corr_id=record,
                 wait_on_cuda_event_id=record)

    def reduce(self, index):
        arrivals, launches = {}, {}
        for r in range(self.ranks):
            self.await_stream(r, 20, 7)
            begin = self.hosts_at[r]
            launches[r] = self.call(r, "cudaLaunchKernelExC", LAUNCH)
            self.put(r, "cpu_op", "record_param_comms", 1, begin - 500, LAUNCH + 1000, **self.params(("0", list(range(self.ranks)))))
            arrivals[r] = max(self.tails[r], self.comm_tails[r], self.hosts_at[r])
        for r in range(self.ranks):
            end = self.comm_tails[r] = max(arrivals.values()) + WORK * 3 // 2 + 1000 * (r % 2)
            self.put(r, "kernel", NCCL, 20, arrivals[r], end - arrivals[r], device=0, context=1, stream=20, correlation=launches[r],
                     grid=[24, 1, 1], block=[512, 1, 1])
        self.rows.append((index, "0", list(range(self.ranks)), arrivals, dict(enumerate(self.comm_tails))))

    def run_overlapped(self, every):
        self.spans = [[] for _ in range(self.ranks)]
        self.correlations = [0] * self.ranks
        self.hosts_at, self.tails, self.comm_tails = ([START + self.late.get(r, 0) for r in range(self.ranks)] for _ in range(3))
        for step in range(self.steps):
            begins = list(self.hosts_at)
            for r in range(self.ranks):
                self.hosts_at[r] += HOST + (self.host.get(r, 0) if step % every == every - 2 else 0)
                for _ in range(self.per_step):
                    self.compute(r, "sm90_xmma_gemm_bf16", WORK)
            for bucket in range(self.per_step):
                for r in range(self.ranks):
                    for _ in range(4):
                        self.compute(r, "sm90_xmma_gemm_bf16", WORK)
                self.reduce(step * self.per_step + bucket)
            for r in range(self.ranks):
                self.await_stream(r, 7, 20)
                self.tails[r] = max(self.tails[r], self.comm_tails[r])
                self.compute(r, "multi_tensor_apply_kernel", WORK)
                self.call(r, "cudaStreamSynchronize", max(self.tails[r] + WAKE - self.hosts_at[r], WAKE))
                self.put(r, "user_annotation", "ProfilerStep#%d" % step, 1, begins[r], self.hosts_at[r] - begins[r])

    # ---- what is true ----

    def truth(self):
        wait, blame, last, count = ({r: 0 for r in range(self.ranks)} for _ in range(4))
        for _index, _name, present, arrivals, _ends in self.rows:
            if len(present) < 2:
                continue
            latest = max(arrivals[r] for r in present)
            who = min(r for r in present if arrivals[r] == latest)
            for r in present:
                wait[r] += latest - arrivals[r]
                blame[who] += latest - arrivals[r]
                count[r] += 1
            last[who] += any(arrivals[r] != latest for r in present)
        here = [r for r in range(self.ranks) if r not in self.left_out]
        return {
            "ranks": here,
            "rows": sum(len(row[2]) > 1 for row in self.rows),
            "wait_ns": [wait[r] for r in here],
            "blame_ns": [blame[r] for r in here],
            "last": [last[r] for r in here],
            "matched": [count[r] for r in here],
        }

    # ---- files ----

    def params(self, team):
        name, ranks = team
        count = self.meet // 2 if self.meet and name == "0" else 1024
        return {
            "Collective name": "allreduce", "In msg nelems": count, "Out msg nelems": count, "dtype": "BFloat16",
            "Group size": len(ranks), "Process Group Name": name,
            "Process Group Description": "default_pg", "Process Group Ranks": json.dumps(ranks),
        }

    def clock(self, r, ns):
        return ns + self.shift.get(r, 0) + (ns - START) * self.drift.get(r, 0) // 1_000_000_000

    def base_us(self, r):
        return START // 1000 - BEFORE + self.base.get(r, 0) // 1000

    def events(self, r):
        def event(cat, name, tid, start, end, **args):
            start, end = self.clock(r, start), self.clock(r, end)
            base = self.base_us(r)
            # the microseconds of a base, with three decimals: exact
            ts, dur = start - base * 1000, end - start
            pid = 0 if cat in ("kernel", "cuda_sync") else 1000 + r
            out.append(
                '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"args":%s}'
                % (cat, name, pid, tid, ts // 1000, ts % 1000, dur // 1000, dur % 1000, json.dumps(args))
            )

        out, correlation = [], 0
        frames = self.number("frames", 0)
        for name, value in sorted(self.gauges[r].items()):
            for at in range(START, max(op[1] + op[2] for op in self.ops[r]) + 100_000, 100_000):
                ts = self.clock(r, at) - self.base_us(r) * 1000
                out.append('{"ph":"C","cat":"counter","name":"%s","pid":0,"ts":%d.%03d,"unit":"%s","args":{"value":%s}}'
                           % (name, ts // 1000, ts % 1000, UNITS[name], value))
        for cat, name, tid, start, length, args in self.spans[r] if self.spans else []:
            event(cat, name, tid, start, start + length, **args)
        for kind, start, length, index, team in sorted(self.ops[r], key=lambda op: op[1]):
            if kind == "step":
                name = "block %d frames=%d" % (index, frames) if frames else "ProfilerStep#%d" % index
                event("user_annotation", name, 1, start, start + length)
                continue
            if kind == "comm" and index in self.lack.get(r, ()):
                continue
            correlation += 1
            # a kernel is launched just before the GPU could run it; a collective while the one before runs
            call = start - LAUNCH if kind == "gemm" else start - WORK // 2
            if frames and kind == "gemm" and (index + 1) % self.per_step == 0:
                event("user_annotation", "vae_decode", 1, call - 500, call + LAUNCH)
            if kind == "comm" and self.names:
                event("cpu_op", "record_param_comms", 1, call - 1000, call + LAUNCH // 2 + 1000, **self.params(team))
            event("cuda_runtime", "cudaLaunchKernel", 1, call, call + LAUNCH // 2, correlation=correlation)
            if kind == "comm":  # the host waits for it, so what it does next begins when all have come
                correlation += 1
                event(
                    "cuda_runtime", "cudaStreamSynchronize", 1, call + LAUNCH, start + length + WAKE,
                    correlation=correlation,
                )
                correlation -= 1
            launched, correlation = correlation, correlation + (kind == "comm")
            symbol = NCCL if kind == "comm" else "sm90_xmma_gemm_bf16"
            # without names the stream tells the communicators apart
            stream = 7 if kind == "gemm" else 20 + (team[0] != "0")
            event(
                "kernel", symbol, stream, start, start + length,
                device=0, stream=stream, correlation=launched, grid=[24, 1, 1], block=[512, 1, 1],
            )
        return out

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        setup = dict(text.split(":", 1) for text in self.options.get("setup", []))
        for r in range(self.ranks):
            if r in self.left_out:
                continue
            info = {"backend": setup.get(str(r), "nccl"), "rank": r, "world_size": self.ranks}
            with open(os.path.join(folder, "rank%d.json" % r), "w", encoding="utf-8") as f:
                f.write('{"schemaVersion":1,"host_name":"node%d","distributedInfo":%s,"baseTimeNanoseconds":%d,\n'
                        % (r * self.hosts // self.ranks, json.dumps(info), self.base_us(r) * 1000))
                f.write('"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132,"computeMajor":9,"computeMinor":0}],\n')
                f.write('"traceEvents":[\n' + ",\n".join(self.events(r)) + "\n]}\n")
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as f:
            json.dump(self.truth(), f)


def main(folder, words):
    global START
    options = {}
    for word in words:
        name, value = word.split("=", 1)
        options.setdefault(name, []).append(value)
    START += int(options.get("start", [0])[-1])
    job = Job(options)
    if "overlap" in options:
        job.run_overlapped(int(options["overlap"][-1]))
    else:
        job.run()
    job.write(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
