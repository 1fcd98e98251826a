/* capture_facts.c - facts, which the writer receives by mail, and those of process and machine. */
#include "tracer/capture/capture_state.h"
#include "tracer/capture/job_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

int vtr_capture_meta(struct vtr_capture *c, const char *key, const char *value)
{
	struct vtr_mail mail = {.type = VTR_MAIL_META,
		.key = (char *)(uintptr_t)key,
		.value = (char *)(uintptr_t)value};

	return vtr_mailbox_post(&c->mail, &mail);
}

static void describe_machine(struct vtr_capture *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	struct utsname os;
	char text[32];

	if (!uname(&os)) {
		vtr_capture_meta(c, "os.sysname", os.sysname);
		vtr_capture_meta(c, "os.release", os.release);
		vtr_capture_meta(c, "os.version", os.version);
		vtr_capture_meta(c, "os.machine", os.machine);
	}
	if (cpus > 0) {
		snprintf(text, sizeof(text), "%ld", cpus);
		vtr_capture_meta(c, "cpus", text);
	}
	if (pages > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)pages * sysconf(_SC_PAGESIZE));
		vtr_capture_meta(c, "ram_bytes", text);
	}
}

static void put_tag(void *capture, const char *key, const char *value)
{
	vtr_capture_meta(capture, key, value);
}

void vtr_capture_describe(struct vtr_capture *c, const struct vtr_facts *facts)
{
	static const char *const profiles[] = {"default", "lite", "full", "coarse", "none"};
	char text[VTR_PATH_MAX];
	size_t i;

	vtr_capture_meta(c, "vptrace", vptrace_version());
	vtr_capture_meta(c, "profile", profiles[c->options.profile]);
	if (c->options.capture.kind != VTR_TRIGGER_NOW)
		vtr_capture_meta(c, "capture", c->options.capture.text);
	if (c->options.ring.text[0])
		vtr_capture_meta(c, "ring", c->options.ring.text);
	/* What a report of losses needs for its advice. */
	snprintf(text, sizeof(text), "%" PRIu64, c->options.memory_limit_bytes);
	vtr_capture_meta(c, "memory_limit", text);
	snprintf(text, sizeof(text), "%" PRIu32, c->options.flush_interval_ms);
	vtr_capture_meta(c, "flush_ms", text);
	if (!gethostname(text, sizeof(text)))
		vtr_capture_meta(c, "host", text);
	describe_machine(c);
	vtr_command_line(text, sizeof(text));
	vtr_capture_meta(c, "command", text);
	if (c->options.rank >= 0) {
		snprintf(text, sizeof(text), "%ld", c->options.rank);
		vtr_capture_meta(c, "rank", text);
	}
	vtr_job_facts(c);
	vtr_tags_each(&c->options.tags, put_tag, c);
	for (i = 0; i < facts->count; i++)
		vtr_capture_meta(c, facts->all[i].key, facts->all[i].value);
}
