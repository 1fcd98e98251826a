#!/bin/sh
# A libcupti like that of CUDA 13.2, each function of which calls itself until the stack ends where it does not accept the driver:
# the host lives, whatever the driver lacks. VPT_CUPTI_13_2 may name the real one. Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
cc=${CC:-cc}
command -v "$cc" >/dev/null || skip "no C compiler"
[ -x "$bin/host_ring" ] || skip "host_ring is not built"
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
cd "$work" || exit 1

# What it asks the driver for, in its order.
cat >cupti.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
#define NAME(name) __attribute__((visibility("default"))) int name(void) { return 999; }
static int accepts(void)
{
	static const unsigned char tools[16] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42, 0xa4, 0x84, 0xbe, 0xb6, 0x6e,
		0x6a, 0xed, 0x7f};
	static const char *const names[] = {"cuDeviceGet", "cuDriverGetVersion", "cuDeviceGetPCIBusId", "cuDeviceGetAttribute",
		"cuDeviceGetCount"};
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get)(const void **, const unsigned char *) = driver ? (int (*)(const void **, const unsigned char *))dlsym(driver, "cuGetExportTable") : NULL;
	const void *table = NULL;
	size_t i;
	for (i = 0; i < 5; i++)
		if (!driver || !dlsym(driver, names[i]))
			return 0;
	return get && !get(&table, tools) && table;
}
int cuptiGetVersion(unsigned *version)
{
	volatile char frame[4096];
	frame[0] = 1;
#ifdef CRASHES
	raise(6);
#endif
	if (!accepts())
		return cuptiGetVersion(version) + frame[0];
	*version = 1; /* too old: nothing else is asked */
	return 0;
}
NAME(cuptiGetResultString) NAME(cuptiGetTimestamp) NAME(cuptiGetCallbackName) NAME(cuptiSubscribe) NAME(cuptiUnsubscribe)
NAME(cuptiEnableCallback) NAME(cuptiActivityRegisterCallbacks) NAME(cuptiActivityEnable) NAME(cuptiActivityDisable)
NAME(cuptiActivityFlushAll) NAME(cuptiActivityGetNextRecord) NAME(cuptiActivityGetNumDroppedRecords)
NAME(cuptiActivitySetAttribute) NAME(cuptiSetThreadIdType) NAME(cuptiActivityGetStructSize)
C
$cc -shared -fPIC -w -O0 -Wl,-soname,libcupti.so.13 -o libcupti.so.13 cupti.c -ldl || skip "a library cannot be built"

# driver DEFINES...: a libcuda in driver/
driver() {
	mkdir -p driver
	cat >driver.c <<'C'
#include <stddef.h>
int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
#ifndef LACKS_DEVICE
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
#endif
int cuDeviceGetAttribute(int *value, int which, int device) { *value = which = device = 0; return 0; }
int cuDeviceGetPCIBusId(char *out, int size, int device) { *out = 0; return size = device = 0; }
int cuDeviceGetCount(int *count) { *count = 0; return 0; }
#ifdef TABLE
int cuGetExportTable(const void **table, const unsigned char *id) { static int it; *table = id[0] == 0x7c ? TABLE : NULL; return RESULT; }
#endif
C
	$cc -shared -fPIC -w -Wl,-soname,libcuda.so.1 "$@" -o driver/libcuda.so.1 driver.c
}

# A program without CUDA, which starts a capture. It handles signals, and no child of its own ends.
cat >host.py <<'PY'
import ctypes
import faulthandler
import os
import signal
import sys

faulthandler.enable()
signal.signal(signal.SIGCHLD, lambda *_: print("SIGCHLD"))

library = ctypes.CDLL(sys.argv[1])
library.vptrace_last_error.restype = ctypes.c_char_p
code = library.vptrace_start(None)
print(code, library.vptrace_last_error().decode())
library.vptrace_range_push(b"a")
library.vptrace_range_pop()
library.vptrace_stop(None)
try:
    print("a child:", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child")
PY
need_python 3.6
starts() { # starts RULE FOLDER LIBCUPTI WORDS: in the folder's driver; what it says of CUPTI
	rule=$1
	cases=$((cases + 1))
	rm -f a.zst
	LD_LIBRARY_PATH=$2 VPTRACE_LIBCUPTI=$3 VPTRACE_OUTPUT=$work/a.zst VPTRACE_COUNTERS=off timeout 60 \
		python3 host.py "$bin/libvptrace.so" >out 2>err </dev/null || fail "$rule: exit status $?"
	says out "$4"
	same "$rule: the program sees nothing of it" "no child " "$(grep -v '^-*[0-9]' out | tr '\n' ' ')$(cat err)"
	same "$rule: ranges are recorded" 1 "$("$VPT_ANALYZE" cat a.zst --kind range | wc -l | tr -d ' ')"
}
refused="is from CUDA 13.2 and does not accept this libcuda.so.1 (CUDA driver 13.2): update the driver, or set VPTRACE_LIBCUPTI"
for libcupti in "$work/libcupti.so.13" ${VPT_CUPTI_13_2:+"$VPT_CUPTI_13_2"}; do
	starts "no driver" "$work/empty" "$libcupti" "no CUDA driver"
	starts "the stand-in's driver" "$bin/standin" "$libcupti" "does not accept this libcuda.so.1"
	driver
	starts "a driver without tables" "$work/driver" "$libcupti" "$refused"
	driver -DTABLE=NULL -DRESULT=0
	starts "a driver whose table is nothing" "$work/driver" "$libcupti" "$refused"
	driver '-DTABLE=&it' -DRESULT=3
	starts "a driver that refuses its table" "$work/driver" "$libcupti" "$refused"
	driver '-DTABLE=&it' -DRESULT=0 -DLACKS_DEVICE
	starts "a driver without a function" "$work/driver" "$libcupti" "$refused"
done
driver '-DTABLE=&it' -DRESULT=0
starts "a driver that it accepts" "$work/driver" "$work/libcupti.so.13" "CUPTI 1 is older than version 18"
# Drivers that are none, or fail in some way when they are loaded and asked: the program lives, and is told which it was.
mkdir -p none/folder/libcuda.so.1
for what in empty text other; do
	mkdir -p none/$what
	: >none/$what/libcuda.so.1
done
echo "no library" >none/text/libcuda.so.1
cp libcupti.so.13 none/other/libcuda.so.1
printf '\050' | dd of=none/other/libcuda.so.1 bs=1 seek=18 conv=notrunc 2>/dev/null # another machine's
for what in empty text other folder; do
	starts "a driver that is $what" "$work/none/$what" "$work/libcupti.so.13" "no CUDA driver: "
done
# fails_in WHERE BODY WORDS: a driver with this in its version's function, or in its constructor
fails_in() {
	mkdir -p driver
	{
		printf '#include <signal.h>\n#include <unistd.h>\n'
		case $1 in
		loading) printf 'int cuDriverGetVersion(int *v) { *v = 13020; return 0; }\n__attribute__((constructor)) static void begin(void) { %s }\n' "$2" ;;
		version) printf 'int cuDriverGetVersion(int *v) { *v = 13020; %s; return 0; }\n' "$2" ;;
		esac
	} >driver.c
	$cc -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 driver.c
	starts "a driver, $1: $2" "$work/driver" "$work/libcupti.so.13" "$3"
}
child="the CUDA driver (libcuda.so.1) or libcupti does not work: in a child process"
fails_in loading 'raise(SIGSEGV);' "$child it crashed (signal 11), so this one does not load it"
fails_in loading '_exit(0);' "$child it ended the process with status 0, so"
fails_in version 'raise(SIGABRT)' "$child it crashed (signal 6), so"
fails_in version 'for (;;) pause()' "$child it hangs: no answer within 4 s, so"
fails_in version '*v = 11040' "CUDA driver 11.4 is older than 11.8, the oldest that CUPTI traces with here: update the driver"
fails_in version '*v = 0' "does not work: cuDriverGetVersion returned error 0"
fails_in version 'return 100' "does not work: cuDriverGetVersion returned error 100"
driver '-DTABLE=&it' -DRESULT=0
mkdir -p crashes
$cc -shared -fPIC -w -O0 -DCRASHES -Wl,-soname,libcupti.so.13 -o crashes/libcupti.so.13 cupti.c -ldl
starts "a libcupti that crashes" "$work/driver" "$work/crashes/libcupti.so.13" "$child it crashed (signal 6), so"

rule="the driver loads the tracer, and such a libcupti"
cases=$((cases + 1))
VPT_STANDIN_TIME=real VPTRACE_LIBCUPTI=$work/libcupti.so.13 VPTRACE_OUTPUT=$work/b.zst CUDA_INJECTION64_PATH=$bin/libvptrace.so \
	timeout 60 "$bin/host_ring" steps 20 99 >out 2>err </dev/null || fail "$rule: exit status $?"
says err "does not accept this libcuda.so.1"
finish
