/*
 * refused: makes the calls that a plan on stdin lists, one a line, and says
 * what became of each.
 *
 *	ID KIND A [B]	-> ID PID 0|ERRNO|skip
 *
 * The same source is compiled against glibc, statically, and against musl:
 * calls that a library lacks are skipped.
 */
#define _GNU_SOURCE
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

extern char **environ;

enum { SKIP = -2 };

#define OP(name)	static int op_##name(const char *a, const char *b)
#define UNUSED		(void)a; (void)b

static int
opened(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

OP(open_write)	{ UNUSED; return opened(open(a, O_WRONLY)); }
OP(open_append)	{ UNUSED; return opened(open(a, O_WRONLY | O_APPEND)); }
OP(open_trunc)	{ UNUSED; return opened(open(a, O_RDWR | O_TRUNC)); }
OP(open_make)	{ UNUSED; return opened(open(a, O_WRONLY | O_CREAT, 0600)); }
OP(open_excl)
{
	UNUSED;
	return opened(openat(AT_FDCWD, a, O_RDWR | O_CREAT | O_EXCL, 0600));
}
OP(creat)	{ UNUSED; return opened(creat(a, 0600)); }
OP(open2_write)
{
	struct { uint64_t flags, mode, resolve; } how = { .flags = O_WRONLY };

	UNUSED;
	return opened(syscall(SYS_openat2, AT_FDCWD, a, &how, sizeof how));
}
OP(open_raw)
{
	UNUSED;
	return opened(syscall(SYS_openat, AT_FDCWD, a, O_WRONLY));
}
OP(fopen_write)
{
	FILE *f = fopen(a, "w");

	UNUSED;
	return f != NULL ? (fclose(f), 0) : -1;
}
OP(truncate)	{ UNUSED; return truncate(a, 1); }
OP(unlink)	{ UNUSED; return unlink(a); }
OP(unlinkat)	{ UNUSED; return unlinkat(AT_FDCWD, a, 0); }
OP(remove)	{ UNUSED; return remove(a); }
OP(rmdir)	{ UNUSED; return rmdir(a); }
OP(mkdir)	{ UNUSED; return mkdir(a, 0700); }
OP(mkfifo)	{ UNUSED; return mkfifo(a, 0600); }
OP(symlink)	{ UNUSED; return symlink("to", a); }
OP(link)	{ UNUSED; return link(a, b); }
OP(rename)	{ UNUSED; return rename(a, b); }
OP(chmod)	{ UNUSED; return chmod(a, 0644); }
OP(chown)	{ UNUSED; return chown(a, getuid(), getgid()); }
OP(lchown)	{ UNUSED; return lchown(a, getuid(), getgid()); }
OP(utimes)	{ UNUSED; return utimes(a, NULL); }
OP(utimensat)	{ UNUSED; return utimensat(AT_FDCWD, a, NULL, 0); }
OP(setxattr)	{ UNUSED; return setxattr(a, "user.t", "1", 1, 0); }
OP(removexattr)	{ UNUSED; return removexattr(a, "user.t"); }
OP(mkstemp)
{
	char path[4096];

	UNUSED;
	snprintf(path, sizeof path, "%s.XXXXXX", a);
	return opened(mkstemp(path));
}

static int
unix_call(const char *path, int (*fn)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rv, saved;

	snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	rv = fn(fd, (void *)&un, sizeof un);
	saved = errno;
	close(fd);
	errno = saved;
	return rv;
}
OP(unix_bind)	{ UNUSED; return unix_call(a, bind); }
OP(unix_connect){ UNUSED; return unix_call(a, connect); }

/* Of what is hidden. */
OP(open_read)	{ UNUSED; return opened(open(a, O_RDONLY)); }
OP(fopen_read)
{
	FILE *f = fopen(a, "r");

	UNUSED;
	return f != NULL ? (fclose(f), 0) : -1;
}
OP(stat)	{ struct stat st; UNUSED; return stat(a, &st); }
OP(lstat)	{ struct stat st; UNUSED; return lstat(a, &st); }
OP(access)	{ UNUSED; return access(a, R_OK); }
OP(readlink)	{ char t[64]; UNUSED; return readlink(a, t, sizeof t) < 0 ? -1 : 0; }
OP(realpath)
{
	char *p = realpath(a, NULL);

	UNUSED;
	free(p);
	return p != NULL ? 0 : -1;
}
OP(chdir)
{
	int rv = chdir(a), saved = errno;

	UNUSED;
	if (rv == 0 && chdir("/") != 0)
		abort();
	errno = saved;
	return rv;
}
OP(statfs)	{ struct statvfs st; UNUSED; return statvfs(a, &st); }
OP(getxattr)	{ char t[64]; UNUSED; return getxattr(a, "user.t", t, sizeof t) < 0 && errno != ENODATA ? -1 : 0; }
OP(inotify)
{
	int fd = inotify_init1(IN_CLOEXEC);
	int rv = inotify_add_watch(fd, a, IN_CREATE), saved = errno;

	UNUSED;
	close(fd);
	errno = saved;
	return rv < 0 ? -1 : 0;
}
OP(opendir)
{
	DIR *d = opendir(a);

	UNUSED;
	return d != NULL ? closedir(d) : -1;
}
OP(scandir)
{
	struct dirent **v;
	int n = scandir(a, &v, NULL, NULL);

	UNUSED;
	return n < 0 ? -1 : 0;
}
OP(exec)
{
	pid_t pid = vfork();
	int err = 0;
	char *argv[] = { (char *)(uintptr_t)a, NULL };

	UNUSED;
	if (pid == 0) {
		execve(a, argv, environ);
		_exit(errno);
	}
	waitpid(pid, &err, 0);
	errno = WEXITSTATUS(err);
	return errno == 0 ? 0 : -1;
}
OP(spawn)
{
	char *argv[] = { (char *)(uintptr_t)a, NULL };
	pid_t pid;
	int err = posix_spawn(&pid, a, NULL, NULL, argv, environ);

	UNUSED;
	if (err == 0)
		waitpid(pid, NULL, 0);
	errno = err;
	return err == 0 ? 0 : -1;
}
OP(dlopen)
{
#ifdef REFUSED_DYNAMIC
	UNUSED;
	if (dlopen(a, RTLD_NOW) != NULL)
		return 0;
	errno = EACCES;
	return -1;
#else
	UNUSED;
	return SKIP;
#endif
}

/* To the network: A is an address, B a port. */
static int
inet_call(const char *a, const char *b, int type, int is_send)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), rv, saved;

	inet_pton(AF_INET, a, &in.sin_addr);
	in.sin_port = htons(atoi(b));
	rv = is_send ? sendto(fd, "x", 1, 0, (void *)&in, sizeof in) :
	    connect(fd, (void *)&in, sizeof in);
	saved = errno;
	close(fd);
	errno = saved;
	return rv < 0 ? -1 : 0;
}
OP(tcp)		{ return inet_call(a, b, SOCK_STREAM, 0); }
OP(udp_send)	{ return inet_call(a, b, SOCK_DGRAM, 1); }
OP(udp_connect)	{ return inet_call(a, b, SOCK_DGRAM, 0); }

/* Of no path. */
OP(mount)	{ UNUSED; return mount("none", "/tmp", "tmpfs", 0, NULL); }
OP(umount)	{ UNUSED; return umount2("/tmp", MNT_DETACH); }
OP(pivot_root)	{ UNUSED; return syscall(SYS_pivot_root, "/tmp", "/tmp"); }
OP(chroot)	{ UNUSED; return chroot("/tmp"); }
OP(sethostname)	{ UNUSED; return sethostname("x", 1); }
OP(unshare)	{ UNUSED; return unshare(CLONE_NEWUSER); }
OP(setns)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), rv, saved;

	UNUSED;
	rv = setns(fd, CLONE_NEWNET);
	saved = errno;
	close(fd);
	errno = saved;
	return rv;
}
OP(packet)	{ UNUSED; return opened(socket(AF_PACKET, SOCK_RAW, 0)); }
OP(raw)		{ UNUSED; return opened(socket(AF_INET, SOCK_RAW, 1)); }
OP(netlink)	{ UNUSED; return opened(socket(AF_VSOCK, SOCK_STREAM, 0)); }
OP(bpf)		{ UNUSED; return opened(syscall(SYS_bpf, 0, NULL, 0)); }
OP(perf)
{
	UNUSED;
	return opened(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}
OP(keyctl)	{ UNUSED; return syscall(SYS_keyctl, 0, -3, 0) < 0 ? -1 : 0; }
OP(add_key)
{
	UNUSED;
	return syscall(SYS_add_key, "user", "x", "x", 1, -3) < 0 ? -1 : 0;
}
OP(io_uring)	{ UNUSED; return opened(syscall(SYS_io_uring_setup, 1, NULL)); }
OP(init_module)	{ UNUSED; return syscall(SYS_init_module, NULL, 0, ""); }
OP(swapon)	{ UNUSED; return swapon("/tmp/x", 0); }
OP(reboot)	{ UNUSED; return reboot(RB_DISABLE_CAD); }
OP(kexec)	{ UNUSED; return syscall(SYS_kexec_load, 0, 0, NULL, 0); }
OP(tiocsti)	{ UNUSED; return ioctl(0, TIOCSTI, "x"); }
OP(userfaultfd)	{ UNUSED; return opened(syscall(SYS_userfaultfd, 0)); }
OP(open_handle)	{ UNUSED; return opened(syscall(SYS_open_by_handle_at, -1, NULL, 0)); }

#define ROW(name)	{ #name, op_##name }
static const struct {
	const char	*name;
	int		(*fn)(const char *, const char *);
} ops[] = {
	ROW(open_write), ROW(open_append), ROW(open_trunc), ROW(open_make),
	ROW(open_excl), ROW(creat), ROW(open2_write), ROW(open_raw),
	ROW(fopen_write), ROW(truncate), ROW(unlink), ROW(unlinkat),
	ROW(remove), ROW(rmdir), ROW(mkdir), ROW(mkfifo), ROW(symlink),
	ROW(link), ROW(rename), ROW(chmod), ROW(chown), ROW(lchown),
	ROW(utimes), ROW(utimensat), ROW(setxattr), ROW(removexattr),
	ROW(mkstemp), ROW(unix_bind), ROW(unix_connect), ROW(open_read),
	ROW(fopen_read), ROW(stat), ROW(lstat), ROW(access), ROW(readlink),
	ROW(realpath), ROW(chdir), ROW(statfs), ROW(getxattr), ROW(inotify),
	ROW(opendir), ROW(scandir), ROW(exec), ROW(spawn), ROW(dlopen),
	ROW(tcp), ROW(udp_send), ROW(udp_connect), ROW(mount), ROW(umount),
	ROW(pivot_root), ROW(chroot), ROW(sethostname), ROW(unshare),
	ROW(setns), ROW(packet), ROW(raw), ROW(netlink), ROW(bpf), ROW(perf),
	ROW(keyctl), ROW(add_key), ROW(io_uring), ROW(init_module),
	ROW(swapon), ROW(reboot), ROW(kexec), ROW(tiocsti),
	ROW(userfaultfd), ROW(open_handle),
};

static void
one(const char *id, const char *kind, const char *a, const char *b)
{
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		int rv;

		if (strcmp(ops[i].name, kind) != 0)
			continue;
		errno = 0;
		rv = ops[i].fn(a, b);
		if (rv != SKIP) {
			printf("%s %d %d\n", id, (int)getpid(), rv == 0 ? 0 :
			    errno);
			return;
		}
	}
	printf("%s %d skip\n", id, (int)getpid());
}

int
main(void)
{
	char line[9000], id[64], kind[64], a[4096], b[4096];

	while (fgets(line, sizeof line, stdin) != NULL) {
		a[0] = b[0] = '\0';
		if (sscanf(line, "%63s %63s %4095s %4095s", id, kind, a, b) >=
		    2)
			one(id, kind, a, b);
	}
	return 0;
}
