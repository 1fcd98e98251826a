/* flight_handover.c - one datagram with a descriptor. */
#include "tracer/flight/flight_handover.h"

#include "tracer/guest/environment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100 };

/* A launcher that starts many processes at once may be behind. */
static int send_patiently(int to, const struct msghdr *message)
{
	const struct timespec moment = {0, 1000000};
	int i;

	for (i = 0; i < TRIES; i++) {
		if (sendmsg(to, message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
			return 0;
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
			return -1;
		nanosleep(&moment, NULL);
	}
	return -1;
}

int vtr_flight_hand_over(int fd)
{
	const char *path = vtr_environment("VPTRACE_RING_SOCKET");
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = {.bytes = {0}};
	char byte = VTR_HANDOVER_BYTE;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int to, rc;

	if (fd < 0 || !path || strlen(path) >= sizeof(name.sun_path))
		return -1;
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (to < 0)
		return -1;
	rc = send_patiently(to, &message);
	close(to);
	return rc;
}
