/*
 * hook_sys: calls of no path, or of one that does not matter, which the jail's
 * filter refuses.  Each is one system call; what is told, and when, is a row of
 * call_rows.
 */
#include "shim/hook.h"

#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <fcntl.h>
#include <linux/reboot.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "shim/call.h"

#if defined(__x86_64__)
#include <sys/io.h>
#endif

/* HOOK_CALL(type, name, params, system call and its arguments) */
#define HOOK_CALL(type, name, params, ...)				\
HOOK(type, name, params)						\
{									\
	return CALL(__VA_ARGS__);					\
}

HOOK_CALL(int, mount, (const char *from, const char *to, const char *type,
    unsigned long flags, const void *data), mount, from, to, type, flags,
    data)
HOOK_CALL(int, umount2, (const char *path, int flags), umount2, path, flags)
HOOK_CALL(int, umount, (const char *path), umount2, path, 0)
int pivot_root(const char *, const char *);
HOOK_CALL(int, pivot_root, (const char *to, const char *old), pivot_root, to,
    old)
HOOK_CALL(int, chroot, (const char *path), chroot, path)

#if __GLIBC_PREREQ(2, 36)
HOOK_CALL(int, open_tree, (int dir_fd, const char *path, unsigned int flags),
    open_tree, dir_fd, path, flags)
HOOK_CALL(int, move_mount, (int from_fd, const char *from, int to_fd,
    const char *to, unsigned int flags), move_mount, from_fd, from, to_fd, to,
    flags)
HOOK_CALL(int, fsopen, (const char *type, unsigned int flags), fsopen, type,
    flags)
HOOK_CALL(int, fsmount, (int fd, unsigned int flags, unsigned int attrs),
    fsmount, fd, flags, attrs)
HOOK_CALL(int, fspick, (int dir_fd, const char *path, unsigned int flags),
    fspick, dir_fd, path, flags)
HOOK_CALL(int, mount_setattr, (int dir_fd, const char *path,
    unsigned int flags, struct mount_attr *attr, size_t size), mount_setattr,
    dir_fd, path, flags, attr, size)
#endif

HOOK_CALL(int, unshare, (int flags), unshare, flags)
HOOK_CALL(int, setns, (int fd, int type), setns, fd, type)
HOOK_CALL(int, socket, (int family, int type, int protocol), socket, family,
    type, protocol)
HOOK_CALL(int, socketpair, (int family, int type, int protocol, int fds[2]),
    socketpair, family, type, protocol, fds)
HOOK_CALL(int, personality, (unsigned long persona), personality, persona)
HOOK_CALL(int, open_by_handle_at, (int mount_fd, struct file_handle *handle,
    int flags), open_by_handle_at, mount_fd, handle, flags)
HOOK_CALL(int, klogctl, (int type, char *buf, int len), syslog, type, buf,
    len)
HOOK_CALL(int, reboot, (int cmd), reboot, (int)LINUX_REBOOT_MAGIC1,
    LINUX_REBOOT_MAGIC2, cmd)
HOOK_CALL(int, swapon, (const char *path, int flags), swapon, path, flags)
HOOK_CALL(int, swapoff, (const char *path), swapoff, path)
HOOK_CALL(int, acct, (const char *path), acct, path)
HOOK_CALL(int, quotactl, (int cmd, const char *special, int id, char *addr),
    quotactl, cmd, special, id, addr)
HOOK_CALL(int, vhangup, (void), vhangup)
HOOK_CALL(int, sethostname, (const char *name, size_t len), sethostname, name,
    len)
HOOK_CALL(int, setdomainname, (const char *name, size_t len), setdomainname,
    name, len)
HOOK_CALL(int, clock_settime, (clockid_t id, const struct timespec *ts),
    clock_settime, id, ts)

#ifdef SYS_iopl
HOOK_CALL(int, iopl, (int level), iopl, level)
HOOK_CALL(int, ioperm, (unsigned long from, unsigned long n, int on), ioperm,
    from, n, on)
#endif

/* Those of pid 1 are refused, and no other's. */
HOOK_CALL(int, kill, (pid_t pid, int signo), kill, pid, signo)
HOOK_CALL(ssize_t, process_vm_readv, (pid_t pid, const struct iovec *to,
    unsigned long nto, const struct iovec *from, unsigned long nfrom,
    unsigned long flags), process_vm_readv, pid, to, nto, from, nfrom, flags)
HOOK_CALL(ssize_t, process_vm_writev, (pid_t pid, const struct iovec *from,
    unsigned long nfrom, const struct iovec *to, unsigned long nto,
    unsigned long flags), process_vm_writev, pid, from, nfrom, to, nto, flags)
HOOK_CALL(int, setpriority, (__priority_which_t which, id_t who, int prio),
    setpriority, which, who, prio)

HOOK(long, ptrace, (enum __ptrace_request request, ...))
{
	void *addr, *data;
	long rv, word;
	va_list ap;
	pid_t pid;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (request < PTRACE_PEEKTEXT || request > PTRACE_PEEKUSER)
		return CALL(ptrace, request, pid, addr, data);
	rv = CALL(ptrace, request, pid, addr, &word);
	if (rv < 0)
		return rv;
	errno = 0;			/* for a word of -1 */
	return word;
}

/* Nothing but the request matters: what it is given is passed as it comes. */
HOOK(int, ioctl, (int fd, unsigned long request, ...))
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return CALL(ioctl, fd, request, arg);
}
