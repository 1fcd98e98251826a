/* settings.c - what the environment asks of the stand-in, and texts for error numbers. README.md
 * lists the words. */
#include "tests/standin/cuda/device_state.h"

#include <stdlib.h>
#include <string.h>

int sim_word(const char *variable, const char *word, uint64_t *value)
{
	const char *at = getenv(variable);
	size_t length = strlen(word);

	while (at && *at) {
		const char *end = strchrnul(at, ',');

		if (!strncmp(at, word, length) && (at + length == end || at[length] == '=')) {
			if (value && at[length] == '=')
				*value = strtoull(at + length + 1, NULL, 0);
			return 1;
		}
		at = *end ? end + 1 : end;
	}
	return 0;
}

int sim_fault(const char *word, uint64_t *value)
{
	return sim_word("VPT_STANDIN_FAULTS", word, value);
}

uint64_t sim_first_correlation(void)
{
	uint64_t first = 1;

	sim_fault("correlation", &first);
	return first;
}

int sim_driver_missing(void)
{
	return sim_fault("no-driver", NULL);
}

static const struct {
	int number;
	const char *name, *text;
} errors[] = {
	{0, "cudaSuccess", "no error"},
	{1, "cudaErrorInvalidValue", "an argument has a value that cannot be"},
	{2, "cudaErrorMemoryAllocation", "the device's memory is used up"},
	{3, "cudaErrorInitializationError", "the driver was not started"},
	{34, "cudaErrorStubLibrary", "the driver is the toolkit's stub"},
	{35, "cudaErrorInsufficientDriver", "no driver, or one that is too old"},
	{98, "cudaErrorInvalidDeviceFunction", "not a kernel"},
	{100, "cudaErrorNoDevice", "no device"},
	{101, "cudaErrorInvalidDevice", "no such device"},
	{201, "cudaErrorDeviceUninitialized", "no context is current"},
	{218, "cudaErrorInvalidPtx", "the PTX text has no visible entry"},
	{400, "cudaErrorInvalidResourceHandle", "a handle that is not one"},
	{500, "cudaErrorSymbolNotFound", "no kernel of that name"},
	{600, "cudaErrorNotReady", "the work is not done yet"},
	{719, "cudaErrorLaunchFailure", "a rank that a collective needs is missing"},
	{801, "cudaErrorNotSupported", "the stand-in does not have this"},
	{900, "cudaErrorStreamCaptureUnsupported", "not while a stream captures"},
	{901, "cudaErrorStreamCaptureInvalidated", "the capture was broken before"},
	{903, "cudaErrorStreamCaptureUnmatched", "this stream did not begin the capture"},
	{904, "cudaErrorStreamCaptureUnjoined",
		"a stream did not come back to the capture's first"},
	{905, "cudaErrorStreamCaptureIsolation", "from a capture to outside of it"},
	{906, "cudaErrorStreamCaptureImplicit", "the legacy stream while a blocking one captures"},
};

const char *sim_error_name(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return errors[i].name;
	return "unrecognized error code";
}

const char *sim_error_text(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return errors[i].text;
	return "unrecognized error code";
}
