/* ring_options.c - parses the length of a ring, in seconds or bytes, and the list of what triggers a snapshot. */
#include "tracer/settings/capture_options.h"

#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/time_units.h"
#include "tracer/settings/trigger.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 360000000 };

/* In bytes; 0: the name is no unit. Letters for time are small, for bytes large: 2m are two minutes, 2M two mebibytes. */
static uint64_t unit_bytes(const char *name)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} units[] = {
		{"M", 1 << 20},
		{"G", 1 << 30},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"MB", 1000000},
		{"GB", 1000000000},
	};
	size_t i;

	for (i = 0; i < COUNT(units); i++)
		if (!strcmp(units[i].text, name))
			return units[i].bytes;
	return 0;
}

static const char expected[] =
	"expected seconds or bytes to keep, as 30s, 2m, 64M or 1G, 1s to 100h or 1M to 1024G";

int vtr_ring_read(const char *text, struct vtr_ring *out, struct vpt_err *err)
{
	unsigned long long n;
	char *end;

	memset(out, 0, sizeof(*out));
	if (!text || !*text)
		return VPT_OK;
	errno = 0;
	n = strspn(text, "0123456789") ? strtoull(text, &end, 10) : 0;
	if (n && !errno && n <= NUMBER_MAX) {
		out->keep_ns = vpt_sat_mul(n, vpt_time_unit_ns(end));
		out->bytes = vpt_sat_mul(n, unit_bytes(end));
	}
	if (out->keep_ns > 360000000000000 || out->bytes > 1ull << 40 ||
		(out->keep_ns && out->keep_ns < 1000000000) || (!out->keep_ns && !out->bytes) ||
		strlen(text) >= sizeof(out->text)) {
		memset(out, 0, sizeof(*out));
		return vpt_fail(err, VPT_EINVAL, "%s, found \"%.100s\"", expected, text);
	}
	if (out->bytes && out->bytes < VTR_RING_BYTES_MIN) {
		memset(out, 0, sizeof(*out));
		return vpt_fail(err, VPT_EINVAL,
			"expected at least 1M, which holds a few chunks, found \"%.100s\"", text);
	}
	snprintf(out->text, sizeof(out->text), "%s", text);
	return VPT_OK;
}

/* ---- triggers ---- */

/* Those whose usual action no user misses. */
static const struct {
	const char *name;
	int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"WINCH", SIGWINCH},
	{"URG", SIGURG}, {"IO", SIGIO}, {"PWR", SIGPWR}};

static int read_mark(const char *text, struct vtr_snapshot_on *out)
{
	if (!*text || strlen(text) >= sizeof(out->mark))
		return -1;
	snprintf(out->mark, sizeof(out->mark), "%s", text);
	return 0;
}

static int read_slow(const char *text, struct vtr_snapshot_on *out)
{
	uint64_t billionths;

	if (vtr_seconds_read(text, &billionths) || billionths < 1000000000 ||
		billionths > 1000000000000000)
		return -1;
	out->slow = (double)billionths / 1e9;
	return 0;
}

static int read_signal(const char *text, struct vtr_snapshot_on *out)
{
	size_t i;

	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (i = 0; i < COUNT(signals); i++)
		if (!strcmp(text, signals[i].name)) {
			out->signal = signals[i].number;
			snprintf(out->signal_name, sizeof(out->signal_name), "%s", text);
			return 0;
		}
	return -1;
}

static const struct {
	const char *word;
	int (*read)(const char *text, struct vtr_snapshot_on *out);
} words[] = {{"mark:", read_mark}, {"slow:", read_slow}, {"signal:", read_signal}};

/* `seen`: bit by word; there is one trigger of each sort, so a second one would replace the first. */
static int read_one(const char *text, unsigned *seen, struct vtr_snapshot_on *out)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++) {
		if (strncmp(text, words[i].word, strlen(words[i].word)) != 0)
			continue;
		if (*seen & 1u << i)
			return -1;
		*seen |= 1u << i;
		return words[i].read(text + strlen(words[i].word), out);
	}
	return -1;
}

int vtr_snapshot_on_read(const char *text, struct vtr_snapshot_on *out, struct vpt_err *err)
{
	char copy[VTR_SNAPSHOT_TEXT_MAX], *next = copy, *one;
	unsigned seen = 0;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (!text || !*text)
		return VPT_OK;
	if (strlen(text) < sizeof(copy)) {
		snprintf(copy, sizeof(copy), "%s", text);
		while (!rc && (one = strsep(&next, ",")))
			rc = read_one(one, &seen, out);
	} else {
		rc = -1;
	}
	if (rc) {
		memset(out, 0, sizeof(*out));
		return vpt_fail(err, VPT_EINVAL,
			"expected mark:NAME, slow:K (at least 1) or signal:NAME (USR1, USR2, HUP, "
			"WINCH, URG, IO, PWR), one of each with commas between, found \"%.100s\"",
			text);
	}
	snprintf(out->text, sizeof(out->text), "%s", text);
	return VPT_OK;
}
