/* setup_calls.c - tells them by words in their names. */
#include "analysis/idle/setup_calls.h"

#include "analysis/idle/gap_causes.h"
#include "formats/base/text.h"
#include "formats/calls.h"

static int is_long(const struct vpa_call *call)
{
	return vpa_call_end(call) - vpa_call_start(call) >= VPA_LOAD_NS;
}

static int holds_any(struct vpt_text name, const char *const *words)
{
	for (; *words; words++)
		if (vpt_text_holds(name, *words))
			return 1;
	return 0;
}

int vpa_is_setup_call(const struct vpa_model *m, const struct vpa_call *call)
{
	static const char *const words[] = {
		"FuncSet", "Symbol", "StreamCreate", "DeviceProp", NULL};
	struct vpt_text name;

	if (!is_long(call))
		return 0;
	name = vpa_name(m, call->name);
	if (call->klass == VPT_CALL_ALLOCATION)
		return vpt_text_holds(name, "Free") && !vpt_text_holds(name, "Async");
	return call->klass == VPT_CALL_OTHER && holds_any(name, words);
}

int vpa_is_loading_query(const struct vpa_model *m, const struct vpa_call *call)
{
	static const char *const words[] = {"Occupancy", "FuncGet", NULL};

	return call->state & VPA_CALL_NONE && is_long(call) &&
	       holds_any(vpa_name(m, call->name), words);
}
