/* capture_file.c - the capture's file, in a process that may do anything to it.
 *
 * The host can close our descriptor, give its number to another file, change its folder, delete the
 * capture, share its name with other ranks. So the path is made absolute at once, device and inode
 * are compared before every use of the descriptor, the descriptor avoids the low numbers that
 * programs close and reuse, and a lock decides which process owns a name. Between the comparison
 * and the write a host could still exchange the descriptor; only a lock on its whole table, which
 * nobody has, would close that gap.
 *
 * There is no fsync(2): we promise to survive the process's death, not the machine's. */
#include "tracer/files/capture_file.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/capture_layout.h"
#include "formats/io/io_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	NUMBER_MAX = 99999999, /* of a file of the same name */
	NUMBER_LENGTH = 9,     /* "-99999999" */
	NUMBERS_IN_A_ROW = 8,  /* tried one by one before the search */
	NAMES_MAX = 9999,      /* tried in all: others may take them too */
	DESCRIPTOR_MIN = 64,   /* wanted; never one of the three standard ones */
	RETRIES_MAX = 100,     /* writes in a row that move nothing, a millisecond apart */
	FILE_MODE = S_IRUSR | S_IWUSR
};

/* Results of trying one name, besides 0 and an errno. */
enum { NAME_TAKEN = -1, NAME_REFUSED = -2 };

struct vtr_capture_file {
	struct vpt_sink base;
	const struct vpt_io_ops *io;
	int fd; /* -1: not created, or closed */
	int overwrite, abandoned;
	int is_new; /* it did not exist before */
	dev_t device;
	ino_t inode;
	uint64_t bytes; /* of the file before the current frame */
	struct vpt_err failure;
	char *path; /* the name asked for; with room for a number */
	char *name; /* the actual name, "" before; same size */
};

/* Remembers the first failure, which every later call repeats. */
static int fail(struct vtr_capture_file *f, const char *what, const char *why, struct vpt_err *err)
{
	if (!f->failure.code)
		vpt_fail(&f->failure, VPT_EIO, "%.200s: %s%s%s", *f->name ? f->name : f->path, what,
			why ? ": " : "", why ? why : "");
	if (err)
		*err = f->failure;
	return f->failure.code;
}

static int fail_errno(struct vtr_capture_file *f, const char *what, int error, struct vpt_err *err)
{
	return fail(f, what, vpt_io_reason(error), err);
}

/* ---- making it ---- */

/* "trace.zst" and 2: "trace-2.zst". A leading dot begins no suffix. */
static void number_name(const char *path, int number, char *out, size_t size)
{
	const char *last = vpt_file_name(path);
	const char *dot = strrchr(last, '.');
	int stem = (int)(dot && dot > last ? dot - path : (long)strlen(path));

	if (number == 1)
		snprintf(out, size, "%s", path);
	else
		snprintf(out, size, "%.*s-%d%s", stem, path, number, path + stem);
}

/* Of `name`, with its end. */
static size_t name_bytes(const struct vtr_capture_file *f)
{
	return strlen(f->path) + NUMBER_LENGTH + 1;
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static const char no_capture[] = "a file that is no capture";

static const char *expected(int overwrite, const char *found)
{
	if (found == no_capture)
		return "nothing else is overwritten: choose another output";
	return overwrite ? "only a regular file of this user without other links is overwritten"
			 : "expected the name of a regular file";
}

/* What a file is that may not be overwritten; NULL: it may. */
static const char *protected_type(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return type_name(st->st_mode);
	if (st->st_nlink != 1)
		return "a file with several links";
	return st->st_uid != geteuid() ? "another user's file" : NULL;
}

/* Whether nothing is lost that is no capture: the file is empty, or begins like one. Its header is a frame by
 * itself, which zstd leaves as it is. A script of the run is none, whoever named it as the output. */
static int is_replaceable(int fd, const struct stat *st)
{
	static const unsigned char zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char head[VPT_HEADER_SIZE];
	ssize_t got = st->st_size ? pread(fd, head, sizeof(head), 0) : 0;

	if (!st->st_size)
		return 1;
	return got > 0 &&
	       !memcmp(head, zstd, (size_t)got < sizeof(zstd) ? (size_t)got : sizeof(zstd)) &&
	       (st->st_size < VPT_HEADER_SIZE ||
		       memmem(head, (size_t)got, VPT_CAPTURE_MAGIC, sizeof(VPT_CAPTURE_MAGIC) - 1));
}

static const char *content_of(int fd, const struct stat *st)
{
	return is_replaceable(fd, st) ? NULL : no_capture;
}

/* Of a file that may be overwritten by its type: what it is if it may not by its content. */
static const char *content_at(const char *path, const struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *found = fd < 0 ? NULL : content_of(fd, st);

	if (fd >= 0)
		close(fd);
	return found;
}

/* What a file is whose name is not merely taken: the user meant that one; NULL: it is taken. */
static const char *unnumbered_type(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? NULL : type_name(st->st_mode);
}

int vtr_capture_file_check(const char *path, int overwrite, struct vpt_err *err)
{
	const char *found;
	struct stat st;

	if (lstat(path, &st))
		return VPT_OK;
	found = overwrite ? protected_type(&st) : unnumbered_type(&st);
	if (overwrite && !found)
		found = content_at(path, &st);
	return found ? vpt_fail(err, VPT_EINVAL, "%.200s: is %s; %s", path, found,
			       expected(overwrite, found))
		     : VPT_OK;
}

static int refuse(struct vtr_capture_file *f, const char *found, struct vpt_err *err)
{
	char what[160];

	snprintf(what, sizeof(what), "is %s; %s", found, expected(f->overwrite, found));
	fail(f, what, NULL, err);
	return NAME_REFUSED;
}

/* Opens the existing file of a name that we may not create. The check before opening keeps us from
 * opening a FIFO or a device; the check after it decides. */
static int open_existing(struct vtr_capture_file *f, struct vpt_err *err)
{
	const char *found;
	struct stat st;
	int fd, error;

	if (lstat(f->name, &st))
		return errno == ENOENT ? NAME_TAKEN : errno;
	if (!S_ISREG(st.st_mode))
		return refuse(f, type_name(st.st_mode), err);
	fd = open(f->name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? NAME_TAKEN : errno;
	f->is_new = 0;
	f->fd = fd;
	error = fstat(fd, &st) ? errno : 0;
	found = error ? NULL : protected_type(&st);
	if (found)
		error = refuse(f, found, err);
	if (!error)
		return 0;
	close(fd);
	f->fd = -1;
	return error;
}

static int create_new(struct vtr_capture_file *f)
{
	int tries = 0;

	f->is_new = 1;
	do {
		f->fd = open(f->name,
			O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	} while (f->fd < 0 && errno == EINTR && ++tries < RETRIES_MAX);
	if (f->fd >= 0)
		return 0;
	return errno == EEXIST ? NAME_TAKEN : errno;
}

/* In a host without standard output the descriptor could be 1, and the host's output would go into
 * the capture. */
static int move_descriptor(struct vtr_capture_file *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);

	if (fd < 0 && f->fd <= STDERR_FILENO)
		fd = fcntl(f->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		return f->fd <= STDERR_FILENO ? errno : 0;
	close(f->fd);
	f->fd = fd;
	return 0;
}

/* Takes over the opened file: locks and empties it, sets mode 0600 whatever the umask, notes its
 * inode. File systems without locks or modes are accepted. NAME_TAKEN: another process is writing
 * to it. */
static int own_file(struct vtr_capture_file *f, struct vpt_err *err)
{
	const char *found;
	struct stat st;
	int error = move_descriptor(f);

	if (error)
		return error;
	if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return NAME_TAKEN;
	/* Only now: another process may just have begun its capture. */
	found = !f->is_new && !fstat(f->fd, &st) ? content_of(f->fd, &st) : NULL;
	if (found)
		return refuse(f, found, err);
	if (fchmod(f->fd, FILE_MODE) && errno == EBADF)
		return errno;
	if (ftruncate(f->fd, 0) || fstat(f->fd, &st))
		return errno;
	f->device = st.st_dev;
	f->inode = st.st_ino;
	return 0;
}

/* Tries one name: creates the file, or overwrites it where allowed. A folder, FIFO or device is an
 * error, not a taken name: the user meant that one. */
static int try_name(struct vtr_capture_file *f, int number, struct vpt_err *err)
{
	const char *found;
	struct stat st;
	int rc;

	number_name(f->path, number, f->name, name_bytes(f));
	rc = create_new(f);
	found = rc == NAME_TAKEN && number == 1 && !lstat(f->name, &st) ? unnumbered_type(&st)
									: NULL;
	if (found)
		return refuse(f, found, err);
	if (rc == NAME_TAKEN && f->overwrite && number == 1)
		rc = open_existing(f, err);
	if (rc)
		return rc;
	rc = own_file(f, err);
	if (rc) {
		close(f->fd);
		f->fd = -1;
	}
	return rc;
}

static int is_taken(struct vtr_capture_file *f, int number)
{
	struct stat st;

	number_name(f->path, number, f->name, name_bytes(f));
	return !lstat(f->name, &st);
}

/* Finds a free number above `taken` whose predecessor is taken: the end of names numbered in order.
 * Doubles the step until a number is free, then halves it. */
static int find_free(struct vtr_capture_file *f, int taken)
{
	int end = taken + 1;

	while (end < NUMBER_MAX / 2 && is_taken(f, end)) {
		taken = end;
		end *= 2;
	}
	while (end - taken > 1) {
		int middle = taken + (end - taken) / 2;

		if (is_taken(f, middle))
			taken = middle;
		else
			end = middle;
	}
	return end;
}

static int make_file(struct vtr_capture_file *f, struct vpt_err *err)
{
	int number, tries, rc = NAME_TAKEN;

	for (tries = 1, number = 1; tries <= NAMES_MAX && rc == NAME_TAKEN; tries++, number++) {
		if (tries == NUMBERS_IN_A_ROW + 1)
			number = find_free(f, NUMBERS_IN_A_ROW);
		rc = try_name(f, number, err);
	}
	if (!rc)
		return VPT_OK;
	if (rc == NAME_TAKEN)
		fail(f, "cannot create", "10,000 names in a row are in use", err);
	else if (rc != NAME_REFUSED)
		fail_errno(f, "cannot create", rc, err);
	f->name[0] = '\0';
	return f->failure.code;
}

/* ---- writing to it ---- */

/* NULL: the descriptor is still our file, of st->st_size bytes. Else what happened to it. */
static const char *look(const struct vtr_capture_file *f, struct stat *st)
{
	if (fstat(f->fd, st))
		return errno == EBADF ? "the program closed the descriptor" : vpt_io_reason(errno);
	if (st->st_dev != f->device || st->st_ino != f->inode)
		return "the program gave the descriptor to another file";
	return NULL;
}

/* Returns 0 or an errno. Calls that write nothing are repeated, but not for ever: a stop waits for
 * this. */
static int write_all(struct vtr_capture_file *f, const char *data, size_t size)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	int retries = 0;

	while (size) {
		long n = f->io->write(f->fd, data, size);
		int error = n < 0 ? errno : EIO;

		if (n > 0) {
			data += n;
			size -= (size_t)n;
			retries = 0;
			continue;
		}
		if (n < 0 && error != EINTR && error != EAGAIN)
			return error;
		if (++retries > RETRIES_MAX)
			return error;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* A reader would skip half a frame; whole frames only are better. */
static void cut_off(struct vtr_capture_file *f)
{
	struct stat st;

	if (!look(f, &st) && (uint64_t)st.st_size > f->bytes)
		(void)!ftruncate(f->fd, (off_t)f->bytes);
}

static int capture_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vtr_capture_file *f = (struct vtr_capture_file *)sink;
	const char *lost;
	struct stat st;
	int error;

	if (f->abandoned)
		return fail(f, "not written by a forked process", NULL, err);
	if (f->failure.code)
		return fail(f, "", NULL, err);
	if (!size)
		return VPT_OK;
	if (f->fd < 0 && make_file(f, err))
		return f->failure.code;
	lost = look(f, &st);
	if (!lost && !st.st_nlink)
		lost = "the file was deleted";
	if (!lost && (uint64_t)st.st_size < sink->written_bytes)
		lost = "the file was truncated";
	if (lost)
		return fail(f, "cannot write", lost, err);
	f->bytes = (uint64_t)st.st_size;
	error = write_all(f, data, size);
	if (error) {
		cut_off(f);
		return fail_errno(f, "cannot write", error, err);
	}
	sink->written_bytes += size;
	return VPT_OK;
}

void vtr_capture_file_take_back(struct vpt_sink *sink)
{
	struct vtr_capture_file *f = (struct vtr_capture_file *)sink;

	if (f->fd >= 0)
		cut_off(f);
}

int vtr_capture_file_create(struct vpt_sink *sink, struct vpt_err *err)
{
	struct vtr_capture_file *f = (struct vtr_capture_file *)sink;

	return f->fd < 0 ? make_file(f, err) : VPT_OK;
}

/* ---- its end ---- */

/* Returns 0 or an errno. Does not close the descriptor if it is another file now. */
static int close_ours(struct vtr_capture_file *f)
{
	struct stat st;
	int error = 0;

	if (f->fd >= 0 && !look(f, &st) && close(f->fd) && errno != EINTR)
		error = errno;
	f->fd = -1;
	return error;
}

/* An empty file is no capture: removes a new one without a byte. */
static void remove_empty(struct vtr_capture_file *f)
{
	struct stat st;

	if (f->fd < 0 || f->abandoned || !f->is_new || look(f, &st) || st.st_size)
		return;
	if (!lstat(f->name, &st) && st.st_dev == f->device && st.st_ino == f->inode)
		unlink(f->name);
}

static int capture_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct vtr_capture_file *f = (struct vtr_capture_file *)sink;
	int error, rc;

	remove_empty(f);
	error = close_ours(f);
	rc = f->failure.code;
	if (rc)
		fail(f, "", NULL, err);
	else if (error) /* network file systems may report a full disk only here */
		rc = fail_errno(f, "cannot write", error, err);
	vpt_free(f->path);
	vpt_free(f->name);
	vpt_free(f);
	return commit ? rc : VPT_OK;
}

void vtr_capture_file_abandon(struct vpt_sink *sink)
{
	struct vtr_capture_file *f = (struct vtr_capture_file *)sink;

	f->abandoned = 1;
	close_ours(f);
}

const char *vtr_capture_file_path(const struct vpt_sink *sink)
{
	return ((const struct vtr_capture_file *)sink)->name;
}

/* `path` made absolute by the current working folder, with room for a number. NULL: no memory. */
static char *absolute_path(const char *path)
{
	char folder[4096], *out;
	size_t size = strlen(path) + NUMBER_LENGTH + 1;

	if (*path == '/' || !getcwd(folder, sizeof(folder)))
		folder[0] = '\0';
	size += strlen(folder) + 1;
	out = vpt_alloc(1, size);
	if (out)
		snprintf(out, size, "%s%s%s", folder, *folder ? "/" : "", path);
	return out;
}

int vtr_capture_file_new(
	const char *path, int overwrite, struct vpt_sink **out, struct vpt_err *err)
{
	struct vtr_capture_file *f = vpt_calloc(1, sizeof(*f));

	*out = NULL;
	if (f) {
		f->path = absolute_path(path);
		f->name = f->path ? vpt_calloc(1, strlen(f->path) + NUMBER_LENGTH + 1) : NULL;
	}
	if (!f || !f->path || !f->name) {
		if (f)
			vpt_free(f->path);
		vpt_free(f);
		return vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to write it", path);
	}
	f->base = (struct vpt_sink){.write = capture_write, .finish = capture_finish};
	f->fd = -1;
	f->overwrite = overwrite;
	f->io = vpt_io_used();
	*out = &f->base;
	return VPT_OK;
}
