#!/bin/sh
# classify is a filter: a line out for each line in, in order, the name byte for byte.
# shellcheck disable=SC1091,SC2046,SC2005,SC2154,SC2012,SC2010,SC2094,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

classify() {
	"$VPT_ANALYZE" classify "$@" <in >out 2>err
	code=$?
}

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "kernel_%d <%c>(int, \"x\")\n", i * 7919 % 20000, 65 + i % 26 }' >in
classify
same "twenty thousand names" 0 $code
cut -f2- out | cmp -s - in || fail "names changed or changed places"
same "a family before each" 20000 "$(grep -c '^[a-z][a-z0-9-]*	' out)"

printf 'a\tb\000c\r\n\n\377\376 \033[1m\nlast without an end' >in
classify
same "any bytes" 0 $code
cut -f2- out >names
{ cat in; echo; } | cmp -s - names || fail "bytes were changed"
same "an empty line is a name" 4 "$(wc -l <out | tr -d ' ')"

: >in
classify
same "nothing in" 0 $code
silent out

head -c 1000000 /dev/zero | tr '\0' x >in
classify
same "a name of a megabyte" 0 $code
same "comes back whole" 1000000 "$(cut -f2- out | tr -d '\n' | wc -c | tr -d ' ')"

echo 'void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(Params)' >in
classify
same "a GEMM" gemm "$(cut -f1 out)"

# ---- rules ----
printf '# mine first\n\nattention\t^my_.*_kernel$\n' >rules
printf 'my_fast_kernel\nyour_fast_kernel\n' >in
classify --rules rules
same "a rule decides" "attention	my_fast_kernel" "$(head -n 1 out)"
same "unmatched names use the table" "$("$VPT_ANALYZE" classify <in | tail -n 1)" \
	"$(tail -n 1 out)"
printf 'no-such-family\tx\n' >rules
classify --rules rules
same "a rule with an unknown family" 1 $code
says err "vptrace-analyze: rules: "
silent out
classify --rules nowhere
same "rules that are not there" 1 $code

# ---- a conversation: each answer comes before the next question ----
mkfifo ask tell
"$VPT_ANALYZE" classify <ask >tell &
exec 3>ask 4<tell
for name in first second third; do
	echo $name >&3
	read -r answer <&4
	same "an answer at once" $name "${answer##*	}"
done
exec 3>&- 4<&-
wait
finish
