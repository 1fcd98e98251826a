/* error.h - return codes, and the message that goes with them.
 *
 * Functions return 0 (done), VPT_END (nothing left) or one of the negative codes. The function that
 * detects a fault writes the message once, into the caller's struct vpt_err: what was expected,
 * what was found, where. Only a command's main prints it. */
#ifndef VPT_FORMATS_BASE_ERROR_H
#define VPT_FORMATS_BASE_ERROR_H

#include <stddef.h>

/* Before a function: argument number `format_at` is one of printf(), whose arguments begin with `first`. */
#if defined(__GNUC__)
#define VPT_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#else
#define VPT_PRINTF(format_at, first)
#endif

enum {
	VPT_OK = 0,
	VPT_END = 1,           /* an iterator has nothing left; not an error */
	VPT_EINVAL = -1,       /* the caller's request is invalid */
	VPT_ENOMEM = -2,       /* no memory */
	VPT_EIO = -3,          /* the operating system refused to read or write */
	VPT_EDATA = -4,        /* the bytes are damaged, or not what they claim to be */
	VPT_EVERSION = -5,     /* written by a newer, incompatible version */
	VPT_EUNSUPPORTED = -6, /* understood, but this build lacks the part that reads it */
	VPT_EGONE = -7         /* the reader of standard output is gone: nobody wants the rest */
};

struct vpt_err {
	int code;
	char text[512]; /* one sentence, no newline; control bytes of quoted input escaped */
};

/* Sets the error and returns `code`, so that callers can write `return vpt_fail(err, ...)`. `err`
 * may be NULL: then only the code is returned. Text that is too long is cut. */
VPT_PRINTF(3, 4)
int vpt_fail(struct vpt_err *err, int code, const char *fmt, ...);

/* Prefixes an error with "WHERE: ", for a caller that knows the file's name. */
void vpt_err_at(struct vpt_err *err, const char *where);

#endif
