/*
 * fence in fence.  A jail cannot be built inside a jail, but Landlock domains,
 * filters and limits add up: each takes away and none gives back.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/jail.h"
#include "platform/linux/init_apply.h"
#include "platform/linux/jailplan.h"
#include "platform/linux/landlock.h"

#if defined __x86_64__
#define INNER_ARCH	AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define INNER_ARCH	AUDIT_ARCH_AARCH64
#else
#error "inner.c knows the system calls of x86-64 and aarch64"
#endif

/* Only fence-init is pid 1 under that name with a filter around us. */
bool
jail_is_inside(void)
{
	char name[32];
	struct stat st;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
	    prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER &&
	    fd_read_file(AT_FDCWD, "/proc/1/comm", name, sizeof name) > 0 &&
	    strcmp(name, "fence-init\n") == 0 &&
	    stat("/run/fence", &st) == 0 && S_ISDIR(st.st_mode);
}

#define LOAD(field)							\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no)					\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define RETURN(action)	BPF_STMT(BPF_RET | BPF_K, (action))

/*
 * No internet sockets.  Landlock would refuse TCP alone, and MPTCP is none;
 * 32-bit programs pack the call's arguments out of a filter's sight.
 */
static int
close_network(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_EQUAL(INNER_ARCH, 1, 0),
		RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		LOAD(nr),
		IF_EQUAL(SYS_socket, 1, 0),
		RETURN(SECCOMP_RET_ALLOW),
		LOAD(args[0]),		/* an int: its low half */
		IF_EQUAL(AF_INET, 2, 0),
		IF_EQUAL(AF_INET6, 1, 0),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ERRNO | EACCES),
	};
	struct sock_fprog prog = { sizeof code / sizeof code[0], code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

static int
take_away(const struct init_plan *plan, bool has_network, struct err *e)
{
	if (plan->handled_fs == 0) {
		err_set(e, ERR_JAIL, "already inside fence, and without "
		    "Landlock nothing more can be taken away");
		err_hint(e, "start the command without fence-run: the outer "
		    "jail holds for it");
		return -1;
	}
	if (init_limits(plan) != 0)
		return err_sys(e, errno, "cannot set the limits of the "
		    "policy");
	if (landlock_apply(plan, (const char *)plan) != 0)
		return err_sys(e, errno, "cannot apply Landlock");
	if ((!has_network && close_network() != 0) || init_filter(plan) != 0)
		return err_sys(e, errno, "cannot load a system call filter");
	return 0;
}

static int
execute(const struct jail_spec *spec, struct err *e)
{
	size_t n = 0;
	char **sh;

	while (spec->argv[n] != NULL)
		n++;
	sh = xcalloc(n + 2, sizeof *sh);
	sh[0] = (char *)"/bin/sh";
	sh[1] = (char *)spec->program;
	for (size_t i = 1; i < n; i++)
		sh[i + 1] = spec->argv[i];
	(void)execve(spec->program, spec->argv, spec->envp);
	if (errno == ENOEXEC) {
		/* A script without #! goes to the shell, as with execvp(). */
		(void)execve(sh[0], sh, spec->envp);
		errno = ENOEXEC;
	}
	err_sys(e, errno, "cannot execute '%s'", spec->program);
	e->code = errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND :
	    ERR_NOEXEC;
	return -1;
}

int
jail_tighten(const struct jail_spec *spec, bool has_network, struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	if (jail_make_plan(spec, &b, e) != 0)
		return -1;
	if (chdir(spec->cwd) != 0)
		return err_sys(e, errno, "cannot enter '%s'", spec->cwd);
	/* The rest was made close-on-exec when we started. */
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		if (fcntl(spec->keep_fds[i], F_SETFD, 0) != 0)
			return err_sys(e, errno, "cannot keep descriptor %d",
			    spec->keep_fds[i]);
	if (take_away((const void *)b.data, has_network, e) != 0)
		return -1;
	return execute(spec, e);
}
