#!/usr/bin/env python3
"""marked_check.py - compares a report with what the simulated GPU did.

    marked_check.py REPORT LOG BEGIN       JSON report; what VPT_STANDIN_LOG wrote; what generate.py wrote

Which stage and step an op is in follows from its kernel's name and its place in the log alone. An instance of a stage or step
lasts from its first op's start to its last op's end.
"""
import json
import sys


def main():
    report, log, begin = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        report = json.load(file)
    with open(begin, encoding="utf-8") as file:
        begin = json.load(file)["begin"]
    ops = []
    with open(log, encoding="utf-8") as file:
        for line in file:
            start, end, _, _, name = line.split()[:5]
            ops.append((int(start), int(end), name))
    ops.sort()
    assert [name for _, _, name in ops] == ["text"] + ["cond", "uncond", "update"] * 4 + ["decode"], ops

    def lasting(first, last):
        return ops[last][1] - ops[first][0]

    instances = {
        "text_encode": [lasting(0, 0)],
        "transformer": [lasting(1 + 3 * i + j, 1 + 3 * i + j) for i in range(4) for j in range(2)],
        "scheduler_step": [lasting(3 + 3 * i, 3 + 3 * i) for i in range(4)],
        "vae_decode": [lasting(13, 13)],
        "denoise step": [lasting(1 + 3 * i, 3 + 3 * i) for i in range(4)],
    }
    stages = {stage["name"]: stage for stage in report["stages"]}
    for name, times in instances.items():
        stage = stages[name]
        assert stage["count"] == len(times), (name, stage, times)
        assert stage["source"] == "annotation", stage
        assert stage["time"]["total_ns"] == sum(times), (name, stage, times)
    request, = report["requests"]
    end = ops[-1][1]
    expected = {"name": "WanPipeline", "frames": 81, "start_ns": begin, "end_ns": end, "source": "annotation", "height": 480,
                "width": 832, "steps_asked": 4, "passes_per_step": 2.0, "frames_asked": None, "error": None, "facts": {}}
    found = {key: request[key] for key in expected}
    assert found == expected, (found, expected)
    assert abs(request["fps_end_to_end"] - 81e9 / (end - begin)) < 1e-6, (request["fps_end_to_end"], 81e9 / (end - begin))
    steps = request["steps"]
    assert steps["count"] == 4, steps
    periods = ops[10][0] - ops[1][0]
    assert abs(steps["steps_per_s"] - 3e9 / periods) < 1e-6, (steps, periods)
    assert report["verdict"]["complete"], report["verdict"]
    assert report["verdict"]["unmatched_ranges"] == 0, report["verdict"]


if __name__ == "__main__":
    main()
