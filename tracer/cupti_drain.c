/* cupti_drain.c - waiting by the driver's own functions. */
#include "tracer/cupti_drain.h"

#include "tracer/driver.h"

#include <string.h>

void vtr_drain_current(void)
{
	void *current = vtr_driver_symbol("cuCtxGetCurrent");
	void *capturing = vtr_driver_symbol("cuStreamIsCapturing");
	void *synchronize = vtr_driver_symbol("cuCtxSynchronize");
	int (*get_current)(void **);
	int (*is_capturing)(void *, int *);
	int (*wait)(void);
	void *context = NULL;
	int status = 0;

	if (!current || !capturing || !synchronize)
		return;
	memcpy(&get_current, &current, sizeof(current));
	memcpy(&is_capturing, &capturing, sizeof(capturing));
	memcpy(&wait, &synchronize, sizeof(synchronize));
	if (get_current(&context) || !context)
		return;
	/* Asked about the default stream, the driver refuses while another stream captures: waiting
	 * would spoil that capture. */
	if (!is_capturing(NULL, &status) && !status)
		wait();
}
