/* tracer_nvtx.c - holds tracer/nvtx/nvtx_abi.h against NVTX's headers. Compiles to nothing. */
#include "tracer/nvtx/nvtx_abi.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#ifdef VPT_HAVE_NVTX_PAYLOAD
#include <nvtx3/nvToolsExtPayload.h>
#endif

#define SAME(ours, theirs)      _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(theirs))
#define SAME_FIELD(ours, mine, theirs, field)                                                      \
	SAME(offsetof(struct ours, mine), offsetof(theirs, field))

SAME(VTR_NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(VTR_NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
SAME(VTR_NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(VTR_NVTX_CUDA, NVTX_CB_MODULE_CUDA);
SAME(VTR_NVTX_CUDART, NVTX_CB_MODULE_CUDART);
SAME(VTR_NVTX_CORE2, NVTX_CB_MODULE_CORE2);

SAME(VTR_NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(VTR_NVTX_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(VTR_NVTX_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(VTR_NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(VTR_NVTX_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(VTR_NVTX_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(VTR_NVTX_END, NVTX_CBID_CORE_RangeEnd);
SAME(VTR_NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(VTR_NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(VTR_NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(VTR_NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME(VTR_NVTX_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(VTR_NVTX_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
SAME(VTR_NVTX_NAME_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
SAME(VTR_NVTX_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);

SAME(VTR_NVTX_DOMAIN_MARK, NVTX_CBID_CORE2_DomainMarkEx);
SAME(VTR_NVTX_DOMAIN_START, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(VTR_NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(VTR_NVTX_DOMAIN_PUSH, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(VTR_NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(VTR_NVTX_DOMAIN_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(VTR_NVTX_DOMAIN_RESOURCE_DESTROY, NVTX_CBID_CORE2_DomainResourceDestroy);
SAME(VTR_NVTX_DOMAIN_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME(VTR_NVTX_DOMAIN_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
SAME(VTR_NVTX_DOMAIN_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(VTR_NVTX_DOMAIN_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(VTR_NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(VTR_NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(VTR_NVTX_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(VTR_NVTX_INITIALIZE, NVTX_CBID_CORE2_Initialize);

SAME(VTR_NVTX_CU_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME(VTR_NVTX_CU_STREAM_W, NVTX_CBID_CUDA_NameCuStreamW);
SAME(VTR_NVTX_CUDA_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);
SAME(VTR_NVTX_CUDA_STREAM_W, NVTX_CBID_CUDART_NameCudaStreamW);

SAME_SIZE(vtr_nvtx_callbacks, NvtxExportTableCallbacks);
SAME_FIELD(vtr_nvtx_callbacks, module, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME_SIZE(vtr_nvtx_version, NvtxExportTableVersionInfo);
SAME_FIELD(vtr_nvtx_version, version, NvtxExportTableVersionInfo, version);
SAME_FIELD(vtr_nvtx_version, set_tool_version, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);

SAME_SIZE(vtr_nvtx_event, nvtxEventAttributes_t);
SAME_FIELD(vtr_nvtx_event, size, nvtxEventAttributes_t, size);
SAME_FIELD(vtr_nvtx_event, category, nvtxEventAttributes_t, category);
SAME_FIELD(vtr_nvtx_event, colour_type, nvtxEventAttributes_t, colorType);
SAME_FIELD(vtr_nvtx_event, colour, nvtxEventAttributes_t, color);
SAME_FIELD(vtr_nvtx_event, payload_type, nvtxEventAttributes_t, payloadType);
SAME_FIELD(vtr_nvtx_event, payload_count, nvtxEventAttributes_t, reserved0);
SAME_FIELD(vtr_nvtx_event, payload, nvtxEventAttributes_t, payload);
SAME_FIELD(vtr_nvtx_event, text_type, nvtxEventAttributes_t, messageType);
SAME_FIELD(vtr_nvtx_event, text, nvtxEventAttributes_t, message);
SAME(VTR_NVTX_COLOUR_ARGB, NVTX_COLOR_ARGB);
SAME(VTR_NVTX_TEXT_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(VTR_NVTX_TEXT_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(VTR_NVTX_TEXT_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(VTR_NVTX_NUMBER_MAX, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(VTR_NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);

/* Older headers have no payload extension, or an early one with fewer names. */
#if defined(NVTX_EXT_PAYLOAD_COMPATID) && NVTX_EXT_PAYLOAD_COMPATID >= 0x0104

SAME(VTR_NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
SAME_SIZE(vtr_nvtx_segment, nvtxExtModuleSegment_t);
SAME_FIELD(vtr_nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME_SIZE(vtr_nvtx_extension, nvtxExtModuleInfo_t);
SAME_FIELD(vtr_nvtx_extension, module, nvtxExtModuleInfo_t, moduleId);
SAME_FIELD(vtr_nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
SAME(VTR_NVTX_PAYLOAD_MODULE, NVTX_EXT_PAYLOAD_MODULEID);
SAME(VTR_NVTX_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(VTR_NVTX_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(VTR_NVTX_MARK_PAYLOAD, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(VTR_NVTX_PUSH_PAYLOAD, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(VTR_NVTX_POP_PAYLOAD, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(VTR_NVTX_START_PAYLOAD, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(VTR_NVTX_END_PAYLOAD, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(VTR_NVTX_DOMAIN_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(VTR_NVTX_SCOPE_REGISTER, NVTX3EXT_CBID_nvtxScopeRegister);

SAME_SIZE(vtr_nvtx_blob, nvtxPayloadData_t);
SAME_FIELD(vtr_nvtx_blob, data, nvtxPayloadData_t, payload);
SAME_SIZE(vtr_nvtx_schema, nvtxPayloadSchemaAttr_t);
SAME_FIELD(vtr_nvtx_schema, name, nvtxPayloadSchemaAttr_t, name);
SAME_FIELD(vtr_nvtx_schema, static_bytes, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_FIELD(vtr_nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME(VTR_NVTX_SCHEMA_HAS_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);
SAME(VTR_NVTX_SCHEMA_HAS_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(VTR_NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(VTR_NVTX_FIRST_DYNAMIC_ID, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME_SIZE(vtr_nvtx_entry, nvtxPayloadSchemaEntry_t);
SAME_FIELD(vtr_nvtx_entry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_FIELD(vtr_nvtx_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME_FIELD(vtr_nvtx_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME_FIELD(vtr_nvtx_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_FIELD(vtr_nvtx_schema, type, nvtxPayloadSchemaAttr_t, type);
SAME_FIELD(vtr_nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_FIELD(vtr_nvtx_schema, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME(VTR_NVTX_SCHEMA_HAS_TYPE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
SAME(VTR_NVTX_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME(VTR_NVTX_SCHEMA_HAS_COUNT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME(VTR_NVTX_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
SAME(VTR_NVTX_FIRST_STATIC_ID, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(VTR_NVTX_ENTRY_NOT_A_NUMBER,
	(NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
		NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE |
		NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE |
		NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED |
		NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX));
SAME(VTR_NVTX_ULONGLONG, NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
SAME(VTR_NVTX_DOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
SAME(VTR_NVTX_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
SAME(VTR_NVTX_ADDRESS, NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS);
SAME(VTR_NVTX_BYTE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
SAME(VTR_NVTX_FLOAT32, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32);
SAME(VTR_NVTX_FLOAT64, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
SAME(VTR_NVTX_ENUM_HAS_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
SAME(VTR_NVTX_ENUM_HAS_COUNT, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
SAME(VTR_NVTX_ENUM_HAS_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME_FIELD(vtr_nvtx_enum, value_bytes, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_SIZE(vtr_nvtx_enum, nvtxPayloadEnumAttr_t);
SAME_FIELD(vtr_nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
SAME(VTR_NVTX_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME_SIZE(vtr_nvtx_scope, nvtxScopeAttr_t);
SAME_FIELD(vtr_nvtx_scope, id, nvtxScopeAttr_t, scopeId);

#endif
