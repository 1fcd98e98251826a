#!/bin/sh
# A file that is no trace costs one clear sentence and exit code 1, whatever the command; a damaged one is
# reported with exit code 3. Nothing is left behind.
# shellcheck disable=SC1091,SC2046,SC2005,SC2154,SC2012,SC2010,SC2094,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

mkdir in folder
: >in/empty
echo 'Dear diary, today I traced a GPU.' >in/text.txt
printf 'NSYS REPORT\000\001\002' >in/run.nsys-rep
printf '\050\265\057\375' >in/magic-alone.zst
head -c 4096 /dev/zero >in/zeros

# refused NAME WORDS: no command reads it, and each says why in one line.
refused() {
	for command in $analyze info check cat "convert -o target.zst"; do
			expect 1 "$command $1" $command "$1"
		says err "vptrace-analyze: $1: "
		says err "$2"
		silent out
		same "one line for $command $1" 1 "$(wc -l <err | tr -d ' ')"
		[ ! -e target.zst ] || fail "$command $1 left a target behind"
	done
}

analyze=analyze
refused in/missing "No such file or directory"
analyze= # a folder is a job of several ranks
refused folder "is a directory, expected a file"
analyze=analyze
expect 2 "analyze folder" analyze folder
says err "vptrace-analyze: folder: expected a folder with the captures of all ranks, found no file in it"
refused in/empty "the file is empty"
refused in/text.txt "unknown trace format"
refused in/run.nsys-rep "nsys export --type sqlite"
refused in/magic-alone.zst "ends at byte 4, inside its first block"
refused in/zeros "unknown trace format"
# What people give by mistake is named, with the command that helps.
printf 'PK\003\004\024\000' >in/archive.zip
{ head -c 257 /dev/zero; printf 'ustar\000'; } >in/archive.tar
printf '\3757zXZ\000\000\004' >in/trace.json.xz
printf 'BZh91AY&SY' >in/trace.json.bz2
printf '\377\376{\000"\000' >in/utf16.json
printf '{\000"\000' >in/utf16-without-mark.json
printf '{"ph": "X", "ts": 1}\n{"ph": "X", "ts": 2}\n' >in/lines.json
printf '\012\003\150\001\130\012\002\150\001' >in/packets
printf 'anything' >in/run.pftrace
printf '{"traceEvents": [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "k"}]}' >in/jax.json
printf '[{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "Ascend Hardware"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "k"}]' >in/ascend.json
printf '{"rocprofiler-sdk-tool": [{}]}' >in/rocprofiler.json
printf '"Kind","Agent_Id","Kernel_Name"\n' >in/kernel_trace.csv
refused in/archive.zip "a zip archive: unpack it with: unzip FILE"
refused in/archive.tar "a tar archive: ranks and export read the files in it; else unpack it with: tar -xf FILE"
refused in/trace.json.xz "unpack it with: xz -d FILE"
refused in/trace.json.bz2 "unpack it with: bzip2 -d FILE"
refused in/utf16.json "UTF-16 text: convert it with: iconv"
refused in/utf16-without-mark.json "UTF-16 text: convert it with: iconv"
refused in/lines.json "JSON lines"
refused in/lines.json "jq -s . FILE > trace.json"
refused in/packets "a Perfetto trace"
refused in/run.pftrace "a Perfetto trace"
refused in/jax.json "the profiler of JAX or TensorFlow"
refused in/ascend.json "the profiler of torch_npu (Ascend)"
refused in/rocprofiler.json "a trace of rocprofiler"
refused in/kernel_trace.csv "a table of rocprofiler"
if command -v gzip >/dev/null; then
	gzip -c in/archive.tar >in/archive.tar.gz
	refused in/archive.tar.gz "a file compressed by gzip, and in it a tar archive"
	gzip -c in/packets >in/packets.gz
	refused in/packets.gz "a file compressed by gzip, and in it a Perfetto trace"
fi
if command -v zstd >/dev/null; then
	zstd -q in/packets -o in/packets.zst
	refused in/packets.zst "a file compressed by zstd, and in it a Perfetto trace"
	printf 'SQLite format 3\000' >in/export.sqlite
	zstd -q in/export.sqlite -o in/export.sqlite.zst && rm in/export.sqlite
	refused in/export.sqlite.zst "a file compressed by zstd: unpack it with: zstd -d FILE"
fi
same "nothing else was left behind" "err folder in out" "$(echo $(ls))"
same "no temporary file either" 0 "$(ls -A | grep -c '^\.')"

# A header of version 2.0, as zstd's own tool would write it.
if have zstd "a newer version"; then
	{ printf 'VPTRACE\n\002\000\000\000\100\000\000\000'; head -c 48 /dev/zero; } >header
	zstd -q header -o in/newer.zst && rm header
	refused in/newer.zst "format version 2.0, this program reads up to 1.x"
fi

# Memory is bounded, and one sentence says how to raise the bound.
kernels_trace 20000 >many.json
expect 1 "too little memory" analyze --memory 1 many.json
says err "no memory"
says err "the limit of 1 MiB of memory is reached; --memory raises it"
same "all of it in one line" 1 "$(grep -c . err)"
silent out
expect 0 "enough memory" analyze --memory 100 many.json
expect 0 "the usual memory" analyze many.json
rm many.json

need_trace "$work/whole.zst" kernels_trace 132000

# zstd around JSON is read.
if command -v zstd >/dev/null; then
	kernels_trace 100 | zstd -q -o packed.json.zst
	expect 0 "a zstd file of JSON" info packed.json.zst
	# Cut inside the first block, or damaged there: what it is, and where it ends. Behind it the rest is read.
	kernels_trace 20000 | zstd -q -o packed.json.zst --force
	for bytes in 5 12 20 1000 4000; do
		head -c $bytes packed.json.zst >in/cut.json.zst
		refused in/cut.json.zst "a file compressed by zstd ends at byte $bytes, inside its first block"
	done
	head -c $(($(wc -c <packed.json.zst) * 3 / 4)) packed.json.zst >in/cut.json.zst
	expect 3 "a zstd file cut behind its first block" info in/cut.json.zst
	cp packed.json.zst in/damaged.json.zst
	printf '\377\377\377\377' | dd of=in/damaged.json.zst bs=1 seek=9 conv=notrunc 2>err
	refused in/damaged.json.zst "a file compressed by zstd, whose first block is damaged"
	rm packed.json.zst in/cut.json.zst in/damaged.json.zst
fi

# Half a gzip: what came before the tear is reported.
if have gzip "half a gzip"; then
	kernels_trace 2000 | gzip -c >whole.json.gz
	head -c $(($(wc -c <whole.json.gz) / 2)) whole.json.gz >half.json.gz
	for command in analyze info check cat; do
			expect 3 "$command of half a gzip" $command half.json.gz
	done
	expect 3 "check of half a gzip" check half.json.gz
	says out "the file ends in the middle"
	says out "half.json.gz: truncated: kineto trace"
	expect 3 "convert of half a gzip" convert half.json.gz -o half.zst
	expect 3 "what was converted still lacks the rest" check half.zst
	says out "the file ends in the middle"
	says out "half.zst: incomplete: "
fi

# Captures. Chunks begin where zstd frames begin; the first frame is the header.
offsets=$(grep -abo "$(printf '\050\265\057\375')" whole.zst | cut -d: -f1)
# shellcheck disable=SC2086
set -- $offsets
size=$(wc -c <whole.zst)
expect 0 "a whole capture" check whole.zst
says out "whole.zst: good: 3 chunks, 132000 events; 0 damaged"
expect 0 "a whole capture, analyzed" whole.zst
if [ $# != 4 ]; then
	fail "expected a header and three chunks, found $# zstd frames"
	finish
fi

head -c "$4" whole.zst >killed.zst
expect 3 "a capture that lacks its last chunks" check killed.zst
says out "the capture ends without a stop: its process exited or was killed"
says out "killed.zst: incomplete: 2 chunks"
expect 3 "info of it" info killed.zst
says out "ends without a clean stop"

head -c $((size - 10)) whole.zst >torn.zst
expect 3 "a torn chunk" check torn.zst
says out "chunk 2 at offset $4: torn: the file ends inside it"
says out "torn.zst: damaged: 3 chunks"
for command in analyze info cat "convert --force -o out.zst"; do
	expect 3 "$command of a torn capture" $command torn.zst
done

cp whole.zst flipped.zst
printf '\125' | dd of=flipped.zst bs=1 seek=$(($3 + ($4 - $3) / 2)) conv=notrunc 2>log
expect 3 "a damaged chunk" check flipped.zst
says out "chunk 1 at offset $3: "
says out "flipped.zst: damaged: 3 chunks, 66464 events; 1 damaged, 0 torn"
for command in analyze info; do
	expect 3 "$command of a damaged capture" $command flipped.zst
done
expect 3 "cat of a damaged capture" cat flipped.zst
says err "flipped.zst: left out: chunk 1 at offset $3: "
same "the other chunks are printed" 66464 "$(wc -l <out | tr -d ' ')"
expect 3 "convert of a damaged capture" convert flipped.zst -o rest.zst
says err "wrote 66464 events"
expect 3 "what was converted still lacks the chunk" check rest.zst
says out "1 damaged chunk left out (chunk 1 at offset $3: "
says out "rest.zst: incomplete: 4 chunks, "

{ head -c "$3" whole.zst; tail -c +$(($4 + 1)) whole.zst; } >cut.zst
expect 3 "a chunk that was cut out" check cut.zst
says out "expected number 1, found 2"
says out "1 out of sequence"

tail -c +$(($2 + 1)) whole.zst >headless.zst
expect 3 "a capture without its header" check headless.zst
says out "the file's header is damaged"
expect 3 "info of it" info headless.zst
says out "unknown: the header is damaged"

# What a damaged file cannot show is no misuse; the same asked of a whole one is.
while IFS='|' read -r arguments whole damaged; do
	expect $whole "a whole capture: $arguments" $arguments whole.zst
	expect $damaged "a damaged capture: $arguments" $arguments flipped.zst
	expect $damaged "a torn capture: $arguments" $arguments torn.zst
	expect $damaged "a killed capture: $arguments" $arguments killed.zst
done <<'CASES'
analyze --fail-if fps<16|2|3
analyze --fail-if fps<16 --fail-if busy>0%|4|4
compare --fail-if fps<16 whole.zst|2|3
compare --fail-if bps+5% whole.zst|2|3
analyze --range nowhere|2|1
export -o - --range nowhere|2|1
stacks --range nowhere|2|1
compare --range nowhere whole.zst|2|2
analyze --from 18446744073709551615ns|2|1
cat --from 18446744073709551615ns|2|1
export -o - --from 18446744073709551614ns --to 18446744073709551615ns|2|1
CASES
expect 1 "the reason is named" flipped.zst --range nowhere
says err '--range: no range is called "nowhere": the trace has no ranges; the trace is incomplete: 1 damaged chunk left out (chunk 1 at '
expect 3 "so is that of a condition" flipped.zst --fail-if 'fps<16'
says err "--fail-if fps<16: unavailable"
says out INCOMPLETE

# A start that cannot be true is not the window's.
corpus=$VPT_SOURCE_DIR/tests/corpus
for file in bad-start-late.zst bad-start-last.zst; do
	for command in analyze check info cat "analyze --to 1ms" "export -o -"; do
		expect 3 "$command of $file" $command "$corpus/$file"
	done
	expect 3 "$file" "$corpus/$file" --format json
	says out '"window_start_ns": 2000,'
	says out "the file's header gives a start after all of its events: the first event's time is used"
	expect 3 "a copy of $file" convert --force "$corpus/$file" -o copy.zst
	expect 3 "a copy of $file" copy.zst --format json
	says out '"window_start_ns": 2000,'
	says out "the file's header gives a start after all of its events"
done

# A header that does not fit its rows, with good checksums.
if have zstd "a header that lies"; then
	head -c "$3" whole.zst | tail -c +$(($2 + 1)) | zstd -qdc >payload
	printf '\001' | dd of=payload bs=1 seek=12 conv=notrunc 2>log
	zstd -q payload -o payload.zst
	{ head -c "$2" whole.zst; cat payload.zst; } >liar.zst
	expect 3 "a chunk that lies about its events" check liar.zst
	says out "its header says event count 65537, its rows 65536"
	says out "1 with a wrong header"
fi
finish
