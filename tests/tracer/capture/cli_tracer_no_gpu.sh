# Without a GPU, and without CUDA at all, ranges are recorded and the capture says why nothing else is.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

host=$VPT_BIN/host_ranges
[ -x "$host" ] || skip "host_ranges is not built"

value() {
	sed -n "s/^$1 //p" "$work/said"
}
ranges_only() { # ranges_only RULE REASON [NAME=VALUE...]
	rule=$1 reason=$2
	shift 2
	rm -f "$work"/*.zst
	env "$@" timeout 60 "$host" "$work/t.zst" >"$work/said" 2>"$work/err" || fail "$rule: the host failed"
	same "$rule: start" -6 "$(value start)"
	same "$rule: status" 2 "$(value status)"
	same "$rule: stop" 0 "$(value stop)"
	same "$rule: rows" "3 3" "$(value received) $(value written)"
	same "$rule: path" "$work/t.zst" "$(value path)"
	value error | grep -q "$reason" || fail "$rule: expected a reason with '$reason', found '$(value error)'"
	expect 3 "$rule: the report" "$work/t.zst" --full
	says out "block 0"
	says out "recording of GPU work was refused"
	! grep -q "Check that" "$work/out" || fail "$rule: the report asks whether the GPU was used"
	tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q "$reason" || fail "$rule: the report does not give the reason"
}

if [ -e /dev/nvidiactl ]; then
	echo "SKIPPED: there is a GPU here: no driver, and a libcupti that is none"
else
	ranges_only "neither a driver nor a libcupti: the driver comes first" "no CUDA driver: libcuda.so.1: cannot open" \
		VPTRACE_LIBCUPTI=/nonexistent/libcupti.so.13
fi
# As CUDA 13.2's does where there is no driver.
if [ -e /dev/nvidiactl ] || ! sed -n 's/^	X([a-z_0-9]*, \(cupti[A-Za-z_0-9]*\),.*/int \1(void) { __builtin_trap(); }/p' \
	"$VPT_SOURCE_DIR/tracer/cupti/library/cupti_abi.h" >"$work/dies.c" ||
	! ${CC:-cc} -shared -fPIC -o "$work/libdies.so" "$work/dies.c" 2>"$work/err"; then
	echo "SKIPPED: there is a GPU here, or no compiler"
else
	grep -q cuptiGetVersion "$work/dies.c" || fail "no library that dies was made"
	ranges_only "a libcupti that dies without a driver" "no CUDA driver" VPTRACE_LIBCUPTI="$work/libdies.so"
fi

# On the stand-in: drivers that are there and do not work. CUPTI ends the process with the first two.
on_standin() { # on_standin RULE REASON [NAME=VALUE...]
	rule=$1 reason=$2
	shift 2
	ranges_only "$rule" "$reason" LD_LIBRARY_PATH="$VPT_BIN/standin" VPTRACE_LIBCUPTI="$VPT_BIN/standin/libcupti.so.13" "$@"
}
on_standin "the stub of a CUDA toolkit" "stub for linking (error 34)" VPT_STANDIN_FAULTS=stub-driver
on_standin "a driver older than the libcupti" "is from CUDA 13, but the driver supports only CUDA 12.4" VPT_STANDIN_FAULTS=old-driver
ranges_only "a libcupti that is not there" "/nonexistent/libcupti.so.13: cannot open" LD_LIBRARY_PATH="$VPT_BIN/standin" \
	VPTRACE_LIBCUPTI=/nonexistent/libcupti.so.13
ranges_only "a libcupti that is none" "libcupti cannot be loaded" LD_LIBRARY_PATH="$VPT_BIN/standin" VPTRACE_LIBCUPTI=/bin/true
on_standin "no device" "CUPTI_ERROR_UNKNOWN (999).* CUDA driver 13.0" VPT_STANDIN_DEVICES=0
on_standin "no visible device" "CUDA_VISIBLE_DEVICES hides all GPUs" VPT_STANDIN_DEVICES=0 CUDA_VISIBLE_DEVICES=
on_standin "a device number that ends the list" "CUDA_VISIBLE_DEVICES hides all GPUs" VPT_STANDIN_DEVICES=0 CUDA_VISIBLE_DEVICES=-1

# Libraries that only say where they were found: none is newer than the driver, whatever the linker would find first.
mute() { # mute MAJOR RESULT: a libcupti whose functions all give this
	sed -n "s/^	X([a-z_0-9]*, \\(cupti[A-Za-z_0-9]*\\),.*/int \\1(void) { return $2; }/p" "$VPT_SOURCE_DIR/tracer/cupti/library/cupti_abi.h" >"$work/mute.c"
	mkdir -p "$work/mute"
	${CC:-cc} -shared -fPIC -Wl,-soname,libcupti.so."$1" -o "$work/mute/libcupti.so.$1" "$work/mute.c" 2>"$work/err"
}
picked() { # picked RULE REASON [NAME=VALUE...]
	rule=$1 reason=$2
	shift 2
	ranges_only "$rule" "$reason" LD_LIBRARY_PATH="$work/mute:$VPT_BIN/standin" CUDA_HOME=/nonexistent CUDA_PATH=/nonexistent "$@"
}
if mute 13 7 && mute 12 8 && mute 11.8 9; then
	ln -sf libcupti.so.13 "$work/mute/libcupti.so"
	picked "a driver of CUDA 13" "libcupti.so.13 does not work here: cuptiGetVersion returned error 7" VPT_STANDIN_FAULTS=
	picked "a driver of CUDA 12" "libcupti.so.12 does not work here: cuptiGetVersion returned error 8; CUDA driver 12.4" \
		VPT_STANDIN_FAULTS=old-driver
	picked "a driver of CUDA 11" "libcupti.so.11.8 does not work here: cuptiGetVersion returned error 9" VPT_STANDIN_FAULTS=old-driver=11080
	picked "an old libcupti and a new driver" "libcupti.so.11.8 does not work here" VPTRACE_LIBCUPTI="$work/mute/libcupti.so.11.8"
	picked "a name that does not tell the version" "is from CUDA 13, but the driver supports only CUDA 12.4" VPT_STANDIN_FAULTS=old-driver \
		VPTRACE_LIBCUPTI="$work/mute/libcupti.so"
	rm "$work/mute/libcupti.so.12" "$work/mute/libcupti.so.11.8"
	picked "only a libcupti that is too new" "not newer than CUDA driver 12.4" VPT_STANDIN_FAULTS=old-driver
else
	echo "part skipped: no compiler"
fi
real=
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64"; do
	[ -e "$folder/libcupti.so.13" ] && real=$folder/libcupti.so.13
done
if [ -z "$real" ]; then
	echo "SKIPPED: no libcupti of a CUDA toolkit here"
elif [ -e /dev/nvidiactl ]; then
	echo "SKIPPED: there is a GPU here"
else
	ranges_only "the real libcupti without a driver" "no CUDA driver" VPTRACE_LIBCUPTI="$real"
	stub=${CUDA_HOME:-/usr/local/cuda}/lib64/stubs/libcuda.so
	if built "$stub" "the toolkit's stub of the driver"; then
		mkdir "$work/stub"
		cp "$stub" "$work/stub/libcuda.so.1"
		ranges_only "the real libcupti with the toolkit's stub" "stub for linking (error 34)" VPTRACE_LIBCUPTI="$real" \
			LD_LIBRARY_PATH="$work/stub"
	fi
fi
finish
