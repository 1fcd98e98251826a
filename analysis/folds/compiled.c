/* compiled.c - names that torch.compile gives its ranges.
 *
 * "Torch-Compiled Region: 3/1" runs the code numbered 3 in its version 1: the second one, so it has been
 * compiled again. The compiler's own ranges end in "(dynamo_timed)"; they nest, and the outermost of
 * them differs between versions of PyTorch. */
#include "analysis/folds/compiled.h"

#include "formats/base/count.h"

#include <string.h>

static const char region[] = "Torch-Compiled Region: ";

/* The first one that a trace has holds the others. */
static const char *const compilers[] = {
	"entire_frame_compile (dynamo_timed)", "_compile.compile_inner (dynamo_timed)"};

void vpa_compiled_of(const struct vpa_range_row *ranges, size_t count, struct vpa_graphs *out)
{
	size_t outermost = COUNT(compilers), i, k;

	for (i = 0; i < count; i++) {
		const struct vpa_range_row *r = &ranges[i];
		const char *version = strchr(r->name, '/');

		if (!strncmp(r->name, region, sizeof(region) - 1) && version) {
			out->compiled_regions++;
			out->recompiles += version[1] != '0';
		}
		for (k = 0; k < COUNT(compilers); k++)
			if (!strcmp(r->name, compilers[k]) && k <= outermost) {
				outermost = k;
				out->compiler_ranges = r->host.count;
				out->compiler_ns = r->host.total_ns;
			}
	}
}
