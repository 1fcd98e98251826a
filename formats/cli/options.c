/* options.c - parses a command line by a command's table of options.
 *
 * Long options take their argument after "=" or as the next word, letters join ("-j4", "-j 4"), "--"
 * ends the options, operands may be anywhere. Names cannot be abbreviated: a script that did so would
 * break with the next new option. An unknown name is refused with the nearest known one. */
#include "formats/cli/command.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/base/time_units.h"
#include "formats/base/word_distance.h"

#include <string.h>

struct words {
	char **argv;
	int count, next;
};

/* ---- suggestions ---- */

const char *vpt_nearest(const char *text, const char *const *names, size_t count, size_t stride)
{
	size_t limit = strlen(text) < 4 ? 1 : 2, best = limit + 1, i;
	const char *nearest = NULL;

	for (i = 0; i < count; i++) {
		const char *name =
			*(const char *const *)(const void *)((const char *)names + i * stride);
		size_t d = vpt_word_distance(vpt_text_from(text), vpt_text_from(name));

		if (d < best) {
			best = d;
			nearest = name;
		}
	}
	return nearest;
}

/* ---- values ---- */

/* Digits as a number; 0 if it does not fit. */
static int read_digits(const char **p, uint64_t *value)
{
	int fits = 1;

	for (*value = 0; vpt_is_digit(**p); (*p)++)
		fits &= !__builtin_mul_overflow(*value, 10u, value) &&
			!__builtin_add_overflow(*value, (uint64_t)(**p - '0'), value);
	return fits;
}

/* Digits after the point, as parts of `unit_ns`; 0 if they are finer than a nanosecond. */
static int read_fraction(const char *p, uint64_t unit_ns, uint64_t *ns)
{
	uint64_t place = unit_ns;

	for (*ns = 0; vpt_is_digit(*p); p++) {
		place = place % 10 ? 0 : place / 10;
		if (!place && *p != '0')
			return 0;
		*ns += (uint64_t)(*p - '0') * place;
	}
	return 1;
}

int vpt_duration_read(const char *text, uint64_t *ns, struct vpt_err *err)
{
	const char *p = text, *fraction = NULL;
	uint64_t whole, parts = 0, unit_ns;
	int fits = read_digits(&p, &whole), has_digits = p > text;

	*ns = 0;
	if (*p == '.') {
		fraction = ++p;
		while (vpt_is_digit(*p))
			p++;
		has_digits &= p > fraction;
	}
	if (has_digits && !*p && fits && !whole && !fraction)
		return VPT_OK;
	unit_ns = vpt_time_unit_ns(p);
	if (!has_digits || !unit_ns)
		return vpt_fail(err, VPT_EINVAL,
			"expected a time with a unit such as 1.5s, 200ms, 10us, 5000ns or 2min, "
			"found \"%.60s\"",
			text);
	if (fraction && !read_fraction(fraction, unit_ns, &parts))
		return vpt_fail(err, VPT_EINVAL, "\"%.60s\" is finer than a nanosecond", text);
	if (!fits || __builtin_mul_overflow(whole, unit_ns, &whole) ||
		__builtin_add_overflow(whole, parts, &whole))
		return vpt_fail(err, VPT_EINVAL, "\"%.60s\" is longer than 584 years", text);
	*ns = whole;
	return VPT_OK;
}

static int read_number(const struct vpt_option *o, struct vpt_err *err, struct vpt_given *g)
{
	const char *p = g->text, *bounds = o->argument;
	uint64_t least, most;
	int fits = read_digits(&p, &g->number), whole = p > g->text && !*p;

	read_digits(&bounds, &least);
	bounds += 2;
	read_digits(&bounds, &most);
	if (whole && fits && g->number >= least && g->number <= most)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"expected a whole number from %llu to %llu, found \"%.60s\"",
		(unsigned long long)least, (unsigned long long)most, g->text);
}

static int is_choice(const struct vpt_option *o, const char *text, size_t len)
{
	const char *word = o->argument;

	for (; word; word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL)
		if (strcspn(word, "|") == len && !memcmp(word, text, len))
			return 1;
	return 0;
}

static int read_choice(const struct vpt_option *o, struct vpt_err *err, const struct vpt_given *g)
{
	const char *end = o->type == VPT_CHOICES ? "," : "", *text = g->text;
	size_t len = strcspn(text, end);

	for (; is_choice(o, text, len); len = strcspn(text, end)) {
		text += len;
		if (!*text++)
			return VPT_OK;
	}
	return vpt_fail(err, VPT_EINVAL, "expected one of %s, found \"%.*s\"", o->argument,
		(int)(len < 60 ? len : 60), text);
}

int vpt_given_once(const char *name, const struct vpt_given *first, const struct vpt_given *again,
	struct vpt_err *err)
{
	if (!first)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"--%s: given twice, as \"%.60s\" and \"%.60s\": expected one value", name,
		first->text, again->text);
}

/* A flag says the same however often it is given. */
static int check_single(const struct vpt_args *args, const struct vpt_given *g, struct vpt_err *err)
{
	const struct vpt_option *o = &args->command->options[g->option];
	const struct vpt_given *first = NULL;
	size_t i;

	for (i = args->default_count; i < args->given_count && !first; i++)
		if (args->given[i].option == g->option)
			first = &args->given[i];
	return o->type == VPT_FLAG || vpt_option_is_list(o)
		       ? VPT_OK
		       : vpt_given_once(o->name, first, g, err);
}

/* Takes one value into args->given, checked by the option's type. */
static int take(struct vpt_args *args, unsigned option, const char *text, struct vpt_err *err)
{
	const struct vpt_option *o = &args->command->options[option];
	struct vpt_given *g = &args->given[args->given_count];
	char where[64] = "--";
	int rc = VPT_OK;

	*g = (struct vpt_given){.option = option, .text = text};
	if (vpt_option_is_number(o))
		rc = read_number(o, err, g);
	else if (o->type == VPT_DURATION)
		rc = vpt_duration_read(text, &g->number, err);
	else if (o->type == VPT_CHOICE || o->type == VPT_CHOICES || (o->type == VPT_MODE && *text))
		rc = read_choice(o, err, g);
	if (rc) {
		strncat(where, o->name, sizeof(where) - 3);
		vpt_err_at(err, where);
		return rc;
	}
	rc = check_single(args, g, err);
	args->given_count += !rc;
	return rc;
}

/* ---- words ---- */

static int unknown_long(const struct vpt_command *c, const char *name, struct vpt_err *err)
{
	const char *meant = c->option_count ? vpt_nearest(name, &c->options[0].name,
						      c->option_count, sizeof(*c->options))
					    : NULL;

	if (!meant)
		return vpt_fail(err, VPT_EINVAL, "unknown option --%.60s", name);
	return vpt_fail(err, VPT_EINVAL, "unknown option --%.60s; did you mean --%s?", name, meant);
}

static int next_word(
	struct words *w, const struct vpt_option *o, const char **text, struct vpt_err *err)
{
	if (w->next == w->count)
		return vpt_fail(err, VPT_EINVAL, "--%s: expected %s after it, found nothing",
			o->name,
			vpt_option_is_number(o)   ? "a number"
			: o->type == VPT_DURATION ? "a time"
						  : o->argument);
	*text = w->argv[w->next++];
	return VPT_OK;
}

static int read_long(struct vpt_args *args, struct words *w, const char *word, struct vpt_err *err)
{
	const struct vpt_command *c = args->command;
	const char *equals = strchr(word, '='), *text = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct vpt_option *o;
	char name[64] = "";
	unsigned i;
	int rc;

	memcpy(name, word, len < sizeof(name) ? len : sizeof(name) - 1);
	if (!strcmp(name, "help") && !equals) {
		args->wants_help = 1;
		return VPT_OK;
	}
	for (i = 0; i < c->option_count && strcmp(c->options[i].name, name) != 0; i++)
		;
	if (i == c->option_count)
		return unknown_long(c, name, err);
	o = &c->options[i];
	if (o->type == VPT_FLAG && text)
		return vpt_fail(
			err, VPT_EINVAL, "--%s takes no argument, found \"%.60s\"", name, text);
	if (o->type == VPT_MODE || o->type == VPT_MAYBE)
		return take(args, i, text ? text : "", err);
	if (o->type != VPT_FLAG && !text) {
		rc = next_word(w, o, &text, err);
		if (rc)
			return rc;
	}
	return take(args, i, text, err);
}

/* Letters after one dash; the first that takes an argument takes the rest of the word. */
static int read_letters(
	struct vpt_args *args, struct words *w, const char *letters, struct vpt_err *err)
{
	const struct vpt_command *c = args->command;
	const char *text;
	unsigned i;
	int rc = VPT_OK;

	for (; *letters && !rc; letters++) {
		if (*letters == 'h') {
			args->wants_help = 1;
			continue;
		}
		for (i = 0; i < c->option_count && c->options[i].letter != *letters; i++)
			;
		if (i == c->option_count)
			return vpt_fail(err, VPT_EINVAL, "unknown option -%c", *letters);
		if (c->options[i].type == VPT_FLAG) {
			rc = take(args, i, NULL, err);
			continue;
		}
		text = letters + 1;
		if (!*text)
			rc = next_word(w, &c->options[i], &text, err);
		return rc ? rc : take(args, i, text, err);
	}
	return rc;
}

/* The "--" between two lists of operands. */
static int end_side(struct vpt_args *args, struct vpt_err *err)
{
	const char *operand = args->command->operand ? args->command->operand : "file";

	if (args->first_count)
		return vpt_fail(err, VPT_EINVAL, "expected one \"--\", found another one");
	if (!args->operand_count)
		return vpt_fail(
			err, VPT_EINVAL, "expected a %s before \"--\", found none", operand);
	args->first_count = args->operand_count;
	return VPT_OK;
}

static int read_words(struct vpt_args *args, struct words *w, struct vpt_err *err)
{
	int rc = VPT_OK, only_operands = 0;

	while (w->next < w->count && !rc && !args->wants_help) {
		const char *word = w->argv[w->next++];

		if (only_operands || word[0] != '-' || !word[1]) {
			args->operands[args->operand_count++] = word;
			only_operands |= args->command->ends_at_operand;
		} else if (!strcmp(word, "--") && args->command->has_sides)
			rc = end_side(args, err);
		else if (!strcmp(word, "--"))
			only_operands = 1;
		else if (word[1] == '-')
			rc = read_long(args, w, word + 2, err);
		else
			rc = read_letters(args, w, word + 1, err);
	}
	return rc;
}

static int check_operands(const struct vpt_args *args, struct vpt_err *err)
{
	const char *operand = args->command->operand ? args->command->operand : "file";
	size_t want = args->command->operand_count, found = args->operand_count;

	if (found == want || (found > want && args->command->more_operands))
		return VPT_OK;
	if (found > want)
		return vpt_fail(err, VPT_EINVAL, "expected %s %s, found \"%.60s\" as well",
			want ? "one" : "no", operand, args->operands[want]);
	return vpt_fail(err, VPT_EINVAL, "expected a %s, found none", operand);
}

int vpt_args_read(const struct vpt_command *command, int argc, char **argv, struct vpt_args *out,
	struct vpt_err *err)
{
	struct words w = {argv, argc, 0};
	size_t words = (size_t)argc, letters = 0;
	unsigned i;
	int rc = VPT_OK;

	*out = (struct vpt_args){.command = command};
	for (i = 0; i < words; i++)
		letters += strlen(argv[i]); /* "-aaa" is three options in one word */
	out->given = vpt_calloc(command->option_count + letters + 1, sizeof(*out->given));
	out->operands = vpt_calloc(words + 1, sizeof(*out->operands));
	if (!out->given || !out->operands)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the command line");
	for (i = 0; i < command->option_count && !rc; i++)
		if (command->options[i].fallback)
			rc = take(out, i, command->options[i].fallback, err);
	out->default_count = out->given_count;
	if (!rc)
		rc = read_words(out, &w, err);
	if (!rc && !out->wants_help)
		rc = check_operands(out, err);
	return rc;
}

int vpt_args_add(struct vpt_args *args, unsigned option, const char *text, struct vpt_err *err)
{
	struct vpt_given *more = vpt_alloc(args->given_count + 1, sizeof(*more));

	if (!more)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the options");
	memcpy(more, args->given, args->given_count * sizeof(*more));
	vpt_free(args->given);
	args->given = more;
	return take(args, option, text, err);
}

void vpt_args_free(struct vpt_args *args)
{
	vpt_free(args->given);
	vpt_free(args->operands);
	*args = (struct vpt_args){0};
}

/* ---- asking ---- */

const struct vpt_given *vpt_given_of(const struct vpt_args *args, unsigned option)
{
	size_t i;

	for (i = args->given_count; i-- > 0;)
		if (args->given[i].option == option)
			return &args->given[i];
	return NULL;
}

int vpt_has(const struct vpt_args *args, unsigned option)
{
	return vpt_given_of(args, option) != NULL;
}

const char *vpt_text_of(const struct vpt_args *args, unsigned option)
{
	const struct vpt_given *g = vpt_given_of(args, option);

	return g ? g->text : NULL;
}

uint64_t vpt_number_of(const struct vpt_args *args, unsigned option)
{
	const struct vpt_given *g = vpt_given_of(args, option);

	return g ? g->number : 0;
}

int vpt_is(const struct vpt_args *args, unsigned option, const char *text)
{
	const char *found = vpt_text_of(args, option);

	return found && !strcmp(found, text);
}
