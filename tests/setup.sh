# setup.sh - what a fresh Debian 12 machine needs, and how things are built; sourced by tests/run.sh and bench/demo.sh from
# the top folder.

packages=
need() { # need COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || packages="$packages $2"
}
need_header() { # need_header FILE PACKAGE: in the system's folders, or in those that CPATH adds
	for folder in /usr/include /usr/local/include $(printf %s "${CPATH-}" | tr : ' '); do
		[ -e "$folder/$1" ] && return
	done
	packages="$packages $2"
}

# Installs what is missing where that is possible (as root, or with sudo that asks for no password); otherwise prints the
# one line to run and ends the script.
install_packages() { # install_packages SCRIPT
	need cc gcc
	need cmake cmake
	need make make
	need zstd zstd
	need_header zstd.h libzstd-dev
	need_header cmocka.h libcmocka-dev
	need_header zlib.h zlib1g-dev
	need_header sqlite3.h libsqlite3-dev
	need_header libdeflate.h libdeflate-dev
	[ -n "$packages" ] || return 0
	install="apt-get install -y --no-install-recommends$packages"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		sudo=sudo
		sudo -n true 2>/dev/null || {
			echo "$1: some packages are missing; install them with" >&2
			echo "    sudo apt-get update && sudo $install" >&2
			exit 1
		}
	fi
	echo "$1: installs$packages"
	log=$(mktemp)
	{ $sudo apt-get update -qq && $sudo $install; } >"$log" 2>&1 || {
		cat "$log" >&2
		echo "$1: the packages could not be installed: see above" >&2
		exit 1
	}
	rm -f "$log"
}

# Makes a build folder of another checkout (this one was copied or renamed) one of this: its programs were built from other files.
forget_other_checkout() { # forget_other_checkout FOLDER
	[ -f "$1/CMakeCache.txt" ] || return 0
	home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt")
	[ "$(cd "$home" 2>/dev/null && pwd -P)" != "$(pwd -P)" ] || return 0
	echo "$1/ was configured for $home; configuring and building it again for $(pwd -P)"
	rm -f "$1/CMakeCache.txt"
	find "$1" -name CMakeFiles -type d -prune -exec rm -rf {} +
}

# Begins a build folder with the objects of another one of this checkout, which Ninja compiles again only where the command is another one
# or what they include is not there. Nothing else is taken: what is linked or generated is made anew.
take_objects() { # take_objects FOLDER OTHER
	[ ! -e "$1" ] && [ -f "$2/.ninja_deps" ] || return 0
	mkdir -p "$1"
	objects=$(cd "$1" && pwd)
	(cd "$2" && find . -name '*.o' -exec cp -p --parents -t "$objects" {} + && cp -p .ninja_log .ninja_deps "$objects") || rm -rf "$objects"
}

configure() { # configure FOLDER CMAKE-OPTIONS...
	folder=$1
	shift
	forget_other_checkout "$folder"
	generator=
	if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
		generator="-G Ninja"
	fi
	mkdir -p "$(dirname "$folder")"
	# shellcheck disable=SC2086
	cmake $generator -S . -B "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
	rm -f "$folder.log"
}

build() { # build FOLDER [--target TARGET...]
	folder=$1
	shift
	cmake --build "$folder" -j "$(nproc 2>/dev/null || echo 2)" "$@"
}

# The same; its output is shown only if it fails. Says how far it is, on a terminal.
build_quietly() { # build_quietly FOLDER [--target TARGET...]
	log=$1.log
	[ -t 2 ] || echo "building; the first time takes a minute or more" >&2
	build "$@" >"$log" 2>&1 &
	building=$!
	while [ -t 2 ] && kill -0 $building 2>/dev/null; do
		printf '\rbuilding %s  ' "$(grep -o '^\[ *[0-9]*[/%][0-9]*' "$log" 2>/dev/null | tail -n 1 | tr -d '[ ')" >&2
		sleep 0.5
	done
	[ ! -t 2 ] || printf '\r%40s\r' '' >&2
	wait $building || {
		cat "$log"
		exit 1
	}
	rm -f "$log"
}
