# place.sh - where everything is: carried packages, CUDA's libraries, PyTorch; builds what is missing. Sourced by run.sh.
#
# Afterwards $on_c and $on_python say where C and Python programs run: the GPU's name, "simulated", "cpu".
# Words of options are split on purpose; some variables are for run.sh:
# shellcheck shell=sh disable=SC2086,SC2034,SC2154

library_folder() { # library_folder SONAME FOLDER...: where the loader or one of the folders has it
	soname=$1
	shift
	found=$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null | sed -n "s|.*$soname .*=> ||p" | head -n 1)
	[ -n "$found" ] && dirname "$found" && return
	for folder in $(echo "${LD_LIBRARY_PATH:-}" | tr : ' ') "$@"; do
		[ -e "$folder/$soname" ] && echo "$folder" && return
	done
}

use_carried() {
	carried=$(cd "$root" && cd "$1" && pwd) || return
	if [ ! -d "$carried/root/usr" ]; then
		for file in "$carried"/*.deb; do
			dpkg -x "$file" "$carried/root" || return
		done
	fi
	usr=$carried/root/usr
	CMAKE_PREFIX_PATH=$usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
	CPATH=$usr/include${CPATH:+:$CPATH}
	LIBRARY_PATH=$usr/lib/x86_64-linux-gnu${LIBRARY_PATH:+:$LIBRARY_PATH}
	LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	PATH=$PATH:$usr/bin
	export CMAKE_PREFIX_PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH PATH
}
[ -z "${VPT_CARRIED:-}" ] || use_carried "$VPT_CARRIED"

build=${VPT_BUILD:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
analyze=$build/vptrace-analyze
tracer=$build/libvptrace.so
VPTRACE_LIBRARY=$tracer
export VPTRACE_LIBRARY

torch=
why_no_torch="no PyTorch for $python"
if [ "${VPT_GPU_TORCH:-1}" = 0 ]; then
	why_no_torch="VPT_GPU_TORCH=0"
elif "$python" -c 'import torch' 2>/dev/null; then
	torch=yes
fi
gpu=
cuda_path=
if [ -z "$dry" ]; then
	gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
	[ -n "$gpu" ] || {
		echo "run.sh: no NVIDIA GPU answers here; --dry-run does without" >&2
		exit 1
	}
	home=${CUDA_HOME:-/usr/local/cuda}
	wheel=$("$python" -c 'import os, nvidia; print(os.path.join(list(nvidia.__path__)[0], "cu13", "lib"))' 2>/dev/null)
	driver=$(library_folder libcuda.so.1 /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu)
	cudart=$(library_folder libcudart.so.13 "$home/lib64" "$home/targets/x86_64-linux/lib" "$wheel")
	cupti=$(library_folder libcupti.so.13 "$home/extras/CUPTI/lib64" "$home/lib64" "$home/targets/x86_64-linux/lib" "$wheel")
	cuda_path=$driver:$cudart:$cupti
	on_c=$gpu
	on_python=$gpu
	size=--small
	device=
else
	# Ranges only: without a driver there is nothing else, and some versions of CUPTI crash when they are asked.
	on_c=simulated
	on_python=cpu
	size="--tiny --device cpu"
	device="--device cpu"
fi
# Programs are linked to the simulated CUDA. Behind this word they find the real one, where there is one.
mkdir bin
{
	echo '#!/bin/sh'
	[ -z "$cuda_path" ] || echo "LD_LIBRARY_PATH='$cuda_path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}'; export LD_LIBRARY_PATH"
	echo 'exec "$@"'
} >bin/on_cuda
chmod +x bin/on_cuda
on_cuda=$PWD/bin/on_cuda

prepare() {
	if [ ! -f "$build/CMakeCache.txt" ]; then
		generator=
		command -v ninja >/dev/null && generator="-G Ninja"
		run_step configure cpu 60 cmake $generator -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release || return 1
	fi
	if [ -z "$dry" ] || [ ! -x "$analyze" ]; then
		step build cpu 240 cmake --build "$build" -j "$(nproc)" || return 1
	fi
	for probe in tracer_probe cupti_probe; do
		libraries="-L$build -lvptrace"
		[ $probe = tracer_probe ] || libraries=$build/standin/libcupti.so.13
		step "compile-$probe" cpu 60 cc -std=gnu11 -O2 -D_GNU_SOURCE=1 -Wall -Wextra -I "$root" \
			"$here/$probe.c" -o bin/$probe \
			"-Wl,--enable-new-dtags,-rpath,$build,-rpath,$build/standin" $libraries "$build/standin/libcudart.so.13" \
			"$build/standin/libcuda.so.1" -lpthread
	done
}

facts() {
	{
		echo "date: $(date -u)"
		uname -a
		grep -m 1 'model name' /proc/cpuinfo
		nproc
		nvidia-smi 2>/dev/null
		nvcc --version 2>/dev/null | tail -n 2
		"$python" -c 'import sys, torch; print(sys.version, torch.__version__, torch.version.cuda)' 2>/dev/null
		"$python" -c 'import torch; print("cuDNN", torch.backends.cudnn.version())' 2>/dev/null
		"$analyze" --version
		(cd "$root" && git log -1 --format='%h %s' 2>/dev/null)
		echo "libraries: ${cuda_path:-simulated}"
	} >facts.txt
	[ -n "$dry" ] || for library in "libcuda.so.1=$driver" "libcudart.so.13=$cudart" "libcupti.so.13=$cupti"; do
		[ -n "${library#*=}" ] ||
			note machine "$on_c" failed "there is no ${library%%=*} where the loader or CUDA_HOME have it"
	done
	driver_version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
	torch_version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null)
	note machine "$on_c" ok "driver ${driver_version:-none}; $(nproc) cores; PyTorch ${torch_version:-none}"
}

report() { # report NAME [OPTIONS...]: NAME.text and NAME.json of NAME.zst
	reported=$1
	shift
	for format in text json; do
		"$analyze" "$reported.zst" --no-progress --format $format --output "$reported.$format" --force "$@" \
			2>>logs/report.err
	done
}
