/* nvtx_host.c - a program that annotates itself, by vptrace_nvtx.h and, where NVTX's headers are, by NVTX. HOST_LOADS names a library
 * that it loads first, for itself alone. */
#include "tracer/vptrace_nvtx.h"

#include <stdlib.h>

#ifdef VPTRACE_WITH_NVTX
static void plain_nvtx(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
	nvtxEventAttributes_t event;
	nvtxRangeId_t id;

	memset(&event, 0, sizeof(event));
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	event.payload.llValue = -1;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = text;
	nvtxRangePushA("outer");
	nvtxDomainRangePushEx(domain, &event);
	id = nvtxDomainRangeStartEx(domain, &event);
	nvtxDomainRangePop(domain);
	nvtxMarkW(L"wide");
	nvtxDomainRangeEnd(domain, id);
	nvtxRangePop();
	nvtxDomainDestroy(domain);
}
#endif

int main(void)
{
	const char *library = getenv("HOST_LOADS");

	if (library && !dlopen(library, RTLD_NOW | RTLD_LOCAL))
		return 1;
	vptrace_request_push("a cat");
	vptrace_stage_push("text encoding");
	vptrace_pop();
	vptrace_block_push(13, 12, 3);
	vptrace_step_push(2, 750.5);
	vptrace_pop();
	vptrace_context_push(13);
	vptrace_pop();
	vptrace_pop();
	vptrace_frames_ready(13, 12);
	vptrace_stage_push(NULL);
	vptrace_pop();
	vptrace_pop();
#ifdef VPTRACE_WITH_NVTX
	plain_nvtx();
#endif
	return vptrace_target_.to == VPTRACE_TO_UNKNOWN;
}
