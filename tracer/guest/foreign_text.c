/* foreign_text.c - process_vm_readv(2) on our own process, page by page: it reads a page or fails,
 * and a text may end just before an unmapped page. */
#include "tracer/guest/own_memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FIRST_PIECE = 256 /* longer than nearly all names */ };

static ssize_t read_directly(const char *from, char *out, size_t size)
{
	size_t len = strnlen(from, size);

	memcpy(out, from, len);
	return (ssize_t)len;
}

ssize_t vtr_foreign_text(const char *from, char *out, size_t size)
{
	size_t got = 0;

	while (got < size) {
		size_t in_page = PAGE - ((uintptr_t)from + got) % PAGE;
		size_t piece = got || in_page < FIRST_PIECE ? in_page : FIRST_PIECE;
		struct iovec local = {out + got, piece < size - got ? piece : size - got};
		struct iovec remote = {(void *)(uintptr_t)(from + got), local.iov_len};
		ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
		const char *end;

		if (n < 0 && errno == EFAULT)
			return -1;
		if (n <= 0)
			return read_directly(from, out, size);
		end = memchr(out + got, '\0', (size_t)n);
		if (end)
			return end - out;
		got += (size_t)n;
	}
	return (ssize_t)size;
}
