/* system_probe.c - system calls that a filter (seccomp) may forbid, with an error or with a signal.
 */
#include "tracer/doctor/probes/patient.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

void vtr_probe_system(int to, void *patient)
{
	char from = 'x', into = 0;
	struct iovec local = {&into, 1}, remote = {&from, 1};
	int fd;

	(void)patient;
	vtr_probe_step(to, "process_vm_readv");
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1)
		vtr_probe_say(to, "process_vm_readv", "%s", strerror(errno));
	vtr_probe_step(to, "memfd_create");
	fd = memfd_create("vptrace-doctor", MFD_CLOEXEC);
	if (fd < 0)
		vtr_probe_say(to, "memfd_create", "%s", strerror(errno));
	else
		close(fd);
}
