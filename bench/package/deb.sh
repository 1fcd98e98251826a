#!/bin/sh
# Debian packages of this checkout: `sh bench/package/deb.sh FOLDER [OPTIONS OF dpkg-buildpackage]` makes a source package and the
# binary packages vptrace, libvptrace0, libvptrace-dev and python3-vptrace in a new folder.
#
# Needs dpkg-dev and debhelper, and what `dpkg-checkbuilddeps` names. DEBFULLNAME and DEBEMAIL say who is the maintainer; else git does.
# Nothing is signed or published.
set -eu
folder=${1:?expected a new folder}
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$folder"
folder=$(cd "$folder" && pwd)
version=$(sed -n 's/^#define VPTRACE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$here/tracer/vptrace.h" | tr '\n' . | sed 's/\.$//')
source=$folder/vptrace-$version
mkdir "$source"
cd "$here"
# The files of this checkout: those that git knows, where it is one.
if git rev-parse >/dev/null 2>&1; then
	git ls-files -z -c -o --exclude-standard
else
	find . -path './build*' -prune -o -type f -print0
fi | tar -c --null -T - | tar -x -C "$source"
tar -C "$folder" -czf "$folder/vptrace_$version.orig.tar.gz" "vptrace-$version"
cp -r "$here/bench/package/debian" "$source/debian"
chmod +x "$source/debian/rules"
name=${DEBFULLNAME:-$(git config user.name || echo vptrace)}
email=${DEBEMAIL:-$(git config user.email || echo vptrace@localhost)}
sed -i "s/^Maintainer: .*/Maintainer: $name <$email>/" "$source/debian/control"
cat >"$source/debian/changelog" <<CHANGELOG
vptrace ($version-0local1) unstable; urgency=low

  * Local package of version $version; .github/CHANGELOG.md says what changed.

 -- $name <$email>  $(LC_ALL=C date -R -r "$here/tracer/vptrace.h")
CHANGELOG
cd "$source"
dpkg-buildpackage -us -uc "$@"
