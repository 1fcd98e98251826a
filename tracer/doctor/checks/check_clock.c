/* check_clock.c - the clock of ranges, and whether CLOCK_REALTIME runs evenly. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/guest/system_file.h"
#include "tracer/clock/tsc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

/* Larger than what a correction by ntpd or chronyd moves in a minute. */
enum { STEP_NS = 5000000 };

/* Clocks that need a system call and a device for each reading. */
static int is_slow(const char *source)
{
	return !strcmp(source, "hpet") || !strcmp(source, "acpi_pm");
}

static void find_source(struct vtr_answer *a)
{
	const char *wanted = getenv("VPTRACE_TSC");
	char source[64];

	vtr_clock_source(source, sizeof(source));
	if (vtr_tsc_begin()) {
		vtr_tsc_end();
		vtr_find(a, VTR_STATUS_OK, NULL,
			"ranges are stamped from the processor's time stamp counter");
	} else if (wanted && !strcmp(wanted, "0")) {
		vtr_find(a, VTR_STATUS_OK, NULL,
			"ranges are stamped with clock_gettime(): VPTRACE_TSC=0");
	} else if (is_slow(source)) {
		vtr_find(a, VTR_STATUS_WARN,
			"Look in the kernel log for the reason why the counter was rejected, and "
			"fix it; clocksource=tsc on the kernel's command line forces its use.",
			"ranges are stamped with clock_gettime() from the clock source %s, which "
			"takes microseconds per reading",
			source);
	} else {
		vtr_find(a, VTR_STATUS_OK, NULL,
			"ranges are stamped with clock_gettime(): the kernel's clock source is %s",
			*source ? source : "unknown");
	}
}

void vtr_check_clock(const struct vtr_patient *p, struct vtr_answer *a)
{
	struct timex t = {0};
	int state = adjtimex(&t);

	find_source(a);
	if (p->clock_step_ns > STEP_NS || p->clock_step_ns < -STEP_NS)
		vtr_find(a, VTR_STATUS_WARN,
			"Let one service alone set the clock, chronyd or ntpd, and let it slew "
			"(chronyd: makestep only at the start).",
			"CLOCK_REALTIME was stepped by %" PRId64 " ms during the self-test; steps "
			"are recorded, but spoil the times around them",
			p->clock_step_ns / 1000000);
	else if (state < 0)
		vtr_find(a, VTR_STATUS_OK, NULL, "CLOCK_REALTIME was not stepped meanwhile");
	else
		vtr_find(a, VTR_STATUS_OK, NULL,
			"CLOCK_REALTIME was not stepped meanwhile; %s, speed corrected by %.1f ppm",
			t.status & STA_UNSYNC ? "the kernel knows of no synchronization (NTP)"
					      : "synchronized (NTP)",
			(double)t.freq / 65536.0);
}
