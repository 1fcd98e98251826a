/* capture_facts.c - facts, which the writer receives by mail, and those of process and machine. */
#include "tracer/capture/capture_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

int vtr_capture_meta(struct vtr_capture *c, const char *key, const char *value)
{
	return vtr_mailbox_tell(&c->mail, key, value);
}

void vtr_capture_fact(struct vtr_capture *c, enum vpt_metadata fact, const char *value)
{
	vtr_mailbox_fact(&c->mail, fact, value);
}

static void describe_machine(struct vtr_capture *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	struct utsname os;
	char text[32];

	if (!uname(&os)) {
		vtr_capture_fact(c, VPT_METADATA_OS_SYSNAME, os.sysname);
		vtr_capture_fact(c, VPT_METADATA_OS_RELEASE, os.release);
		vtr_capture_fact(c, VPT_METADATA_OS_VERSION, os.version);
		vtr_capture_fact(c, VPT_METADATA_OS_MACHINE, os.machine);
	}
	if (cpus > 0) {
		snprintf(text, sizeof(text), "%ld", cpus);
		vtr_capture_fact(c, VPT_METADATA_CPUS, text);
	}
	if (pages > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)pages * sysconf(_SC_PAGESIZE));
		vtr_capture_fact(c, VPT_METADATA_RAM, text);
	}
}

static void put_tag(void *capture, const char *key, const char *value)
{
	vtr_capture_meta(capture, key, value);
}

void vtr_capture_describe(struct vtr_capture *c, const struct vtr_facts *facts)
{
	static const char *const profiles[] = {
		"default", "lite", "full", "coarse", VPT_PROFILE_NONE};
	char text[VTR_PATH_MAX];
	size_t i;

	vtr_capture_fact(c, VPT_METADATA_TRACER, vptrace_version());
	vtr_capture_fact(c, VPT_METADATA_PROFILE, profiles[c->options.profile]);
	if (c->options.capture.kind != VTR_TRIGGER_NOW)
		vtr_capture_fact(c, VPT_METADATA_CAPTURE, c->options.capture.text);
	if (c->options.ring.text[0])
		vtr_capture_fact(c, VPT_METADATA_RING, c->options.ring.text);
	/* What a report of losses needs for its advice. */
	snprintf(text, sizeof(text), "%" PRIu64, c->options.memory_limit_bytes);
	vtr_capture_fact(c, VPT_METADATA_MEMORY_LIMIT, text);
	snprintf(text, sizeof(text), "%" PRIu32, c->options.flush_interval_ms);
	vtr_capture_fact(c, VPT_METADATA_FLUSH, text);
	if (!gethostname(text, sizeof(text)))
		vtr_capture_fact(c, VPT_METADATA_HOST, text);
	describe_machine(c);
	vtr_command_line(text, sizeof(text));
	vtr_capture_fact(c, VPT_METADATA_COMMAND, text);
	if (c->options.rank >= 0) {
		snprintf(text, sizeof(text), "%ld", c->options.rank);
		vtr_capture_fact(c, VPT_METADATA_RANK, text);
	}
	vtr_job_facts(c);
	vtr_tags_each(&c->options.tags, put_tag, c);
	for (i = 0; i < facts->count; i++)
		vtr_capture_meta(c, facts->all[i].key, facts->all[i].value);
}
