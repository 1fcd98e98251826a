#!/bin/sh
# Ranges that are opened and never closed: every later one is in the capture, and the report says what the program did wrong.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
host=$bin/host_unmatched
[ -x "$host" ] || skip "host_unmatched is not built"
unset VPTRACE_OUTPUT VPTRACE_RING VPTRACE_PROFILE VPTRACE_CAPTURE
cd "$work" || exit 1

count() { # count NAME UNMATCHED
	"$VPT_ANALYZE" cat t.zst --kind range | grep "\"name\":\"$1\"" | grep -c "\"unmatched\":$2}"
}
while read -r pushes forgotten; do
	rm -f t.zst
	rule="$pushes forgotten pushes"
	"$host" t.zst "$pushes" >out 2>err || fail "$rule: exit status $?"
	same "$rule: statistics" "received $((pushes + 1000)), dropped 0" "$(cat out)"
	same "$rule: later ranges" 1000 "$(count work 0)"
	same "$rule: forgotten ranges" "$pushes" "$(count forgotten 1)"
	if [ "$forgotten" = 0 ]; then
		expect 0 "$rule: check" check t.zst
		! grep -q unmatched out || fail "$rule: $(cat out)"
	else
		expect 3 "$rule: check" check t.zst
		[ "$forgotten" = 1 ] && words="1 unmatched push:" || words="$forgotten unmatched pushes:"
		says out "$words more than 256 ranges were open on a thread, so the oldest were ended early; the others are complete"
		says out "end each range in a finally clause or by a context manager"
		! grep -q VPTRACE_MEMORY out || fail "$rule: advice that does not help: $(cat out)"
	fi
done <<'CASES'
0 0
1 0
255 0
256 1
257 2
300 45
3000 2745
CASES
# Ranges that are nested too deep and closed are known too, from their starts on.
rm -f t.zst
rule="300 nested ranges"
"$host" t.zst -300 >out 2>err
same "$rule: statistics" "received 1300, dropped 0" "$(cat out)"
same "$rule: whole" 255 "$(count forgotten 0)"
same "$rule: cut" 45 "$(count forgotten 1)"
finish
