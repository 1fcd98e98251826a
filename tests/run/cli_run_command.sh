#!/bin/sh
# `vptrace run`: the command's exit status, output and signals are its own; each process that used the GPU leaves one file and a line
# of its own; what cannot be traced is refused before it runs.
# shellcheck disable=SC1091,SC2012,SC2016,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)

# A process that exits may be anywhere: the tracer frees nothing then, on purpose. Leaks are looked for where captures are stopped.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0
export ASAN_OPTIONS
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH VPTRACE_OUTPUT VPTRACE_LIST VPTRACE_LIBRARY RANK

vptrace=$bin/vptrace
host=$bin/host_launched
[ -x "$vptrace" ] && [ -x "$host" ] || skip "vptrace or host_launched is not built"
mkdir "$work/temporary"
TMPDIR=$work/temporary
export TMPDIR
cd "$work" || exit 1

# runs STATUS RULE WORDS...: vptrace with these words
runs() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	rm -f ./*.zst
	timeout 60 "$vptrace" "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit status $wanted, found $found"
	[ -z "$(ls temporary)" ] || fail "$rule: a temporary file is left: $(ls temporary)"
}
files() { # files N: there are N captures, and each has its line
	same "$rule: captures" "$1" "$(ls ./*.zst 2>/dev/null | wc -l | tr -d ' ')"
	for capture in ./*.zst; do
		[ ! -e "$capture" ] || says err "vptrace: $work/${capture#./}: "
	done
}
kernels() { # kernels FILE: how many are in it
	"$VPT_ANALYZE" cat "$1" --kind kernel 2>/dev/null | wc -l | tr -d ' '
}
refuses() { # refuses STATUS RULE TEXT WORDS...: nothing is run, one line says why
	refused=$1
	text=$3
	shift
	rule=$1
	shift 2
	runs "$refused" "$rule" "$@"
	says err "$text"
	silent out
	same "$rule: one line" 1 "$(grep -c . err)"
	same "$rule: captures" 0 "$(ls ./*.zst 2>/dev/null | wc -l | tr -d ' ')"
}

# ---- what comes out of it ----
runs 0 "a command" run -o a.zst -- "$host" launch 50
silent out
files 1
says err "a.zst: "
says err "good, 1"
same "one line says it" 1 "$(wc -l <err | tr -d ' ')"
same "every kernel is there" 50 "$(kernels a.zst)"
runs 7 "the exit status is the command's" run -o a.zst "$host" launch 5 7
files 1
runs 3 "words after the command are the command's" run sh -c 'echo "$1"; exit 3' -- --overwrite
same "and are not looked at" "--overwrite" "$(cat out)"
runs 5 "standard output and error are the command's" run -- sh -c 'echo o; echo e >&2; exit 5'
same "standard output" o "$(cat out)"
says err e
runs 0 "the default name" run "$host" launch 5
files 1
ls ./vptrace-host_launched-*.zst >/dev/null 2>&1 || fail "$rule: found $(ls ./*.zst)"
RANK=3 runs 0 "the default name with a rank" run "$host" launch 5
ls ./vptrace-host_launched-r3-*.zst >/dev/null 2>&1 || fail "$rule: found $(ls ./*.zst)"
RANK=3 runs 0 "a pattern" run -o 'r%r-%q{RANK}.zst' "$host" launch 5
[ -e r3-3.zst ] || fail "$rule: found $(ls ./*.zst)"
mkdir -p 'sub/100%'
runs 0 "a folder" run -o sub/ "$host" launch 5
ls sub/vptrace-host_launched-*.zst >/dev/null 2>&1 || fail "$rule: found $(ls sub)"
(cd 'sub/100%' && runs 0 "a folder with a percent sign" run -o here.zst sh -c "cd / && '$host' launch 5" && [ -e here.zst ]) 2>/dev/null
runs 0 "a relative name is the launcher's" run -o a.zst sh -c "cd sub && '$host' launch 5"
[ -e a.zst ] || fail "$rule: found no a.zst here"

# ---- several processes ----
runs 0 "a shell script and its programs" run -o a.zst sh -c "'$host' launch 5; '$host' launch 6 & '$host' launch 7; wait"
files 3
same "each has its own kernels" "5 6 7 " "$(for capture in ./*.zst; do kernels "$capture"; done | sort | tr '\n' ' ')"
runs 0 "what one run wrote it does not replace" run --overwrite -o a.zst sh -c "'$host' launch 5; '$host' launch 6"
files 2
cp a.zst former.keep
rule="--overwrite replaces what was there"
timeout 60 "$vptrace" run --overwrite -o a.zst "$host" launch 8 2>err
same "$rule" 8 "$(kernels a.zst)"
runs 0 "a child that forks" run -o a.zst "$host" fork 20
files 1
same "the parent's kernels" 20 "$(kernels a.zst)"
runs 0 "a child that forks, and both launch" run -o a.zst "$host" both 20
files 2
for name in script.py ./script.py "$work/script.py"; do
	printf 'import torch  # all of my work\n' >script.py
	refuses 2 "the run's own script is no output" "/script.py: is a file that is no capture; nothing else is overwritten" \
		run --overwrite -o "$name" python3 script.py
	same "$rule: it is as it was" "import torch  # all of my work" "$(cat script.py)"
done
cp /bin/true program
refuses 2 "nor is its program" "$work/program: is a file that is no capture" run --overwrite -o program ./program
cmp -s program /bin/true || fail "$rule: it was overwritten"
inner="'$vptrace' run '$host' launch"
runs 0 "what one launcher inside another wrote no other one replaces" run --overwrite -o a.zst sh -c "$inner 5; $inner 6; '$host' launch 7"
files 3
same "each has its own kernels" "5 6 7 " "$(for capture in ./*.zst; do kernels "$capture"; done | sort | tr '\n' ' ')"
runs 0 "nor what the outer one wrote, or one beside it, or one further inside" run --overwrite -o a.zst \
	sh -c "'$host' launch 4; $inner 5 & $inner 6 & wait; '$vptrace' run '$vptrace' run '$host' launch 7; $inner 8"
files 5
same "each has its own kernels" "4 5 6 7 8 " "$(for capture in ./*.zst; do kernels "$capture"; done | sort | tr '\n' ' ')"
runs 0 "an output of its own is replaced" run --overwrite -o a.zst "$vptrace" run -o b.zst "$host" launch 9
same "the kernels of what replaced it" 9 "$(kernels b.zst)"
same "a child that does nothing leaves nothing" 0 "$(runs 0 nothing run -o a.zst sh -c 'true; true'; ls ./*.zst 2>/dev/null | wc -l | tr -d ' ')"
VPTRACE_COUNTERS=100ms runs 0 "a process that launches nothing has no file, however often counters are sampled" run -o a.zst "$host" idle 700
files 0
says err "nothing was launched and no range was made"
runs 0 "no process uses the GPU" run -o a.zst true
files 0
says err "nothing was recorded: no process used CUDA or NVTX"
says err "and run vptrace doctor"
runs 1 "a command that fails before it uses the GPU" run -o a.zst sh -c 'exit 1'
says err "nothing was recorded: the command ended with exit status 1 before any process used CUDA or NVTX"
runs 139 "a command that dies before it uses the GPU" run -o a.zst sh -c 'ulimit -c 0; kill -11 $$'
says err "nothing was recorded: the command was killed by signal 11 (Segmentation fault) before any process used CUDA or NVTX"
runs 137 "one that is killed" run -o a.zst sh -c 'kill -9 $$'
says err "nothing was recorded: the command was killed by signal 9 (Killed) before"
says err "if nobody sent signal 9, the system ran out of memory: see dmesg"
runs 143 "a shell whose program is killed" run -o a.zst sh -c "sh -c 'kill -15 \$\$'; exit \$?"
says err "the command ended with exit status 143, as a shell does after signal 15 (Terminated) before"
# In a command's script: whatever is beside it has begun, and has written its process id.
begun="echo \$! >>pids; until [ -s ready ]; do sleep 0.1; done"
left() { # what still runs
	kill $(cat pids)
	rm -f pids ready
}
runs 137 "one that has loaded CUDA only" run -o a.zst sh -c "'$host' idle 60000 >ready & $begun; kill -9 \$!; wait \$!"
rm -f pids ready
says err "ended without a stop, and had written nothing"
says err "vptrace: the command ended with exit status 137, as a shell does after signal 9 (Killed)"
printf '__main__:generate = request\n__main__:step = step\n' >marked.marks
runs 0 "a process that outlives the command" run -o a.zst sh -c "'$host' idle 60000 >ready 2>&1 & $begun"
left
says err " (host_launched) still runs, but the command has ended: "
same "$rule: in one line" 1 "$(grep -c . err)"
runs 0 "one beside others" run -o a.zst sh -c "sleep 60 & echo \$! >>pids; sleep 60 & echo \$! >>pids; '$host' launch 5"
left
files 1
says err " (sleep) and 1 more still run, but the command has ended: "
if command -v python3 >/dev/null; then
	printf 'def generate(): pass\ndef step(): pass\ngenerate()\nstep()\n' >marked.py
	runs 0 "marks without the GPU" run -o a.zst --mark marked.marks python3 marked.py
	says err "nothing was recorded: no process used CUDA. Marks were hit in process "
	says err "request __main__:generate, step __main__:step. If the program should use the GPU, check"
	same "$rule: in one line" 1 "$(grep -c . err)"
	runs 3 "marks in several processes" run -o a.zst --mark marked.marks sh -c 'python3 marked.py; python3 marked.py; exit 3'
	says err " and 1 more, but are kept only with CUDA calls: "
	says err "; the command ended with exit status 3"
	runs 0 "marks beside a process that uses the GPU" run -o a.zst --mark marked.marks sh -c "python3 marked.py; '$host' launch 5"
	files 1
	same "$rule: in one line" 1 "$(grep -c . err)"
	mkdir -p 'a=b' deep
	cp marked.marks marked.py 'a=b'
	runs 0 "a relative mark file is the launcher's" run -o a.zst --mark marked.marks sh -c "cd deep && python3 ../marked.py"
	says err "Marks were hit in process "
	VPTRACE_MARK=' auto , ./marked.marks' runs 0 "the same by its variable" run -o a.zst sh -c "cd / && python3 '$work/marked.py'"
	says err "Marks were hit in process "
	(cd 'a=b' && "$vptrace" run --mark marked.marks sh -c "cd / && python3 '$work/a=b/marked.py'" 2>../err)
	rule="a mark file in a folder with an equals sign"
	says err "Marks were hit in process "
	echo 'def step(): pass' >marked.py
	runs 0 "marks that were not hit" run -o a.zst --mark marked.marks python3 marked.py
	says err "nothing was recorded: no process used CUDA or NVTX. If one should have"
else
	echo "SKIPPED: no python3 for marks without the GPU"
fi
rule="no CUPTI"
VPTRACE_LIBCUPTI=/nonexistent/libcupti.so.13 timeout 60 "$vptrace" run -o a.zst "$host" launch 5 2>err
says err "/nonexistent/libcupti.so.13"

# ---- endings ----
VPTRACE_FLUSH_MS=10
export VPTRACE_FLUSH_MS
for number in 9 11 15; do
	rm -f ./*.zst go
	(
		for moment in $(seq 300); do
			[ "$(kernels a.zst)" != 50 ] || break
			sleep 0.1
		done
		: >go
	) &
	runs $((128 + number)) "a command killed by $number" run -o a.zst "$host" kill 50 $number
	wait $!
	files 1
	same "$rule: its kernels" 50 "$(kernels a.zst)"
	says err "incomplete: the capture ends without a stop"
done
unset VPTRACE_FLUSH_MS

number_of() {
	case $1 in HUP) echo 1 ;; INT) echo 2 ;; QUIT) echo 3 ;; USR1) echo 10 ;; USR2) echo 12 ;; TERM) echo 15 ;; WINCH) echo 28 ;; esac
}
# one_signal SIGNAL: sent to the launcher alone, the command gets it once
one_signal() {
	rule="SIG$1 to the launcher"
	rm -f ./*.zst out
	timeout 60 "$vptrace" run -o a.zst "$host" count 10 >out 2>err </dev/null &
	waited=$!
	for moment in $(seq 300); do
		grep -q ready out 2>/dev/null && break
		sleep 0.1
	done
	child=$(sed -n 's/ready //p' out)
	kill -s "$1" "$(sed 's/.*) //' "/proc/$child/stat" | cut -d' ' -f2)"
	wait $waited
	same "$rule: the exit status" 0 $?
	same "$rule: it came once" "signal $(number_of "$1"): 1" "$(grep '^signal' out)"
	files 1
	says err "good, "
}
for signal in INT TERM HUP QUIT USR1 USR2 WINCH; do
	one_signal $signal
done
if command -v python3 >/dev/null; then
	rule="ctrl-C on a terminal"
	rm -f ./*.zst
	timeout 60 python3 "$source/tests/support/pty_signal.py" "$vptrace" run -o a.zst "$host" count 10 >out 2>&1 </dev/null
	same "$rule: the exit status" 0 $?
	same "$rule: it came once" "signal 2: 1" "$(grep -o 'signal 2: .*' out)"
	cp out err
	files 1
	says err "good, "
	for late in '' --late; do
		rule="SIGINT to the process group $late"
		rm -f ./*.zst
		timeout 60 python3 "$source/tests/support/group_signal.py" $late "$vptrace" run -o a.zst "$host" count 10 >out 2>err </dev/null
		same "$rule: the exit status" 0 $?
		same "$rule: it came once" "signal 2: 1" "$(grep '^signal' out)"
		files 1
		says err "good, "
	done
else
	echo "SKIPPED: no python3 for a terminal and a process group"
fi

# ---- outputs that fail ----
rule="a closed pipe"
rm -f ./*.zst
(timeout 60 "$vptrace" run -o a.zst "$host" write 10 2>err; echo $? >status) | head -n 1 >out
same "$rule: the exit status" 0 "$(cat status)"
same "$rule: what was read" line "$(cat out)"
files 1
says err "good, "
rule="a command that removes temporary files"
rm -f ./*.zst
timeout 60 "$vptrace" run -o a.zst sh -c "'$host' launch 10; rm -f '$work'/temporary/*; exit 5" 2>err
same "$rule: the exit status" 5 $?
same "$rule: the capture" 10 "$(kernels a.zst)"
same "$rule: what is said" "vptrace: no summary: the command has removed a temporary file of vptrace; set TMPDIR" "$(cat err)"
rule="closed standard error"
rm -f ./*.zst
timeout 60 "$vptrace" run -o a.zst "$host" launch 10 4 2>&-
same "$rule: the exit status" 4 $?
same "$rule: the capture" 10 "$(kernels a.zst)"
rule="closed standard input and output"
rm -f ./*.zst
timeout 60 "$vptrace" run -o a.zst "$host" launch 10 4 <&- >&- 2>err
same "$rule: the exit status" 4 $?
says err "good, "
rule="closed streams are the command's own"
timeout 60 "$vptrace" run -o a.zst sh -c 'for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && : >open.$i; done; :' <&- >&- 2>&-
same "$rule" "" "$(ls open.* 2>/dev/null)"
rule="a full standard error"
timeout 60 "$vptrace" run --overwrite -o a.zst "$host" launch 10 4 2>/dev/full
same "$rule: the exit status" 4 $?
rule="a report to a full disk"
timeout 60 "$vptrace" run --report --overwrite -o a.zst "$host" launch 10 >/dev/full 2>err
same "$rule: the exit status" 0 $?
says err "no report: "
rule="a full disk"
rm -f ./*.zst
(ulimit -f 2 && timeout 60 "$vptrace" run -o a.zst "$host" launch 20000 6 >out 2>err)
same "$rule: the exit status" 6 $?
says err "a.zst: cannot write: File too large"

# ---- the report ----
runs 0 "a report" run --report -o a.zst "$host" launch 10
says out "RESULT"
runs 0 "the report of the largest" run --report -o a.zst sh -c "'$host' launch 5; '$host' launch 3000; '$host' launch 6"
says out "3,000 kernels"
runs 0 "a page" run --report=html -o page.zst "$host" launch 10
says err "report: $work/page.html"
same "$rule: it is a page" "<!DOCTYPE html>" "$(head -n 1 page.html)"
cp page.html before.html
rm page.zst
runs 0 "a page that is there" run --report=html -o page.zst "$host" launch 20
says err "no report: vptrace-analyze failed on"
cmp -s page.html before.html || fail "$rule: it was replaced"
runs 0 "a page that may be replaced" run --report=html --overwrite -o page.zst "$host" launch 20
says err "report: $work/page.html"
cmp -s page.html before.html && fail "$rule: it was not replaced"

# ---- other words ----
timeout 60 "$vptrace" run -o a.zst "$host" launch 10 2>err
runs_word() { # runs_word STATUS RULE WORDS...: without removing captures
	wanted=$1
	rule=$2
	shift 2
	"$vptrace" "$@" >out 2>err </dev/null
	same "$rule: exit status" "$wanted" $?
}
runs_word 0 "report" report a.zst --brief
says out "RESULT"
runs_word 0 "a file" a.zst --brief
says out "RESULT"
words=$("$VPT_ANALYZE" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
same "vptrace-analyze has commands" 1 "$([ "$(echo $words | wc -w)" -ge 10 ] && echo 1)"
for word in $words; do
	runs_word 0 "$word is vptrace-analyze's" "$word" --help
	says out "vptrace-analyze $word"
done
runs_word 0 "--version" --version
same "its version" "$("$VPT_ANALYZE" --version | sed 's/^vptrace-analyze \([0-9.]*\).*/vptrace \1/')" "$(cat out)"
runs_word 0 "--help" --help
says out "usage: vptrace run"
runs_word 0 "run --help" run --help
if [ -w /dev/full ]; then
	for command in run doctor; do
		cases=$((cases + 1))
		"$vptrace" $command --help >/dev/full 2>err && fail "help that cannot be written ends with 0"
		says err "vptrace: standard output: cannot write"
	done
fi
says out "--profile"
says out "--ring"
runs_word 2 "no word" 
runs_word 2 "an unknown word" exprot
says err 'did you mean "export"?'
runs_word 2 "an unknown option" run --owerwrite true
says err "did you mean --overwrite?"

# ---- refusals ----
refuses 127 "a command that is not there" "nosuch: command not found" run nosuch
refuses 127 "a path that is not there" "./nosuch: command not found" run ./nosuch
: >plain
refuses 126 "a file that is not executable" "./plain: is not executable" run ./plain
refuses 126 "a folder" "./sub: is a folder" run ./sub
if echo 'int main(void) { return 0; }' | cc -static -x c - -o static 2>/dev/null; then
	refuses 2 "a static program" "./static is a static program" run ./static
	printf '#!%s/static\n' "$work" >script
	chmod +x script
	refuses 2 "a script for a static program" "static is a static program" run ./script
else
	echo "SKIPPED: no static program can be built"
fi
printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\002\0\003\0\001\0\0\0%0256d' 0 >narrow
chmod +x narrow
refuses 2 "a 32-bit program" "./narrow is a 32-bit program" run ./narrow
if [ "$(id -u)" = 0 ] && cp /bin/true owned && chown 65534 owned && chmod 4755 owned; then
	refuses 2 "a setuid program" "runs with its owner's rights (setuid)" run ./owned
else
	echo "SKIPPED: no setuid program can be made"
fi
refuses 2 "a preset that is not there" \
	'--mark: expected auto, none, modules:N, a file or one of causvid, diffusers, ' run --mark auto,nosuch true
says err 'found "nosuch"'
refuses 2 "a mark file that is not there" "--mark: ./nosuch.marks: No such file or directory" run --mark ./nosuch.marks true
refuses 2 "modules without a depth" 'found "modules:0"' run --mark modules:0 true
VPTRACE_MARK=nosuch refuses 2 "the same by its variable" "VPTRACE_MARK: expected auto, " run true
echo '__main__:f = step' >'my own.marks'
runs 0 "marks that are there" run --mark 'auto, modules:2,self-forcing,WAN,,my own.marks' true
refuses 2 "a folder as a mark file" "--mark: ./sub: Is a directory" run --mark ./sub true
runs 0 "a rule as a mark" run --mark '__main__:f = step' true
mkdir -p bare/bin
cp -L "$bin/vptrace" "$bin/libvptrace.so" bare/bin
rule="marks without the Python files"
cases=$((cases + 1))
for mark in auto diffusers nonsense '__main__:f = step' marked.marks; do
	timeout 60 bare/bin/vptrace run --mark "$mark" -o a.zst "$host" launch 5 >out 2>err && fail "$rule: --mark $mark was accepted"
	same "$rule: $mark, one line" "1 0" "$(wc -l <err | tr -d ' ') $(ls ./*.zst 2>/dev/null | wc -l | tr -d ' ')"
	says err "vptrace: --mark: the folder with the Python files of marks is missing: expected share/vptrace/python/site"
done
rule="no marks without the Python files"
timeout 60 bare/bin/vptrace run -o a.zst env >out 2>err || fail "$rule: expected exit status 0"
same "$rule: one line" 1 "$(grep -c '^vptrace: no marks: the folder with the Python files' err)"
says out VPTRACE_MARK=none
timeout 60 bare/bin/vptrace run --mark none -o a.zst true 2>err || fail "$rule: expected exit status 0"
same "$rule that nobody wants: no line" 0 "$(grep -c 'Python files' err)"
refuses 2 "an output folder that is not there" "there is no folder $work/nosuch" run -o nosuch/a.zst true
refuses 2 "an output folder that is a file" "$work/plain is not a folder" run -o plain/a.zst true
if [ "$(id -u)" != 0 ]; then
	echo "SKIPPED: only root can become a user who may not write"
elif have setpriv "an output folder that cannot be written"; then
	for_others vptrace vptrace-analyze libvptrace.so host_launched standin
	mkdir closed
	chmod 755 closed
	chmod 777 temporary
	rule="an output folder that cannot be written"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$work/others/vptrace" run -o closed/a.zst true 2>err
	same "$rule: exit status" 2 $?
	says err "the folder $work/closed cannot be written"
	rule="a command that becomes another user"
	mkdir open
	chmod 777 open
	LD_LIBRARY_PATH=$work/others/standin "$work/others/vptrace" run -o open/a.zst \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$work/others/host_launched" launch 5 >out 2>err
	same "$rule: exit status" 0 $?
	says err "$work/open/a.zst was written by a process that could not report"
	says err "$work/open/a.zst: "
	! grep -q "nothing was recorded" err || fail "$rule: nothing was recorded"
	chown 0 open/a.zst
	touch -d '1 hour ago' open/a.zst
	"$vptrace" run --overwrite -o open/a.zst true 2>err
	says err "nothing was recorded"
	! grep -q "could not report" err || fail "$rule: an old file"
fi
refuses 2 "an output that is a folder's name" "expected a file name" run -o sub/.. true
refuses 2 "an output that is a folder" "$work/sub is a folder: write $work/sub/ for the default name in it" run -o sub true
refuses 2 "an output that is a device" "/dev/full: is a device; expected the name of a regular file" run -o /dev/full true
mkfifo fifo
refuses 2 "an output that is a FIFO" "$work/fifo: is a FIFO; expected the name of a regular file" run -o fifo true
ln -s nosuch link
refuses 2 "a link that is not replaced" "$work/link: is a symbolic link; only a regular file" run --overwrite -o link true
runs 0 "a name that differs between processes is not examined" run -o 'sub/%q{NAME}/../../fifo' true
mkdir space
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none space 2>/dev/null; then
	dd if=/dev/zero of=space/full bs=64k count=1 2>/dev/null
	refuses 2 "an output on a full disk" "the folder $work/space cannot be written: No space left on device" run -o space/a.zst true
	rule="a disk that is full when the first record comes"
	rm space/full
	VPTRACE_FLUSH_MS=60000 timeout 60 "$vptrace" run -o space/a.zst sh -c "dd if=/dev/zero of='$work/space/full' 2>/dev/null; '$host' launch 50" 2>err
	same "$rule: exit status" 1 $?
	says err "$work/space/a.zst: cannot write: No space left on device"
	says err "nothing was recorded: the tracer failed, see above"
	rule="a disk with room for the file's header alone"
	rm -f space/*
	VPTRACE_FLUSH_MS=60000 timeout 60 "$vptrace" run -o space/a.zst sh -c "dd if=/dev/zero of='$work/space/full' bs=4k count=15 2>/dev/null
		'$host' launch 50 0 $(head -c 9000 /dev/urandom | base64 -w 0)" 2>err
	same "$rule: exit status" 1 $?
	says err "$work/space/a.zst: 63 bytes, incomplete: "
	says err "nothing was recorded: the tracer failed, see above"
	rule="the same, and the command failed too"
	rm -f space/*
	timeout 60 "$vptrace" run -o space/a.zst sh -c "dd if=/dev/zero of='$work/space/full' 2>/dev/null; '$host' launch 50 5" 2>err
	same "$rule: exit status" 5 $?
	rule="a full folder for temporary files"
	rm -f space/*
	# What the list has room for already, in its page, it takes.
	TMPDIR=$work/space "$vptrace" run --overwrite -o a.zst \
		sh -c "dd if=/dev/zero of='$work/space/full' 2>/dev/null; dd if=/dev/zero bs=16 >>\"\$VPTRACE_LIST\" 2>/dev/null; '$host' launch 50" 2>err
	same "$rule: exit status" 0 $?
	says err "$work/a.zst was written by a process that could not report to this one: No space left on device"
	umount space
else
	echo "SKIPPED: no full disk: a tmpfs cannot be mounted"
fi
refuses 2 "standard output" 'expected a file name, found "-"' run -o - true
refuses 2 "a pattern that is none" "expected %p, %h, %r" run -o %z true
refuses 2 "too little memory" "--memory: expected 16 MiB to 1 TiB" run --memory 1M true
VPTRACE_LIBRARY=/nosuch/libvptrace.so refuses 2 "a library that is not there" "VPTRACE_LIBRARY: there is no file" run true
printf '#!/nosuch/python3\n' >script
chmod +x script
refuses 127 "a script without its interpreter" "./script: its first line names /nosuch/python3, which is not there" run ./script
printf '#!/bin/sh\r\n' >script
refuses 127 "a script with the line ends of Windows" 'names /bin/sh?, which is not there: it ends with a carriage return' run ./script
refuses 127 "a command line in one word" "'$host' launch 5: command not found; give its words without quotes" run "'$host' launch 5"
refuses 127 "a variable" "A=1: command not found; to set a variable: env A=1 COMMAND" run A=1 true
: >program.py
refuses 127 "a program of Python" "program.py: command not found; to run it with Python: python3 program.py" run program.py
refuses 126 "the same with its folder" "./program.py: is not executable; to run it with Python: python3 ./program.py" run ./program.py
printf '#!/bin/sh\n' >here
chmod +x here
refuses 127 "a program in this folder" "here: command not found; to run the file in this folder: ./here" run here
mkdir apart
cp "$vptrace" apart/vptrace
rule="no library"
apart/vptrace run true 2>err
same "$rule: exit status" 2 $?
says err "libvptrace.so is neither beside this program nor in"
rule="no analyzer"
VPTRACE_LIBRARY=$bin/libvptrace.so apart/vptrace run --overwrite -o a.zst "$host" launch 5 2>err
same "$rule: exit status" 0 $?
says err "not checked: vptrace-analyze cannot be run"
apart/vptrace report a.zst 2>err
same "$rule: report" 127 $?
for variable in NSYS_PROFILING_SESSION_ID=1 NV_TPS_LAUNCH_TOKEN=x LD_PRELOAD=libToolsInjectionProxy64.so; do
	rule="another tool: $variable"
	env "$variable" "$vptrace" run -o b.zst "$host" launch 5 2>err >out
	same "$rule: exit status" 2 $?
	says err "run one tool at a time"
done
rule="another CUDA injection"
CUDA_INJECTION64_PATH=/opt/other.so "$vptrace" run -o b.zst "$host" launch 5 2>err
same "$rule: exit status" 2 $?
says err "run with env -u CUDA_INJECTION64_PATH"
rule="the tracer's own, named already"
rm -f ./*.zst
CUDA_INJECTION64_PATH=/elsewhere/libvptrace.so NVTX_INJECTION64_PATH=/elsewhere/libvptrace.so "$vptrace" run -o a.zst "$host" launch 5 2>err
files 1
rule="another NVTX tool is chained"
same "$rule" "/opt/nvtx-tool.so $bin/libvptrace.so" "$(NVTX_INJECTION64_PATH=/opt/nvtx-tool.so "$vptrace" run sh -c 'echo "$VPTRACE_NVTX_CHAIN $NVTX_INJECTION64_PATH"' 2>err)"
rule="two of them"
NVTX_INJECTION64_PATH=/opt/nvtx-tool.so VPTRACE_NVTX_CHAIN=/opt/third.so "$vptrace" run true 2>err
same "$rule: exit status" 2 $?

# ---- the environment of the command ----
environment() { # environment WORDS...: what the command sees
	"$vptrace" run "$@" env 2>err
}
environment -o x.zst --memory 64M --stacks 50 --profile lite --mark none --ring 5s >out
for line in "CUDA_INJECTION64_PATH=$bin/libvptrace.so" "NVTX_INJECTION64_PATH=$bin/libvptrace.so" "VPTRACE_OUTPUT=$work/x.zst" \
	VPTRACE_MEMORY=64M VPTRACE_STACKS=50 VPTRACE_PROFILE=lite VPTRACE_MARK=none VPTRACE_RING=5s; do
	cases=$((cases + 1))
	grep -qxF "$line" out || fail "the environment has no $line"
done
same "no preload unless asked for" "" "$(grep LD_PRELOAD= out | grep vptrace)"
same "--preload" "LD_PRELOAD=$bin/libvptrace.so" "$(environment --preload | grep LD_PRELOAD= | cut -d: -f1)"
mkdir 'a,b'
same "mark files are absolute" "VPTRACE_MARK=auto,$work/my own.marks,m:f = step,$work/./marked.marks" \
	"$(VPTRACE_MARK="auto, my own.marks,m:f = step,./marked.marks" environment | grep VPTRACE_MARK)"
same "without a comma in the folder" "VPTRACE_MARK=marked.marks" \
	"$(cd 'a,b' && cp ../marked.marks . && "$vptrace" run --mark marked.marks env 2>err | grep VPTRACE_MARK)"
same "several --tag" "VPTRACE_TAGS=model=wan,note=a b=c" "$(environment --tag model=wan --tag 'note=a b=c' | grep VPTRACE_TAGS)"
runs 0 "tags reach the capture" run -o tags.zst --tag model=wan --tag steps=50 "$host" launch 5
"$VPT_ANALYZE" tags.zst >out 2>err
says out "tags model=wan, steps=50"
"$VPT_ANALYZE" tags.zst --full >out 2>err
says out "tags model=wan, steps=50"
"$VPT_ANALYZE" tags.zst --format html >out 2>err
says out '<span class="badge" title="tag">model=wan</span> <span class="badge" title="tag">steps=50</span>'
"$VPT_ANALYZE" tags.zst --format json >out 2>err
same "tags in JSON" "{'model': 'wan', 'steps': '50'}" "$(python3 -c 'import json; print(json.load(open("out"))["system"]["tags"])' 2>&1)"
for wrong in model =wan model=; do
	runs 2 "no tag" run --tag "$wrong" "$host" launch 5
	says err "--tag: expected KEY=VALUE, or several with commas between, such as model=wan,steps=50, found \"$wrong\""
done
runs 2 "an empty tag" run --tag "" "$host" launch 5
says err "--tag: expected KEY=VALUE without a comma"
runs 2 "a comma in a tag" run --tag model=a,b "$host" launch 5
says err "--tag: expected KEY=VALUE without a comma"
same "several --mark" "VPTRACE_MARK=m:f = step,m:g = block" \
	"$(environment --mark 'm:f = step' --mark 'm:g = block' | grep VPTRACE_MARK)"
same "marks by default" VPTRACE_MARK=auto "$(environment | grep VPTRACE_MARK)"
mkdir -p prefix/bin prefix/lib prefix/share/vptrace/python/site
cp "$vptrace" prefix/bin
same "the Python part" "PYTHONPATH=$work/prefix/share/vptrace/python/site:former" \
	"$(PYTHONPATH=former VPTRACE_LIBRARY=$bin/libvptrace.so prefix/bin/vptrace run env 2>err | grep PYTHONPATH)"
same "the Python part, which ends captures, without marks too" "PYTHONPATH=$work/prefix/share/vptrace/python/site:former" \
	"$(PYTHONPATH=former VPTRACE_LIBRARY=$bin/libvptrace.so prefix/bin/vptrace run --mark none env 2>err | grep PYTHONPATH)"
finish
