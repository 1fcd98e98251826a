"""Checks a capture of tests/stacks/run.py. Usage: stack_run.py PROGRAM SAID SAMPLES.jsonl. Prints a line per rule."""
import json
import re
import sys

program, said, samples = sys.argv[1:]
marked = {}
with open(program) as f:
    for number, line in enumerate(f, 1):
        found = re.search(r"  # (\w+)$", line)
        if found:
            marked[found.group(1)] = number
stages = {}
for line in open(said):
    name, tid, begin, end, *more = line.split()
    stages[name] = (int(tid), int(begin), int(end), more)
rows = [json.loads(line) for line in open(samples)]
failed = 0


def check(rule, holds, found):
    global failed
    print("%s: %s" % (rule, found))
    if not holds:
        failed += 1
        print("FAILED: " + rule)


def of(name, margin=30000000):
    tid, begin, end, _ = stages[name]
    return [r for r in rows if r["tid"] == tid and begin + margin <= r["time_ns"] < end - margin]


def lines_of(name):
    lines = {}
    for row in of(name):
        own = [f for f in row["stack"].split(";") if "run.py:" in f]
        line = int(own[-1].rsplit(":", 1)[1].rstrip(")")) if own else 0
        lines[line] = lines.get(line, 0) + 1
    return lines


def states_of(name):
    states = {}
    for row in of(name):
        states[row["state"]] = states.get(row["state"], 0) + 1
    return states


def sum_ms(name, key):
    return sum(r[key] for r in of(name)) / 1e3


def length_ms(name):
    return (stages[name][2] - stages[name][1]) / 1e6


lines = lines_of("shares")
total = sum(lines.values())
for line, expected in zip(("three", "one"), map(float, stages["shares"][3])):
    share = lines.get(marked[line], 0) / max(total, 1)
    # Three standard deviations of that many draws.
    allowed = 3 * (expected * (1 - expected) / max(total, 1)) ** .5 + .02
    check("the line `%s` has its share of the samples" % line, abs(share - expected) <= allowed,
          "%.3f of %d, expected %.3f +- %.3f" % (share, total, expected, allowed))
check("hot lines have 20 samples at least", total >= 20, total)
# On a busy machine it waits for one most of the time.
used, waited = sum_ms("shares", "cpu_us"), sum_ms("shares", "wait_us")
check("a thread that computes uses a processor or waits for one", used > 0 and used + waited > .6 * length_ms("shares"),
      "%.0f and %.0f of %.0f ms" % (used, waited, length_ms("shares")))

lines, states = lines_of("sleeps"), states_of("sleeps")
total = sum(lines.values())
rate = total / (length_ms("sleeps") / 1e3 - .06)  # without of()'s margins
# Also where the sampler looks only once in 20 ms. Ticks 7 ms apart leave no room for another sample, those 8 ms apart do.
check("a thread that sleeps has about 200 samples a second", 130 <= rate <= 270, "%.0f" % rate)
check("they are all at the line that sleeps", lines.get(marked["sleeps"], 0) >= .95 * total, lines)
check("they say so", states.get("sleeping", 0) >= .95 * total, states)
check("it has used no processor", sum_ms("sleeps", "cpu_us") < .05 * length_ms("sleeps"), "%.1f ms" % sum_ms("sleeps", "cpu_us"))

check("a thread that calls no CUDA has none", not of("never", 0), len(of("never", 0)))

lines = lines_of("ranged")
check("a thread with an open range is known before it calls CUDA", lines.get(marked["ranged"], 0) >= 20 * length_ms("ranged") / 1e3, lines)

states = states_of("contends")
check("a thread beside another on one processor waits for it", sum_ms("contends", "wait_us") > .25 * length_ms("contends"),
      "%.0f of %.0f ms waited, %.0f used" % (sum_ms("contends", "wait_us"), length_ms("contends"), sum_ms("contends", "cpu_us")))
check("some samples find it waiting", states.get("waiting for a CPU", 0) > 0, states)
check("a forked child has no thread but its own", stages["child"][3] == ["1"], stages["child"][3])

check("a stack of too many frames is not shown", len(of("deep", 200000000)) == 0, len(of("deep", 200000000)))
check("the sampler outlives them all", "vptrace-stacks" in stages["threads"][3][0].split(","), stages["threads"][3][0])
sys.exit(failed != 0)
