#!/bin/sh
# The tracer's offsets in the memory of CPython are those of each version's own headers, where a Python found here has them.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
only_in_plain_build
cc=${CC:-cc}
command -v "$cc" >/dev/null || skip "there is no C compiler"

pythons >"$work/pythons"
missing_pythons "$work/pythons"
while read -r version python; do
	eval "$("$python" -c 'import sysconfig as s
v = s.get_config_var
print("headers=%r libraries=%r library=%r" % (s.get_path("include"), v("LIBDIR") or "", v("LDVERSION") or ""))')"
	# shellcheck disable=SC2154
	if [ ! -e "$headers/internal/pycore_interp.h" ]; then
		echo "SKIPPED: $python has no headers in $headers"
		continue
	fi
	link=
	# shellcheck disable=SC2154
	case $version in
	3.9.* | 3.1[0-2].*) ;;
	*)
		if [ ! -e "$libraries/libpython$library.so" ]; then
			echo "SKIPPED: $python has no shared library, from which its offsets are read"
			continue
		fi
		link="-L$libraries -lpython$library -Wl,-rpath,$libraries"
		;;
	esac
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	if ! $cc -std=gnu11 -D_GNU_SOURCE=1 -w -I"$source" -I"$headers" -I"$headers/internal" -o "$work/layout" \
		"$source/tests/layout/python.c" "$source/tracer/python_stacks/python_layout.c" "$source/tracer/loaded/loaded_symbols.c" "$source/tracer/guest/own_memory.c" "$source/tracer/guest/system_file.c" "$source/formats/base/error.c" \
		$link -ldl >"$work/out" 2>"$work/err"; then
		fail "tests/layout/python.c does not compile with the headers of $python"
		continue
	fi
	"$work/layout" >"$work/out" 2>"$work/err" || fail "the layout of $python"
	cat "$work/out"
done <"$work/pythons"
[ "$cases" -gt 0 ] || skip "no Python with headers"
finish
