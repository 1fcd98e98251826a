/* plants.c - the list of planted faults, read anew with each question: it is short. */
#include "bench/demo/plants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t min, max;
} table[DEMO_PLANTS] = {
	[DEMO_PLANT_HOST] = {"host", 0, 1000000},
	[DEMO_PLANT_KERNEL] = {"kernel", 100, 10000},
	[DEMO_PLANT_TURN] = {"turn", 0, 63},
	[DEMO_PLANT_LINK] = {"link", 100, 10000},
	[DEMO_PLANT_SKEW] = {"skew", 0, 1000000},
	[DEMO_PLANT_LATE] = {"late", 0, 3600000},
	[DEMO_PLANT_OFFSET] = {"offset", -3600000, 3600000},
	[DEMO_PLANT_DRIFT] = {"drift", -1000, 1000},
	[DEMO_PLANT_UNTRACED] = {"untraced", 1, 1},
	[DEMO_PLANT_ENDS] = {"ends", 0, 1000},
};

/* One line each: bench/demo.sh prints them before there is a program. */
/* clang-format off */
const char demo_plants_help[] =
	"  --plant LIST        faults of single ranks, as 3:host=400,0:link=150: RANK:FAULT=NUMBER\n"
	"                        host=US      host code in each layer\n"
	"                        kernel=PCT   duration of the feed-forward part's kernels\n"
	"                        turn=I       host and kernel hold in one of N passes only, I of 0 to N-1,\n"
	"                                     where N-1 is the largest I of all ranks\n"
	"                        link=PCT     duration of all collectives that need the rank\n"
	"                        skew=NS      its kernels of collectives end later than the others'\n"
	"                        late=MS      it starts later than the others\n"
	"                        offset=MS    the clock of its host is ahead, see --nodes\n"
	"                        drift=PPM    the clock of its host is too fast; its host is its own\n"
	"                        untraced=1   it is not recorded\n"
	"                        ends=BLOCK   it ends before this block, and the others fail\n";
/* clang-format on */

struct item {
	uint64_t rank;
	unsigned kind;
	int64_t value;
};

/* Reads the item at *at and moves behind it. Returns 0, or -1: it is not one. */
static int read_item(const char **at, struct item *out)
{
	char *end;
	const char *word, *equals;

	if (**at < '0' || **at > '9')
		return -1;
	out->rank = strtoull(*at, &end, 10);
	if (*end != ':')
		return -1;
	word = end + 1;
	equals = word + strcspn(word, "=,");
	for (out->kind = 0; out->kind < DEMO_PLANTS; out->kind++)
		if (strlen(table[out->kind].name) == (size_t)(equals - word) &&
			!strncmp(table[out->kind].name, word, (size_t)(equals - word)))
			break;
	if (*equals != '=' || out->kind == DEMO_PLANTS)
		return -1;
	errno = 0;
	out->value = strtoll(equals + 1, &end, 10);
	if (errno || end == equals + 1 || (*end && *end != ',') ||
		out->value < table[out->kind].min || out->value > table[out->kind].max)
		return -1;
	*at = *end ? end + 1 : end;
	return 0;
}

int demo_plants_check(const char *list, uint64_t ranks, char *message, unsigned long size)
{
	const char *at = list;
	struct item item;

	while (at && *at) {
		const char *begin = at;

		if (!read_item(&at, &item) && item.rank < ranks)
			continue;
		snprintf(message, size,
			"--plant: expected RANK:FAULT=NUMBER of a rank below --ranks, see --help, "
			"found \"%.64s\"",
			begin);
		return -1;
	}
	return 0;
}

int64_t demo_plant(const char *list, uint64_t rank, enum demo_plant_kind kind, int64_t none)
{
	int64_t found = none;
	struct item item;

	while (list && *list && !read_item(&list, &item))
		if (item.rank == rank && item.kind == (unsigned)kind)
			found = item.value;
	return found;
}

uint64_t demo_plant_turns(const char *list)
{
	uint64_t turns = 1;
	struct item item;

	while (list && *list && !read_item(&list, &item))
		if (item.kind == DEMO_PLANT_TURN && (uint64_t)item.value >= turns)
			turns = (uint64_t)item.value + 1;
	return turns;
}
