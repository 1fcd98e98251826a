/* pager.c - the sink that collects an answer and runs the pager.
 *
 * A pager of plain words is started directly, so that a missing one is known before anything is written to
 * it; anything else is the shell's, whose exit codes 126 and 127 mean the same. While the pager runs, the
 * keyboard's signals are the pager's alone: it restores the terminal when it ends. */
#include "analysis/commands/base/pager.h"

#include "formats/cli/start_program.h"
#include "formats/cli/terminal.h"
#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pager {
	struct vpt_sink sink;
	struct vpt_sink *collected;
	struct vpt_buffer text; /* valid once `collected` has been committed */
	struct vpt_sink *plain;
	const char *command;
	unsigned rows;
	int is_chosen; /* by a variable: a failure to start it is reported */
};

/* ---- which ---- */

/* The user's pager; NULL: none. */
static const char *find_command(int *is_chosen)
{
	const char *command = getenv("VPTRACE_PAGER");

	if (!command)
		command = getenv("PAGER");
	*is_chosen = command != NULL;
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static size_t count_lines(const struct vpt_buffer *text)
{
	size_t i, lines = 0;

	for (i = 0; i < text->size; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* ---- the process ---- */

/* Words separated by blanks, without anything that a shell would interpret. `text` is a copy that is cut
 * into them; 0 if it needs a shell. */
static int split_words(char *text, char **words, size_t most)
{
	size_t count = 0;
	char *rest = NULL, *word;

	if (strpbrk(text, "|&;<>()$`\\\"'\n*?[#~=%"))
		return 0;
	for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (count + 1 == most)
			return 0;
		words[count++] = word;
	}
	words[count] = NULL;
	return count > 0;
}

/* Starts the pager, which reads from `from`. 0 or an errno; *by_shell: the shell starts it. */
static int start(const char *command, int from, pid_t *pid, int *by_shell)
{
	enum { WORDS = 32 };
	char *copy = strdup(command), *words[WORDS];
	char shell[] = "sh", run[] = "-c";
	sigset_t signals;
	int rc;

	if (!copy)
		return ENOMEM;
	/* As git does: quit if all fits, keep colours, leave the text on the screen. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	*by_shell = !split_words(copy, words, WORDS);
	if (*by_shell) {
		/* strtok_r() may have cut the copy. */
		memcpy(copy, command, strlen(command) + 1);
		words[0] = shell;
		words[1] = run;
		words[2] = copy;
		words[3] = NULL;
	}
	/* Ignored signals would remain ignored in the pager. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	rc = vpt_start_program(pid, words, from, -1, &signals);
	free(copy);
	return rc;
}

/* Writes until the pager has all or is gone. */
static void feed(int to, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(to, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		data += n;
		size -= (size_t)n;
	}
}

/* Whether the shell ended because it could not start the pager. */
static int wait_for(pid_t pid, int by_shell)
{
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return by_shell && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == NOT_EXECUTABLE || WEXITSTATUS(status) == NOT_FOUND);
}

/* Shows the text; returns whether the pager did. */
static int show(const struct pager *p)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
	int ends[2], by_shell = 0, rc, failed = 1;
	pid_t pid;

	if (pipe(ends))
		return 0;
	/* The pager must not inherit the end that is written to: it would never see the end of the text. */
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	rc = start(p->command, ends[0], &pid, &by_shell);
	close(ends[0]);
	if (!rc)
		feed(ends[1], p->text.data, p->text.size);
	close(ends[1]);
	if (!rc)
		failed = wait_for(pid, by_shell);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (rc && p->is_chosen)
		vpa_say("cannot start the pager \"%.200s\": %s", p->command, strerror(rc));
	return !failed;
}

/* ---- the sink ---- */

static int pager_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct pager *p = (struct pager *)(void *)sink;

	sink->written_bytes += size;
	return vpt_sink_write(p->collected, data, size, err);
}

static int pager_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	struct pager *p = (struct pager *)(void *)sink;
	int rc = p->collected->finish(p->collected, commit, err), finished;

	if (commit && !rc && (count_lines(&p->text) < p->rows || !show(p)))
		rc = vpt_sink_write(p->plain, p->text.data, p->text.size, err);
	finished = p->plain->finish(p->plain, commit && !rc, rc ? NULL : err);
	vpt_free(p->text.data);
	vpt_free(p);
	return rc ? rc : finished;
}

int vpa_pager_begin(struct vpt_out *o, struct vpt_err *err)
{
	int is_chosen, rc;
	const char *command = find_command(&is_chosen);
	unsigned rows = vpt_terminal_height(o);
	struct pager *p;

	if (!rows || !command || vpt_terminal_is_dumb())
		return VPT_OK;
	p = vpt_calloc(1, sizeof(*p));
	if (!p)
		return vpt_fail(err, VPT_ENOMEM, "no memory for a pager");
	*p = (struct pager){.sink = {.write = pager_write, .finish = pager_finish},
		.plain = o->sink,
		.command = command,
		.rows = rows,
		.is_chosen = is_chosen};
	rc = vpt_sink_memory(&p->text, &p->collected, err);
	if (rc) {
		vpt_free(p);
		return rc;
	}
	o->sink = &p->sink;
	return VPT_OK;
}
