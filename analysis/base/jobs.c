/* jobs.c - as many threads as processors, at most four: more would wait for the one that reads and folds. */
#include "analysis/base/jobs.h"

#include <unistd.h>

enum { USUAL_MAX = 4 };

unsigned vpa_jobs(unsigned asked, unsigned most)
{
	long cores;

	if (asked)
		return asked > most ? most : asked;
	cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1 ? 1 : cores > USUAL_MAX ? USUAL_MAX : (unsigned)cores;
}
