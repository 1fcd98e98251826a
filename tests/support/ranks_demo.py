"""ranks_demo.py REPORT SLACK LOG...: checks the JSON of `ranks` against the logs of the demo's ranks, which are on one clock: each
line of a kernel of NCCL has its start, its end and the last arrival of all. Waits may differ by SLACK ns a collective."""

import json
import sys


def main(report, slack, logs):
    with open(report, encoding="utf-8") as f:
        job = json.load(f)
    ranks = job["ranks"]
    assert len(ranks) == len(logs), len(ranks)
    wait = 0
    for rank, path in zip(ranks, logs):
        with open(path, encoding="utf-8") as f:
            met = [line.split() for line in f]
        met = [list(map(int, (w[0], w[1], w[12]))) for w in met if len(w) == 15]
        assert rank["collectives"] + rank["unmatched"] == len(met) and not rank["unmatched"], (rank["rank"], rank["unmatched"], len(met))
        want = sum(last - start for start, _, last in met)
        found = rank["wait_ns"] + rank["unsure_ns"]
        assert abs(found - want) <= slack * len(met), (rank["rank"], found, want)
        if not slack:
            kernel = sum(end - start for start, end, _ in met)
            assert found + rank["transfer_ns"] + rank["end_skew_ns"] == kernel, rank["rank"]
        assert sum(p["ns"] for p in rank["late_by"]) == rank["blame_ns"], rank["rank"]
        wait += rank["wait_ns"]
    assert sum(r["blame_ns"] for r in ranks) == wait == job["wait_ns"]
    print(sum(r["wait_ns"] > 0 for r in ranks), max(ranks, key=lambda r: r["blame_ns"])["rank"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
