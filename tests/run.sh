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
# shellcheck disable=SC1091
. tests/setup.sh
need python3 python3 # independent readers and models of the tests
need protoc protobuf-compiler # decodes exports for Perfetto
install_packages tests/run.sh

build_and_test() { # build_and_test FOLDER CMAKE-OPTIONS...
	configure "$@"
	build "$1"
	(cd "$1" && ctest --output-on-failure -j "$(nproc 2>/dev/null || echo 2)")
}

build_and_test build -DCMAKE_BUILD_TYPE=Release
if [ "${1:-}" != quick ]; then
	build_and_test build-sanitize -DCMAKE_BUILD_TYPE=Release -DVPT_SANITIZE=ON
fi
