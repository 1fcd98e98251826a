#!/bin/sh
# README's commands on a fresh machine: `sh tests/fresh.sh ROOT`, as root, where ROOT is the folder of a fresh Debian, such as
#
#   debootstrap --variant=minbase bookworm ROOT
#
# Copies this checkout's files to /root (mode 700) and to an ordinary user's home in it, and runs each command there as it is printed,
# first as root, then as the user, who meets a machine without packages before. Prints each command with its exit status and
# seconds. VPT_CARRY names files of this machine that ROOT needs too, for its network: "/etc/pip.conf ..."; PIP_CERT is passed on. ROOT is
# changed.
set -eu

# ---- inside ROOT ----
if [ "${1:-}" = --inside ]; then
	# shellcheck disable=SC1091
	. tests/support/readme_blocks.sh
	unset VPT_CARRY
	block_of python README.md >generate.py
	block_of c README.md >generate.c
	commands_of README.md | grep -v '^sh tests/run.sh' >/tmp/commands
	[ "$(wc -l </tmp/commands)" -ge 15 ] || { echo "tests/fresh.sh: README's commands were not found"; exit 1; }
	[ "$2" = user ] || chmod 700 "$HOME"
	run_commands /tmp/commands /tmp/output
	exit
fi

root=${1:?expected the folder of a fresh Debian}
if [ "$(id -u)" != 0 ] || ! [ -x "$root/usr/bin/apt-get" ]; then
	echo "tests/fresh.sh: expected to be root, and a Debian in $root" >&2
	exit 2
fi
cd "$(dirname "$0")/.."

enter() { # enter USER COMMAND...: in the folder of that user's checkout, with its environment alone
	who=$1
	shift
	home=/root
	[ "$who" = root ] || home=/home/$who
	# shellcheck disable=SC2016
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" USER="$who" LC_ALL=C.UTF-8 ${PIP_CERT:+PIP_CERT="$PIP_CERT"} \
		unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec "$@"' sh "$root" \
		chroot --userspec="$who" "$root" sh -c 'cd "$HOME/vptrace" && exec "$@"' sh "$@"
}
copy_checkout() { # copy_checkout HOME
	rm -rf "$root$1/vptrace"
	mkdir -p "$root$1/vptrace"
	git ls-files -z -c -o --exclude-standard | tar -c --null -T - | tar -x -C "$root$1/vptrace"
}

for file in /etc/resolv.conf ${VPT_CARRY:-}; do
	mkdir -p "$root$(dirname "$file")"
	cp -L "$file" "$root$file"
done
chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
copy_checkout /root
copy_checkout /home/user
chroot "$root" chown -R user:user /home/user/vptrace
failed=0

echo "== $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$root/etc/os-release"), a user without packages"
enter user sh bench/demo.sh >"$root/tmp/said" 2>&1 && { echo "FAIL: the demo needs no packages"; failed=1; }
sed -n 's/^    sudo /    /p' "$root/tmp/said" | grep '^    apt-get update && ' || { cat "$root/tmp/said"; failed=1; }
# What README names for pip; the rest comes with the demo.
# shellcheck disable=SC2016
named=$(sed -n 's/.*`apt-get install \(python3-venv\)`.*/\1/p' README.md)
for who in root user; do
	echo "== $who"
	[ "$who" = user ] || enter root sh -c 'apt-get update -qq'
	[ "$who" = user ] || enter root sh -c "apt-get install -y -qq --no-install-recommends $named >/dev/null 2>&1"
	enter "$who" sh tests/fresh.sh --inside "$who" || failed=1
	rm -rf "$root/tmp/commands" "$root/tmp/output"
done
exit $failed
