/* start_program.c - starts another program beside this one. */
#include "formats/cli/start_program.h"

#include <spawn.h>
#include <unistd.h>

int vpt_start_program(pid_t *pid, char *const *words, int in, int out, const sigset_t *defaults)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attributes);
	if (!rc) {
		rc = posix_spawnattr_setsigdefault(&attributes, defaults);
		if (!rc)
			rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		if (!rc && in >= 0)
			rc = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
		if (!rc && out >= 0)
			rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		if (!rc)
			rc = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}
