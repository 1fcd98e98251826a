/* tags.c - tags of a capture. A report finds them under "tag.", whoever gave them. */
#include "tracer/settings/capture_options.h"

#include <stdio.h>
#include <string.h>

static int check(const char *tag, size_t len, struct vpt_err *err)
{
	const char *equals = memchr(tag, '=', len);
	size_t key = equals ? (size_t)(equals - tag) : 0;

	if (key > VTR_TAG_KEY_MAX)
		return vpt_fail(err, VPT_EINVAL,
			"expected a key of at most %d bytes, found %zu: %.80s", VTR_TAG_KEY_MAX,
			key, tag);
	if (!key || key + 1 == len)
		return vpt_fail(err, VPT_EINVAL,
			"expected KEY=VALUE, or several with commas between, such as "
			"model=wan,steps=50, found \"%.*s\"",
			(int)(len < 100 ? len : 100), tag);
	return VPT_OK;
}

int vtr_tags_read(const char *text, struct vtr_tags *out, struct vpt_err *err)
{
	size_t len;
	int rc = VPT_OK;

	*out = (struct vtr_tags){.text = ""};
	if (!text || !*text)
		return VPT_OK;
	if (strlen(text) >= sizeof(out->text))
		return vpt_fail(err, VPT_EINVAL, "expected at most %zu bytes of tags, found %zu",
			sizeof(out->text) - 1, strlen(text));
	snprintf(out->text, sizeof(out->text), "%s", text);
	do {
		len = strcspn(text, ",");
		rc = check(text, len, err);
		text += len;
	} while (!rc && *text++);
	if (rc)
		out->text[0] = '\0';
	return rc;
}

void vtr_tags_each(const struct vtr_tags *tags,
	void (*put)(void *ctx, const char *key, const char *value), void *ctx)
{
	char key[sizeof("tag.") + VTR_TAG_KEY_MAX], value[VTR_TAGS_TEXT_MAX];
	const char *at = tags->text;

	while (*at) {
		size_t len = strcspn(at, ","), key_len = strcspn(at, "=");

		snprintf(key, sizeof(key), "tag.%.*s", (int)key_len, at);
		snprintf(value, sizeof(value), "%.*s", (int)(len - key_len - 1), at + key_len + 1);
		put(ctx, key, value);
		at += len + (at[len] == ',');
	}
}
