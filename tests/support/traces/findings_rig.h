/* findings_rig.h - analyzes a script and looks at the findings and the page that come out. Include
 * cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_FINDINGS_RIG_H
#define VPT_TESTS_SUPPORT_FINDINGS_RIG_H

#include "analysis/analyze.h"
#include "formats/base/memory.h"
#include "tests/support/outputs/page.h"
#include "tests/support/traces/script.h"

#include <string.h>

/* Names of kernels as a script has them, of families GEMM, elementwise, eager-softmax,
 * communication. All but the last end the line. The products are in 16 bits. */
#define GEMM    " \"ampere_bf16_s16816gemm_bf16_128x64_nn\"\n"
#define ADD     " \"vectorized_elementwise_kernel\"\n"
#define SOFTMAX " \"softmax_warp_forward\"\n"
#define REDUCE  " \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\""

/* The finding with this id, which stays the report's. NULL: there is none. */
static inline const struct vpa_finding *finding(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(vpa_finding_text(r->findings[i].id), id))
			return &r->findings[i];
	return NULL;
}

/* Fails the test unless the page, as page_of() returns it, has the words; where `there` is 0, if it
 * has them. The message has the rule. */
static inline void expect_page(
	const char *rule, const struct vpa_report *r, const char *words, int there)
{
	char *page = page_of(r);

	if ((strstr(page, words) != NULL) != there)
		fail_msg("%s: %s \"%s\" in\n%s", rule, there ? "no" : "there is", words, page);
	vpt_free(page);
}

#endif
