"""Checks a capture of tests/stacks/slow_lines.py: in each stage, the line marked with its name must be the innermost of the program
in at least 95 % of the samples, and there must be 5, below which a line is not named. Usage: slow_lines.py PROGRAM RANGES.jsonl
SAMPLES.jsonl. How many there are beyond that depends on the machine: where ticks are late or cost much, they are rarer.
Exits with 1 where a line is wrong, with 2 where lines are right but some have too few samples."""
import json
import re
import sys

program, ranges, samples = sys.argv[1:]
marked = {}
with open(program) as f:
    for number, line in enumerate(f, 1):
        found = re.search(r"  # (\w+)$", line)
        if found:
            marked[found.group(1)] = number
rows = [json.loads(line) for line in open(samples)]
wrong_lines = too_few = 0
stages = [r for r in map(json.loads, open(ranges)) if r["name"] in marked]
assert len(stages) == len(marked), (stages, marked)
previous = 0
for row in rows:
    assert row["time_ns"] >= previous or row["tid"] != rows[0]["tid"], "samples are out of order"
    previous = row["time_ns"] if row["tid"] == rows[0]["tid"] else previous
for stage in stages:
    # The begin is not the line's: functions are called, a thread or an event loop is started.
    begin, end = stage["start_ns"] + 40000000, stage["start_ns"] + stage["duration_ns"] - 20000000
    mine = [r for r in rows if r["tid"] == stage["tid"] and begin <= r["time_ns"] < end]
    right = 0
    wrong = {}
    for row in mine:
        # named_modules() is the library of this program.
        own = [f for f in row["stack"].split(";") if "slow_lines.py:" in f and "named_modules" not in f]
        line = int(own[-1].rsplit(":", 1)[1].rstrip(")")) if own else 0
        right += line == marked[stage["name"]]
        if line != marked[stage["name"]]:
            wrong[row["stack"]] = wrong.get(row["stack"], 0) + 1
    busy = sum(r["cpu_us"] + r["wait_us"] for r in mine) * 1e3 / max(end - begin, 1)
    print("%-10s %4d samples, %5.1f %% at line %d, %4.1f %% of the time on a CPU or waiting for one" % (
        stage["name"], len(mine), 100 * right / max(len(mine), 1), marked[stage["name"]],
        100 * busy))
    # Of few samples, one may be from the moment before or after.
    if len(mine) - right > max(.05 * len(mine), 1):
        wrong_lines += 1
        print("FAILED: %s: expected 95 %% of the samples at line %d; else: %s" % (
            stage["name"], marked[stage["name"]], sorted(wrong.items(), key=lambda w: -w[1])[:3]))
    elif len(mine) < 5:
        too_few += 1
        print("FAILED: %s: expected 5 samples at least, found %d" % (stage["name"], len(mine)))
sys.exit(1 if wrong_lines else 2 if too_few else 0)
