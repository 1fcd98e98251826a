/* frame_rules.c - a user's rules for files of Python, then the built-in table. */
#include "analysis/names/frame_rules.h"

#include "analysis/names/frame_rules.def"
#include "analysis/names/rule_file.h"

#include <string.h>

enum { SUBJECT_MAX = 4096 };

/* A list and nothing else: a type of its own, so that the compiler tells the kinds apart. */
struct vpa_frame_rules {
	struct vpa_rule_list list;
};

/* ---- reading ---- */

/* A target is an int: whether the files are the user's. */
static int read_target(struct vpt_text text, void *target)
{
	int *is_users = target;

	*is_users = vpt_text_is(text, "user");
	return *is_users || vpt_text_is(text, "framework");
}

static const struct vpa_rule_kind frames = {
	.prefix = VPA_FRAME_RULE,
	.read = read_target,
	.target_bytes = sizeof(int),
	.flags = REG_NOSUB,
	.expected = "\"frame\" and user or framework, a tab and a pattern",
};

struct vpa_frame_rules *vpa_frame_rules_read(const char *text, size_t len, struct vpt_err *err)
{
	return (struct vpa_frame_rules *)vpa_rule_list_read(&frames, text, len, err);
}

void vpa_frame_rules_free(struct vpa_frame_rules *r)
{
	vpa_rule_list_free((struct vpa_rule_list *)r);
}

/* ---- the built-in table ---- */

/* Whether a path holds `part`, or begins with it without its first slash. */
static int has_part(struct vpt_text path, const char *part)
{
	size_t len = strlen(part + 1);

	return vpt_text_holds(path, part) || (path.len >= len && !memcmp(path.text, part + 1, len));
}

/* The part of a path after the folder of installed packages; all of it if there is none. */
static struct vpt_text in_packages(struct vpt_text path)
{
#define LIST(part) part,
	static const char *const folders[] = {VPA_PACKAGES(LIST)};
#undef LIST
	size_t i, k;

	for (i = path.len; i > 0; i--)
		for (k = 0; k < sizeof(folders) / sizeof(*folders); k++) {
			size_t len = strlen(folders[k]);

			if (path.len - (i - 1) >= len &&
				!memcmp(path.text + i - 1, folders[k], len))
				return (struct vpt_text){
					path.text + i - 2 + len, path.len - (i - 2 + len)};
		}
	return path;
}

static int has_one_of(struct vpt_text path, const char *const *parts, size_t count)
{
	size_t i;

	path = in_packages(path);
	for (i = 0; i < count; i++)
		if (has_part(path, parts[i]))
			return 1;
	return 0;
}

static int is_of_framework(struct vpt_text file)
{
#define LIST(part) part,
	static const char *const frameworks[] = {VPA_FRAMEWORKS(LIST)};
#undef LIST

	return has_one_of(file, frameworks, sizeof(frameworks) / sizeof(*frameworks));
}

/* ---- asking ---- */

int vpa_frame_is_wrapper(struct vpt_text file)
{
#define LIST(part) part,
	static const char *const wrappers[] = {VPA_WRAPPERS(LIST)};
#undef LIST

	return has_one_of(file, wrappers, sizeof(wrappers) / sizeof(*wrappers));
}

int vpa_frame_is_users(const struct vpa_frame_rules *r, struct vpt_text file)
{
	char text[SUBJECT_MAX];
	const int *is_users;
	size_t cut = file.len < sizeof(text) ? 0 : file.len - sizeof(text) + 1, i;

	if (!file.len)
		return 0;
	if (!r || !r->list.count)
		return !is_of_framework(file);
	for (i = cut; i < file.len; i++)
		text[i - cut] = file.text[i] ? file.text[i] : '?';
	text[file.len - cut] = '\0';
	is_users = vpa_rule_list_find(&r->list, text);
	return is_users ? *is_users : !is_of_framework(file);
}
