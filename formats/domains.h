/* domains.h - NVTX domains of ranges that mean the same in every trace. */
#ifndef VPT_FORMATS_DOMAINS_H
#define VPT_FORMATS_DOMAINS_H

#include "formats/base/text.h"

enum vpt_domain {
	VPT_DOMAIN_OPERATORS, /* imported operators of PyTorch */
	VPT_DOMAIN_FUNCTIONS, /* imported functions of Python */
	VPT_DOMAIN_NCCL,
	VPT_DOMAIN_OWN, /* annotations for vptrace, in JSON */
	VPT_DOMAINS     /* their number: any other domain */
};

static inline const char *vpt_domain_name(enum vpt_domain domain)
{
	static const char *const names[] = {[VPT_DOMAIN_OPERATORS] = "cpu_op",
		[VPT_DOMAIN_FUNCTIONS] = "python_function",
		[VPT_DOMAIN_NCCL] = "NCCL",
		[VPT_DOMAIN_OWN] = "vptrace"};

	return names[domain];
}

static inline int vpt_domain_is(struct vpt_text name, enum vpt_domain domain)
{
	return vpt_text_is(name, vpt_domain_name(domain));
}

static inline enum vpt_domain vpt_domain_of(struct vpt_text name)
{
	unsigned domain = 0;

	while (domain < VPT_DOMAINS && !vpt_domain_is(name, (enum vpt_domain)domain))
		domain++;
	return (enum vpt_domain)domain;
}

#endif
