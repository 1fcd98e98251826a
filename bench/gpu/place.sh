# place.sh - where everything is: carried packages, CUDA's libraries, PyTorch; builds what is missing. Sourced by run.sh.
#
# look_around() says which machine this is: $gpu, and in $on_c and $on_python where C and Python programs run: the GPU's name,
# "simulated", "cpu". prepare() builds, which should take $prepare_seconds and may take the whole phase. Nothing here waits
# without a limit.
# Words of options are split on purpose; some variables are for other files:
# shellcheck shell=sh disable=SC2086,SC2034,SC2154

library_folder() { # library_folder SONAME FOLDER...: where the loader or one of the folders has it
	soname=$1
	shift
	for folder in $(echo "${VPT_GPU_LIBRARIES:-}" | tr : ' '); do
		[ -e "$folder/$soname" ] && echo "$folder" && return
	done
	found=$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null | sed -n "s|.*$soname .*=> ||p" | head -n 1)
	[ -n "$found" ] && dirname "$found" && return
	for folder in $(echo "${LD_LIBRARY_PATH:-}" | tr : ' ') "$@"; do
		[ -e "$folder/$soname" ] && echo "$folder" && return
	done
}

# Only CMake uses carried packages: it writes into the programs where their libraries are. In LD_LIBRARY_PATH they would
# take the place of libraries that Python and PyTorch were made for.
use_carried() {
	carried=$(cd "$1" && pwd) || return
	unpacked=$build/carried
	for file in "$carried"/*.deb; do
		mark=$unpacked/.$(basename "$file")
		[ ! -e "$mark" ] || continue
		mkdir -p "$unpacked"
		if ! timeout 30 dpkg -x "$file" "$unpacked"; then
			echo "run.sh: $file cannot be unpacked" >&2
			return 1
		fi
		: >"$mark"
	done
	CMAKE_PREFIX_PATH=$unpacked/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
	export CMAKE_PREFIX_PATH
}

ask_nvidia_smi() { # ask_nvidia_smi WHAT
	timeout 30 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1
}

look_around() {
	gpu=
	cuda_path=
	if [ -n "$simulated" ]; then
		on_c=simulated
		on_python=cpu
		on_cpu=cpu
		size="--tiny --device cpu"
		device="--device cpu"
		profile=VPTRACE_PROFILE=none # ranges only: without a driver there is nothing else
		return
	fi
	gpu=$(ask_nvidia_smi name)
	[ -n "$gpu" ] || return
	on_c=$gpu
	on_python=$gpu
	on_cpu=$gpu
	size=--small
	device=
	profile=
}

find_cuda() {
	[ -z "$simulated" ] || return
	home=${CUDA_HOME:-/usr/local/cuda}
	wheel=$(limited 30 "$python" -c \
		'import os, nvidia; print(os.path.join(list(nvidia.__path__)[0], "cu13", "lib"))' 2>/dev/null)
	driver=$(library_folder libcuda.so.1 /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu)
	cudart=$(library_folder libcudart.so.13 "$home/lib64" "$home/targets/x86_64-linux/lib" "$wheel")
	cupti=$(library_folder libcupti.so.13 "$home/extras/CUPTI/lib64" "$home/lib64" "$home/targets/x86_64-linux/lib" "$wheel")
	cuda_path=$driver:$cudart:$cupti
	for library in "libcuda.so.1=$driver" "libcudart.so.13=$cudart" "libcupti.so.13=$cupti"; do
		[ -n "${library#*=}" ] ||
			note failed "there is no ${library%%=*} where the loader, CUDA_HOME or VPT_GPU_LIBRARIES have it"
	done
}

# Programs are linked to the simulated CUDA. After this word they find the real one, where there is one.
write_on_cuda() {
	on_cuda=$results/work/on_cuda
	{
		echo '#!/bin/sh'
		[ -z "$cuda_path" ] ||
			echo "LD_LIBRARY_PATH='$cuda_path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}'; export LD_LIBRARY_PATH"
		echo 'exec "$@"'
	} >"$on_cuda"
	chmod +x "$on_cuda"
}

# In the background, since the first import from a cold disk takes as long as the build. `torch` is empty afterwards, or not.
ask_torch() {
	: >torch.txt
	[ "${VPT_GPU_TORCH:-1}" != 0 ] || return
	limited 120 "$python" -c '
import sys, torch
print(sys.version.split()[0], torch.__version__, torch.version.cuda, torch.backends.cudnn.version())
if torch.cuda.is_available():
    torch.zeros(1, device="cuda").item()
' >torch.txt 2>logs/torch.err &
	torch_pid=$!
}
hear_torch() {
	[ -z "${torch_pid:-}" ] || wait "$torch_pid"
	torch=$(cat torch.txt)
	why_no_torch="no PyTorch for $python"
	[ "${VPT_GPU_TORCH:-1}" != 0 ] || why_no_torch="VPT_GPU_TORCH=0"
}

programs="libvptrace vptrace-command vptrace-analyze vptrace-demo standin_cupti bench_tracer_ranges bench_tracer_decode"

configure_and_build() {
	if [ ! -f "$build/CMakeCache.txt" ]; then
		generator=
		if command -v ninja >/dev/null; then
			generator="-G Ninja"
		fi
		run configure 60 cmake $generator -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DVPT_TESTS=OFF || return
	fi
	run build "$phase_seconds" cmake --build "$build" -j "$(nproc)" --target $programs || return
	run version 10 "$analyze" --version
}

# Uses an existing build. A build made elsewhere, or from another folder, is made again.
ensure_built() {
	if [ -n "$simulated" ] && [ -x "$analyze" ] && [ -x "$build/vptrace-demo" ]; then
		return
	fi
	# shellcheck source=tests/setup.sh
	(cd "$root" && . tests/setup.sh && forget_other_checkout "$build")
	had_cache=
	[ ! -f "$build/CMakeCache.txt" ] || had_cache=yes
	cp "$work/step.tsv" "$work/before.tsv"
	configure_and_build && return
	[ -n "$had_cache" ] || return
	echo "build: failed with what was there; once more from nothing"
	cp "$work/before.tsv" "$work/step.tsv"
	rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
	configure_and_build
}

compile_probes() {
	mkdir -p "$probes"
	for probe in tracer_probe cupti_probe; do
		newer=$(find "$here/$probe.c" "$here/probe.h" "$root/tracer/vptrace.h" "$root/tests/standin/include" -newer "$probes/$probe" 2>&1)
		[ -n "$newer" ] || continue
		rm -f "$probes/$probe"
		libraries="-L$build -lvptrace"
		[ $probe = tracer_probe ] || libraries=$build/standin/libcupti.so.13
		run "compile-$probe" 30 "${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE=1 -Wall -Wextra -I "$root" \
			"$here/$probe.c" -o "$probes/$probe" \
			"-Wl,--enable-new-dtags,-rpath,$build,-rpath,$build/standin" $libraries \
			"$build/standin/libcudart.so.13" "$build/standin/libcuda.so.1" -lpthread || return
	done
}

facts() {
	{
		echo "date: $(date -u)"
		uname -a
		grep -m 1 'model name' /proc/cpuinfo
		nproc
		[ -n "$simulated" ] || limited 30 nvidia-smi
		limited 20 nvcc --version 2>/dev/null | tail -n 2
		echo "Python, PyTorch, its CUDA and cuDNN: ${torch:-none}"
		"$analyze" --version
		(cd "$root" && limited 10 git log -1 --format='%h %s' 2>/dev/null)
		echo "libraries: ${cuda_path:-simulated}"
	} >"$results/work/facts.txt"
	driver_version=
	[ -n "$simulated" ] || driver_version=$(ask_nvidia_smi driver_version)
	note ok "driver ${driver_version:-none}; $(nproc) cores; PyTorch ${torch:-none}; $took_to_build s to build"
}

# The step before the first of a run.
prepare() {
	from=$(now)
	probes=$build/gpu-probes
	ask_torch
	find_cuda
	write_on_cuda
	ensure_built && compile_probes
	took_to_build=$(($(now) - from))
	hear_torch
	facts
	is_prepared=yes
}

prepared_well() {
	[ -x "$analyze" ] && [ -e "$tracer" ] && [ -x "$probes/cupti_probe" ] && [ -x "$probes/tracer_probe" ]
}
