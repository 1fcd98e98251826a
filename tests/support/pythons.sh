# shellcheck shell=sh
# pythons.sh - finds the Pythons that tests of stacks and marks run; sourced after cli.sh.
#
# VPT_PYTHONS names them, separated by colons. Otherwise they are python3.9 to python3.13 on PATH, in /usr/bin, /usr/local/bin
# and below $PYENV_ROOT or ~/.pyenv, each real file once.

# Prints a line for each: "3.11.2 /usr/bin/python3.11". pythons [VERSION]: those of a version such as 3.11.
pythons() {
	{
		if [ -n "${VPT_PYTHONS:-}" ]; then
			echo "$VPT_PYTHONS" | tr : '\n'
		else
			for minor in 9 10 11 12 13; do
				[ "${1:-3.$minor}" = 3.$minor ] || continue
				command -v "python3.$minor"
				ls -d "/usr/bin/python3.$minor" "/usr/local/bin/python3.$minor" 2>/dev/null
				ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3."$minor" 2>/dev/null
			done
		fi
	} | sort -u | while read -r python; do
		# A launcher of pyenv starts one of its versions, if any: those are looked at themselves.
		case $python in
		*/shims/*)
			ls -d "${python%/shims/*}"/versions/*/bin/"${python##*/}" 2>/dev/null || :
			;;
		*) echo "$python" ;;
		esac
	done | sort -u | while read -r python; do
		"$python" -c 'import os, sys; print("%d.%d.%d" % sys.version_info[:3], os.path.realpath(sys.executable))' 2>/dev/null
	done | sort -u -t. -k1,1n -k2,2n -k3 | grep "^${1:-3}\." || :
}

# missing_pythons LIST: names the minor versions without an interpreter in it, so that nobody takes a test of two versions for one of five.
missing_pythons() {
	for minor in 9 10 11 12 13; do
		grep -q "^3\.$minor\." "$1" || echo "SKIPPED: no Python 3.$minor found (VPT_PYTHONS names others)"
	done
}
