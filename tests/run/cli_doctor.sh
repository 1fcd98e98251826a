#!/bin/sh
# `vptrace doctor`: each fault of a machine is a line of its own with what fixes it, in the library's words; on the stand-in all is
# well and every record is counted; drivers that hang or crash are lines too.
# shellcheck disable=SC1091,SC2016,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)

ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0:handle_segv=0:handle_sigbus=0
export ASAN_OPTIONS
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH CUDA_PATH CUDA_VISIBLE_DEVICES LD_PRELOAD TEARDOWN_CUPTI
unset $(env | sed -n 's/^\(VPTRACE_[A-Z_0-9]*\|VPT_STANDIN_[A-Z_]*\|KINETO_[A-Z_]*\)=.*/\1/p')
CUDA_HOME=/nonexistent
export CUDA_HOME

vptrace=$bin/vptrace
for program in "$vptrace" "$bin/vptrace-doctor"; do
	[ -x "$program" ] || skip "${program##*/} is not built"
done
command -v python3 >/dev/null || skip "no python3 to read JSON with"
mkdir "$work/temporary"
TMPDIR=$work/temporary
export TMPDIR
cd "$work" || exit 1

# Rows as STATUS CHECK FACT | REMEDY.
rows_py=$work/rows.py
cat >rows.py <<'PY'
import json
import sys

rows = json.load(sys.stdin)
assert isinstance(rows, list) and rows
for row in rows:
    assert list(row) == ["check", "status", "fact", "remedy"], row
    assert row["status"] in ("ok", "warn", "fail") and row["fact"], row
    assert row["status"] == "ok" or row["remedy"], "nothing fixes it: %s" % row
    print("%s %s %s | %s" % (row["status"], row["check"], row["fact"], row["remedy"] or ""))
PY

# doctor STATUS RULE [NAME=VALUE...] [-- WORDS...]: the rows are in "rows" afterwards. Without words no Python is looked at.
doctor() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	variables=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	[ $# -eq 0 ] && set -- -- --python /bin/true
	shift
	env $variables timeout 100 ${as_user:-} "$vptrace" doctor --json "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit status $wanted, found $found"
	python3 "$rows_py" <out >rows 2>err || fail "$rule: not the JSON that is documented"
	[ -z "$(ls temporary)" ] || fail "$rule: a temporary file is left: $(ls temporary)"
}
# row STATUS CHECK TEXT: there is such a row with this text in its fact
row() {
	cases=$((cases + 1))
	grep "^$1 $2 " rows | sed 's/ | [^|]*$//' | grep -qF -- "$3" ||
		fail "$rule: expected a row $1 $2 with \"$3\", found: $(grep " $2 " rows | tr '\n' ';')"
}
# fixes CHECK TEXT: a row of this check says it as its remedy
fixes() {
	cases=$((cases + 1))
	grep "^[a-z]* $1 " rows | sed 's/.* | //' | grep -qF -- "$2" ||
		fail "$rule: expected a remedy of $1 with \"$2\", found: $(grep " $1 " rows | tr '\n' ';')"
}
no_row() { # no_row STATUS CHECK
	same "$rule: no row $1 $2" "" "$(grep "^$1 $2 " rows)"
}
standin="LD_LIBRARY_PATH=$bin/standin VPT_STANDIN_TIME=real"

# ---- what hangs: beside the rest, since these wait for their time to be over ----
# bad FUNCTION BODY: a driver that does nothing, whose function does this
bad() {
	mkdir -p bad
	{
		printf '#include <signal.h>\n#include <unistd.h>\nint cuDriverGetVersion(int *v) { *v = 13000; return 0; }\n'
		sed -n 's/^	X([a-z_]*, \(cu[A-Za-z0-9_]*\),.*/int \1(void) { return 0; }/p' "$source/tracer/doctor/probes/self_probe.c"
	} | sed "s/^int $1(.*/int $1(void) { $2 return 0; }/" >bad.c
	grep -q "^int $1(void) { $2" bad.c || fail "no function $1 in the driver"
	cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o bad/libcuda.so.1 bad.c 2>err
}
nvml_hangs() {
	doctor 0 "NVML hangs" $standin VPT_STANDIN_FAULTS=nvml-hang -- --timeout 3
	row warn nvml "no counters of the GPU: no answer within 3 s: it hangs in nvmlInit"
	fixes nvml "VPTRACE_COUNTERS=off"
}
aside nvml_hangs
torch_hangs() {
	mkdir -p torch/torch
	printf 'from . import cuda\n' >torch/torch/__init__.py
	echo 'import time; time.sleep(60)' >torch/torch/cuda.py
	doctor 0 "a torch that hangs" $standin PYTHONPATH=$work/torch -- --timeout 8
	row warn python "no answer within 8 s: it hangs in import torch"
}
aside torch_hangs
cuinit_hangs() {
	command -v cc >/dev/null && bad cuInit 'for (;;) pause();' || return
	doctor 1 "a driver that hangs in cuInit" LD_LIBRARY_PATH=$work/bad -- --timeout 8
	row ok driver "CUDA driver 13.0"
	row fail gpu "the driver was not started"
	row fail self-test "no answer within 8 s: it hangs in cuInit"
	fixes self-test "If nvidia-smi hangs as well, restart the machine"
	row fail nvtx "the self-test made no ranges"
	rule="ctrl-C meanwhile"
	LD_LIBRARY_PATH=$work/bad timeout -s INT 3 "$vptrace" doctor --timeout 100 >out 2>err
	same "$rule" 124 $?
	same "$rule: files" "" "$(ls temporary)"
}
aside cuinit_hangs

# ---- the stand-in: all is well ----
doctor 0 "the stand-in" $standin
same "$rule: nothing fails" "" "$(grep '^fail' rows)"
row ok library "version $("$vptrace" --version | sed 's/vptrace //')"
row ok driver "CUDA driver 13.0, $bin/standin/libcuda.so.1 (simulated: no GPU)"
row ok gpu "0: Simulated H100, compute capability 9.0: simulated, no GPU"
row ok cupti "CUPTI 130001 of CUDA 13 from the dynamic linker's folders: $bin/standin/libcupti.so.13"
row ok cupti "KERNEL 216"
row ok clients "CUPTI accepted a subscriber"
row ok nvtx "4 of 4 ranges arrived through NVTX's injection"
row ok nvml "simulated, driver simulated: 2 of 9 values of GPU 0"
row ok permissions "this user may trace"
row ok self-test "SIMULATED, no GPU ran: 4 of 4 kernels, 12 of 12 copies and memsets, 8 of 8 ranges arrived"
row ok self-test "the capture read back: good"
doctor 0 "four devices" $standin VPT_STANDIN_DEVICES=4
row ok gpu "3: Simulated H100"
doctor 0 "virtual time" LD_LIBRARY_PATH=$bin/standin
row ok self-test "4 of 4 kernels, 12 of 12 copies and memsets, 8 of 8 ranges arrived"
for version in 18 22 130200; do
	doctor 0 "CUPTI $version" $standin VPT_STANDIN_CUPTI=$version
	row ok self-test "4 of 4 kernels, 12 of 12 copies"
	row ok cupti "CUPTI $version "
done
doctor 0 "the user's own window and profile do not matter" $standin VPTRACE_CAPTURE=nvtx:never VPTRACE_PROFILE=none VPTRACE_OUTPUT=$work/mine.zst
row ok self-test "4 of 4 kernels"
row ok variables "VPTRACE_PROFILE=none"
[ ! -e mine.zst ] || fail "$rule: it wrote the user's file"
for variables in "VPTRACE_RING=30s VPTRACE_SNAPSHOT_ON=mark:never" "VPTRACE_DURATION=0.000001 VPTRACE_STOP_MS=1" "VPTRACE_RING=5s VPTRACE_RING_SOCKET=$work/none"; do
	doctor 0 "nor does $variables" $standin $variables
	row ok self-test "4 of 4 kernels, 12 of 12 copies and memsets, 8 of 8 ranges arrived"
	row ok variables "set: "
	same "$rule: what vptrace run has set is not the user's" "" "$(grep VPTRACE_RING_SOCKET rows)"
done

doctor 0 "a tracer that is preloaded" $standin LD_PRELOAD=$bin/libvptrace.so
row ok self-test "4 of 4 kernels"

doctor 0 "a folder for each process is not examined" $standin VPTRACE_OUTPUT=$work/%p/trace.zst
row warn disk "unknown: VPTRACE_OUTPUT=$work/%p/trace.zst names a folder for each process"
fixes disk "have room"

# ---- as text ----
rule="text"
env $standin "$vptrace" doctor >out 2>err
same "$rule: exit status" 0 $?
same "$rule: at most 80 columns" "" "$(grep '.\{81\}' out)"
same "$rule: no colour in a file" "" "$(grep "$(printf '\033')" out)"
says out "ok    library     "
grep -q '^[0-9]* ok, [0-9]* warnings\{0,1\}, 0 failed$' out || fail "$rule: no sum at the end"
env $standin "$vptrace" doctor >/dev/full 2>err
same "a full disk" 1 $?
rule="no file may be written"
(ulimit -f 0 && env $standin "$vptrace" doctor --python /bin/true 2>err; echo "status $?") | cat >out
says out "cannot write: File too large"
says out "status 1"
if command -v script >/dev/null; then
	script -qec "env $standin TERM=xterm $vptrace doctor" /dev/null >out 2>err </dev/null
	grep -q "$(printf '\033')\[32mok" out || fail "no colour on a terminal"
	script -qec "env $standin TERM=xterm NO_COLOR=1 $vptrace doctor" /dev/null >out 2>err </dev/null
	same "NO_COLOR" "" "$(grep "$(printf '\033')" out)"
else
	echo "SKIPPED: no script(1) for a terminal"
fi

# ---- usage ----
for words in --nosuch "--timeout 0"; do
	"$vptrace" doctor $words >out 2>err
	same "misused: $words" 2 $?
	says err "vptrace: "
	says err "see vptrace doctor --help"
done
"$vptrace" doctor --help >out 2>err
same "help" 0 $?
says out "usage: vptrace doctor [options] [-- COMMAND [WORD...]]"
"$vptrace" help doctor >again 2>err
same "help doctor" "$(cat out)" "$(cat again)"
"$bin/vptrace-doctor" >out 2>err
same "alone" 2 $?

# ---- the driver ----
if [ -e /dev/nvidiactl ]; then
	echo "SKIPPED: no driver: there is one here"
else
	doctor 1 "no driver"
	row fail driver "no CUDA driver: libcuda.so.1: cannot open shared object file"
	row warn permissions "unknown: CUPTI could not be asked"
	fixes permissions "See the lines driver, cupti and self-test."
	fixes driver "Install the NVIDIA driver"
	row warn self-test "ranges only: 8 of 8 arrived"
	row ok nvtx "4 of 4 ranges"
	no_row fail self-test
	[ ! -e "/usr/local/cuda/lib64/libcupti.so.13" ] || {
		doctor 1 "the real libcupti without a driver" CUDA_HOME=/usr/local/cuda
		row warn cupti "not asked: it needs a driver"
	}
fi
doctor 1 "the toolkit's stub" $standin VPT_STANDIN_FAULTS=stub-driver
row fail driver "is the CUDA toolkit's stub for linking (error 34)"
fixes driver "Install the NVIDIA driver, or remove the stub's folder from LD_LIBRARY_PATH"
doctor 1 "a driver older than any CUPTI" $standin VPT_STANDIN_FAULTS=old-driver=11000
row fail driver "CUDA driver 11.0"
fixes driver "Update the driver"
doctor 1 "no device" $standin VPT_STANDIN_DEVICES=0
row fail gpu "cuInit gave error 100 (cudaErrorNoDevice)"
fixes gpu "nvidia-smi"
doctor 1 "no visible device" $standin VPT_STANDIN_DEVICES=0 CUDA_VISIBLE_DEVICES=-1
row fail gpu "CUDA_VISIBLE_DEVICES hides all GPUs from this process"
fixes gpu "unset CUDA_VISIBLE_DEVICES"

# ---- CUPTI ----
doctor 1 "a libcupti newer than the driver" $standin VPT_STANDIN_FAULTS=old-driver VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13
row fail cupti "is from CUDA 13, but the driver supports only CUDA 12.4"
row fail self-test "0 of 4 kernels"
doctor 1 "only a libcupti that is too new" $standin VPT_STANDIN_FAULTS=old-driver
row fail cupti "not newer than CUDA driver 12.4"
row ok cupti "newer than the driver's major version"
doctor 1 "a libcupti that is none" $standin VPTRACE_LIBCUPTI=/bin/true
row fail cupti "true"
doctor 1 "a libcupti that is not there" $standin VPTRACE_LIBCUPTI=/nonexistent/libcupti.so.13
row fail cupti "/nonexistent/libcupti.so.13"
mkdir -p toolkit/lib64
cp "$bin/standin/libcupti.so.13" toolkit/lib64/
doctor 0 "the search" $standin CUDA_HOME=$work/toolkit
row ok cupti "from CUDA_HOME: $work/toolkit/lib64/libcupti.so.13"
row ok cupti "not used: $bin/standin/libcupti.so.13 (libcupti.so.13, from the dynamic linker's folders): comes later in the search"
echo nothing >toolkit/lib64/libcupti.so.13
doctor 0 "a file that is no library" $standin CUDA_HOME=$work/toolkit
row ok cupti "not used: $work/toolkit/lib64/libcupti.so.13 (libcupti.so.13, from CUDA_HOME): "
row ok cupti "from the dynamic linker's folders: $bin/standin/libcupti.so.13"
doctor 1 "a libcupti without a function" $standin VPT_STANDIN_FAULTS=no-symbols=cuptiActivityFlushAll
row fail cupti "the library has no function cuptiActivityFlushAll"

# ---- NVML ----
doctor 0 "NVML cannot start" $standin VPT_STANDIN_FAULTS=nvml-init=9
row warn nvml "no counters of the GPU: unavailable: nvmlInit_v2 gave error 9"
fixes nvml "NVIDIA_DRIVER_CAPABILITIES=compute,utility"
doctor 0 "NVML does not know the GPU" $standin VPT_STANDIN_FAULTS=nvml-no=device
row warn nvml "it does not know GPU 0 by the UUID that CUDA gives"
fixes nvml "nvidia-smi -L"
doctor 0 "NVML gives more" $standin "VPT_STANDIN_NVML=power=300;temperature=60"
row ok nvml "4 of 9 values of GPU 0"
mkdir -p no-nvml
cp -d "$bin"/standin/libcu*.so* no-nvml/
doctor 0 "there is no NVML" LD_LIBRARY_PATH=$work/no-nvml VPT_STANDIN_TIME=real
row warn nvml "no counters of the GPU: unavailable: libnvidia-ml.so.1"

# ---- other clients, permissions ----
doctor 1 "the subscription is held" $standin VPT_STANDIN_FAULTS=busy
row fail clients "another profiler holds CUPTI in this process"
row fail clients "(CUPTI error 39)"
row fail clients "standin-profiler"
fixes clients "start vptrace before that, or set TEARDOWN_CUPTI=1"
row fail self-test "0 of 4 kernels, 0 of 12 copies and memsets, 8 of 8 ranges arrived"
fixes self-test "First fix what failed above."
row warn permissions "unknown: CUPTI could not be asked"
fixes permissions "See the line clients."
doctor 1 "no permission" $standin VPT_STANDIN_FAULTS=denied
row warn clients "could not be asked"
fixes clients "See the line permissions."
row fail permissions "the driver does not allow this user to trace"
fixes permissions "options nvidia NVreg_RestrictProfilingToAdminUsers=0"
doctor 1 "another tool" $standin NSYS_PROFILING_SESSION_ID=1
row fail clients "Nsight Systems (nsys) is in the environment (NSYS_PROFILING_SESSION_ID) and needs CUPTI for itself: run one tool at a time"
: >other.so
doctor 1 "a foreign injection" $standin CUDA_INJECTION64_PATH=$work/other.so
row fail clients "run with env -u CUDA_INJECTION64_PATH"
doctor 0 "a foreign NVTX tool" $standin NVTX_INJECTION64_PATH=$work/other.so
row ok clients "vptrace run chains it"
doctor 0 "variables of torch's profiler" $standin KINETO_USE_DAEMON=1 TEARDOWN_CUPTI=1
row warn clients "KINETO_USE_DAEMON=1"
row ok clients "TEARDOWN_CUPTI=1"

cp "$(command -v sleep)" nv-hostengine
./nv-hostengine 100 &
engine=$!
doctor 0 "DCGM" $standin
kill $engine
row ok clients "DCGM (nv-hostengine) runs: its profiling metrics use the GPU's counters, which vptrace does not (process $engine)"

# ---- what the kernel shows and limits, with files of our own in place of its ----
# replaced RULE STATUS COMMANDS: with /proc/driver and the control groups replaced in a name space of its own
replaced() {
	rule=$1
	env $standin VPT_STANDIN_FAULTS=${faults:-none} unshare -m sh -c "
		mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia && mount -t tmpfs none /sys/fs/cgroup || exit 9
		$3
		exec '$vptrace' doctor --json --python /bin/true" >out 2>err </dev/null
	same "$rule: exit status" "$2" $?
	python3 "$rows_py" <out >rows
}
if unshare -m sh -c 'mount -t tmpfs none /proc/driver && mount -t tmpfs none /sys/fs/cgroup' 2>/dev/null; then
	replaced "an open driver and a roomy group" 0 'echo "RmProfilingAdminOnly: 0" >/proc/driver/nvidia/params
		echo 64000000000 >/sys/fs/cgroup/memory.max; echo 400000 100000 >/sys/fs/cgroup/cpu.max'
	row ok permissions "this user may trace; the driver lets every user trace"
	row ok limits "memory limit of 61035 MiB, 0 in use; the tracer takes up to 272"
	replaced "a restricted driver that allows it all the same" 0 'echo "RmProfilingAdminOnly: 1" >/proc/driver/nvidia/params'
	row ok permissions "this user may trace; the driver restricts the GPU's counters to administrators (NVreg_RestrictProfilingToAdminUsers=1)"
	faults=no-driver
	replaced "a driver in the kernel alone" 1 'echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Release" >/proc/driver/nvidia/version'
	row ok driver "NVIDIA 580.65.06"
	row fail driver "the driver's kernel part 580.65.06 is loaded, but there is no /dev/nvidia0"
	faults=none
	replaced "too little memory" 1 'echo 104857600 >/sys/fs/cgroup/memory.max'
	row fail limits "memory limit of 100 MiB, 0 in use; the tracer takes up to 272"
	fixes limits "Set VPTRACE_MEMORY lower"
	replaced "little memory is left" 0 'echo 1073741824 >/sys/fs/cgroup/memory.max; echo 900000000 >/sys/fs/cgroup/memory.current'
	row warn limits "memory limit of 1024 MiB, 858 in use"
	replaced "half a processor" 0 'echo 50000 100000 >/sys/fs/cgroup/cpu.max'
	row warn limits "0.5 processors"
	replaced "the older control groups" 1 'mkdir /sys/fs/cgroup/memory; echo 104857600 >/sys/fs/cgroup/memory/memory.limit_in_bytes'
	row fail limits "memory limit of 100 MiB"
else
	echo "SKIPPED: no name space to replace the kernel's files in"
fi
cat >filter.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, *argv[1] == 'e' ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	(void)argc;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 9;
	execvp(argv[2], argv + 2);
	return 9;
}
C
if cc -o filter filter.c 2>err && ./filter error true; then
	as_user="./filter error"
	doctor 0 "a filter that forbids" $standin
	row warn limits "process_vm_readv is forbidden (Operation not permitted)"
	as_user="./filter kill"
	doctor 1 "a filter that kills" $standin
	row warn limits "a filter of system calls ends processes: it crashed (signal 31, Bad system call) in process_vm_readv"
	row fail self-test "it crashed (signal 31, Bad system call) in "
	as_user=
else
	echo "SKIPPED: no filter of system calls can be made"
fi

# ---- variables ----
doctor 0 "a misspelt variable" $standin VPTRACE_OUTPT=x.zst
row warn variables "VPTRACE_OUTPT is not a variable of vptrace and is ignored; did you mean VPTRACE_OUTPUT"
doctor 1 "two invalid variables" $standin VPTRACE_MEMORY=1M VPTRACE_LEVEL=best
row fail variables 'VPTRACE_MEMORY: expected 16 MiB to 1 TiB, found "1M"'
row fail variables 'VPTRACE_LEVEL: expected -7 to 19, found "best"'
row ok self-test "4 of 4 kernels"
doctor 0 "an injection that is not there" $standin NVTX_INJECTION64_PATH=/nonexistent/libvptrace.so
row warn variables "/nonexistent/libvptrace.so does not exist"

# ---- the folder, limits ----
doctor 1 "no folder" $standin VPTRACE_OUTPUT=$work/nosuch/a.zst
row fail disk "there is no folder $work/nosuch for the output: create it"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	for_others vptrace vptrace-doctor libvptrace.so standin
	[ ! -d "$bin/gpu-probes" ] || for_others gpu-probes
	mkdir closed
	chmod 755 closed
	chmod 777 temporary
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups" here=$vptrace vptrace=$work/others/vptrace
	doctor 1 "a folder that cannot be written" LD_LIBRARY_PATH=$work/others/standin VPT_STANDIN_TIME=real VPTRACE_OUTPUT=$work/closed/a.zst
	as_user= vptrace=$here
	row fail disk "the folder $work/closed cannot be written"
	row ok permissions "user 65534, without CAP_SYS_ADMIN"
else
	echo "SKIPPED: no other user to be"
fi
mkdir tiny
if mount -t tmpfs -o size=1m none tiny 2>/dev/null; then
	doctor 1 "a tiny disk" $standin VPTRACE_OUTPUT=$work/tiny/
	row fail disk "$work/tiny: 1 MiB free, tmpfs, which is memory"
	fixes disk "--max-bytes"
	head -c 1m /dev/zero >tiny/full 2>/dev/null
	doctor 1 "a full disk" $standin VPTRACE_OUTPUT=$work/tiny/
	row fail disk "cannot write: No space left on device"
	umount tiny
	mount -t tmpfs -o size=1m,ro none tiny
	doctor 1 "a disk that is mounted read-only" $standin VPTRACE_OUTPUT=$work/tiny/
	row fail disk "$work/tiny"
	umount tiny
else
	echo "SKIPPED: no small disk can be mounted"
fi
(
	ulimit -f 20000
	env $standin "$vptrace" doctor --json 2>err | python3 "$rows_py" >rows
)
rule="a limit of files' size"
row warn limits "ulimit -f"

# ---- the library ----
doctor 1 "no such library" $standin VPTRACE_LIBRARY=/nosuch/libvptrace.so
row fail library "VPTRACE_LIBRARY: there is no file /nosuch/libvptrace.so"
row fail self-test "there is no library"
doctor 1 "another library" $standin VPTRACE_LIBRARY=$bin/standin/libcuda.so.1
row fail library "is not libvptrace.so: it has no function vptrace_version"
printf '!<arch>\n' >libvptrace.a
doctor 1 "the static library" $standin VPTRACE_LIBRARY=$work/libvptrace.a
row fail library "is the static library"
doctor 1 "a file that is no library" $standin VPTRACE_LIBRARY=$work/rows.py
row fail library "it cannot be loaded: "
mkdir apart
cp "$vptrace" apart/
rule="no vptrace-doctor"
apart/vptrace doctor >out 2>err
same "$rule" 127 $?
says err "vptrace-doctor is neither beside this program"
cp "$bin/vptrace-doctor" apart/
rule="nothing beside it"
env $standin apart/vptrace doctor --json >out 2>err
same "$rule" 1 $?
python3 "$rows_py" <out >rows
row fail library "libvptrace.so is neither beside this program nor in"
row warn library "vptrace-analyze is not beside vptrace"

# ---- Python ----
doctor 1 "a Python that is not there" $standin -- --python /nonexistent/python
row fail python "/nonexistent/python: No such file or directory"
doctor 0 "this Python" $standin -- --python "$(command -v python3)"
row ok python "the module vptrace is $source/tracer/python/vptrace/__init__.py"
row ok python "$source/tracer/python/vptrace_marks/__init__.py; vptrace run uses $source/tracer/python/site"
# The command that is to be recorded: its Python is examined, with what it hides from it.
for_command() { # for_command STATUS RULE WORDS...
	status=$1 about=$2
	shift 2
	doctor "$status" "$about" $standin -- -- "$@"
}
: >empty.py
printf '#!%s\nprint("not run")\n' "$(command -v python3)" >script
printf '#!/bin/sh\nexec python3 empty.py\n' >launch.sh
printf '#!/nonexistent/python3\n' >lost
cp "$(command -v sleep)" static && printf '\001' | dd of=static bs=1 seek=4 conv=notrunc 2>/dev/null # a 32-bit program
chmod +x script launch.sh lost
for_command 0 "a command of Python" python3 empty.py
row ok python "the module vptrace is $source/tracer/python/vptrace/__init__.py"
no_row warn python
for_command 0 "a script of Python" ./script --option
row ok python "./script can be recorded"
row ok python "the module vptrace is"
for_command 0 "a script of the shell" ./launch.sh
row ok python "./launch.sh can be recorded"
for_command 0 "a Python that ignores PYTHONPATH" python3 -u -W error -I empty.py
row warn python "python3: with -I it ignores PYTHONPATH, by which it finds the marks"
row warn python "no module vptrace: "
for_command 0 "a Python that ignores sitecustomize.py" python3 -W error -S empty.py
row warn python "python3: with -S it ignores sitecustomize.py"
for_command 0 "options of the script are not those of Python" python3 empty.py -I
no_row warn python
for_command 1 "a command that is not there" nosuch x.py
row fail python "nosuch: command not found"
for_command 1 "a script for a Python that is not there" ./lost
row fail python "./lost: its first line names /nonexistent/python3, which is not there"
for_command 1 "a command that cannot be recorded" ./static
row fail python "./static is a 32-bit program, which cannot be traced"
mkdir -p torch/torch
cat >torch/torch/__init__.py <<'PY'
class version:
    cuda = "12.4"
__version__ = "0.0-test"
from . import cuda
PY
cat >torch/torch/cuda.py <<'PY'
import ctypes, os

class nvtx:
    """What NVTX does at a library's first call is the self-test's; here the library's own functions do."""
    library = ctypes.CDLL(os.environ["VPTRACE_LIBRARY"])

    @staticmethod
    def range_push(name):
        nvtx.library.vptrace_range_push(name.encode())

    @staticmethod
    def range_pop():
        nvtx.library.vptrace_range_pop()
PY
doctor 0 "a torch" $standin PYTHONPATH=$work/torch -- --timeout 60
row ok python "torch 0.0-test, CUDA 12.4"
row ok python "ranges of torch.cuda.nvtx are recorded"
doctor 0 "a torch, and a window of the user's" $standin PYTHONPATH=$work/torch VPTRACE_DURATION=0.000001 VPTRACE_RING=5s VPTRACE_SNAPSHOT_ON=mark:never -- --timeout 60
row ok python "ranges of torch.cuda.nvtx are recorded"
sed -i 's/nvtx.library.vptrace_range_p.*/pass/' torch/torch/cuda.py
doctor 1 "a torch that is not recorded" $standin PYTHONPATH=$work/torch -- --json
row fail python "ranges of torch.cuda.nvtx are not recorded"
fixes python "import vptrace before torch's first range"
echo 'raise RuntimeError("no kernel image")' >torch/torch/cuda.py
doctor 0 "a torch that cannot be imported" $standin PYTHONPATH=$work/torch -- --json
row warn python "torch cannot be imported: RuntimeError: no kernel image"

# ---- drivers that crash, a CUPTI that fails ----
if command -v cc >/dev/null; then
	bad cuInit 'raise(SIGSEGV);'
	doctor 1 "a driver that crashes in cuInit" LD_LIBRARY_PATH=$work/bad
	row fail self-test "it crashed (signal 11, Segmentation fault) in cuInit"
	bad cuDriverGetVersion 'raise(SIGBUS);'
	doctor 1 "a driver that crashes at once" LD_LIBRARY_PATH=$work/bad
	row fail driver "the driver does not answer: it crashed (signal 7, Bus error) in the loading of libcuda.so.1 or cuDriverGetVersion"
	row fail self-test "it crashed (signal 7, Bus error) in vptrace_start"
	bad cuInit '_exit(3);'
	doctor 1 "a driver that ends the process" LD_LIBRARY_PATH=$work/bad
	row fail self-test "it ended with status 3 in cuInit"
	bad cuDeviceGetCount 'return 304;'
	doctor 1 "a driver that fails" LD_LIBRARY_PATH=$work/bad
	row fail gpu "cuDeviceGetCount gave error 304"
else
	echo "SKIPPED: no compiler for drivers that hang or crash"
fi
doctor 1 "a CUPTI that hangs" $standin VPT_STANDIN_FAULTS=hang-flush
row fail self-test "CUPTI"
for fault in zero-times=1 reversed=1; do
	doctor 1 "times that are none, $fault" $standin VPT_STANDIN_FAULTS=$fault
	row fail self-test "operations have invalid times"
done
doctor 1 "a CUPTI that fails" $standin VPT_STANDIN_FAULTS=fatal=5
row fail self-test "CUPTI failed (error"
fixes self-test "Please report it"
doctor 1 "records that are lost" $standin VPT_STANDIN_FAULTS=unknown-kind
# Which they are depends on when the tracer's thread takes the buffer.
cases=$((cases + 1))
grep "^fail self-test " rows | grep -qE "arrived|records are missing" || fail "$rule: found $(grep " self-test " rows | tr '\n' ';')"
finish
