# page.sh - pages for browsers, checked with and without one; sourced after cli.sh, used in $work.

# holds RULE CHECK FILE WORDS...: page.py agrees. The build without sanitizers has asked it about a page of the same bytes.
holds() {
	! looked_at "$3" || return 0
	cases=$((cases + 1))
	rule=$1
	shift
	python3 "$source/tests/support/outputs/page.py" "$@" >out 2>err || fail "$rule"
}

# sections FILE: the ids of its sections, in their order.
sections() {
	sed -n 's/.*<section id="\([a-z-]*\)".*/\1/p' "$1" | tr '\n' ' ' | sed 's/ $//'
}

# in_browser FILES...: where there is a Chromium, each page that was made works in it.
in_browser() {
	cases=$((cases + 1))
	for file; do
		shift
		[ ! -e "$file" ] || looked_at "$file" || set -- "$@" "$file"
	done
	[ $# != 0 ] || return 0
	timeout 300 python3 "$source/tests/support/outputs/page_browser.py" "$@" >out 2>err
	case $? in
	0) ;;
	77) echo "SKIPPED: pages in a browser: no Chromium is installed" ;;
	*) fail "pages in a browser" ;;
	esac
}
