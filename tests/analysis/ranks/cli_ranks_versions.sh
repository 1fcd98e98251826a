#!/bin/sh
# Summaries of other versions: older ones are reported as they were, and merged; a newer one is named, with what to do.
#
# tests/data/ranks: version2-*.vps are of a job that nobody ran, see bench/ranks.c; version3-*.vps of the demo's on the simulated GPU, with
# host code of 30 us before each launch; version4-*.vps to version6-*.vps again of bench/ranks.c; newer-rank0.vps says version 9.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
data=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)/tests/data/ranks
need_python 3.8
cd "$work" || exit 1

# predicted: of the last output, the unit and what it would take.
predicted() {
	python3 -c "
import json
j = json.load(open('out'))
print(j['unit_ns'], *[f['unit_ns'] for f in j['fixes'] if f['change'] == 'asked'], 'at most' if j['asked_is_bound'] else '')"
}

change="all: host 0.5"
expect 0 "a summary of version 2" ranks "$data"/version2-rank0.vps "$data"/version2-rank1.vps
says out "RANKS   2 of 2 on 1 host"
expect 0 "a change, of version 2" ranks "$data"/version2-rank0.vps "$data"/version2-rank1.vps --change "$change"
says out "(at most: an older summary)"
expect 0 "a change, of version 3" ranks "$data"/version3-rank0.vps "$data"/version3-rank1.vps --change "$change" --format json
same "what version 3 predicts" "3308469 3018028 " "$(predicted)"
expect 0 "a change, of version 4" ranks "$data"/version4-rank0.vps "$data"/version4-rank1.vps --change "$change" --format json
same "what version 4 predicts" "10212990 10087079 " "$(predicted)"
expect 0 "a change, of version 5" ranks "$data"/version5-rank0.vps "$data"/version5-rank1.vps --change "$change" --format json
same "what version 5 predicts" "10212990 10087079 " "$(predicted)"
expect 0 "a change, of version 6" ranks "$data"/version6-rank0.vps "$data"/version6-rank1.vps --change "$change" --format json
same "what version 6 predicts" "10212990 10087079 " "$(predicted)"
expect 0 "a report, of version 6" ranks "$data"/version6-rank0.vps "$data"/version6-rank1.vps --full
mv out report6
expect 0 "version 6 written again" summarize "$data"/version6-rank0.vps "$data"/version6-rank1.vps -o again6.vps
expect 0 "a report, of version 6 written again" ranks again6.vps --full
cmp -s report6 out || fail "version 6, written again, is reported otherwise"
expect 0 "what version 6 lacks" ranks again6.vps --format json
says out '"power_w": null'
says out '"stages": []'
says out '"rates_of": "unknown"'
grep -q '"metric": "power"' out && fail "$rule: a metric that no rank has"
expect 0 "a report, of version 5" ranks "$data"/version5-rank0.vps "$data"/version5-rank1.vps
mv out report5
expect 0 "a report, of version 4" ranks "$data"/version4-rank0.vps "$data"/version4-rank1.vps
says out "RANKS   2 of 2 on 1 host"
# Written again, with who the ranks are in the newest version, details stay as they were.
expect 0 "version 3 written again" summarize "$data"/version3-rank0.vps "$data"/version3-rank1.vps -o again.vps
expect 0 "a change, of what was written again" ranks again.vps --change "$change" --format json
same "what version 3, written again, predicts" "3308469 3018028 " "$(predicted)"
expect 0 "version 4 written again" summarize "$data"/version4-rank0.vps "$data"/version4-rank1.vps -o again4.vps
expect 0 "a change, of version 4 written again" ranks again4.vps --change "$change" --format json
same "what version 4, written again, predicts" "10212990 10087079 " "$(predicted)"
expect 0 "version 5 written again" summarize "$data"/version5-rank0.vps "$data"/version5-rank1.vps -o again5.vps
expect 0 "a change, of version 5 written again" ranks again5.vps --change "$change" --format json
same "what version 5, written again, predicts" "10212990 10087079 " "$(predicted)"
expect 0 "a report, of version 5 written again" ranks again5.vps
cmp -s report5 out || fail "version 5, written again, is reported otherwise"
expect 0 "version 2 written again" summarize "$data"/version2-rank0.vps "$data"/version2-rank1.vps -o again2.vps
expect 0 "a change, of version 2 written again" ranks again2.vps --change "$change"
says out "(at most: an older summary)"
expect 0 "versions merged" merge "$data"/version2-rank1.vps "$data"/version3-rank0.vps -o merged.vps
expect 1 "a newer one alone" ranks "$data/newer-rank0.vps"
says err "newer-rank0.vps: summary version 9: expected 2 to 7: it is from a newer vptrace: use that one, or summarize the capture with this one"
expect 3 "a newer one among others" ranks "$data"/version3-rank0.vps "$data"/version3-rank1.vps "$data/newer-rank0.vps"
says err "newer-rank0.vps: summary version 9"
says out "RANKS   2 of 2 on 1 host"
finish
