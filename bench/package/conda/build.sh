#!/bin/sh
set -eu
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS:-} -G Ninja -S . -B build-conda -DVPT_TESTS=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
	-DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build build-conda
cmake --install build-conda
# Where `import vptrace` looks.
for module in vptrace vptrace_marks; do
	ln -s "$PREFIX/share/vptrace/python/$module" "$SP_DIR/$module"
done
