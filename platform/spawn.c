#include "platform/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int
spawn_worker(const char *path, const char *name, int fd, char *const *envp,
    pid_t *ret_pid, struct err *e)
{
	posix_spawn_file_actions_t acts;
	posix_spawnattr_t attr;
	char *argv[] = { (char *)name, (char *)"3", NULL };
	int rc;

	posix_spawn_file_actions_init(&acts);
	posix_spawnattr_init(&attr);
	/* A group of its own: terminal signals are not for workers. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&acts, 0, 1);
	posix_spawn_file_actions_adddup2(&acts, 0, 2);
	posix_spawn_file_actions_adddup2(&acts, fd, SPAWN_FD);
	rc = posix_spawn(ret_pid, path, &acts, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&acts);
	posix_spawnattr_destroy(&attr);
	if (rc != 0)
		return err_sys(e, rc, "cannot start '%s'", path);
	return 0;
}
