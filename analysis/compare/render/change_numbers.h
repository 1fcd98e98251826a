/* change_numbers.h - how a comparison shows its numbers. */
#ifndef VPA_ANALYSIS_COMPARE_RENDER_CHANGE_NUMBERS_H
#define VPA_ANALYSIS_COMPARE_RENDER_CHANGE_NUMBERS_H

#include "analysis/base/numbers.h"
#include "analysis/report/rows/causes.h"
#include "analysis/report/rows/place.h"

/* "+12.3" with a sign, in ms; as many decimals as the largest number of its table needs. */
struct vpa_num vpa_compared_change_ms(int64_t ns, unsigned decimals);

struct vpa_num vpa_compared_plain_ms(uint64_t total_ns, uint64_t over, unsigned decimals);

unsigned vpa_compared_decimals_of(uint64_t mean_ns);

/* A relative change: "+12.3 %"; more decimals if it is small. */
struct vpa_num vpa_compared_percent(double share);

struct vpa_num vpa_compared_size_of(double share);

struct vpa_num vpa_compared_rate(double value);

/* The same of a count, which may be many times as large: "x 301". */
struct vpa_num vpa_compared_growth(double a, double b);

/* A number per unit: whole where it is. */
struct vpa_num vpa_compared_per_unit(double value);

/* What the host did: "host code in post_process", "allocation, cudaMalloc in self_attn". NULL: no place, no call. */
struct vpa_label vpa_compared_instead(
	enum vpa_cause host, const char *call, const struct vpa_place *place);

#endif
