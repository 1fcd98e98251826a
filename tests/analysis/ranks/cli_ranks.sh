#!/bin/sh
# Jobs of several ranks, written with what is true of them: `ranks` finds who waits for whom to the nanosecond, with
# communicators or without, on shifted clocks, with collectives and captures missing; and says so on one screen.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
. "$source/tests/support/outputs/schema.sh"
need_python 3.8
cd "$work" || exit 1

# job OPTION...: writes a job's traces to job/.
job() {
	rm -rf job
	python3 "$source/tests/support/ranks_job.py" job "$@"
	mv job/truth.json truth.json
}

# exact RULE SLACK: out, JSON, is what truth.json says, but for waits that are below the uncertainty.
exact() {
	cases=$((cases + 1))
	cp out "answer-$cases.json"
	answers="${answers:-} answer-$cases.json"
	python3 - "$2" >wrong <<'PY' || fail "$1: $(cat wrong)"
import json, sys
slack = int(sys.argv[1])
job, truth = json.load(open("out")), json.load(open("truth.json"))
ranks = job["ranks"]
def check(what, found, want, most=0):
    if any(abs(f - w) > most for f, w in zip(found, want)) or len(found) != len(want):
        sys.exit("%s: expected %s, found %s" % (what, want, found) if print("%s: expected %s, found %s" % (what, want, found)) else 1)
check("ranks", [r["rank"] for r in ranks], truth["ranks"])
check("collectives", [job["collectives"]], [truth["rows"]])
check("matched", [r["collectives"] for r in ranks], truth["matched"])
check("waits", [r["wait_ns"] + r["unsure_ns"] for r in ranks], truth["wait_ns"], slack)
if not slack:
    check("blame", [r["blame_ns"] for r in ranks], truth["blame_ns"])
    check("last", [r["last"] for r in ranks], truth["last"])
check("late_by", [sum(p["ns"] for p in r["late_by"]) for r in ranks], [r["blame_ns"] for r in ranks])
check("sum", [sum(p["ns"] for p in job["late_by"])], [job["wait_ns"]])
check("waited for", [sum(r["blame_ns"] for r in ranks)], [job["wait_ns"]])
PY
}

found() { # found RULE SLACK OPTION...
	rule=$1
	slack=$2
	shift 2
	job "$@"
	expect 0 "$rule" ranks job --format json
	exact "$rule" "$slack"
}

found "a rank with slow kernels" 0 kernel=5:300000 jitter=40000
found "a rank with slow host code" 0 host=3:200000 jitter=40000
found "the same without communicators" 0 host=3:200000 jitter=40000 names=0
found "a rank that starts late" 0 late=2:70000000
found "two groups in turns" 0 groups=4 host=6:100000 jitter=30000
found "the same without communicators, by stream" 0 groups=4 host=6:100000 jitter=30000 steps=20 names=0
found "collectives that traces lack" 0 lack=2:0:7 lack=4:20:3 jitter=30000
found "the same without communicators" 0 lack=2:0:7 lack=4:20:3 jitter=30000 names=0
found "a missing rank" 0 leave_out=3 host=6:100000 jitter=20000
# 1 us of each end is taken for the clock's: 40 collectives.
found "clocks of eight hosts, shifted and drifting" 41000 hosts=8 host=2:400000 shift=3:500000000 shift=5:-500000000 \
	drift=3:50000 drift=6:-50000 jitter=50000
found "clocks of two hosts" 41000 hosts=2 host=6:400000 jitter=300000 shift=4:123456789 shift=5:123456789 shift=6:123456789 shift=7:123456789
found "clocks of two hosts by one name" 41000 host=6:400000 jitter=300000 shift=4:12345678 shift=5:12345678 shift=6:12345678 shift=7:12345678
expect 0 "the same as text" ranks job
says out "the host of rank 4 to 7 has the name of another one, but another"

# ---- what a change would bring ----
# predicts RULE CHANGE PLANTED WITHOUT: the prediction for a job with faults is what the job takes without them, to 1 %.
predicts() {
	# shellcheck disable=SC2086
	job $4
	expect 0 "$1: without" ranks job --format json
	cp out without.json
	# shellcheck disable=SC2086
	job $3 $4
	expect 0 "$1: with" ranks job --format json
	cases=$((cases + 1))
	python3 - "$2" >wrong <<'PY' || fail "$1: $(cat wrong)"
import json, sys
change, ranks = sys.argv[1].split(":")
job, without = json.load(open("out")), json.load(open("without.json"))
if not job["replayed"] or job["replay_error_ns"]:
    sys.exit(print("the unchanged replay differs by", job["replay_error_ns"]) or 1)
found = [f for f in job["fixes"] if f["change"] == change and (f["ranks"] or "all") == ranks]
if len(found) != 1 or abs(found[0]["unit_ns"] / without["unit_ns"] - 1) > 0.01 or job["unit_ns"] < 1.05 * without["unit_ns"]:
    sys.exit(print("predicted", found, "measured", without["unit_ns"], "now", job["unit_ns"]) or 1)
PY
}
predicts "slow host code" like-median:3 host=3:200000 ""
predicts "slow kernels" like-median:5 kernel=5:300000 ""
predicts "slow kernels among groups" like-median:5 kernel=5:300000 groups=4
predicts "two late ranks" "like-median:3, 5" "host=3:200000 host=5:190000" groups=4
predicts "slow kernels beside collectives of another stream" like-median:5 kernel=5:100000 overlap=5
predicts "the same without records of waits" like-median:5 kernel=5:100000 "overlap=5 sync=0"
predicts "slow host code without records of waits" like-median:5 host=5:4000000 "overlap=5 sync=0"
job host=3:200000 host=5:190000 groups=4
expect 0 "one of two late ranks alone brings little" ranks job
says out "RANKS 3 and 5 ARE LATE, the others wait for them"

# What FIX FIRST says of ranks, a user can ask of any: the same answer, from captures and from summaries.
# asks FILES CHANGE KIND:RANKS
asks() {
	expect 0 "$2" ranks "$1" --change "$2" --format json
	cases=$((cases + 1))
	python3 - "$2" "$3" >wrong <<'PY' || fail "$1, $2: $(cat wrong)"
import json, sys
kind, ranks = sys.argv[2].split(":")
job = json.load(open("out"))
found = [f for f in job["fixes"] if f["change"] == kind and (f["ranks"] or "all") == ranks]
asked = [f for f in job["fixes"] if f["change"] == "asked"]
if len(found) != 1 or len(asked) != 1 or asked[0]["unit_ns"] != found[0]["unit_ns"] or job["asked"] != sys.argv[1]:
    sys.exit(print("asked", job["asked"], asked, "found", found) or 1)
if not job["asked_ns"] or asked[0]["unit_ns"] >= job["unit_ns"] or job["asked_is_bound"]:
    sys.exit(print("it brings nothing:", asked, job["unit_ns"]) or 1)
PY
}
expect 0 "summaries" summarize job -o like.vps --force
for files in job like.vps; do
	asks "$files" "rank 3 like median" like-median:3
	asks "$files" "3: like-median" like-median:3
	asks "$files" "ranks 3,5 like median" "like-median:3, 5"
	asks "$files" "rank 3 like the median of the others" like-median:3
	asks "$files" "all like median" like-median:all
done
expect 0 "the same as text" ranks job --change "rank 3 like median"
says out "1 rank 3 like median "
says out "2 ranks 3, 5 like the median of the others "
says out " all ranks like the median "
expect 0 "a rank that is not late" ranks job --change "0: like median"
says out "0: like median (no rank has such time)"
expect 0 "several ranks at once" ranks job --change "0, 3 to 5: host 0.5" --format json
cp out several.json
expect 0 "the same one by one" ranks job --format json --change "0: host 0.5" --change "3: host 0.5" --change "4: host 0.5" --change "5: host 0.5"
same "several ranks at once are as one by one" "$(grep -A 3 '"asked"' several.json | grep unit_ns)" "$(grep -A 3 '"asked"' out | grep unit_ns)"
# refused CHANGE WORDS
refused() {
	expect 2 "$1" ranks job --change "$1"
	says err "$2"
}
refused "9 like median" "there is no rank 9"
refused "9223372036854775807 like median" "there is no rank 9223372036854775807"
refused "9223372036854775800 to 9223372036854775807: host 0.5" "there is no rank 9223372036854775800"
refused "0 to 8 like median" "of up to 8 ranks"
refused "x like median" 'expected "all: CHANGE", "3: CHANGE" or "3 like median"'
refused "3, like median" "found \"3, like median\""
refused "3: rank like median" "found \"3: rank like median\""
expect 2 "like the median beside another change of the rank" ranks job --change "3 like median" --change "all: host 0.5"
says err "is of a rank of it too"
expect 0 "like the median beside a change of another rank" ranks job --change "3 like median" --change "5: host 0.5"

# Two ranks come at the same time: all blame goes to the first one, and the other one is named too, with a replay and without, which a
# part of the capture has none of.
job host=3:200000 host=5:199000
for part in "" "--from 1ms"; do
	# shellcheck disable=SC2086
	expect 0 "two ranks late by as much${part:+, $part}" ranks job $part
	says out "RANKS 3 and 5 ARE LATE, the others wait for them"
	says out "Rank 5 is late too, but comes before it."
	# shellcheck disable=SC2086
	expect 0 "the same as JSON" ranks job $part --format json
	says out '"late": "several"'
	says out '"late_ranks": "3, 5"'
	# shellcheck disable=SC2086
	expect 0 "the same as a page" ranks job $part --format html
	says out "Rank 5 is late too, but comes before it."
done
# One whose own group alone never waits is not as late.
job kernel=3:200000 groups=4
expect 0 "a group apart" ranks job --from 1ms --format json
says out '"late_ranks": "3"'

# ---- beside one rank alone ----
job ranks=1 kernel=0:1600000
mv job/rank0.json alone.json
job ranks=4 jitter=100000
expect 0 "scaling" ranks job --base alone.json --format json
answers="$answers scaling.json"
cp out scaling.json
cases=$((cases + 1))
python3 - >wrong <<'PY' || fail "scaling: $(cat wrong)"
import json, sys
s = json.load(open("out"))["scaling"]
parts = sum(s[k] for k in ("transfers_ns", "waits_ns", "host_ns", "idle_ns", "copies_ns", "compute_ns"))
if parts != s["many_ns"] - s["ideal_ns"] or s["ideal_ns"] != s["one_ns"] // 4 or not 0.5 < s["efficiency"] < 1:
    sys.exit(print(s, parts) or 1)
if abs(s["efficiency"] * s["many_ns"] - s["ideal_ns"]) > 1000 or s["waits_ns"] <= 0 or s["transfers_ns"] <= 0:
    sys.exit(print(s) or 1)
PY
expect 0 "in words" ranks job --base alone.json
says out "SCALING 4 GPUs are "
says out " times as fast as one, efficiency "
says out "At 100 % it would take 2.1"
says out "host work"
expect 0 "each rank does work of its own" ranks job --base alone.json --weak --format json
says out '"weak": true'
expect 4 "an efficiency that is too low" ranks job --base alone.json --fail-if 'efficiency<99%'
says err "--fail-if efficiency<99%: efficiency "
expect 0 "an efficiency that is high enough" ranks job --base alone.json --fail-if 'efficiency<10.5%'
expect 4 "too much waiting" ranks job --fail-if 'waits>0.1%'
expect 0 "little waiting" ranks job --fail-if 'waits>90%'
expect 2 "an efficiency without a base" ranks job --fail-if 'efficiency<80%'
says err "the efficiency needs --base"
expect 2 "a condition that is none" ranks job --fail-if 'speed<16'
says err "expected efficiency, waits, busy or idle"
expect 2 "a base of several ranks" ranks job --base job/rank0.json --weak --fail-if 'waits<'

expect 0 "one rank summarized" summarize alone.json -o alone.vps
expect 0 "a summary as a base" ranks job --base alone.vps --format json
same "the same bytes" "" "$(cmp out scaling.json 2>&1)"

# ---- the screen ----
job kernel=5:300000
expect 0 "one late rank" ranks job
says out "RANK 5 IS LATE, the others wait for it: 1.20 ms of each 3.32 ms"
says out "Rank 5 computed longer: gemm in ProfilerStep#*, 1.17 ms an iteration"
says out "100.0 % of all waiting is for rank 5."
says out "rank 5                           2.8        0.3    0.0   0.2                 1.2"
says out "gemm, ProfilerStep#*"
[ "$(wc -l <out)" -le 40 ] || fail "one late rank: expected at most 40 lines"
cp out folder.out
expect 0 "files instead of a folder, in any order" ranks job/rank7.json job/rank1.json job/rank0.json job/rank2.json \
	job/rank3.json job/rank4.json job/rank6.json job/rank5.json
same "the same report" "$(cat folder.out)" "$(cat out)"
expect 0 "Markdown" ranks job --format md
says out "RANK 5 IS LATE"

job late=2:70000000
expect 0 "a rank that starts late" ranks job
says out "RANK 2 IS LATE, the others wait for it: 70.0 ms, once."
says out "Rank 2 started 70.0 ms later than a rank that waits for it."
says out "What is said of an iteration is without that."
says out "rank 2                           1.6        0.3    0.0   0.2                 0.0"

job late=2:3000000000 kernel=5:300000
expect 0 "a start beside a late rank" ranks job
says out "RANK 5 IS LATE, the others wait for it: 1.17 ms of each 3.29 ms"
says out "100.0 % of all waiting is for rank 5."
says out "START   At their first collectives the ranks waited 2.62 s, the mean, 100.0 %"
says out "1 rank 5 like the median of the others              3.29 ms    2.12 ms      35.5"
says out "rank 5                           2.8        0.3    0.0   0.2                 1.2"
same "a start is said once" "" "$(grep 'started later' out)"
expect 4 "waits without the start" ranks job --fail-if 'waits>31%'
says err "waits 31.2 %"

job ranks=4
expect 0 "nobody late" ranks job
says out "THE RANKS KEEP STEP: a rank waits 1.96 us of each 2.12 ms"

job leave_out=3 host=3:200000
expect 0 "the late rank is missing" ranks job
says out "THE RANKS THAT ARE HERE KEEP STEP: a rank waits"
tr -s '\n ' ' ' <out >words
grep -q "What all of them wait for one that is missing counts as a transfer" words || fail "$rule: nothing about its waits"

job jitter=400000 steps=30
expect 0 "all late in turns" ranks job
says out "ALL RANKS HOST-BOUND, in turns: a rank waits 6"
says out "The last rank had an idle GPU: host ran other code in ProfilerStep#*,"

job leave_out=3 leave_out=4 setup=2:gloo
cp job/rank1.json job/again.json
expect 0 "missing, twice and set up differently" ranks job
says out "no capture of 2 of 8 ranks: 3, 4."
says out "rank 1 is in job/rank1.json too: only job/again.json counts."
says out "backend is gloo on rank 2, nccl on most."

# What the late rank did less of is said where it matters: the sum of the rest is more than the waits.
job ranks=4 kernel=3:800000 host=0:300000 host=1:300000 host=2:300000
for form in text md; do
	expect 0 "a late rank that has less of something, $form" ranks job --format $form
	grep -q 'gemm.*[ |]rank 3' out || fail "$rule: $(grep -A 4 'LATER BY' out)"
	tr -s '\n ' ' ' <out >words
	grep -q "It had less of something else: host ran other code in ProfilerStep#.*, 1.3[34] ms an iteration" words || fail "$rule: $(cat words)"
	grep -q 'less: host ran other code.* -[0-9.]* .*rank 3' out || fail "$rule: $(grep -A 4 'LATER BY' out)"
done
job ranks=4 kernel=3:800000 host=0:30000 host=1:30000 host=2:30000
expect 0 "little less" ranks job
grep -q "less: " out && fail "$rule: $(grep "less: " out)"

# figure KEY: of ./out, a report of ranks as JSON
figure() { python3 -c 'import json, sys; j = json.load(open("out")); print(eval(sys.argv[1], j))' "$1"; }
job leave_out=3
expect 0 "a rank without a capture, of one group" ranks job --format json
same "all of its waits are at least so long" "40 40 [40, 40, 40, 40, 40, 40, 40]" \
	"$(figure 'collectives') $(figure 'at_least') $(figure '[r["at_least"] for r in ranks]')"
job leave_out=3 groups=4
expect 0 "of one of two groups and of that of all" ranks job --format json
same "but in the group that lacks none" "60 40 [40, 40, 40, 20, 20, 20, 20]" \
	"$(figure 'collectives') $(figure 'at_least') $(figure '[r["at_least"] for r in ranks]')"
sed 's/, "Process Group Ranks": "[^"]*"//' job/rank0.json >found
cmp -s found job/rank0.json && fail "ranks_job.py does not name the ranks of groups so"
sed -i 's/, "Process Group Ranks": "[^"]*"//' job/rank*.json
expect 0 "of groups that do not say their ranks" ranks job --format json
same "the same" "60 40 [40, 40, 40, 20, 20, 20, 20]" \
	"$(figure 'collectives') $(figure 'at_least') $(figure '[r["at_least"] for r in ranks]')"
job groups=2
expect 0 "none missing" ranks job --format json
same "no wait is" "0" "$(figure 'at_least')"

job ranks=3
echo "no trace" >job/rank1.json
expect 3 "a file that is no trace is named, and the others are reported" ranks job
says err "rank1.json"
says out "DAMAGED job/rank1.json: unknown trace format: expected a vptrace capture"
says out "no capture that can be read of 1 of 3 ranks: 1."
expect 3 "it is in the JSON" ranks job --format json
says out '"job/rank1.json: unknown trace format: '
expect 3 "and on the page" ranks job --format html -o damaged.html
grep -q 'DAMAGED</dt>.*job/rank1.json</b>: unknown trace format' damaged.html || fail "$rule: the page does not name it"
expect 3 "and in Markdown" ranks job --format md
says out "job/rank1.json: unknown trace format"
expect 2 "one rank" ranks job/rank0.json
says err "expected two ranks or more, found 1"
expect 1 "no file" ranks nothing.json nor-this.json
mkdir empty
expect 2 "an empty folder" ranks empty
says err "empty: expected a folder with the captures of all ranks, found no file in it"

# ---- condensed ----
rm -rf job
job jitter=50000 groups=4 leave_out=5 host=2:30000 steps=200
expect 0 "a report of captures" ranks job --format json
cp out of-captures.json
for file in job/*.json; do
	expect 0 "a rank condensed" summarize "$file" -o "$(basename "$file" .json).vps"
	silent out
done
# 1,600 collectives: 25 bytes each, and who the rank is
largest=$(wc -c rank*.vps | awk '$2 != "total" && $1 > most { most = $1 } END { print most }')
[ "$largest" -le $((1600 * 25 + 4096)) ] || fail "a rank of 1,600 collectives: found $largest bytes"
expect 0 "a report of summaries" ranks rank*.vps --format json
same "the same bytes" "" "$(cmp out of-captures.json 2>&1)"
expect 0 "merged at once" merge rank*.vps -o all.vps
expect 0 "merged backwards" merge rank7.vps rank6.vps rank4.vps rank3.vps rank2.vps rank1.vps rank0.vps -o backwards.vps
expect 0 "a part" merge rank6.vps rank1.vps rank4.vps -o some.vps
expect 0 "another part, with ranks of the first" merge rank3.vps rank1.vps rank0.vps -o more.vps
expect 0 "the parts and the rest, as a tree" merge more.vps rank7.vps some.vps rank2.vps -o tree.vps
expect 0 "all at once, condensed" summarize job -o once.vps
expect 0 "merged with itself" merge all.vps all.vps -o twice.vps
expect 0 "many files, in threads" merge rank*.vps rank*.vps rank*.vps -o many.vps
for other in backwards tree once twice many; do
	same "the same bytes: $other" "" "$(cmp all.vps $other.vps 2>&1)"
done
expect 0 "a report of the merged file" ranks all.vps --format json
same "the same bytes as of captures" "" "$(cmp out of-captures.json 2>&1)"
expect 0 "a capture beside summaries" ranks job/rank0.json rank[1-7].vps --format json
same "the same bytes again" "" "$(cmp out of-captures.json 2>&1)"
expect 2 "no file to write" summarize job/rank0.json
says err "summarize: expected -o FILE"
expect 2 "no file to merge into" merge rank0.vps
expect 2 "an existing file" merge rank0.vps -o all.vps
expect 1 "a capture is no summary" merge job/rank0.json -o new.vps
says err "expected a summary of ranks"
# A damaged file gives the ranks before the damage, and says so.
size=$(wc -c <all.vps)
head -c $((size - 10)) all.vps >cut.vps
expect 3 "a summary that was cut" ranks cut.vps
says err "in the middle of a rank"
says out "DAMAGED cut.vps: ends at byte"
says out "no capture that can be read of 2 of 8 ranks: 5, 7."
expect 3 "merged all the same" merge cut.vps rank7.vps -o mended.vps
same "and mended" "" "$(cmp all.vps mended.vps 2>&1)"
# Of many files the damaged ones are named in their order.
expect 3 "many files, two of them cut" merge rank*.vps cut.vps rank*.vps job/rank0.json rank*.vps -o sound.vps
same "what is wrong" "cut.vps rank0.json" "$(sed -n 's/^vptrace-analyze: \(.*\/\)\{0,1\}\([a-z0-9]*\.[a-z]*\): .*/\2/p' err | tr '\n' ' ' | sed 's/ $//')"
same "and the rest is whole" "" "$(cmp all.vps sound.vps 2>&1)"
rm sound.vps
# One byte changed, anywhere: refused, and named.
python3 - <<'PY'
data = bytearray(open("rank1.vps", "rb").read())
for n in range(40):
    at = (n * 7919) % len(data)
    changed = bytearray(data)
    changed[at] ^= 1 << n % 8
    open("changed%d.vps" % n, "wb").write(changed)
PY
for file in changed*.vps; do
	expect 3 "one bit changed" ranks rank0.vps rank2.vps "$file"
done
# The sizes before the packed bytes too: such a rank does not keep the others from their report, and is merged with none.
for at in 32 35 40 43; do
	python3 -c 'import sys; b = bytearray(open("rank1.vps", "rb").read()); b[int(sys.argv[1])] ^= 1; open("size.vps", "wb").write(b)' "$at"
	expect 3 "a wrong size at byte $at" ranks rank0.vps rank2.vps size.vps
	says err "size.vps: the rank at byte 8 is damaged"
	expect 3 "merged" merge rank0.vps size.vps -o sound.vps --force
	same "the others" "" "$(cmp rank0.vps sound.vps 2>&1)"
done
# And the number of the rank, by which blocks are in order: no checksum is of it.
python3 -c 'b = bytearray(open("rank1.vps", "rb").read()); assert b[8] == 2; b[8] = 4; open("number.vps", "wb").write(b)'
expect 3 "a wrong number in a header" ranks rank0.vps rank2.vps number.vps
says err "number.vps: a rank is damaged: its header says rank 3, it is rank 1"
expect 3 "merged" merge rank0.vps number.vps -o sound.vps --force
says err "number.vps: a rank is damaged: its header says rank 3, it is rank 1"
same "the others" "" "$(cmp rank0.vps sound.vps 2>&1)"

# ---- the schema ----
schema_of ranks
says schema.json '"$id": "vptrace.ranks/1"'
# shellcheck disable=SC2086
fits "answers are as the schema says" schema.json $answers
finish
