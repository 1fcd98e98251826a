# consumers.sh - programs that use an installed vptrace; sourced by the tests of the installation.

write_consumer() { # consumer.c in the working folder
	cat >consumer.c <<'C'
#include <vptrace.h>
#include <vptrace_nvtx.h>
#include <string.h>
int main(void)
{
	struct vptrace_options options;

	memset(&options, 0, sizeof(options));
	options.struct_bytes = sizeof(options);
	options.profile = VPTRACE_PROFILE_NONE;
	if (vptrace_start(&options))
		return 9;
	vptrace_block_push(3, 12, 3);
	vptrace_pop();
	return vptrace_stop(0) ? 8 : 0;
}
C
}

# records RULE COMMAND...: the program writes a capture with its block.
records() {
	rule=$1
	shift
	cases=$((cases + 1))
	rm -f consumer.zst
	VPTRACE_OUTPUT=consumer.zst VPTRACE_PROFILE=none "$@" >out 2>err || fail "$rule: the program ended with $?"
	"$VPT_ANALYZE" cat consumer.zst --kind range >out 2>err
	grep -q '"name":"block 3"' out || fail "$rule: the program recorded no block"
}

# find_package_consumer RULE TARGET PREFIX: consumer-build/consumer, built by CMake.
find_package_consumer() {
	mkdir -p consumer-source
	cp consumer.c consumer-source
	cat >consumer-source/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(vptrace 0.1 REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE $2)
CMAKE
	rm -rf consumer-build
	cases=$((cases + 1))
	cmake -S consumer-source -B consumer-build -DCMAKE_PREFIX_PATH="$3" >out 2>err || fail "$1: cmake fails"
	cmake --build consumer-build >out 2>err || fail "$1: does not build"
	records "$1" consumer-build/consumer
}
