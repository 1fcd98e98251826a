/* ptx.c - one entry a name, all with the same body: the first thread of the first thread block
 * watches the GPU's nanosecond timer, all others return at once. The timer's step is about a
 * microsecond on some GPUs, so shorter kernels last one step. */
#include "bench/demo/plan.h"
#include "bench/demo/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = ".version 6.4\n"
			     ".target sm_70\n"
			     ".address_size 64\n";

static const char body[] = "(.param .u64 ns)\n"
			   "{\n"
			   "	.reg .pred %p<3>;\n"
			   "	.reg .b32 %r<8>;\n"
			   "	.reg .u64 %t<5>;\n"
			   "	mov.u64 %t1, %globaltimer;\n"
			   "	ld.param.u64 %t2, [ns];\n"
			   "	mov.u32 %r1, %ctaid.x;\n"
			   "	mov.u32 %r2, %ctaid.y;\n"
			   "	mov.u32 %r3, %tid.x;\n"
			   "	or.b32 %r4, %r1, %r2;\n"
			   "	or.b32 %r5, %r4, %r3;\n"
			   "	setp.ne.u32 %p1, %r5, 0;\n"
			   "	@%p1 bra done;\n"
			   "again:\n"
			   "	mov.u64 %t3, %globaltimer;\n"
			   "	sub.u64 %t4, %t3, %t1;\n"
			   "	setp.lt.u64 %p2, %t4, %t2;\n"
			   "	@%p2 bra again;\n"
			   "done:\n"
			   "	ret;\n"
			   "}\n";

static int is_first_of_its_name(unsigned k)
{
	unsigned i;

	for (i = 0; i < k; i++)
		if (!strcmp(demo_kernels[i].name, demo_kernels[k].name))
			return 0;
	return 1;
}

char *demo_ptx(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	unsigned k;

	if (!f)
		return NULL;
	fputs(header, f);
	for (k = 0; k < DEMO_KERNELS; k++)
		if (is_first_of_its_name(k))
			fprintf(f, "\n.visible .entry %s%s", demo_kernels[k].name, body);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
