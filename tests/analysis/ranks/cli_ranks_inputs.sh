#!/bin/sh
# A job may come as files, folders, archives, summaries, or as one file with several ranks of PyTorch or Nsight Systems: it is the same
# job, and analyze of it is ranks.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
need_python 3.8
cd "$work" || exit 1

python3 "$source/tests/support/ranks_job.py" job host=3:200000 jitter=40000 names=0 groups=4
mv job/truth.json truth.json
report() { grep -v '^ *"capture": ' out; } # where ranks were read from may differ
expect 0 "a folder" ranks job --format json
report >folder

as_job() { # as_job RULE OPERAND...: reported as the folder is
	rule=$1
	shift
	expect 0 "$rule" "$@" --format json
	report >found
	same "$rule: the same report" "" "$(cmp folder found 2>&1)"
	silent err
}
as_job "files" ranks job/rank*.json
as_job "several files to analyze" analyze job/rank*.json
as_job "without a command" job/rank*.json
as_job "a folder to analyze" job

# ---- archives ----
have tar "archives of ranks" && {
	tar -cf job.tar job
	tar -czf job.tgz -C job .
	tar --format=gnu -cf gnu.tar --transform "s,^job,$(printf '%0120d' 7)/$(printf '%0120d' 7)," job
	tar --format=pax -cf pax.tar --transform "s,^job,$(printf '%0120d' 7)/$(printf '%0120d' 7)," job
	tar --format=ustar -cf ustar.tar --transform "s,^job,$(printf '%060d' 7)/$(printf '%060d' 8)," job
	for file in job.tar job.tgz gnu.tar pax.tar ustar.tar; do
		as_job "$file" ranks $file
	done
	as_job "an archive to analyze" job.tgz
	expect 0 "where a rank was" ranks ustar.tar --format json
	says out "\"ustar.tar/$(printf '%060d' 7)/$(printf '%060d' 8)/rank0.json\""
	have zstd "packed archives" && {
		zstd -q job.tar -o job.tar.zst
		as_job "job.tar.zst" ranks job.tar.zst
	}
	expect 0 "condensed from an archive" summarize job.tar -o of-tar.vps
	expect 0 "condensed from a folder" summarize job -o of-folder.vps
	as_job "summaries of an archive" ranks of-tar.vps

	mkdir mixed
	echo "no trace" >mixed/notes.txt
	: >mixed/._rank0.json
	cp job/rank[4-7].json mixed
	tar -cf mixed.tar mixed
	expect 3 "a file of an archive that is no trace is named" ranks mixed.tar
	says err "mixed.tar/mixed/notes.txt: unknown trace format"
	says out "4 of 8 on 1 host"
	same "and nothing else is" 1 "$(wc -l <err)"
	head -c 100000 job.tar >cut.tar
	expect 3 "an archive that was cut" ranks cut.tar
	says err "the archive ends inside this file"
	head -c $(($(wc -c <job.tgz) - 1000)) job.tgz >cut.tgz
	expect 3 "a packed archive that was cut" ranks cut.tgz
	python3 - <<'PY'
data = bytearray(open("job.tar", "rb").read())
for n in range(30):
    changed = bytearray(data)
    changed[(n * 17) % 512 if n % 2 else (n * 7919) % len(data)] ^= 1 << n % 8
    open("changed%d.tar" % n, "wb").write(changed)
PY
	for file in changed*.tar; do
		"$VPT_ANALYZE" ranks "$file" >out 2>err
		code=$?
		[ $code -le 3 ] || fail "$file: exit code $code"
		cases=$((cases + 1))
	done
}

# ---- a folder for each host, and all kinds at once ----
mkdir -p hosts/a hosts/b/deep
cp job/rank[0-3].json hosts/a
cp job/rank[4-6].json hosts/b/deep
expect 0 "a rank condensed" summarize job/rank7.json -o hosts/b/7.vps
as_job "folders in a folder, with a summary" ranks hosts
gzip -k job/rank0.json && mv job/rank0.json.gz . && mkdir rest && cp job/rank[1-7].json rest
as_job "a file and a folder" analyze rank0.json.gz rest

# ---- one file with several ranks: waits to the nanosecond ----
merged() { # merged FILE [first]
	python3 "$source/tests/support/ranks_merged.py" job "$@"
	expect 0 "$*" ranks "$1" --format json
	cases=$((cases + 1))
	python3 - <<'PY' >wrong || fail "$1: $(cat wrong)"
import json, sys
job, truth = json.load(open("out")), json.load(open("truth.json"))
for key in ("wait_ns", "blame_ns", "last"):
    found = [r[key] for r in job["ranks"]]
    if found != truth[key]:
        sys.exit(print(key, found, truth[key]) or 1)
if job["unit"] != "window" or job["unit_ns"] < max(r["idle_ns"] + r["compute_ns"] for r in job["ranks"]):
    sys.exit(print("iterations of several processes are taken for one's:", job["unit"], job["unit_ns"]) or 1)
if job["late"] != "one" or job["collectives"] != truth["rows"]:
    sys.exit(print(job["late"], job["collectives"]) or 1)
PY
}
merged merged.json
python3 "$source/tests/support/ranks_merged.py" job merged.sqlite
if "$VPT_ANALYZE" info merged.sqlite 2>&1 | grep -q 'built without'; then
	echo "SKIPPED: an export of Nsight Systems: this build has no SQLite"
else
	rm merged.sqlite
	merged merged.sqlite
	rm merged.sqlite
	merged merged.sqlite first
fi

# ---- what is no job ----
expect 2 "an option of one file" analyze job --top 3
says err "several files, a folder or an archive are reported as the ranks of one job"
says err "see vptrace-analyze ranks --help"
expect 0 "one file" analyze job/rank0.json
says out "RESULT"
expect 2 "a file that is not there" job/rank0.json nothing.json
says err "nothing.json: cannot open"
says err "expected two ranks or more, found 1"

# Files of one machine that count from moments of their own, of ranks that begin as far apart as those.
python3 "$source/tests/support/ranks_job.py" own late=2:1500000000 late=5:700000000 kernel=3:200000 \
	base=2:1400000000 base=5:650000000 base=6:-50000000
rm own/truth.json
expect 0 "files of several clocks" ranks own
says out "40 collectives of 1 group, all"
says out "Clocks: 4, aligned by the ends of collectives"
says out "RANK 3 IS LATE, the others wait for it: 782 us of each 2.90 ms"
says out "1 rank 3 like the median of the others              2.90 ms    2.12 ms      26.9"
same "$rule: one host" "" "$(grep HOSTS out)"

# Two runs in a folder, whose names sort in turns: ranks of one do not stand for those of the other.
mkdir runs
python3 "$source/tests/support/ranks_job.py" early ranks=3 kernel=1:50000
python3 "$source/tests/support/ranks_job.py" late ranks=3 start=90000000000 host=2:80000
for r in 0 1 2; do
	cp early/rank$r.json runs/rank$r-$(((r + 1) % 2)).json
	cp late/rank$r.json runs/rank$r-$((r % 2 * 2)).json
done
expect 0 "two runs" ranks runs
tr -s '\n ' ' ' <out >words
grep -q "TWICE 3 captures are of another run than runs/rank0-0.json, such as runs/rank0-1.json: they do not count; give the captures of one run" words ||
	fail "$rule: nothing about the other run"
grep -q ' too:' words && fail "$rule: ranks of two runs are taken for one"
# of FILE...: a report but for where it was read from.
of() {
	expect 0 "of $*" ranks "$@" --format json
	python3 -c '
import json
j = json.load(open("out"))
del j["duplicates"]
print([(k, v) for k, v in j.items() if k != "ranks"], [r["wait_ns"] for r in j["ranks"]])'
}
same "one run of two is what it is alone" "$(of late/rank?.json)" "$(of runs)"
# Some ranks of one run and the others of a later one: nobody is there twice, and their collectives are not those of one job.
mkdir halves
python3 "$source/tests/support/ranks_job.py" early ranks=5 kernel=1:50000
python3 "$source/tests/support/ranks_job.py" late ranks=5 start=90000000000 host=2:80000
cp early/rank[34].json halves
cp late/rank[012].json halves
expect 0 "halves of two runs" ranks halves
tr -s '\n ' ' ' <out >words
grep -q "TWICE 2 captures are of another run than halves/rank0.json, such as halves/rank3.json: they do not count" words ||
	fail "$rule: nothing about the other run"
same "the larger half is what it is alone" "$(of late/rank[012].json)" "$(of halves)"
# On several hosts it may be their clocks.
python3 "$source/tests/support/ranks_job.py" early ranks=4 hosts=2
python3 "$source/tests/support/ranks_job.py" late ranks=4 hosts=2 start=90000000000
expect 0 "two runs, or clocks" ranks early/rank[01].json late/rank[23].json
tr -s '\n ' ' ' <out >words
grep -q "RUNS rank 2, 3 worked a minute or more before or after rank 0: of another run, or the clocks of hosts are wrong" words ||
	fail "$rule: nothing about the time between them"
expect 0 "the same as JSON" ranks early/rank[01].json late/rank[23].json --format json
says out '"apart": "2, 3"'
# A rank that is there twice, of the same run.
python3 "$source/tests/support/ranks_job.py" early ranks=3
cp early/rank1.json again.json
expect 0 "a rank twice" ranks again.json early/rank[0-2].json
says out "TWICE   rank 1 is in early/rank1.json too: only again.json counts."
finish
