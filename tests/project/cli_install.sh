#!/bin/sh
# What `cmake --install` puts in place: the library under its versioned name with the header's functions alone, found by
# pkg-config and by find_package(vptrace) wherever the whole was moved to, by programs that link it, and by programs that load it.
# shellcheck disable=SC1091,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/consumers.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
command -v cmake >/dev/null || skip "cmake is not installed"
[ -e "$bin/libvptrace.so" ] || skip "no libvptrace.so was built"
cd "$work" || exit 1

# ---- where everything goes ----
DESTDIR=$work/stage cmake --install "$bin" --prefix /opt/some/place >out 2>err || fail "cmake --install ended with $?"
same "everything lies below DESTDIR and the prefix" "" "$(find stage ! -type d | grep -v '^stage/opt/some/place/')"
mv stage/opt/some/place moved || fail "nothing was installed"
lib=$(dirname $(find moved -name libvptrace.so))
for file in bin/vptrace bin/vptrace-analyze share/man/man1/vptrace.1 share/man/man1/vptrace-run.1 include/vptrace.h \
	include/vptrace_nvtx.h share/vptrace/python/vptrace/__init__.py share/vptrace/python/site/sitecustomize.py \
	share/vptrace/python/vptrace_marks/presets/diffusers.marks; do
	same "installed: $file" yes "$([ -f moved/$file ] && echo yes)"
done

# ---- the library ----
header=$source/tracer/vptrace.h
version=$(sed -n 's/^#define VPTRACE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$header" | tr '\n' . | sed 's/\.$//')
soname=$(sed -n 's/^#define VPTRACE_SONAME "\(.*\)"$/\1/p' "$header")
same "the name for the linker" "$soname" "$(readlink $lib/libvptrace.so)"
same "the name for the loader" "libvptrace.so.$version" "$(readlink $lib/$soname)"
if have readelf "the library's names" && have nm "the library's functions"; then
	same "the library's own name" "$soname" "$(readelf -d $lib/libvptrace.so | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
	for file in $lib/libvptrace.so moved/bin/vptrace-analyze moved/bin/vptrace; do
		same "$file has no RPATH" "" "$(readelf -d $file | grep -E 'RPATH|RUNPATH')"
	done
	{
		sed -n 's/^VPTRACE_API.*[ *]\(vptrace_[a-z_]*\)(.*/\1/p' "$header"
		printf '%s\n' InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension vptrace_python_function
	} | sort >expected
	nm -D --defined-only --with-symbol-versions $lib/libvptrace.so >symbols
	sed -n 's/^[0-9a-f]* [TD] \([A-Za-z0-9_]*\)@@VPTRACE_[0-9.]*$/\1/p' symbols | sort >found
	same "it exports the header's functions, each with a version" "$(cat expected)" "$(cat found)"
	same "and nothing else" "" "$(grep -v -e ' A VPTRACE_' -e '@@VPTRACE_' symbols)"
fi

CUDA_HOME=/nonexistent moved/bin/vptrace doctor --python /bin/true >out 2>err
same "vptrace doctor finds what was moved" "ok    library     $work/$lib/libvptrace.so" "$(grep '^ok    library' out | sed 's/ ->.*//')"
grep -q '8 of 8 ranges arrived\|8 of 8 arrived' out || fail "vptrace doctor could not test the library"
same "vptrace finds the library where it was moved to" "$work/$lib/libvptrace.so" \
	"$(moved/bin/vptrace run sh -c 'echo "$CUDA_INJECTION64_PATH"' 2>err)"
mv $lib/libvptrace.so linker # as where the headers are a package of their own
same "vptrace finds the library without the linker's name for it" "$work/$lib/$soname" \
	"$(moved/bin/vptrace run sh -c 'echo "$CUDA_INJECTION64_PATH"' 2>err)"
mv linker $lib/libvptrace.so
if have readelf "what vptrace needs" && ! readelf -d moved/bin/vptrace | grep -q 'lib[atu]b*san'; then
	same "vptrace needs libc and libzstd alone" "libzstd.so.1 libc.so.6" "$(readelf -d moved/bin/vptrace | sed -n 's/.*(NEEDED).*\[\(libc[.].*\|.*\)\]/\1/p' | grep -v '^ld-' | tr '\n' ' ' | sed 's/ $//')"
fi

# The module finds the library of its prefix, without a word about it in the environment.
if ! command -v python3 >/dev/null || readelf -d $lib/libvptrace.so | grep -q 'lib[atu]b*san'; then
	echo "SKIPPED: what the installed module finds: no python3, or a library with sanitizers"
else
	finds() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/$1/share/vptrace/python python3 -c 'import vptrace; print(vptrace._library.mapped())' 2>err; }
	unset VPTRACE_LIBRARY
	same "the module finds the library" "$work/$(readlink -f $lib/libvptrace.so | sed "s|^$work/||")" "$(finds moved)"
	mkdir -p other/share/vptrace other/lib64
	cp -r moved/share/vptrace/python other/share/vptrace/
	cp -d $lib/libvptrace.so* other/lib64/
	same "in lib64 as well" "$work/other/lib64/libvptrace.so.$version" "$(finds other)"
fi

# ---- programs ----
sanitized=
ldd $lib/libvptrace.so | grep -q 'lib[atu]b*san' && sanitized=yes
if [ -z "$sanitized" ] && have python3 "the Python module that was installed"; then
	same "the module finds the libraries that were installed with it" "$work/$lib/libvptrace.so.$version 9 tables" \
		"$(cd / && env -u VPTRACE_LIBRARY -u VPTRACE_TABLES PYTHONPATH="$work/moved/share/vptrace/python" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import vptrace
print(vptrace._library.mapped(), len(vptrace.load('$VPT_SOURCE_DIR/tests/corpus/good-small.zst', 'kernel,copy,call,range,gap').tables), 'tables')" 2>&1)"
fi
if [ -n "$sanitized" ] || ! command -v cc >/dev/null; then
	echo "SKIPPED: programs that use what was installed: no cc, or a library with sanitizers"
	finish
fi
write_consumer
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$work/$lib/pkgconfig
	export PKG_CONFIG_PATH
	same "pkg-config: the version" "$version" "$(pkg-config --modversion vptrace)"
	cases=$((cases + 1))
	cc consumer.c $(pkg-config --cflags --libs vptrace) -o by-pkg-config >out 2>err || fail "pkg-config: does not build"
	records "pkg-config" env LD_LIBRARY_PATH=$lib ./by-pkg-config
	same "pkg-config: it needs the versioned name" yes "$(readelf -d by-pkg-config | grep -qF "[$soname]" && echo yes)"
else
	echo "SKIPPED: pkg-config is not installed"
fi
find_package_consumer "find_package" vptrace::vptrace "$work/moved"
same "find_package: it is linked by the versioned name" yes "$(readelf -d consumer-build/consumer | grep -qF "[$soname]" && echo yes)"

# A program that knows the library only once it has been loaded, and for itself alone.
cat >loads.c <<'C'
#include <vptrace_nvtx.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
	int (*start)(const struct vptrace_options *), (*stop)(struct vptrace_stats *);

	if (!library)
		return 9;
	*(void **)&start = dlsym(library, "vptrace_start");
	*(void **)&stop = dlsym(library, "vptrace_stop");
	start(0);
	vptrace_block_push(3, 12, 3);
	vptrace_pop();
	stop(0);
	return 0;
}
C
cases=$((cases + 1))
cc -Imoved/include -DVPTRACE_NO_NVTX loads.c -o loads -ldl >out 2>err || fail "loads.c does not build"
for name in libvptrace.so $soname libvptrace.so.$version; do
	records "loaded as $name" ./loads $work/$lib/$name
done
finish
