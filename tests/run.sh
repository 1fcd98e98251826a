#!/bin/sh
# Sets up, builds and tests everything: `sh tests/run.sh` on a fresh Debian 12 machine.
#
#   sh tests/run.sh            release build, then the sanitizers' build, all tests in both
#   sh tests/run.sh quick      release build only
#
# Missing packages are installed where that is possible (as root, or with sudo that asks for no password);
# otherwise the one line to run is printed. Builds go to build/ and build-sanitize/.
set -eu
cd "$(dirname "$0")/.."

packages=
need() { # need COMMAND-OR-FILE PACKAGE
	case $1 in
	/*) for path in $1; do [ -e "$path" ] && return; done ;;
	*) command -v "$1" >/dev/null 2>&1 && return ;;
	esac
	packages="$packages $2"
}
need cc gcc
need cmake cmake
need make make
need zstd zstd
need "/usr/include/zstd.h" libzstd-dev
need "/usr/include/cmocka.h" libcmocka-dev
need "/usr/include/json-c/json.h" libjson-c-dev
need "/usr/include/zlib.h" zlib1g-dev
need "/usr/include/sqlite3.h" libsqlite3-dev
if [ -n "$packages" ]; then
	install="apt-get install -y --no-install-recommends$packages"
	if [ "$(id -u)" = 0 ]; then
		apt-get update -qq && $install
	elif sudo -n true 2>/dev/null; then
		sudo apt-get update -qq && sudo $install
	else
		echo "tests/run.sh: some packages are missing; install them with" >&2
		echo "    sudo $install" >&2
		exit 1
	fi
fi

jobs=$(nproc 2>/dev/null || echo 2)
generator=
command -v ninja >/dev/null 2>&1 && generator="-G Ninja"

build_and_test() { # build_and_test FOLDER CMAKE-OPTIONS...
	folder=$1
	shift
	# shellcheck disable=SC2086
	if ! [ -f "$folder/CMakeCache.txt" ]; then
		cmake $generator -S . -B "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
		rm -f "$folder.log"
	fi
	cmake --build "$folder" -j "$jobs"
	(cd "$folder" && ctest --output-on-failure -j "$jobs")
}

build_and_test build -DCMAKE_BUILD_TYPE=Release
if [ "${1:-}" != quick ]; then
	build_and_test build-sanitize -DCMAKE_BUILD_TYPE=Release -DVPT_SANITIZE=ON
fi
