/*
 * hook_exec: programs that may not run.  execvp() and its kin try PATH inside
 * libc, so a search is told once, with its last word.  The forms with a list
 * of arguments become the forms with an array, on the stack, as libc does it.
 */
#include "shim/hook.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "shim/hidden.h"
#include "shim/report.h"
#include "shim/sys.h"

extern char **environ;

static struct told
exec_told(unsigned nr, int err)
{
	return (struct told){ WIRE_EXEC, nr, 0, err };
}

static bool
exec_refused(int err, int dir_fd, const char *path)
{
	return err == EACCES || err == EPERM || hidden_may(err, dir_fd, path);
}

/* Of a search, the folders in PATH are looked at by report_program(). */
static bool
search_refused(int err)
{
	return err == EACCES || err == EPERM ||
	    (err == ENOENT && table_get()->needs_grant);
}

/*
 * Where executions are supervised, a signal may end the call before the
 * monitor has received it.  execve() itself knows no EINTR, and no program
 * expects it.
 */
#define AGAIN(call) ({							\
	int rv_;							\
									\
	do								\
		rv_ = (call);						\
	while (rv_ < 0 && errno == EINTR);				\
	rv_;								\
})

static int
told(int rv, unsigned nr, int dir_fd, const char *path)
{
	if (rv < 0 && exec_refused(errno, dir_fd, path))
		report_path(exec_told(nr, errno), dir_fd, path);
	return rv;
}

static int
told_program(int rv, const char *file)
{
	if (rv < 0 && search_refused(errno))
		report_program(exec_told(SYS_execve, errno), file);
	return rv;
}

HOOK(int, execve, (const char *path, char *const argv[], char *const envp[]))
{
	return told(AGAIN(sys_errno(SYS(execve, path, argv, envp))),
	    SYS_execve, AT_FDCWD, path);
}

HOOK(int, execv, (const char *path, char *const argv[]))
{
	return told(AGAIN(REAL(execv)(path, argv)),
	    SYS_execve, AT_FDCWD, path);
}

HOOK(int, execvp, (const char *file, char *const argv[]))
{
	return told_program(AGAIN(REAL(execvp)(file, argv)), file);
}

/* How many arguments the list has, its NULL not counted. */
static size_t
list_count(const char *first, va_list ap)
{
	size_t n = 1;

	if (first == NULL)
		return 0;
	while (va_arg(ap, char *) != NULL)
		n++;
	return n;
}

/* The list as argv[n + 1]; what follows it is next in ap. */
#define LIST_ARGV(ap, first, argv)					\
	size_t n_;							\
									\
	va_start(ap, first);						\
	n_ = list_count(first, ap);					\
	va_end(ap);							\
	char *argv[n_ + 1];						\
									\
	argv[0] = (char *)(first);					\
	va_start(ap, first);						\
	for (size_t i_ = 1; i_ <= n_; i_++)				\
		argv[i_] = va_arg(ap, char *)

HOOK(int, execl, (const char *path, const char *arg, ...))
{
	va_list ap;

	LIST_ARGV(ap, arg, argv);
	va_end(ap);
	return told(AGAIN(REAL(execv)(path, argv)),
	    SYS_execve, AT_FDCWD, path);
}

HOOK(int, execlp, (const char *file, const char *arg, ...))
{
	va_list ap;

	LIST_ARGV(ap, arg, argv);
	va_end(ap);
	return told_program(AGAIN(REAL(execvp)(file, argv)), file);
}

HOOK(int, execle, (const char *path, const char *arg, ...))
{
	char *const *envp;
	va_list ap;

	LIST_ARGV(ap, arg, argv);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	return told(AGAIN(sys_errno(SYS(execve, path, argv, envp))),
	    SYS_execve, AT_FDCWD, path);
}

/* Both return the error instead of setting errno. */
HOOK(int, posix_spawn, (pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *attr,
    char *const argv[], char *const envp[]))
{
	int err;

	do
		err = REAL(posix_spawn)(pid, path, acts, attr, argv, envp);
	while (err == EINTR);
	if (exec_refused(err, AT_FDCWD, path))
		report_path(exec_told(SYS_execve, err), AT_FDCWD, path);
	return err;
}

HOOK(int, posix_spawnp, (pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *attr,
    char *const argv[], char *const envp[]))
{
	int err;

	do
		err = REAL(posix_spawnp)(pid, file, acts, attr, argv, envp);
	while (err == EINTR);
	if (search_refused(err))
		report_program(exec_told(SYS_execve, err), file);
	return err;
}

#ifdef __linux__
HOOK(int, execvpe, (const char *file, char *const argv[],
    char *const envp[]))
{
	return told_program(AGAIN(REAL(execvpe)(file, argv, envp)), file);
}

HOOK(int, fexecve, (int fd, char *const argv[], char *const envp[]))
{
	return told(AGAIN(REAL(fexecve)(fd, argv, envp)),
	    SYS_execveat, fd, "");
}

HOOK(int, execveat, (int dir_fd, const char *path, char *const argv[],
    char *const envp[], int flags))
{
	return told(AGAIN(sys_errno(SYS(execveat, dir_fd, path, argv,
	    envp, flags))),
	    SYS_execveat, dir_fd, path);
}
#endif
