#!/bin/sh
# The slow model of idle time against one in Python, where that is at hand, on random captures: each piece of each gap must agree.
# shellcheck disable=SC1091,SC2034,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
model=$(cd "${VPT_BIN:-.}" && pwd)/model_causes
folder=${VPT_SHARED:-$source/../shared}/traces
[ -f "$folder/blame.py" ] || skip "there is no other model in $folder"
command -v python3 >/dev/null || skip "there is no python3"
command -v zstd >/dev/null || skip "there is no zstd"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
cases=1
python3 "$source/tests/support/model/causes_oracle.py" "$folder" "$source/formats" "$model" 0 "${VPT_RANDOM_TRACES:-150}" \
	>"$work/out" 2>"$work/err" || fail "random captures"
tail -n 22 "$work/out"
finish
