"""What a flight recorder's file holds, compared with the stand-in's log of all operations.

    python3 ring.py LOG ROWS REPORT        ROWS from vptrace-analyze cat, REPORT from --format json

Every kernel of the log that ended in the file's time, up to its ring.complete_until, must be in it, and none that
is not in the log. Prints what differs, then how many kernels the log has, the file has, and how long its kernels
last, from its first moment to the end of the last kernel, in ms. complete_until lies before that end by the time a
record takes from the GPU to the ring, which is long on a busy machine."""

import json
import sys

log_path, rows_path, report_path = sys.argv[1:4]
with open(report_path, encoding="utf-8") as report:
    start_ns = next(int(line.split(":")[1].strip(" ,\n")) for line in report if '"window_start_ns"' in line)
end_ns = 0
complete_ns = 0
kernels = set()
with open(rows_path, encoding="utf-8") as rows:
    for line in rows:
        row = json.loads(line)
        if row["kind"] == "kernel":
            kernels.add((row["start_ns"], row["start_ns"] + row["duration_ns"]))
        elif row["kind"] == "clock":
            end_ns = row["trace_ns"]
        elif row["kind"] == "meta" and row["key"] == "ring.complete_until":
            complete_ns = int(row["value"])
until_ns = min(end_ns, complete_ns or end_ns)
logged = set()
count = 0
with open(log_path, encoding="utf-8") as log:
    for line in log:
        words = line.split()
        if len(words) < 10 or words[3] != "kernel":
            continue
        count += 1
        logged.add((int(words[0]), int(words[1])))
expected = {k for k in logged if start_ns <= k[1] <= until_ns}
missing = expected - kernels
strange = kernels - logged
for what, which in (("is missing", missing), ("is not in the log", strange)):
    for kernel in sorted(which)[:3]:
        print("kernel from", kernel[0], "to", kernel[1], what)
last_ns = max((end for _, end in kernels), default=start_ns)
print("%d logged, %d expected, %d kept, %d ms" % (count, len(expected), len(kernels), (last_ns - start_ns) // 1000000))
sys.exit(1 if missing or strange else 0)
