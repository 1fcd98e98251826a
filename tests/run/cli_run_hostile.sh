#!/bin/sh
# `vptrace run` beside a command that sends and writes anything: which files it writes, what it keeps open; and a list that is
# none. Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091,SC2012,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
unset VPTRACE_OUTPUT VPTRACE_LIST VPTRACE_RING VPTRACE_SNAPSHOT_ON VPTRACE_RING_SOCKET VPTRACE_OVERWRITE RANK
vptrace=$bin/vptrace
host=$bin/host_ring
[ -x "$vptrace" ] && [ -x "$host" ] || skip "vptrace or host_ring is not built"
need_python 3.9
export VPT_STANDIN_TIME=real VPTRACE_FLUSH_MS=50
mkdir "$work/temporary" "$work/in" "$work/other"
export TMPDIR="$work/temporary"
cd "$work/in" || exit 1

# runs STATUS RULE WORDS...
runs() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	timeout 60 "$vptrace" run "$@" >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit status $wanted, found $found"
	[ -z "$(ls "$work/temporary")" ] || fail "$rule: a temporary file is left: $(ls "$work/temporary")"
}

# ---- the name in a ring ----
echo precious >"$work/other/file"
for overwrite in "" --overwrite; do
	# shellcheck disable=SC2086
	runs 137 "a ring that names another file${overwrite:+, $overwrite}" --ring 30s $overwrite -o a.zst "$host" forge "$work/other/file"
	same "$rule: the other file" precious "$(cat "$work/other/file")"
	expect 0 "$rule: the run's own" check a.zst
	runs 137 "a ring that names a new file elsewhere${overwrite:+, $overwrite}" --ring 30s -o a.zst "$host" forge "$work/other/new"
	same "$rule: files there" file "$(ls "$work/other")"
	rm -f ./*.zst
done
runs 137 "a ring that names a file beside the output" --ring 30s --overwrite -o a.zst "$host" forge "$work/in/b.zst"
same "$rule: files" ./a.zst "$(ls ./*.zst)"
rm -f ./*.zst
# A name that the command has chosen for itself is not lost.
runs 0 "another output in the command" --ring 30s -o a.zst sh -c "VPTRACE_OUTPUT='$work/other/new' '$host' die 300 1; true"
same "$rule: files" ./a.zst "$(ls ./*.zst)"
says err "a ring is written to $work/in/a.zst: its process wanted $work/other/new, which is not the output of this run; choose it with -o"
rm -f ./*.zst
# Every sequence, and no name at all, as the process has expanded them.
for output in '%p-%h.zst' 'r%r.zst' '%q{TAG}.zst' ''; do
	RANK=3 TAG=a.b runs 137 "a ring of the output '$output'" --ring 30s -o "$work/in/$output" "$host" die 300 1
	same "$rule: files" 1 "$(ls ./*.zst | wc -l | tr -d ' ')"
	same "$rule: no other name" "" "$(grep wanted "$work/err")"
	rm -f ./*.zst
done

# ---- messages ----
# send COUNT DESCRIPTORS BYTES WHAT: the launcher's descriptors before, and after a child has sent and ended
cat >"$work/send.py" <<'PY'
import array
import fcntl
import os
import socket
import sys
import time

count, descriptors, data, what = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4]
launcher = os.getppid()


def opened():
    return len(os.listdir("/proc/%d/fd" % launcher))


def make(what):
    if what == "memory":
        file = os.memfd_create("x", os.MFD_ALLOW_SEALING)
        os.ftruncate(file, 1 << 22)
        fcntl.fcntl(file, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
        return file
    if what == "pipe":
        return os.pipe()[0]
    return os.open(what, os.O_RDONLY)


def send():
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    files = array.array("i", [make(what) for _ in range(descriptors)])
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files[:len(files) // 2])] if len(files) > 1 else []
    control.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, files[len(control) and len(files) // 2:]))
    for _ in range(count):
        sender.sendmsg([data], control if descriptors else [], 0, os.environ["VPTRACE_RING_SOCKET"])


before = opened()
child = os.fork()
if not child:
    send()
    os._exit(0)
status = os.waitpid(child, 0)[1]
deadline = time.time() + 10
while opened() > before and time.time() < deadline:
    time.sleep(0.01)
time.sleep(0.05)
print(status, opened() - before)
PY
while read -r count descriptors bytes what; do
	runs 0 "$count messages '$bytes' with $descriptors of $what" --ring 5s -o a.zst python3 "$work/send.py" "$count" "$descriptors" "$bytes" "$what"
	same "$rule: sent, and left open" "0 0" "$(cat "$work/out")"
done <<'CASES'
50 1 R /dev/null
50 1 R pipe
50 1 R memory
50 2 R /dev/null
50 3 x /dev/null
20 100 R /dev/null
9 253 R /dev/null
50 0 R -
50 1 x memory
50 1 RR memory
CASES
rule="a process that sends its ring again and again, and descriptors that the launcher has no room for"
(
	ulimit -Sn 64 -Hn 64 2>/dev/null || ulimit -n 64
	timeout 60 "$vptrace" run --ring 5s -o a.zst python3 "$work/send.py" 9 40 R /dev/null >"$work/out" 2>"$work/err"
)
same "$rule" "0 0" "$(cat "$work/out")"

# ---- a list that is none ----
plain=1
! ldd "$bin/libvptrace.so" | grep -q 'lib[atu]b*san' || plain=
mkfifo "$work/fifo"
echo letter >"$work/letter"
: >"$work/empty"
for list in "$work/letter" "$work/empty" "$work/fifo" "$work/absent" /dev/null "$work/in"; do
	rule="VPTRACE_LIST=$list"
	cases=$((cases + 1))
	VPTRACE_LIST=$list VPTRACE_OVERWRITE=1 CUDA_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/in/a.zst VPTRACE_RING=5s \
		timeout 20 "$host" take b.zst >"$work/out" 2>"$work/err" </dev/null || fail "$rule: exit status $?"
	[ -s a.zst ] && [ -s b.zst ] || fail "$rule: nothing was recorded"
	rm -f ./*.zst
	[ $plain ] || continue # an interpreter without sanitizers cannot load a library with them
	VPTRACE_LIST=$list VPTRACE_MARK="nothing:here=stage,json:dumps=stage" PYTHONPATH=$source/tracer/python/site VPTRACE_LIBRARY=$bin/libvptrace.so \
		timeout 20 python3 -c "import json" >"$work/out" 2>"$work/err" </dev/null || fail "$rule: Python's exit status $?"
done
same "a file of the user" letter "$(cat "$work/letter")"
same "an empty file of the user" "" "$(cat "$work/empty")"
same "no file is made" no "$([ -e "$work/absent" ] && echo yes || echo no)"
runs 0 "a launcher with such a list" -o a.zst env VPTRACE_LIST="$work/letter" "$vptrace" run -o b.zst "$host" steps 20 99
same "$rule" letter "$(cat "$work/letter")"
runs 0 "a command that puts a FIFO in place of the list" -o c.zst sh -c 'rm "$VPTRACE_LIST" && mkfifo "$VPTRACE_LIST"'
says err "no summary: the command has removed a temporary file of vptrace"
runs 0 "a list of many lines" -o d.zst python3 -c "
import os
with open(os.environ['VPTRACE_LIST'], 'a') as list:
    for i in range(50000):
        list.write('start %d 0 \\nfile %d /a/%d\\nused 1 %d\\nsite %d\\n' % (i, i, i % 9, i, i))"

# ---- a launcher in a launcher ----
rm -f ./*.zst
runs 0 "a launcher in a launcher" -o a.zst "$vptrace" run -o b.zst "$host" steps 20 99
same "$rule: what both say" 2 "$(grep -c "$work/in/b.zst: .*, good, " "$work/err")"
same "$rule: nothing else" "" "$(grep -v "$work/in/b.zst: .*, good, " "$work/err")"
rm -f ./*.zst
runs 137 "a launcher in a launcher, whose command dies" -o a.zst "$vptrace" run --ring 5s -o b.zst "$host" die 500 1
same "$rule: what both say" 2 "$(grep -c "$work/in/b.zst: " "$work/err")"
rm -f ./*.zst
runs 0 "a launcher in a launcher, and a process of each" -o %p-a.zst sh -c "'$vptrace' run -o b.zst '$host' steps 20 99; '$host' steps 20 99"
same "$rule: what they say" 3 "$(grep -c 'good, ' "$work/err")"
finish
