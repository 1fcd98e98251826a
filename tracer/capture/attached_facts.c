/* attached_facts.c - keys and values in the order of their first mention. */
#include "tracer/capture/attached_facts.h"

#include "formats/base/memory.h"
#include "tracer/settings/last_error.h"
#include "tracer/vptrace.h"

#include <string.h>

int vtr_facts_put(struct vtr_facts *facts, const char *key, const char *value)
{
	size_t key_len = key ? strlen(key) : 0, len = value ? strlen(value) : 0, i;
	char *copy;

	if (!key_len || key_len > VTR_FACT_KEY_MAX || !value || len > VTR_FACT_VALUE_MAX)
		return vtr_fail(VPTRACE_EINVAL,
			"metadata: expected a key of 1 to %d bytes and a value of at most %d, "
			"found %zu and %zu",
			VTR_FACT_KEY_MAX, VTR_FACT_VALUE_MAX, key_len, len);
	for (i = 0; i < facts->count && strcmp(facts->all[i].key, key); i++)
		;
	if (i == VTR_FACTS_MAX)
		return vtr_fail(VPTRACE_EINVAL,
			"metadata: expected at most %d keys, found one more, '%.64s'",
			VTR_FACTS_MAX, key);
	copy = vpt_strndup(value, len);
	if (copy && i == facts->count)
		facts->all[i].key = vpt_strndup(key, key_len);
	if (!copy || !facts->all[i].key) {
		vpt_free(copy);
		return vtr_fail(VPTRACE_ENOMEM, "no memory for metadata");
	}
	if (i < facts->count)
		vpt_free(facts->all[i].value);
	else
		facts->count++;
	facts->all[i].value = copy;
	return VPTRACE_OK;
}

void vtr_facts_clear(struct vtr_facts *facts)
{
	size_t i;

	for (i = 0; i < facts->count; i++) {
		vpt_free(facts->all[i].key);
		vpt_free(facts->all[i].value);
	}
	memset(facts, 0, sizeof(*facts));
}
