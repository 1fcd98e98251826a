#!/bin/sh
# vptrace.ranks: whatever engine condenses the ranks of a job, the result is the bytes that one process gives.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
work=$(cd "$work" && pwd -P)
cd "$work" || exit 1
VPTRACE_BIN=$(dirname "$VPT_ANALYZE")
PYTHONPATH=$source/tracer/python
PYTHONDONTWRITEBYTECODE=1
export VPTRACE_BIN PYTHONPATH PYTHONDONTWRITEBYTECODE

python3 "$source/tests/support/ranks_job.py" job host=3:200000 jitter=40000 groups=4
rm job/truth.json
expect 0 "one process" summarize job -o job.vps
expect 0 "its report" ranks job.vps --format json
cp out job.json
expect 0 "its report in words" ranks job.vps
cp out job.txt

cat >engines.py <<'PY'
"""engines.py ENGINE: condenses job/ with it, and compares the bytes with job.vps."""
import concurrent.futures
import glob
import json
import multiprocessing
import random
import sys

from vptrace import ranks

paths = sorted(glob.glob("job/rank*.json"))


def shuffled(function, items):
    results = [function(item) for item in items]
    random.Random(7).shuffle(results)
    return results


def same(job):
    return "same" if job.data == open("job.vps", "rb").read() and not job.messages else "other: %r" % (job.messages,)


def main(engine):
    if engine == "map":
        return same(ranks.summarize(paths))
    if engine == "order":
        return same(ranks.summarize(reversed(paths), map=shuffled))
    if engine == "multiprocessing":
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            return same(ranks.summarize(paths, map=pool.map))
    if engine == "threads":
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return same(ranks.summarize(paths, map=pool.map))
    if engine == "futures":
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            return same(ranks.summarize(paths, map=lambda f, items: [pool.submit(f, item) for item in items]))
    if engine == "dask":
        import logging
        from dask.distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL) as cluster:
            with Client(cluster) as client:
                return same(ranks.summarize(paths, map=client.map))
    if engine == "tree":
        parts = [ranks.summarize(paths[i:i + 3]) for i in range(0, len(paths), 3)]
        return same(ranks.merge(ranks.merge(parts[2], parts[0]), parts[1], parts[0]))
    if engine == "report":
        job = ranks.summarize(paths)
        job.save("saved.vps")
        words = [open("job.txt").read() == job.report(), json.load(open("job.json")) == job.report("json"),
                 "<!DOCTYPE html>" in ranks.report(job, "html"), open("saved.vps", "rb").read() == job.data]
        return "same" if all(words) else str(words)
    if engine == "damaged":
        open("job/rank9.json", "w").write("no trace")
        try:
            ranks.summarize(["job/rank9.json"])
        except ranks.RanksError as error:
            alone = "unknown trace format" in str(error)
        job = ranks.summarize(["job"])
        return "same" if alone and job.data == open("job.vps", "rb").read() and "rank9.json" in job.messages[0] else str(job.messages)
    if engine == "nothing":
        try:
            ranks.summarize([])
        except ranks.RanksError as error:
            return "same" if "found none" in str(error) else str(error)


if __name__ == "__main__":
    print(main(sys.argv[1]))
PY
for engine in map order multiprocessing threads futures tree report nothing dask damaged; do
	if [ $engine = dask ] && ! python3 -c 'import dask.distributed' 2>/dev/null; then
		echo "SKIPPED: Dask's LocalCluster: Python has no dask.distributed"
		continue
	fi
	same "$engine" same "$(python3 engines.py $engine 2>err)"
done
finish
