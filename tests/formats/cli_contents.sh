#!/bin/sh
# The contents of a capture: info says how many chunks it read; check compares them with the rows; the capture without them is
# read as before.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
have zstd "contents" || exit 0
need_python 3.6
built "${VPT_BIN:-/nowhere}/bench_generate" "contents" || exit 0

"$VPT_BIN/bench_generate" 1100000 -c 1 -o "$work/a.zst" 2>"$work/err" || fail "bench_generate"

# Writes the capture without its contents, and one whose contents have another number in a column: its base grows by 1.
cat >"$work/forge.py" <<'END'
import struct, subprocess, sys
folder, number = sys.argv[1], int(sys.argv[2])
data = open(folder + "/a.zst", "rb").read()
size = struct.unpack("<I", data[-16:-12])[0]
chunks, frame = data[:-size], data[-size + 8:-16]
open(folder + "/without.zst", "wb").write(chunks)
table = bytearray(subprocess.run(["zstd", "-dc"], input=frame, stdout=subprocess.PIPE, check=True).stdout)
columns, at = struct.unpack("<I", table[4:8])[0], 16
for _ in range(columns):
    length = struct.unpack("<I", table[at + 4:at + 8])[0]
    if table[at] == number:
        if number == 18: # of ranges: a row of the last name that the last chunk has
            table[at + 15 + length] += 1
        else:
            base = struct.unpack("<Q", table[at + 8:at + 16])[0]
            table[at + 8:at + 16] = struct.pack("<Q", base + 1)
    at += 16 + (length + 7) // 8 * 8
open(folder + "/table", "wb").write(table)
frame = subprocess.run(["zstd", "-c", "-q", folder + "/table"], stdout=subprocess.PIPE, check=True).stdout
open(folder + "/forged.zst", "wb").write(chunks + struct.pack("<II", 0x184d2a56, len(frame) + 16) + frame +
                                         struct.pack("<II", len(frame) + 24, 0) + b"VPTCNTS\n")
END

# 33: rows of kernels, which no header has.
python3 "$work/forge.py" "$work" 33
expect 0 "info reads the chunks that it needs" info "$work/a.zst"
says out "none in the 2 chunks read; vptrace-analyze check reads all"
count=$(sed -n "s/^chunks *\([0-9]*\),.*/\1/p" "$work/out")
expect 0 "info of a capture without contents reads all" info "$work/without.zst"
says out "damage    none"
same "and says no more" "damage    none" "$(grep damage "$work/out")"
expect 0 "the contents agree with the rows" check "$work/a.zst"
expect 0 "a capture does not need them" check "$work/without.zst"
expect 3 "check finds wrong contents" check "$work/forged.zst"
says out "chunk 0 at offset 60: the contents say 15685 in column 33, its rows 15684"
same "in each chunk" "$count" "$(grep -c "in column 33" "$work/out")"
says out "0 damaged, 0 torn, $count with a wrong header"

# 18: ranges by name.
python3 "$work/forge.py" "$work" 18
expect 3 "check finds wrong names of ranges" check "$work/forged.zst"
says out "chunk $((count - 1)) at offset"
says out "the contents count other ranges than its rows have"
says out "0 damaged, 0 torn, 1 with a wrong header"
expect 0 "an instance of a range" "$work/a.zst" --range "block 3:2" --format json
sed "s/a\.zst/without.zst/" "$work/out" >"$work/by_contents"
expect 0 "the same without contents" "$work/without.zst" --range "block 3:2" --format json
cmp -s "$work/by_contents" "$work/out" || fail "the report of an instance depends on contents"

# 5: t_max, which each chunk's header has.
python3 "$work/forge.py" "$work" 5
expect 3 "a chunk whose header says something else is damaged" check "$work/forged.zst"
says out "chunk 0 at offset 60: the contents of the file say t_max 1767225601000195641, the chunk says 1767225601000195640"
says out "$count damaged"
finish
