"""demo_ranks.py WHAT LOG...: checks the logs of a job's ranks, in their order, which are on one clock.

Every kernel of NCCL is wait + transfer + skew, its last arrival is that of all ranks that it needs, and all ranks have the
same collectives. Then WHAT, which may have a rank R:

    alike        nobody waits longer than 0
    host, kernel print how long each rank waits in all
    link         every all-to-all transfers 1.5 times as long as in `alike`, nobody waits
    late         one comes last to ncclCommInitRank alone
    skew=R       R's kernels end 900 ns after the others'
    ring         the same, of messages to the next rank, which concern neighbours; prints how long each rank waits
    mixed...     no more than the sums
"""

import collections
import sys

PLAIN_NS = 34957  # of an all-to-all on 4 ranks


class Met:
    def __init__(self, rank, words):
        self.rank, self.start, self.end, self.name = rank, int(words[0]), int(words[1]), words[4]
        self.comm, self.sequence = words[10], int(words[11])
        self.last, self.transfer, self.skew = map(int, words[12:15])

    def key(self):
        return self.comm, "SendRecv" in self.name, self.sequence

    def wait(self):
        return self.last - self.start


def read(rank, path):
    with open(path, encoding="utf-8") as f:
        lines = [line.split() for line in f]
    return [Met(rank, words) for words in lines if len(words) == 15]


def check_sums(groups, ranks, is_ring):
    assert groups, "no collective"
    for key, group in groups.items():
        members = {met.rank for met in group}
        assert len(group) == len(members) and (len(members) == ranks or ranks > 2 and len(members) >= 2), key
        for met in group:
            near = {met.rank + by for by in (-1, 0, 1)} | {(met.rank + by) % ranks for by in (-1, 1)}
            last = max(other.start for other in group if not (is_ring and key[1]) or other.rank in near)
            assert met.last == last, (key, met.rank)
            assert met.end - met.start == met.wait() + met.transfer + met.skew, (key, met.rank)


def main(what, paths):
    what, _, rank = what.partition("=")
    groups = collections.defaultdict(list)
    for r, path in enumerate(paths):
        for met in read(r, path):
            groups[met.key()].append(met)
    check_sums(groups, len(paths), what == "ring")
    waits = [met.wait() for group in groups.values() for met in group]
    exchanges = [group for key, group in groups.items() if key[1]]
    if what in ("alike", "link", "late", "skew"):
        assert what == "skew" or not any(waits), max(waits)
    if what == "link":
        assert all(met.transfer == PLAIN_NS * 3 // 2 for group in exchanges for met in group)
    elif what != "ring" and not what.startswith("mixed"):
        assert all(met.transfer == PLAIN_NS for group in exchanges for met in group)
    if what == "skew":
        assert all(met.skew == (900 if met.rank == int(rank) else 0) for group in exchanges for met in group)
    if what in ("host", "kernel", "ring"):
        total = [sum(met.wait() for group in groups.values() for met in group if met.rank == r) for r in range(len(paths))]
        print(what, *total)
    print(len(groups), "collectives of", len(paths), "ranks")


main(sys.argv[1], sys.argv[2:])
