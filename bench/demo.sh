#!/bin/sh
# Demonstrates vptrace: builds everything, traces a video-diffusion pipeline, prints the report.
#
#   sh bench/demo.sh                        the pipeline without a fault
#   sh bench/demo.sh --sync-per-layer       with one fault; --help lists the options
#   sh bench/demo.sh --simulated [OPTIONS]  on the simulated GPU even where there is a real one
#
# Works on a fresh Debian 12 or 13: packages that are missing are installed, or the line to type is
# printed. With an NVIDIA GPU and CUDA 13's libcudart it runs on that GPU, otherwise on a simulated
# GPU with a simulated clock, and then no figure applies to a real GPU. Each run gets a new folder
# under build/demo/.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091
. tests/setup.sh

# The knobs as the program lists them, which is not built yet.
usage() {
	sed -n '2,/^set/ s/^# \{0,1\}//p' bench/demo.sh
	echo
	sed -e '/^\t"%s"$/r bench/demo/plants.c' -e '/^\t"other:/,$d' bench/demo/options.c |
		sed -n 's/^\t"\(  .*\|[a-z ]*:\)\\n";*$/\1/p'
}
case ${1:-} in -h | --help)
	usage
	exit 0
	;;
esac

simulated=
if [ "${1:-}" = --simulated ]; then
	simulated=yes
	shift
fi
install_packages bench/demo.sh
configure build -DCMAKE_BUILD_TYPE=Release
build_quietly build --target vptrace-demo libvptrace vptrace-analyze
demo=$PWD/build/vptrace-demo
tracer=$PWD/build/libvptrace.so

# ---- a GPU? ----
libraries=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null || true)
cudart=
for file in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libcudart.so.13 /usr/local/cuda*/lib64/libcudart.so.13 \
	$(echo "$libraries" | sed -n 's/.*libcudart\.so\.13 .*=> //p'); do
	if [ -z "$cudart" ] && [ -e "$file" ]; then
		cudart=$(dirname "$file")
	fi
done
gpu=
if [ -z "$simulated" ] && [ -n "$cudart" ] && echo "$libraries" | grep -q 'libcuda\.so\.1 '; then
	driver=$(dirname "$(echo "$libraries" | sed -n 's/.*libcuda\.so\.1 .*=> //p' | head -n 1)")
	gpu=$(LD_LIBRARY_PATH=$driver:$cudart "$demo" --probe 2>/dev/null) || gpu=
fi
if [ -n "$gpu" ]; then
	LD_LIBRARY_PATH=$driver:$cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	banner="on $gpu; the kernels only wait, so their durations are made up"
else
	banner="on a SIMULATED GPU: no figure here was measured on a real one"
fi

# ---- a new folder ----
mkdir -p build/demo
name=$(echo "plain $*" | sed 's/^plain --//; s/ *$//; s/[^A-Za-z0-9.]\{1,\}/-/g; s/-*$//')
number=1
while ! mkdir "build/demo/$name-$number" 2>/dev/null; do
	[ -e "build/demo/$name-$number" ] || { echo "bench/demo.sh: cannot write to build/demo" >&2; exit 1; }
	number=$((number + 1))
done
folder=build/demo/$name-$number

# ---- trace, analyse ----
echo "vptrace-demo $* ($banner)"
echo "$banner" >"$folder/README"
file=trace.zst
case $name in
*ranks*)
	file="trace-r%r.zst"
	[ -n "$gpu" ] || export VPT_STANDIN_DEVICES=8
	;;
esac
status=0
CUDA_INJECTION64_PATH=$tracer NVTX_INJECTION64_PATH=$tracer VPTRACE_OUTPUT=$PWD/$folder/$file \
	"$demo" "$@" >"$folder/demo.txt" || status=$?
set -- "$folder"/trace*.zst
if [ $status != 0 ]; then
	cat "$folder/demo.txt"
	[ -e "$1" ] || rm -r "$folder" # mostly an unknown knob
	exit $status
fi
[ -e "$1" ] || { echo "bench/demo.sh: the tracer wrote no capture" >&2; exit 1; }
for trace; do
	report=${trace%.zst}
	for format in text json html; do
		suffix=$format full=
		[ $format != text ] || suffix=txt full=--full
		status=0
		build/vptrace-analyze "$trace" --target 16 --format $format $full --output "$report.$suffix" --no-progress || status=$?
		[ $status = 0 ] || [ $status = 3 ] || exit $status
	done
done
# For Perfetto: one trace as a file, traces of several ranks as one archive.
export=$folder/trace.pftrace
[ $# = 1 ] || export=$folder/trace.tar
status=0
build/vptrace-analyze export "$@" --format perfetto --output "$export" 2>"$folder/export.log" || status=$?
[ $status = 0 ] || [ $status = 3 ] || { cat "$folder/export.log"; exit $status; }
opens=$(sed -n 's/^vptrace-analyze: open it at //p' "$folder/export.log")
rm -f "$folder/export.log"
screen=$(build/vptrace-analyze "$1" --target 16 --no-progress) || [ $? = 3 ]
echo "$screen"
echo

# ---- summary ----
cause=$(echo "$screen" | sed -n '/^CAUSE/,/^$/p' | sed 's/^CAUSE//; s/^ */ /' | tr -d '\n' | sed 's/^ *//; s/ *$//')
repair=$(sed -n '/"findings": /,$ s/.*"title": "\(.*\)",*$/\1/p' "${1%.zst}.json" | head -n 1)
case $name in
plain) next=" --sync-per-layer: two .item() in each layer" ;;
sync-per-layer*) next=" --slow-host 90000 --scale 0.5: a fast GPU, a slow host" ;;
*graph*) next=" --two-streams: VAE and copies during the next block" ;;
slow-host*) next=" --slow-host 90000 --scale 0.5 --graph: the same with CUDA graphs" ;;
two-streams*) next=" --offload: weights from the host in each pass" ;;
offload*) next=" --eager: attention that is not fused" ;;
*) next=": the pipeline without a fault" ;;
esac
echo "FOUND ($banner): $cause${repair:+ Fix first: $repair.}"
traces=
for trace; do
	traces="$traces ${trace##*/},"
done
echo "FILES $folder/:$traces the full report as .txt, .json and .html, a page for browsers; ${export##*/} for $opens"
echo "NEXT  sh bench/demo.sh$next"
