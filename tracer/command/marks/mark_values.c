/* mark_values.c - checks the expressions of a mark file. A recursive-descent parser that returns the first error and builds nothing. */
#include "tracer/command/marks/mark_values.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

enum fault {
	GOOD,
	UNSUPPORTED, /* Python has it, a mark has not */
	KEY,
	SYNTAX /* no expression, whatever else is wrong */
};

static const char *const expected[] = {
	[UNSUPPORTED] = "arguments, attributes, [items], len(), whole numbers, + - * // and "
			"comparisons",
	[KEY] = "a number or a name in quotes between the brackets",
	[SYNTAX] = "an expression",
};

/* A part of the text. `|` divides alternatives, so it is good only outside of everything else. */
struct node {
	enum fault inside, alone;
};

struct parser {
	const char *at;
	int depth;
	int is_wrong;  /* a SYNTAX has been found */
	int is_unsure; /* only Python can judge the text */
};

static struct node expression(struct parser *p);
static struct node unary(struct parser *p);

static struct node node_of(enum fault fault)
{
	return (struct node){fault, fault};
}

static struct node wrong(struct parser *p)
{
	p->is_wrong = 1;
	return node_of(SYNTAX);
}

static struct node unsure(struct parser *p)
{
	p->is_unsure = 1;
	return node_of(GOOD);
}

static int has_ended(const struct parser *p)
{
	return p->is_wrong || p->is_unsure;
}

static void skip_spaces(struct parser *p)
{
	p->at += strspn(p->at, " \t\f");
}

/* The first fault in the order in which values.py looks at the parts. */
static enum fault first(enum fault a, enum fault b)
{
	return a != GOOD ? a : b;
}

/* ---- words ---- */

static int is_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int is_word(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && !memcmp(text, *words, len))
			return 1;
	return 0;
}

/* Words of Python that are no names, but for True, False and None. */
static int is_keyword(const char *text, size_t len)
{
	static const char *const words[] = {"and", "as", "assert", "async", "await", "break",
		"class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
		"from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
		"pass", "raise", "return", "try", "while", "with", "yield", "__debug__", NULL};

	return is_word(text, len, words);
}

static int is_constant(const char *text, size_t len)
{
	static const char *const words[] = {"True", "False", "None", NULL};

	return is_word(text, len, words);
}

static size_t name_length(const char *at)
{
	size_t len = 0;

	while (is_in_name(at[len]))
		len++;
	return len;
}

static int is_decimal(const char *at, size_t len)
{
	return strspn(at, "0123456789") == len && (*at != '0' || strspn(at, "0") == len);
}

/* A whole number in decimal; others and numbers with a point are Python's to judge. */
static struct node number(struct parser *p)
{
	size_t len = name_length(p->at);
	int is_whole = is_decimal(p->at, len) && p->at[len] != '.';
	const char *point = p->at + len;

	if (!is_whole && is_decimal(p->at, len) && isdigit((unsigned char)point[1])) {
		len += 1 + name_length(point + 1);
		if (strspn(point + 1, "0123456789") != (size_t)(p->at + len - point - 1) ||
			p->at[len] == '.')
			return unsure(p);
		p->at += len;
		return node_of(UNSUPPORTED);
	}
	if (!is_whole)
		return unsure(p);
	p->at += len;
	return node_of(GOOD);
}

/* Of one line, without escapes. Returns whether it is one. */
static int string(struct parser *p)
{
	const char quote = *p->at, *end = strchr(p->at + 1, quote);

	if (!end) {
		wrong(p);
		return 0;
	}
	if (end == p->at + 1 || memchr(p->at, '\\', (size_t)(end - p->at)) || end[1] == quote) {
		unsure(p);
		return 0;
	}
	p->at = end + 1;
	skip_spaces(p);
	if (strchr("'\"", *p->at) && *p->at) /* two in a row are one */
		unsure(p);
	return !p->is_unsure;
}

/* ---- atoms and what follows them ---- */

static struct node expect_closing(struct parser *p, char bracket, struct node inner)
{
	skip_spaces(p);
	if (has_ended(p))
		return inner;
	if (*p->at == bracket) {
		p->at++;
		return inner;
	}
	return *p->at && !strchr(")]", *p->at) ? unsure(p) : wrong(p);
}

/* *is_len: whether it is the name len. */
static struct node atom(struct parser *p, int *is_len)
{
	const char *start = p->at;
	size_t len;

	if (isdigit((unsigned char)*start))
		return number(p);
	if (*start == '\'' || *start == '"')
		return string(p) ? node_of(UNSUPPORTED) : node_of(GOOD);
	if (*start == '(') {
		p->at++;
		*is_len = -1; /* it may be, in parentheses */
		skip_spaces(p);
		return *p->at == ')' ? unsure(p) : expect_closing(p, ')', expression(p));
	}
	len = name_length(start);
	if (!len)
		return *start && !strchr(")]=<>!$?;,|&^/%+-", *start) ? unsure(p) : wrong(p);
	p->at += len;
	if (is_keyword(start, len) || strchr("'\"", *p->at) == p->at)
		return unsure(p);
	*is_len = len == 3 && !memcmp(start, "len", 3);
	return node_of(is_constant(start, len) ? UNSUPPORTED : GOOD);
}

/* What stands between brackets, behind the first of them. */
static struct node item(struct parser *p, struct node of)
{
	struct parser before = *p;
	int is_key = 0;

	skip_spaces(p);
	if (*p->at == '\'' || *p->at == '"') {
		is_key = string(p);
	} else {
		p->at += *p->at == '-';
		skip_spaces(p);
		is_key = isdigit((unsigned char)*p->at) && !number(p).inside;
	}
	skip_spaces(p);
	if (!has_ended(p) && is_key && *p->at == ']') {
		p->at++;
		return node_of(of.inside);
	}
	*p = before;
	skip_spaces(p);
	if (!strncmp(p->at, "True", 4) || !strncmp(p->at, "False", 5) || *p->at == '-')
		return unsure(p);
	expression(p);
	return expect_closing(p, ']', node_of(first(of.inside, KEY)));
}

/* The arguments of a call, behind the parenthesis; only len() with one argument is a value. */
static struct node call(struct parser *p, int is_len)
{
	enum fault argument = GOOD;
	int count = 0;

	for (skip_spaces(p); *p->at != ')' && !has_ended(p); count++) {
		argument = first(argument, expression(p).inside);
		skip_spaces(p);
		if (has_ended(p))
			break;
		if (*p->at == ',')
			p->at++;
		else if (*p->at != ')')
			return *p->at ? unsure(p) : wrong(p);
		skip_spaces(p);
		if (!*p->at)
			return wrong(p);
	}
	p->at += *p->at == ')';
	return node_of(is_len && count == 1 ? argument : UNSUPPORTED);
}

static struct node primary(struct parser *p)
{
	int is_len = 0;
	struct node n;

	skip_spaces(p);
	n = atom(p, &is_len);
	for (skip_spaces(p); !has_ended(p); skip_spaces(p)) {
		size_t len;

		if (*p->at == '[') {
			p->at++;
			n = item(p, n);
		} else if (*p->at == '(') {
			p->at++;
			n = is_len < 0 ? unsure(p) : call(p, is_len);
		} else if (*p->at == '.') {
			p->at++;
			skip_spaces(p);
			len = name_length(p->at);
			if (!len || isdigit((unsigned char)*p->at) || is_keyword(p->at, len) ||
				is_constant(p->at, len))
				return *p->at ? unsure(p) : wrong(p);
			p->at += len;
			n = node_of(n.inside);
		} else {
			break;
		}
		is_len = 0;
	}
	return n;
}

/* ---- operators ---- */

static struct node power(struct parser *p)
{
	struct node n = primary(p);

	if (has_ended(p) || strncmp(p->at, "**", 2) != 0)
		return n;
	p->at += 2;
	unary(p);
	return node_of(UNSUPPORTED);
}

static struct node unary(struct parser *p)
{
	struct node n;
	char sign;

	skip_spaces(p);
	sign = *p->at;
	if (!sign || !strchr("+-~", sign))
		return power(p);
	if (++p->depth > DEPTH_MAX)
		return unsure(p);
	p->at++;
	n = unary(p);
	p->depth--;
	return node_of(sign == '-' ? n.inside : UNSUPPORTED);
}

/* The binary operators by rising rank; the lowest are comparisons, of which a value has one. */
static const struct {
	const char *sign;
	int rank, is_supported;
} operators[] = {
	{"==", 0, 1},
	{"!=", 0, 1},
	{"<=", 0, 1},
	{">=", 0, 1},
	{"<<", 4, 0},
	{">>", 4, 0},
	{"<", 0, 1},
	{">", 0, 1},
	{"|", 1, 0},
	{"^", 2, 0},
	{"&", 3, 0},
	{"+", 5, 1},
	{"-", 5, 1},
	{"//", 6, 1},
	{"*", 6, 1},
	{"/", 6, 0},
	{"%", 6, 0},
	{"@", 6, 0},
};

enum { OPERATORS = sizeof(operators) / sizeof(operators[0]), COMPARISON = 0, BAR = 1, RANKS = 7 };

static int operator_at(const char *at, int rank)
{
	int i;

	for (i = 0; i < OPERATORS; i++)
		if (!strncmp(at, operators[i].sign, strlen(operators[i].sign)))
			return operators[i].rank == rank ? i : -1;
	return -1;
}

static struct node binary(struct parser *p, int rank)
{
	struct node left = rank == RANKS ? unary(p) : binary(p, rank + 1), right;
	int count, i;

	for (count = 1; rank < RANKS && !has_ended(p); count++) {
		skip_spaces(p);
		i = operator_at(p->at, rank);
		if (i < 0)
			break;
		p->at += strlen(operators[i].sign);
		right = binary(p, rank + 1);
		if (rank == BAR)
			left = (struct node){UNSUPPORTED, first(left.alone, right.alone)};
		else if (operators[i].is_supported && (rank != COMPARISON || count == 1))
			left = node_of(first(left.inside, right.inside));
		else
			left = node_of(UNSUPPORTED);
	}
	return left;
}

static struct node expression(struct parser *p)
{
	struct node n;

	if (++p->depth > DEPTH_MAX)
		return unsure(p);
	n = binary(p, COMPARISON);
	p->depth--;
	return n;
}

const char *vtr_mark_value_mistake(const char *text, int *is_unsure)
{
	struct parser p = {.at = text};
	struct node n = expression(&p);

	skip_spaces(&p);
	if (!has_ended(&p) && *p.at) {
		size_t len = name_length(p.at);

		if (strchr("=!$?:;)]", *p.at) || (len && !is_keyword(p.at, len)))
			wrong(&p);
		else
			unsure(&p);
	}
	*is_unsure = p.is_unsure;
	if (p.is_unsure)
		return NULL;
	return p.is_wrong ? expected[SYNTAX] : expected[n.alone];
}
