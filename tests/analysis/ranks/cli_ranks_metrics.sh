#!/bin/sh
# What a job makes in a second, and how its ranks differ metric by metric: in all forms, of captures and summaries alike. What a capture
# does not have is missing, and whose rate it is is never guessed.
# shellcheck disable=SC1091,SC2154,SC2086,SC2031
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
. "$source/tests/support/outputs/schema.sh"
need_python 3.8
cd "$work" || exit 1
printf 'range block(index,frames)\t^block ([0-9]+) frames=([0-9]+)\n' >rules

# job OPTION...: writes a job's traces to job/, whose steps are blocks of 12 frames.
job() {
	rm -rf job
	python3 "$source/tests/support/ranks_job.py" job frames=12 "$@"
	rm job/truth.json
}

# values PYTHON: of the last output, JSON as `j`, its rows of metrics by name as `m`.
values() {
	python3 -c "
import json
j = json.load(open('out'))
m = {(r['metric'] if r['metric'] != 'idle_cause' else r['cause']): r for r in j['metrics']}
print($1)"
}

# ---- rates ----
# A block of a rank takes 2.12 ms: 4 times 50 us of host code, 400 us of work, 80 us of transfer.
rates() { # rates RULE OF REPLICAS BLOCKS_PER_S SENTENCE OPTION...
	rule=$1
	of=$2
	replicas=$3
	rate=$4
	sentence=$5
	shift 5
	job "$@"
	expect 0 "$rule" ranks job --rules rules --format json
	same "$rule" "$of $replicas" "$(values "j['rates_of'], j['replicas']")"
	same "$rule: a rate" 1 "$(values "int(abs(j['blocks_per_s'] / $rate - 1) < 0.002 and abs(j['fps'] / $rate / 12 - 1) < 0.002)")"
	cp out "rates-$of.json"
	expect 0 "$rule: the screen" ranks job --rules rules
	tr -s '\n ' ' ' <out >words
	says words "$sentence"
}

rates "one model on four ranks" job 1 471.5 "The job makes 5,65" ranks=4
rates "two replicas of two ranks" replicas 2 943 "2 replicas make 11,2" ranks=4 replicas=2
rates "replicas that meet nobody" replicas 4 2222 "4 replicas make 26,6" ranks=4 replicas=1
rates "replicas that tell each other where they are" rank 0 471.5 "A rank makes 5,65" ranks=4 replicas=2 meet=8
rates "sets that work together in each block" job 1 471.5 "The job makes 5,65" ranks=4 replicas=2 meet=8192
rates "a rank without a capture" rank 0 471.5 "A rank makes 5,65" ranks=4 leave_out=2
rates "replicas of which one lacks collectives" rank 0 471.5 "the captures do not say whether all make the same" \
	ranks=4 replicas=2 lack=3:5:9
job ranks=4 replicas=1
for r in 2 3; do
	python3 - "job/rank$r.json" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(re.sub(r'"baseTimeNanoseconds":(\d+)', lambda m: '"baseTimeNanoseconds":%d' % (int(m[1]) + 10**9), text))
PY
done
expect 0 "replicas one after the other" ranks job --rules rules --format json
same "whose rate" "rank" "$(values "j['rates_of']")"
job ranks=4
expect 0 "captures without frames" ranks job --format json
same "no rate" "unknown None None" "$(values "j['rates_of'], j['fps'], j['blocks_per_s']" | tr -d "(',)")"

# ---- conditions ----
job ranks=4 kernel=2:200000
while IFS='|' read -r code condition says; do
	expect "$code" "$condition" ranks job --rules rules --fail-if "$condition"
	[ -z "$says" ] || says err "$says"
done <<'CASES'
4|fps<9000|--fail-if fps<9000: fps 4,1
0|fps<3000|
4|bps<500|--fail-if bps<500: bps 34
4|period>2ms|--fail-if period>2ms: period 2.9
0|period>2s|
2|steps/s<8|the ranks do not count in steps
4|idle>1%|--fail-if idle>1%: idle
4|idle:launch-rate>1%|--fail-if idle:launch-rate>1%: idle:launch rate
0|idle:sync>1%|
4|busy:gemm>50%|--fail-if busy:gemm>50%: busy:gemm 6
0|busy<50%|
2|fps<x|expected a number such as 16
2|period>20|expected a time such as 750ms
2|fps:gemm<3|only busy and idle have parts
2|idle:heat>1%|"heat" is not a cause of idle time
CASES
expect 2 "a rate of captures without frames" ranks job --fail-if 'fps<9000'
says err "the captures do not say how many frames were made"
expect 2 "a rate of captures without blocks" ranks job --fail-if 'bps<9000'
says err "the captures have no blocks"
for condition in 'steps/s<8000' 's/it>100us'; do
	expect 4 "of steps: $condition" ranks "$source"/tests/data/ranks/version6-rank0.vps "$source"/tests/data/ranks/version6-rank1.vps \
		--fail-if "$condition"
done
job ranks=4 leave_out=1
expect 2 "the rate of a rank is not the job's" ranks job --rules rules --fail-if 'fps<9000'
says err "only the rate of a rank is known"
mv job with-missing
job ranks=4 replicas=2
mv job two
job ranks=4 replicas=4
expect 0 "one job beside two replicas" compare two job --rules rules
says out "FPS 11,299.44 -> 5,649.72."
expect 4 "which lose half of the rate" compare two job --rules rules --fail-if 'fps-40%'
expect 0 "of which one lacks a capture" compare two with-missing --rules rules
says out "FPS 5,649.72 -> 5,649.72."
rm -rf job two
mv with-missing job
expect 4 "a limit of a comparison" compare job job --rules rules --fail-if 'period>2ms'

# ---- metrics ----
job ranks=4 kernel=2:200000 'gauge=*:SM clock=1980' 'gauge=2:SM clock=1200' 'gauge=*:Clocks event reasons=0' \
	'gauge=2:Clocks event reasons=4' 'gauge=*:Power draw=600' 'gauge=2:Power draw=300' 'gauge=*:Temperature=61.5' \
	'gauge=0:Memory used=70000000000' 'gauge=1:Memory used=60000000000' 'gauge=3:PyTorch reserved=1000'
expect 0 "metrics" ranks job --rules rules --format json
cp out metrics.json
answers="metrics.json rates-job.json rates-replicas.json rates-rank.json"
metric() { # metric NAME EXPECTED: known min mean max rank differs why
	same "the metric $1" "$2" "$(values "*(m['$1'][k] for k in ('known', 'min', 'mean', 'max', 'rank', 'differs', 'why'))")"
}
metric sm_clock "4 1200.0 1785.0 1980.0 2 True power cap"
metric clock_limited "4 0.0 25.0 100.0 2 True power cap"
metric power "4 300.0 525.0 600.0 2 True its SM clock is 1,200 MHz"
metric temperature "4 61.5 61.5 61.5 None False None"
metric memory_used "2 60000000000.0 65000000000.0 70000000000.0 0 True None"
same "what only one rank has is no metric" False "$(values "'memory_reserved' in m")"
same "but of that rank" "None 1000.0" "$(values "*(j['ranks'][i]['memory_reserved_bytes'] for i in (2, 3))")"
same "missing, not 0" "60000000000.0 None" "$(values "*(j['ranks'][i]['memory_used_bytes'] for i in (1, 2))")"
same "who computes longest, and what" "2 gemm: 60" "$(values "m['computes']['rank'], m['computes']['why'][:8]" | tr -d "(',)")"
same "times of a block" 1 "$(values "int(abs(m['computes']['max'] - 2.4e6) < 3e4 and abs(m['period']['mean'] - 2.92e6) < 3e4)")"
same "idle time of each rank sums" 1 "$(values "int(all(abs(sum(c['ns'] for c in r['idle_by']) - m['idle']['mean']) < m['idle']['mean'] / 20 for r in j['ranks']))")"

mv job gauges
job ranks=4 host=3:100000
expect 0 "a rank whose host is slow" ranks job --rules rules --format json
same "which is idle for it" "3 True" "$(values "m['host code']['rank'], m['host code']['differs']" | tr -d "(',)")"
same "and where" "most in block * frames=*" "$(values "m['host code']['why']")"
same "by how much" 1 "$(values "int(abs(m['idle']['max'] - m['idle']['min'] - 4e5) < 2e4 and m['idle']['why'].startswith('host ran other code: '))")"
rm -rf job
mv gauges job
expect 0 "the first screen" ranks job --rules rules
says out "METRIC that differs by more than 10 %            min       mean        max  rank"
says out "SM clock; power cap                        1,200 MHz  1,785 MHz  1,980 MHz     2"
grep -q "temperature" out && fail "$rule: a metric that hardly differs"
expect 0 "the whole table" ranks job --rules rules --full
says out "METRIC, times a block; rank: that stands out"
says out "temperature, most                             61.5 C     61.5 C     61.5 C     -"
expect 0 "as Markdown" ranks job --rules rules --format md
says out "| SM clock; power cap | 1,200 MHz | 1,785 MHz | 1,980 MHz | 2 |"
expect 0 "as a page" ranks job --rules rules --format html
says out '<table data-path="metrics"'

# ---- the same of summaries, in any order ----
for r in 0 1 2 3; do
	expect 0 "summarize rank $r" summarize "job/rank$r.json" --rules rules -o "r$r.vps"
done
expect 0 "merge" merge r0.vps r1.vps r2.vps r3.vps -o a.vps
expect 0 "merge two" merge r3.vps r1.vps -o b1.vps
expect 0 "merge others" merge r2.vps r0.vps -o b2.vps
expect 0 "merge both" merge b2.vps b1.vps -o b.vps
same "the same bytes" "" "$(cmp a.vps b.vps 2>&1)"
expect 0 "of summaries" ranks a.vps --format json
same "the same report" "" "$(cmp out metrics.json 2>&1)"

# ---- the summary of one rank alone ----
expect 0 "a summary alone" r2.vps
silent err
says out "RANK    2 of 4, on node0 (NVIDIA H100): summary of job/rank2.json."
says out "Who waits for whom is known from two ranks on"
says out "RESULT  9 blocks of 2.92 ms; 4,1"
says out "gemm"
says out "STAGE"
says out "SM clock                                         1,200 MHz  1,200 MHz  1,200 MHz"
says out "power cap"
grep -q "Temperature  *61.5 C" out || fail "$rule: no temperature"
grep -q "Memory used" out && fail "$rule: memory that nobody sampled"
expect 0 "the same command by its name" ranks r2.vps --format md
says out "| SM clock | 1,200 MHz | 1,200 MHz | 1,200 MHz |"
expect 2 "a capture alone is no job" ranks job/rank2.json
expect 2 "nor with a question about ranks" ranks r2.vps --change 'rank 2 like median'
says err "expected two ranks or more"
expect 0 "as JSON" r2.vps --format json
answers="$answers alone.json"
cp out alone.json
same "its figures are those beside the others, its collectives have no partner" "" "$(python3 -c '
import json
alone, job = (json.load(open(name + ".json")) for name in ("alone", "metrics"))
mine = next(r for r in job["ranks"] if r["rank"] == 2)
own = [k for k in mine if k.endswith(("_w", "_c", "_mhz", "_percent", "reason")) or k in (
    "rank", "capture", "host", "gpu", "fps", "blocks_per_s", "units", "unit_ns", "compute_ns", "copy_ns", "exposed_comm_ns",
    "idle_ns", "stages")]
if len(alone["ranks"]) != 1 or alone["missing_ranks"] != "0, 1, 3" or alone["ranks"][0]["unmatched"] != mine["collectives"]:
    print(alone)
for k in own:
    if k != "capture" and alone["ranks"][0][k] != mine[k]:
        print(k, alone["ranks"][0][k], mine[k])')"
expect 0 "as a page" r2.vps --format html
says out "RANK"
says out "2.92 ms"
says out "1 rank"
grep -q "1 ranks" out && fail "$rule: $(grep -o '.\{20\}1 ranks' out)"
expect 0 "of an older version" "$source/tests/data/ranks/version2-rank0.vps"
says out "RESULT  1 step of 3.08 ms. 12 collectives."

schema_of ranks
fits "answers are as the schema says" schema.json $answers
finish
