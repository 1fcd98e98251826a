#!/bin/sh
# vptrace run of a job of several ranks: a line for each rank in their order, which ranks are missing, and the command for the report of all.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] && [ -x "$bin/vptrace" ] || skip "neither demo nor vptrace was built"
work=$(cd "$work" && pwd -P)
cd "$work" || exit 1
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK PMIX_RANK VPT_STANDIN_DEVICES VPTRACE_LIST VPTRACE_OVERWRITE
# A process that exits may be anywhere: the tracer frees nothing then, on purpose.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0
export ASAN_OPTIONS
VPTRACE_LIBRARY=$bin/libvptrace.so
export VPTRACE_LIBRARY
small="--blocks 1 --steps 1 --layers 1"

# An analyzer that reports on ranks, and one that does not.
mkdir new old
for folder in new old; do
	cp "$bin/vptrace" $folder/vptrace
	cat >$folder/vptrace-analyze <<SCRIPT
#!/bin/sh
if [ "\$1" = ranks ] && [ $folder = old ]; then exit 1; fi
if [ "\$*" = "ranks --help" ]; then echo "vptrace-analyze ranks - report on all"; exit; fi
if [ "\$1" = ranks ] && [ -e fails ]; then exit 1; fi
if [ "\$1" = ranks ]; then shift; echo "JOINT \$# \$*"; exit; fi
exec "$VPT_ANALYZE" "\$@"
SCRIPT
	chmod +x $folder/vptrace-analyze
done

# job ANALYZER OPTIONS... -- COMMAND...
job() {
	vptrace=$work/$1/vptrace
	shift
	cases=$((cases + 1))
	"$vptrace" run --mark none "$@" >out 2>err </dev/null
	code=$?
}

# ---- a whole job ----
job new -o r%r.zst -- "$demo" --ranks 11 $small
same "exit code" 0 $code
same "ranks in their order" "0 1 2 3 4 5 6 7 8 9 10 " "$(sed -n 's/^vptrace: rank \([0-9]*\): .*: .*, good, [0-9,]* events$/\1/p' err | tr '\n' ' ')"
says err "vptrace: rank 10: $work/r10.zst: "
same "the last line" "vptrace: all ranks in one report: vptrace-analyze ranks $work/r*.zst" "$(tail -n 1 err)"
same "lines" 12 "$(wc -l <err)"
job new --report -o p%r.zst -- "$demo" --ranks 3 $small
same "the report of all ranks" "JOINT 4 --no-progress $work/p0.zst $work/p1.zst $work/p2.zst" "$(grep -v SIMULATED out)"

mkdir pages
job new --report=html -o pages/h%r.zst -- "$demo" --ranks 3 $small
same "the page of all ranks" "JOINT 7 --no-progress --format=html -o $work/pages/ranks.html $work/pages/h0.zst $work/pages/h1.zst $work/pages/h2.zst" \
	"$(grep -v SIMULATED out)"
same "where it is" "vptrace: report: $work/pages/ranks.html" "$(tail -n 1 err)"
VPTRACE_OVERWRITE=1 job new --report=html -o pages/h%r.zst -- "$demo" --ranks 3 $small
grep -q -- "-o $work/pages/ranks.html --force $work/pages/h0.zst" out || fail "a page that may be replaced"

# ---- without a report of ranks ----
: >fails
job new --report -o f%r.zst -- "$demo" --ranks 3 $small
same "that of the largest where there is none of all" 1 "$(grep -c '^RESULT' out)"
says err "no report of all ranks"
rm fails
job old --report -o o%r.zst -- "$demo" --ranks 3 $small
same "the report of the largest" 1 "$(grep -c '^RESULT' out)"
says err "rank 2: "
grep -q "vptrace-analyze ranks" err && fail "a command that the analyzer does not have"

# ---- the words of the command open exactly the files of the ranks ----
opens() { # opens RULE FILES...
	rule=$1
	shift
	words=$(sed -n 's/^vptrace: [^:]* ranks in one report: vptrace-analyze ranks //p' err)
	same "$rule" "$*" "$(eval "printf '%s ' $words" | sed 's/ $//')"
}
opens "without such a line"
: >x7.zst
job new -o x%r.zst -- "$demo" --ranks 3 $small
opens "another file of that kind" "$work/x0.zst" "$work/x1.zst" "$work/x2.zst"
mkdir "it's a [job] *"
job new -o "it's a [job] */r%r.zst" -- "$demo" --ranks 4 $small
opens "quotes, blanks and brackets" "$work/it's a [job] */r0.zst" "$work/it's a [job] */r1.zst" "$work/it's a [job] */r2.zst" "$work/it's a [job] */r3.zst"
mkdir d0 d1 d2
job new -o 'd%r/a.zst' -- "$demo" --ranks 3 $small
opens "a folder for each" "$work/d0/a.zst" "$work/d1/a.zst" "$work/d2/a.zst"
job new -o 'q%r.zst' -- sh -c "RANK=1 '$demo' $small; RANK=11 '$demo' $small; RANK=111 '$demo' $small"
opens "names that are the beginning of others" "$work/q1.zst" "$work/q11.zst" "$work/q111.zst"

# ---- ranks that are missing ----
job new -o m%r.zst -- sh -c "export WORLD_SIZE=8 LOCAL_WORLD_SIZE=4; RANK=4 '$demo' $small; RANK=6 '$demo' $small; RANK=5 true"
same "exit code" 0 $code
says err "2 of 4 ranks of this host reported nothing"
opens "those that are there" "$work/m4.zst" "$work/m6.zst"
says err "these 2 of 8 ranks in one report: "
job new -o n%r.zst -- sh -c "export OMPI_COMM_WORLD_SIZE=3; OMPI_COMM_WORLD_RANK=0 '$demo' $small; OMPI_COMM_WORLD_RANK=2 '$demo' $small"
says err "1 of 3 ranks reported nothing"
job new -o k%r.zst -- "$demo" --ranks 3 $small --plant 1:ends=0
same "exit code when a rank was killed" 1 $code
says err "rank 1: no file: process"
says err "rank 0: $work/k0.zst: "

# A process that is killed between the creation of its file and its first write.
job new -o v%r.zst -- sh -c "RANK=0 WORLD_SIZE=2 '$demo' $small; : >v1.zst; printf '%s\\n' 'rank 1 1 2 2' 'start 1 0 ' 'file 1 $work/v1.zst' >>\"\$VPTRACE_LIST\""
says err "rank 1: $work/v1.zst: 0 bytes, nothing: process 1 ended without a stop, before it had written anything"

# ---- no job ----
job new -o 'a%p.zst' -- sh -c "'$demo' $small; '$demo' $small"
same "lines of two processes" 2 "$(grep -c "^vptrace: $work/a" err)"
grep -q rank err && fail "ranks where there are none"
job new -o one.zst -- env RANK=0 WORLD_SIZE=1 "$demo" $small
grep -q "^vptrace: $work/one.zst: " err || fail "a rank alone is a process"

# ---- a launcher for each rank: that of the first one names the files of all ----
mkdir -p "its [3]/of $(uname -n) %" "its [0]/of $(uname -n) %"
for rank in 3 0; do
	job new -o 'its [%r]/of %h %%/%q{RANK}.zst' -- env RANK=$rank WORLD_SIZE=4 "$demo" $small
	grep -q "^vptrace: rank $rank: $work/its \[$rank\]/of $(uname -n) %/$rank.zst: " err || fail "the line of rank $rank"
done
same "the files of all" "$work/its [0]/of $(uname -n) %/0.zst $work/its [3]/of $(uname -n) %/3.zst " \
	"$(words=$(sed -n 's/^vptrace: the 4 ranks in one report, once all have ended: vptrace-analyze ranks //p' err); eval "printf '%s ' $words")"
job new -o one2.zst -- env RANK=3 WORLD_SIZE=4 "$demo" $small
same "what another one says" 1 "$(wc -l <err)"
job old -o 'old%r.zst' -- env RANK=0 WORLD_SIZE=4 "$demo" $small
same "without a report of ranks" 1 "$(wc -l <err)"
finish
