#!/bin/sh
# Exports for Perfetto: whatever trace goes in, an independent decoder finds all of it again, in each container, for any number of
# threads; what is misused is refused before the work; and the last line says where to open it.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1

# decoded FILE: what the decoder finds, in the file "found"; fails on all that Perfetto would drop or get wrong
decoded() {
	cases=$((cases + 1))
	python3 "$source/tests/support/outputs/pftrace.py" "$@" >found 2>wrong || fail "$*: $(head -n 3 wrong)"
}

# total KEY: of the last decoded file
total() {
	sed -n "s/^$1 //p" found
}

need_trace trace.zst small_trace

expect 0 "an export into the current folder" export trace.zst --format perfetto
silent out
says err "wrote 3 kernels, 1 copy, 4 calls, 1 range, "
says err "to trace.pftrace"
says err "https://ui.perfetto.dev/#!/?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute"
decoded trace.pftrace
same "kernels" 3 "$(total kernels)"
same "kernel time" 60000 "$(total kernel_ns)"
same "each op has its call" 4 "$(total submissions)"
same "only its owner may read it" "-rw-------" "$(ls -l trace.pftrace | cut -c1-10)"
decoded trace.pftrace --slices
grep -qF 'GPU 0 pid 11 Stream 7' found || fail "the kernel's process, stream and GPU"
grep -qF '"=sum "a""' found || fail "a name with quotes"
grep -qF 'attribute: vptrace.rank 3' found || fail "the rank"
grep -q 'process: 11 .* rank 3$' found || fail "processes stand in the order of their ranks: $(grep '^process:' found)"
cp trace.pftrace usual

mkdir far here
cp trace.zst far/trace.zst
cd here || exit 1
for kind in perfetto:trace.pftrace chrome:trace.pt.trace.json.gz csv:trace.csv.d; do
	"$VPT_ANALYZE" export ../far/trace.zst --format ${kind%%:*} 2>../err || fail "an export of a file elsewhere"
	same "where the export of a file elsewhere is" "${kind#*:}" "$(ls)"
	same "and that nothing is beside the file" trace.zst "$(ls ../far)"
	rm -r "${kind#*:}"
done
cd ..
rm -r far here

expect 2 "an export is not overwritten" export trace.zst --format perfetto
cmp -s usual trace.pftrace || fail "a refused export changed the file"
expect 0 "but with --force" export trace.zst --format perfetto --force
cmp -s usual trace.pftrace || fail "the same input gave other bytes"
expect 0 "without a format it is the only one" export trace.zst -o other.pftrace
cmp -s usual other.pftrace || fail "perfetto is not the default"
expect 0 "to standard output" export trace.zst --format perfetto -o -
cmp -s usual out || fail "the same export differs on standard output"
silent_note() { # no note about a spelling
	grep -q "older spelling" err && fail "$rule: a note that nobody needs"
}
silent_note
expect 0 "the older spelling of --format" export trace.zst --to perfetto -o old.pftrace
cmp -s usual old.pftrace || fail "--to perfetto gave other bytes"
says err "--to perfetto is an older spelling of --format perfetto"
same "in one line" 1 "$(grep -c "older spelling" err)"
expect 0 "both meanings of --to" export trace.zst --to perfetto --to 95us --from 25us -o old.pftrace --force
expect 0 "as with --format" export trace.zst --format perfetto --to 95us --from 25us -o new.pftrace
cmp -s old.pftrace new.pftrace || fail "the older spelling lost the window"
silent_note
rm old.pftrace new.pftrace
expect 2 "another format" export trace.zst --format svg
says err 'found "svg"'
expect 2 "another format in the older spelling" export trace.zst --to svg
says err '--to: expected a time such as 1.5s, found "svg"; formats (perfetto|chrome|csv|jsonl|sqlite|parquet|arrow) are chosen with --format'
expect 2 "an end that is no time" export trace.zst --to 1.5
says err '--to: expected a time with a unit'
[ ! -e trace.svg ] || fail "a refused export left a file"
expect 2 "a range and a window" export trace.zst --to 1ms --range "step, one" --force
expect 2 "no such range" export trace.zst --range nothing -o none.pftrace
[ ! -e none.pftrace ] || fail "a failed export left a file"
expect 1 "no such file" export nothing.zst -o none.pftrace

# ---- options of other formats ----
expect 0 "an option of another format" export trace.zst --format chrome --gpu-encoding trackevent --safe -o trace.json.gz
says err "--gpu-encoding does not apply to --format chrome"
says err "--safe does not apply to --format chrome"
same "in a line each" 2 "$(grep -c "does not apply" err)"
expect 0 "an option of this one" export trace.zst --format perfetto --gpu-encoding gpu -o trace.json.gz --force
grep -q "does not apply" err && fail "--gpu-encoding does apply to perfetto"
rm trace.json.gz

# ---- containers ----
for kind in packets zstd gzip none; do
	expect 0 "--compress $kind" export trace.zst --format perfetto --compress $kind -o $kind.out
	decoded $kind.out
	cp found $kind.found
	cmp -s $kind.found packets.found || fail "$kind tells something else than packets"
done
for name in named.json named.json.gz named.zst named.gz; do
	expect 0 "-o $name" export trace.zst --format "$(case $name in *.json*) echo chrome ;; *) echo perfetto ;; esac)" -o $name
done
same "a file named .json is JSON" "{" "$(head -c 1 named.json)"
same "one named .gz is compressed by gzip" "1f8b" "$(od -An -tx1 -N2 named.json.gz | tr -d ' ')"
same "one for Perfetto too" "1f8b" "$(od -An -tx1 -N2 named.gz | tr -d ' ')"
same "one named .zst is compressed by zstd" "28b52ffd" "$(od -An -tx1 -N4 named.zst | tr -d ' ')"
expect 0 "the name of a zstd file" export trace.zst --compress zstd
[ -f trace.pftrace.zst ] || fail "no trace.pftrace.zst"

expect 0 "ops as slices" export trace.zst --format perfetto --gpu-encoding trackevent -o slices.out
decoded slices.out --slices
same "all of them, with their calls" "3 4" "$(total kernels) $(total submissions)"
grep -q "GPU 0 stream 7: .* kernel \"=sum" found || fail "a kernel on its stream's track"

# ---- windows and what is left out ----
expect 0 "a window" export trace.zst --format perfetto --from 25us --to 95us -o window.out
decoded window.out
same "kernels in it" 2 "$(total kernels)"
expect 0 "a range" export trace.zst --format perfetto --range "step, one" -o range.out
decoded range.out
same "the whole of it" 3 "$(total kernels)"
expect 0 "without calls" export trace.zst --format perfetto --no-api -o calls.out
decoded calls.out
same "no calls" "0 0" "$(total api_calls) $(total submissions)"
expect 0 "gaps from 10 us on" export trace.zst --format perfetto --export-min-gap 10us -o gaps.out
decoded gaps.out
same "two of three gaps" 2 "$(total gaps)"

# ---- several chunks, several groups; threads do not matter; a cut file keeps what comes before ----
generate=${VPT_BIN:+$VPT_BIN/bench_generate}
if [ -x "$generate" ]; then
	"$generate" 40000 -c 1 -o many.zst 2>err || fail "the stream"
	for jobs in 1 2 4; do
		expect 0 "$jobs threads" export many.zst --format perfetto -j $jobs -o many.$jobs
		cmp -s many.1 many.$jobs || fail "$jobs threads give other bytes than one"
	done
	decoded many.1
	kernels=$(total kernels)
	[ "$kernels" -gt 10000 ] || fail "$kernels kernels of 40,000 events"
	same "every op found its call, in order" "0 0" "$(total late_links) $(total late_slices)"
	head -c "$(($(wc -c <many.1) * 2 / 3))" many.1 >cut
	decoded cut --cut
	[ "$(total kernels)" -gt $((kernels / 4)) ] || fail "a cut export has only $(total kernels) kernels left"

	# Whatever has been written when an export ends before its time can be read.
	"$VPT_ANALYZE" export many.zst --format perfetto --compress none -o - 2>/dev/null | head -c 700000 >part
	decoded part --cut
	[ "$(total kernels)" -gt 1000 ] || fail "a broken pipe has only $(total kernels) kernels before it"

	# Killed: the part written so far remains next to the file, as .NAME. and a random word, and can be read.
	# The first bytes hold no event yet, so the kill waits for a twentieth of the whole, which is about 10 MB.
	cases=$((cases + 1))
	"$generate" 1000000 -c 1 -o long.zst 2>err || fail "the long stream"
	"$VPT_ANALYZE" export long.zst --format perfetto --level 9 -j 1 -o killed.out 2>err &
	pid=$!
	waited=0
	until [ "$(cat .killed.out.* 2>/dev/null | wc -c)" -ge 500000 ] || [ $waited -ge 6000 ]; do
		sleep 0.01
		waited=$((waited + 1))
	done
	kill -s KILL $pid 2>/dev/null || fail "the export ended before it was killed"
	wait $pid 2>/dev/null
	[ ! -e killed.out ] || fail "a killed export has the name of a whole one"
	decoded .killed.out.* --cut
	[ "$(total kernels)" -gt 1000 ] || fail "a killed export has only $(total kernels) kernels"

	# ---- a damaged capture: what is left, and exit code 3 ----
	head -c "$(($(wc -c <many.zst) * 9 / 10))" many.zst >torn.zst
	expect 3 "a torn capture" export torn.zst --format perfetto -o torn.out
	decoded torn.out
	[ "$(total kernels)" -gt 1000 ] || fail "a torn capture has only $(total kernels) kernels left"
else
	echo "SKIPPED: a large trace: no bench_generate was built"
fi

# ---- files that the format's promises are tested with, hostile ones among them ----
number=0
for trace in "$source"/tests/corpus/*.zst; do
	number=$((number + 1))
	"$VPT_ANALYZE" export "$trace" --format perfetto --compress none -o corpus.$number --force 2>err
	code=$?
	[ $code -le 3 ] || fail "$trace: exit code $code"
	[ $code = 1 ] || echo "corpus.$number" >>corpus
	[ $code = 1 ] || echo "$trace" >>traces
done
cases=$((cases + number))
python3 "$source/tests/support/outputs/pftrace.py" --serve <corpus >found 2>wrong || fail "the decoder: $(tail -n 1 wrong)"
same "each is answered" "$(wc -l <corpus)" "$(grep -c '^= ' found)"
grep '^= ' found | paste - traces | grep -v '^= 0' >wrong && fail "$(cat wrong) $(grep '^wrong' found)"
finish
