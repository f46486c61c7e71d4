/*
 * shim_rows: the calls of test_shim, one a row: what it must answer, and what
 * the shim must say of it.  Rows run in their order, in a child whose working
 * directory is T/dir; later ones look at what earlier ones made.
 */
#ifndef FENCE_TESTS_UNIT_SHIM_ROWS_H
#define FENCE_TESTS_UNIT_SHIM_ROWS_H

#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <dlfcn.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <utime.h>

#include "tests/unit/shim_world.h"

extern char **environ;

/* The fortified names have no prototype of their own. */
int	 __open_2(const char *, int);
int	 __open64_2(const char *, int);
int	 __openat_2(int, const char *, int);
int	 __openat64_2(int, const char *, int);

/* Nor have those of programs built against glibc before 2.33. */
int	 __xmknod(int, const char *, mode_t, dev_t *);
int	 __xstat(int, const char *, struct stat *);
int	 __lxstat64(int, const char *, struct stat64 *);
int	 __fxstatat(int, int, const char *, struct stat *, int);

static struct stat		 sb;
static struct stat64		 sb64;
static struct statx		 sbx;
static char			 text[64];
static const struct timeval	 tv[2] = { { 5, 6 }, { 7, 8 } };
static const struct timeval	 tv_wrong[2] = { { 5, 6 }, { 7, 1000000 } };

static int
dial(const char *addr, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	int fd;

	if (inet_pton(AF_INET, addr, &in.sin_addr) == 1) {
		in.sin_port = htons(port);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		return connect(fd, (struct sockaddr *)&in, sizeof in);
	}
	inet_pton(AF_INET6, addr, &in6.sin6_addr);
	in6.sin6_port = htons(port);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(fd, (struct sockaddr *)&in6, sizeof in6);
}

/* '@' for an abstract name; then the length has no NUL. */
static int
dial_unix(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = offsetof(struct sockaddr_un, sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(un.sun_path, path);
	len += strlen(path);
	if (un.sun_path[0] == '@')
		un.sun_path[0] = '\0';
	return connect(fd, (struct sockaddr *)&un, len);
}

static int
dial_family(sa_family_t family, socklen_t len)
{
	struct sockaddr_storage ss = { .ss_family = family };

	return connect(-1, (struct sockaddr *)&ss, len);
}

/* One datagram, by one of the three calls; 0 once it is on its way. */
static int
throw_at(const char *addr, int port, int how)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct iovec iov = { (char *)"x", 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_name = &in,
	    .msg_namelen = sizeof in, .msg_iov = &iov, .msg_iovlen = 1 } };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, addr, &in.sin_addr);
	in.sin_port = htons(port);
	if (how == 0)
		return sendto(fd, "x", 1, 0, (struct sockaddr *)&in,
		    sizeof in) < 0 ? -1 : 0;
	if (how == 1)
		return sendmsg(fd, &m.msg_hdr, 0) < 0 ? -1 : 0;
	return sendmmsg(fd, &m, 1, 0) < 0 ? -1 : 0;
}

/* From here on the kernel refuses each connect(), whatever its address. */
static int
no_connect(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { LEN(code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static volatile int handler_err;

static void
on_signal(int signo)
{
	int fd = open(T "/none", O_RDONLY);

	(void)signo;
	handler_err = fd < 0 ? errno : 0;
}

/* On an alternate stack of the smallest customary size. */
static int
in_handler(void)
{
	static char mem[32768];
	stack_t st = { .ss_sp = mem, .ss_size = sizeof mem };
	struct sigaction sa = {
		.sa_handler = on_signal,
		.sa_flags = SA_ONSTACK,
	};

#ifndef __SANITIZE_ADDRESS__
	st.ss_size = 8192;
#endif
	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	errno = handler_err;
	return handler_err == 0 ? 0 : -1;
}

/* Before any constructor ran, the library's own included. */
static int preinit_err = -1;

static void
preinit(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--rows") != 0)
		return;
	preinit_err = open(T "/file", O_RDONLY) < 0 ? errno : 0;
}

__attribute__((used, section(".preinit_array")))
static void (*const preinit_entry)(int, char **) = preinit;

static int
before_main(void)
{
	errno = preinit_err;
	return preinit_err == 0 ? 0 : -1;
}

static void *
open_in_thread(void *arg)
{
	(void)arg;
	return (void *)(long)(open("../none", O_RDONLY) < 0 ? errno : 0);
}

/* The smallest stack that a thread may have, and a path to be joined. */
static int
in_small_thread(void)
{
	pthread_attr_t attr;
	pthread_t th;
	void *rv = NULL;

	pthread_attr_init(&attr);
#ifndef __SANITIZE_ADDRESS__
	pthread_attr_setstacksize(&attr, 16384);
#endif
	errno = pthread_create(&th, &attr, open_in_thread, NULL);
	if (errno != 0)
		return -1;
	pthread_join(th, &rv);
	errno = (int)(long)rv;
	return -1;
}

static int
shell(const char *cmd)
{
	return WEXITSTATUS(system(cmd));
}

static int
piped(const char *cmd)
{
	FILE *p = popen(cmd, "r");

	return p == NULL ? -1 : WEXITSTATUS(pclose(p));
}

/* Fortified programs call these. */
char	*__realpath_chk(const char *, char *, size_t);
ssize_t	 __readlink_chk(const char *, char *, size_t, size_t);

static char			 real[PATH_MAX];
static struct statfs		 fs;
static struct statvfs		 vfs;
static struct file_handle	 handle;
static int			 mount_id, walk_type;
static struct dirent		**list;
static glob_t			 globbed;
static struct open_how		 how_write = { .flags = O_WRONLY };

static int
inotify(void)
{
	return inotify_init1(IN_CLOEXEC);
}

static int
see_file(const char *path, const struct stat *st, int type)
{
	(void)path;
	(void)st;
	walk_type = type == FTW_DNR ? type : walk_type;
	return 0;
}

static int
see(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)at;
	return see_file(path, st, type);
}

/* A walk that came through, and met a folder that it could not read. */
static int
met(int rv)
{
	errno = rv == 0 && walk_type == FTW_DNR ? EACCES : EINVAL;
	walk_type = 0;
	return -1;
}

static int
see_fts(const char *path)
{
	FTS *fts = fts_open((char *const []){ (char *)path, NULL },
	    FTS_PHYSICAL, NULL);
	FTSENT *ent;

	while ((ent = fts_read(fts)) != NULL)
		if (ent->fts_info == FTS_DNR)
			walk_type = FTW_DNR;
	return fts_close(fts);
}

static int
see_glob(const char *path, int err)
{
	return strcmp(path, T "/shut") == 0 && err == EACCES;
}

static int
globs(int (*fn)(const char *, int), int want)
{
	errno = glob(T "/shut/*", 0, fn, &globbed) == want ? EACCES : EINVAL;
	return -1;
}

static int
run_child(void *arg)
{
	(void)arg;
	return 0;
}

static int
cloned(int flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	int pid = clone(run_child, stack + sizeof stack, flags | SIGCHLD,
	    NULL);

	return pid < 0 ? -1 : reaped(pid);
}

/* The child runs on its parent's stack, and over it. */
static int
vforked(void)
{
	long pid = syscall(SYS_vfork);

	if (pid == 0)
		syscall(SYS_exit_group, 7);
	return reaped(pid);
}

/* A word of -1, which is no error. */
static long
peeked(void)
{
	static volatile long word = -1;
	long rv = 0;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, WUNTRACED);
	errno = 7;
	rv = ptrace(PTRACE_PEEKDATA, pid, (void *)&word, NULL);
	if (errno != 0)
		rv = 0;
	ptrace(PTRACE_KILL, pid, NULL, NULL);
	waitpid(pid, NULL, 0);
	return rv;
}

/* From here on the kernel answers EPERM to what jails refuse. */
static int
refuse_system(void)
{
	static const int nrs[] = { SYS_mount, SYS_umount2, SYS_chroot,
	    SYS_setns, SYS_unshare, SYS_ioctl, SYS_kill, SYS_ptrace,
	    SYS_process_vm_readv, SYS_sethostname, SYS_reboot, SYS_clone,
	    SYS_bpf, SYS_io_uring_setup, SYS_keyctl, SYS_prlimit64 };
	struct sock_filter code[2 * LEN(nrs) + 7] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
	}, *at = code + 1;
	struct sock_fprog prog = { LEN(code), code };
	size_t i;

	for (i = 0; i < LEN(nrs); i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ |
		    BPF_K, nrs[i], 0, 1);
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
		    SECCOMP_RET_ERRNO | EPERM);
	}
	/* The shim reports by a socket of its own. */
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
	    SYS_socket, 0, 3);
	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, args[0]));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
	    AF_UNIX, 1, 0);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ERRNO | EPERM);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	prog.len = at - code;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

#define ARGV	((char *[]){ "a", NULL })
#define PATHS(s) setenv("PATH", (s), 1)

/* name, kind, call, errno expected, record expected */
#define ROWS(R)								\
R(preinit, ST, before_main(), 0, NONE)					\
R(open_ok, FD, open(T "/file", O_RDONLY), 0, NONE)			\
R(open_missing, FD, open(T "/nope", O_RDONLY), ENOENT, NONE)		\
R(open_shut, FD, open(T "/none", O_RDONLY), EACCES,			\
    OPEN(T "/none", O_RDONLY))						\
R(open_shut_rw, FD, open(T "/none", O_RDWR | O_TRUNC), EACCES,		\
    OPEN(T "/none", O_RDWR | O_TRUNC))					\
R(open_dir_write, FD, open(T "/dir", O_WRONLY), EISDIR, NONE)		\
R(open_excl, FD, open(T "/file", O_WRONLY | O_CREAT | O_EXCL, 0600),	\
    EEXIST, NONE)							\
R(open_new, FD, open(T "/new", O_WRONLY | O_CREAT, 0640), 0, NONE)	\
R(open_mode, ST, is_mode(T "/new", 0640), 0, NONE)			\
R(open_ro_read, FD, open(T "/ro/file", O_RDONLY), 0, NONE)		\
R(open_ro_write, FD, open(T "/ro/file", O_WRONLY), EROFS,		\
    OPEN(T "/ro/file", O_WRONLY))					\
R(open_ro_new, FD, open(T "/ro/new", O_WRONLY | O_CREAT, 0600), EROFS,	\
    WRITE(T "/ro/new"))						\
R(open_ro_excl, FD, open(T "/ro/file", O_WRONLY | O_CREAT | O_EXCL, 0),	\
    EEXIST, NONE)							\
R(open_ro_dir, FD, open(T "/ro/dir", O_WRONLY), EISDIR, NONE)		\
R(open_ro_below, FD, open(T "/ro/nope/x", O_WRONLY | O_CREAT, 0),	\
    ENOENT, NONE)							\
R(open_notdir, FD, open(T "/file/x", O_RDONLY), ENOTDIR, NONE)		\
R(open_loop, FD, open(T "/loop", O_RDONLY), ELOOP, NONE)		\
R(open_long, FD, open(too_long(), O_RDONLY), ENAMETOOLONG, NONE)	\
R(open_fault, FD, open(nowhere(), O_RDONLY), EFAULT, NONE)		\
R(open_in_shut, FD, open(T "/shut/file", O_RDONLY), EACCES,		\
    OPEN(T "/shut/file", O_RDONLY))					\
R(open_relative, FD, open("../none", O_RDONLY), EACCES,			\
    OPEN(T "/dir/../none", O_RDONLY))					\
R(open_tmpfile, ST, fd_mode(open(T "/dir", O_TMPFILE | O_RDWR, 0604),	\
    0604), 0, NONE)							\
R(open_tmpfile_ro, FD, open(T "/ro/dir", O_TMPFILE | O_RDWR, 0600),	\
    EROFS, OPEN(T "/ro/dir", O_TMPFILE | O_RDWR))			\
R(open_2, FD, __open_2(T "/none", O_RDONLY), EACCES,			\
    OPEN(T "/none", O_RDONLY))						\
R(open64_ok, FD, open64(T "/new64", O_RDWR | O_CREAT, 0604), 0, NONE)	\
R(open64_mode, ST, is_mode(T "/new64", 0604), 0, NONE)			\
R(open64_shut, FD, open64(T "/none", O_RDONLY), EACCES,			\
    OPEN(T "/none", O_RDONLY))						\
R(open64_2, FD, __open64_2(T "/ro/file", O_RDWR), EROFS,		\
    OPEN(T "/ro/file", O_RDWR))						\
R(openat_ok, FD, openat(at(T), "file", O_RDONLY), 0, NONE)		\
R(openat_badfd, FD, openat(-7, "file", O_RDONLY), EBADF, NONE)		\
R(openat_shut, FD, openat(at(T "/dir"), "../none", O_RDONLY), EACCES,	\
    OPEN(T "/dir/../none", O_RDONLY))					\
R(openat_cwd, FD, openat(AT_FDCWD, "../none", O_RDONLY), EACCES,	\
    OPEN(T "/dir/../none", O_RDONLY))					\
R(openat_abs, FD, openat(-7, T "/none", O_RDONLY), EACCES,		\
    OPEN(T "/none", O_RDONLY))						\
R(openat_new, FD, openat(at(T), "atnew", O_RDWR | O_CREAT, 0606), 0, NONE) \
R(openat_mode, ST, is_mode(T "/atnew", 0606), 0, NONE)			\
R(openat64_ro, FD, openat64(at(T "/ro"), "x", O_RDWR | O_CREAT, 0),	\
    EROFS, OPEN(T "/ro/x", O_RDWR | O_CREAT))				\
R(openat_2, FD, __openat_2(at(T), "none", O_RDONLY), EACCES,		\
    OPEN(T "/none", O_RDONLY))						\
R(openat64_2, FD, __openat64_2(at(T), "none", O_RDONLY), EACCES,	\
    OPEN(T "/none", O_RDONLY))						\
R(creat_ok, FD, creat(T "/made", 0600), 0, NONE)			\
R(creat_shut, FD, creat(T "/none", 0600), EACCES,			\
    OPEN(T "/none", O_WRONLY | O_CREAT | O_TRUNC))			\
R(creat64_ro, FD, creat64(T "/ro/new", 0600), EROFS,			\
    OPEN(T "/ro/new", O_WRONLY | O_CREAT | O_TRUNC))			\
R(fopen_ok, FP, fopen(T "/file", "r"), 0, NONE)				\
R(fopen_missing, FP, fopen(T "/nope", "r"), ENOENT, NONE)		\
R(fopen_mode, FP, fopen(T "/none", "q"), EINVAL, NONE)			\
R(fopen_shut, FP, fopen(T "/none", "re"), EACCES,			\
    OPEN(T "/none", O_RDONLY))						\
R(fopen_ro_w, FP, fopen(T "/ro/file", "w"), EROFS,			\
    OPEN(T "/ro/file", O_WRONLY | O_CREAT | O_TRUNC))			\
R(fopen_ro_a, FP, fopen(T "/ro/new", "a+"), EROFS,			\
    OPEN(T "/ro/new", O_RDWR | O_CREAT | O_APPEND))			\
R(fopen64_ro, FP, fopen64(T "/ro/file", "rb+"), EROFS,			\
    OPEN(T "/ro/file", O_RDWR))						\
R(freopen_ok, FP, freopen(T "/file", "r", fopen(T "/file", "r")), 0,	\
    NONE)								\
R(freopen_null, FP, freopen(NULL, "r", fopen(T "/file", "r+")), 0, NONE) \
R(freopen_shut, FP, freopen(T "/none", "r", fopen(T "/file", "r")),	\
    EACCES, OPEN(T "/none", O_RDONLY))					\
R(freopen64_ro, FP, freopen64(T "/ro/x", "w", fopen(T "/file", "r")),	\
    EROFS, OPEN(T "/ro/x", O_WRONLY | O_CREAT | O_TRUNC))		\
R(opendir_ok, DP, opendir(T "/dir"), 0, NONE)				\
R(opendir_missing, DP, opendir(T "/nope"), ENOENT, NONE)		\
R(opendir_file, DP, opendir(T "/file"), ENOTDIR, NONE)			\
R(opendir_shut, DP, opendir(T "/shut"), EACCES,				\
    OPEN(T "/shut", O_RDONLY | O_DIRECTORY))				\
R(mkdir_ok, ST, mkdir(T "/made.d", 0700), 0, NONE)			\
R(mkdir_exists, ST, mkdir(T "/dir", 0700), EEXIST, NONE)		\
R(mkdir_ro_exists, ST, mkdir(T "/ro/dir", 0700), EEXIST, NONE)		\
R(mkdir_ro, ST, mkdir(T "/ro/d", 0700), EROFS, MAKE(T "/ro/d"))	\
R(mkdirat_ro, ST, mkdirat(at(T "/ro"), "d", 0700), EROFS,		\
    MAKE(T "/ro/d"))							\
R(rmdir_busy, ST, rmdir(T "/ro"), EBUSY, REMOVE(T "/ro"))		\
R(rmdir_ro, ST, rmdir(T "/ro/dir"), EROFS, REMOVE(T "/ro/dir"))		\
R(remove_ro, ST, remove(T "/ro/file"), EROFS, REMOVE(T "/ro/file"))	\
R(unlink_ok, ST, unlink(T "/made"), 0, NONE)				\
R(unlink_dir, ST, unlink(T "/dir"), EISDIR, NONE)			\
R(unlink_ro, ST, unlink(T "/ro/file"), EROFS, REMOVE(T "/ro/file"))	\
R(unlinkat_ro, ST, unlinkat(at(T "/ro"), "dir", AT_REMOVEDIR), EROFS,	\
    REMOVE(T "/ro/dir"))						\
R(rename_ok, ST, rename(T "/new", T "/new2"), 0, NONE)			\
R(rename_missing, ST, rename(T "/nope", T "/x"), ENOENT, NONE)		\
R(rename_xdev, ST, rename(T "/file", T "/ro/x"), EXDEV,			\
    MOVE(T "/file", T "/ro/x"))							\
R(link_xdev, ST, link(T "/ro/file", T "/l"), EXDEV,			\
    LINK(T "/ro/file", T "/l"))						\
R(unlink_busy, ST, unlinkat(at(T), "ro", AT_REMOVEDIR), EBUSY,		\
    REMOVE(T "/ro"))							\
R(rename_ro, ST, rename(T "/ro/file", T "/ro/x"), EROFS,		\
    MAKE(T "/ro/x"))							\
R(renameat_ro, ST, renameat(at(T "/ro"), "file", at(T "/ro"), "x"),	\
    EROFS, MAKE(T "/ro/x"))						\
R(renameat2_ro, ST, renameat2(at(T "/ro"), "file", at(T "/ro"), "y",	\
    RENAME_NOREPLACE), EROFS, MAKE(T "/ro/y"))			\
R(link_ok, ST, link(T "/file", T "/file2"), 0, NONE)			\
R(link_dir, ST, link(T "/dir", T "/dir2"), EPERM, MAKE(T "/dir2"))	\
R(linkat_ro, ST, linkat(at(T "/ro"), "file", at(T "/ro"), "l", 0),	\
    EROFS, MAKE(T "/ro/l"))						\
R(symlink_ok, ST, symlink("x", T "/sym"), 0, NONE)			\
R(symlink_ro, ST, symlink("x", T "/ro/sym"), EROFS, MAKE(T "/ro/sym")) \
R(symlinkat_ro, ST, symlinkat("x", at(T "/ro"), "sym"), EROFS,		\
    MAKE(T "/ro/sym"))						\
R(mkfifo_ok, ST, mkfifo(T "/fifo", 0640), 0, NONE)			\
R(mkfifo_mode, ST, is_stat(T "/fifo", S_IFIFO | 0640), 0, NONE)		\
R(mkfifo_exists, ST, mkfifo(T "/fifo", 0600), EEXIST, NONE)		\
R(mkfifoat_ro, ST, mkfifoat(at(T "/ro"), "f", 0600), EROFS,		\
    MAKE(T "/ro/f"))							\
R(mknod_ok, ST, mknod(T "/node", S_IFREG | 0604, 0), 0, NONE)		\
R(mknod_mode, ST, is_stat(T "/node", S_IFREG | 0604), 0, NONE)		\
R(mknod_wide, ST, mknod(T "/n", S_IFCHR, (dev_t)1 << 40), EINVAL, NONE)	\
R(mknodat_ro, ST, mknodat(at(T "/ro"), "n", S_IFREG, 0), EROFS,		\
    MAKE(T "/ro/n"))							\
R(xmknod_ok, ST, __xmknod(0, T "/node2", S_IFREG | 0600, &(dev_t){ 0 }), \
    0, NONE)								\
R(mkstemp_ok, FD, mkstemp(letters(T "/t.XXXXXX")), 0, NONE)		\
R(mkstemp_wrong, FD, mkstemp(letters(T "/t.XXXXX")), EINVAL, NONE)	\
R(mkostemps_ok, FD, mkostemps(letters(T "/t.XXXXXX.c"), 2, O_CLOEXEC),	\
    0, NONE)								\
R(mkdtemp_ok, ST, mkdtemp(letters(T "/d.XXXXXX")) ? 0 : -1, 0, NONE)	\
R(stat_ok, ST, stat(T "/file", &sb), 0, NONE)				\
R(stat_missing, ST, stat(T "/nope", &sb), ENOENT, NONE)			\
R(stat_fault, ST, stat(nowhere(), &sb), EFAULT, NONE)			\
R(stat_shut, ST, stat(T "/shut/x", &sb), EACCES, LOOK(T "/shut/x"))			\
R(lstat_loop, ST, lstat(T "/loop", &sb), 0, NONE)			\
R(stat_loop, ST, stat(T "/loop", &sb), ELOOP, NONE)			\
R(fstatat_empty, ST, fstatat(at(T), "", &sb, AT_EMPTY_PATH), 0, NONE)	\
R(fstatat_badfd, ST, fstatat(-7, "x", &sb, 0), EBADF, NONE)		\
R(fstatat_flags, ST, fstatat(at(T), "file", &sb, 1 << 30), EINVAL, NONE) \
R(xstat_ok, ST, __xstat(1, T "/file", &sb), 0, NONE)			\
R(lxstat64_ok, ST, __lxstat64(1, T "/loop", &sb64), 0, NONE)		\
R(fxstatat_no, ST, __fxstatat(1, at(T), "nope", &sb, 0), ENOENT, NONE)	\
R(statx_ok, ST, statx(at(T), "file", 0, STATX_SIZE, &sbx), 0, NONE)	\
R(statx_missing, ST, statx(at(T), "nope", 0, 0, &sbx), ENOENT, NONE)	\
R(syscall_ok, ST, syscall(SYS_statx, at(T), "file", 0, STATX_SIZE,	\
    &sbx), 0, NONE)							\
R(syscall_size, ST, sbx.stx_size == 4 ? 0 : -1, 0, NONE)		\
R(syscall_missing, ST, syscall(SYS_statx, at(T), "nope", 0, 0, &sbx),	\
    ENOENT, NONE)							\
R(syscall_fd, ST, syscall(SYS_close, -7), EBADF, NONE)			\
R(syscall_six, ST, syscall(SYS_mmap, 0L, 4096L, PROT_READ, MAP_PRIVATE,	\
    at(T "/file"), 1L) > 0 ? 0 : -1, EINVAL, NONE)			\
R(access_ok, ST, access(T "/file", R_OK), 0, NONE)			\
R(access_ro, ST, access(T "/ro/file", W_OK), EROFS, NONE)		\
R(access_mode, ST, access(T "/file", 64), EINVAL, NONE)			\
R(eaccess_shut, ST, eaccess(T "/none", R_OK), EACCES, LOOK(T "/none"))		\
R(faccessat_eff, ST, faccessat(at(T), "file", R_OK, AT_EACCESS), 0, NONE) \
R(readlink_ok, ST, (int)readlink(T "/loop", text, sizeof text), 0, NONE) \
R(readlink_file, ST, (int)readlink(T "/file", text, sizeof text),	\
    EINVAL, NONE)							\
R(chmod_ok, ST, chmod(T "/node", 0640), 0, NONE)			\
R(chmod_is, ST, is_stat(T "/node", S_IFREG | 0640), 0, NONE)		\
R(chmod_ro, ST, chmod(T "/ro/file", 0640), EROFS, CHANGE(T "/ro/file"))			\
R(fchmodat_ok, ST, fchmodat(at(T), "node", 0600, 0), 0, NONE)		\
R(chown_self, ST, chown(T "/node", getuid(), -1), 0, NONE)		\
R(lchown_other, ST, lchown(T "/node", 7, -1), EINVAL, NONE)		\
R(utimes_ok, ST, utimes(T "/node", tv), 0, NONE)			\
R(utimes_time, ST, is_time(T "/node", 7, 8000), 0, NONE)		\
R(utimes_wrong, ST, utimes(T "/node", tv_wrong), EINVAL, NONE)		\
R(utimes_now, ST, utimes(T "/node", NULL), 0, NONE)			\
R(lutimes_link, ST, lutimes(T "/loop", tv), 0, NONE)			\
R(futimesat_ok, ST, futimesat(at(T), "node", tv), 0, NONE)		\
R(utime_ok, ST, utime(T "/node", &(struct utimbuf){ 5, 6 }), 0, NONE)	\
R(utime_time, ST, is_time(T "/node", 6, 0), 0, NONE)			\
R(utimensat_null, ST, times_of_nothing(at(T)), EINVAL, NONE)		\
R(utimensat_ro, ST, utimensat(at(T "/ro"), "file", NULL, 0), EROFS,	\
    CHANGE(T "/ro/file"))								\
R(truncate_ok, ST, truncate(T "/node", 9), 0, NONE)			\
R(truncate_minus, ST, truncate(T "/node", -1), EINVAL, NONE)		\
R(truncate_ro, ST, truncate(T "/ro/file", 0), EROFS,			\
    CHANGE(T "/ro/file"))					\
R(rename_dirs, ST, rename(T "/ro/file", T "/ro/dir/x"), EROFS,		\
    MOVE(T "/ro/file", T "/ro/dir/x"))					\
R(lstat_shut, ST, lstat(T "/shut/x", &sb), EACCES, LOOK(T "/shut/x"))	\
R(stat64_shut, ST, stat64(T "/shut/x", &sb64), EACCES, LOOK(T "/shut/x")) \
R(xstat_shut, ST, __xstat(1, T "/shut/x", &sb), EACCES,			\
    LOOK(T "/shut/x"))							\
R(fstatat_shut, ST, fstatat(at(T), "shut/x", &sb, 0), EACCES,		\
    LOOK(T "/shut/x"))							\
R(statx_shut, ST, statx(at(T), "shut/x", 0, 0, &sbx), EACCES,		\
    LOOK(T "/shut/x"))							\
R(access_shut, ST, access(T "/none", R_OK), EACCES, LOOK(T "/none"))	\
R(faccessat_shut, ST, faccessat(at(T), "none", R_OK, AT_EACCESS),	\
    EACCES, LOOK(T "/none"))						\
R(readlink_shut, ST, (int)readlink(T "/shut/x", text, sizeof text),	\
    EACCES, LOOK(T "/shut/x"))						\
R(readlink_chk, ST, (int)__readlink_chk(T "/shut/x", text, 9, 64),	\
    EACCES, LOOK(T "/shut/x"))						\
R(realpath_ok, ST, realpath(T "/dir/../file", real) ? (errno = 0) : -1,	\
    0, NONE)								\
R(realpath_no, ST, realpath(T "/nope", NULL) ? 0 : -1, ENOENT, NONE)	\
R(realpath_shut, ST, realpath(T "/shut/x", NULL) ? 0 : -1, EACCES,	\
    LOOK(T "/shut/x"))							\
R(realpath_chk, ST, __realpath_chk(T "/shut/x", real, sizeof real) ? 0 :	\
    -1, EACCES, LOOK(T "/shut/x"))					\
R(chdir_ok, ST, chdir(T "/dir"), 0, NONE)				\
R(chdir_shut, ST, chdir(T "/shut/x"), EACCES, LOOK(T "/shut/x"))	\
R(statfs_ok, ST, statfs(T "/file", &fs), 0, NONE)			\
R(statfs_shut, ST, statfs(T "/shut/x", &fs), EACCES, LOOK(T "/shut/x"))	\
R(statvfs_shut, ST, statvfs(T "/shut/x", &vfs), EACCES,			\
    LOOK(T "/shut/x"))							\
R(inotify_ok, ST, inotify_add_watch(inotify(), T "/dir", IN_CREATE), 0,	\
    NONE)								\
R(inotify_shut, ST, inotify_add_watch(inotify(), T "/shut", IN_CREATE),	\
    EACCES, LOOK(T "/shut"))						\
R(handle_shut, ST, name_to_handle_at(at(T), "shut/x", &handle, &mount_id, \
    0), EACCES, LOOK(T "/shut/x"))					\
R(getxattr_none, ST, (int)getxattr(T "/file", "user.a", text, 9),	\
    ENODATA, NONE)							\
R(getxattr_shut, ST, (int)getxattr(T "/shut/x", "user.a", text, 9),	\
    EACCES, LOOK(T "/shut/x"))						\
R(listxattr_shut, ST, (int)llistxattr(T "/shut/x", text, 9), EACCES,	\
    LOOK(T "/shut/x"))							\
R(fchmod_ok, ST, fchmod(at(T "/node"), 0600), 0, NONE)			\
R(fchmod_ro, ST, fchmod(at(T "/ro/file"), 0640), EROFS,			\
    CHANGE(T "/ro/file"))						\
R(fchmodat_ro, ST, fchmodat(at(T "/ro"), "file", 0640, 0), EROFS,	\
    CHANGE(T "/ro/file"))						\
R(lchmod_ro, ST, lchmod(T "/ro/file", 0640), EROFS,			\
    CHANGE(T "/ro/file"))						\
R(chown_ro, ST, chown(T "/ro/file", getuid(), -1), EROFS,		\
    CHANGE(T "/ro/file"))						\
R(lchown_ro, ST, lchown(T "/ro/file", getuid(), -1), EROFS,		\
    CHANGE(T "/ro/file"))						\
R(fchown_ro, ST, fchown(at(T "/ro/file"), getuid(), -1), EROFS,		\
    CHANGE(T "/ro/file"))						\
R(fchownat_ro, ST, fchownat(at(T "/ro"), "file", getuid(), -1, 0), EROFS, \
    CHANGE(T "/ro/file"))						\
R(utimes_ro, ST, utimes(T "/ro/file", tv), EROFS, CHANGE(T "/ro/file"))	\
R(utime_ro, ST, utime(T "/ro/file", NULL), EROFS, CHANGE(T "/ro/file"))	\
R(futimens_ok, ST, futimens(at(T "/node"), NULL), 0, NONE)		\
R(futimens_ro, ST, futimens(at(T "/ro/file"), NULL), EROFS,		\
    CHANGE(T "/ro/file"))						\
R(futimens_badfd, ST, futimens(-7, NULL), EBADF, NONE)			\
R(futimes_ro, ST, futimes(at(T "/ro/file"), tv), EROFS,			\
    CHANGE(T "/ro/file"))						\
R(setxattr_ro, ST, setxattr(T "/ro/file", "user.a", "x", 1, 0), EROFS,	\
    CHANGE(T "/ro/file"))						\
R(lsetxattr_ro, ST, lsetxattr(T "/ro/file", "user.a", "x", 1, 0), EROFS, \
    CHANGE(T "/ro/file"))						\
R(fsetxattr_ro, ST, fsetxattr(at(T "/ro/file"), "user.a", "x", 1, 0),	\
    EROFS, CHANGE(T "/ro/file"))					\
R(removexattr_ro, ST, removexattr(T "/ro/file", "user.a"), EROFS,	\
    CHANGE(T "/ro/file"))						\
R(lremovexattr_ro, ST, lremovexattr(T "/ro/file", "user.a"), EROFS,	\
    CHANGE(T "/ro/file"))						\
R(fremovexattr_ro, ST, fremovexattr(at(T "/ro/file"), "user.a"), EROFS,	\
    CHANGE(T "/ro/file"))						\
R(scandir_ok, ST, scandir(T "/dir", &list, NULL, NULL), 0, NONE)	\
R(scandir_no, ST, scandir(T "/nope", &list, NULL, NULL), ENOENT, NONE)	\
R(scandir_shut, ST, scandir(T "/shut", &list, NULL, NULL), EACCES,	\
    OPEN(T "/shut", O_RDONLY | O_DIRECTORY))				\
R(scandirat_shut, ST, scandirat(at(T), "shut", &list, NULL, NULL),	\
    EACCES, OPEN(T "/shut", O_RDONLY | O_DIRECTORY))			\
R(ftw_ok, ST, ftw(T "/dir", see_file, 9), 0, NONE)			\
R(nftw_shut, ST, met(nftw(T "/shut", see, 9, FTW_PHYS)), EACCES,	\
    OPEN(T "/shut", O_RDONLY | O_DIRECTORY))				\
R(nftw_chdir, ST, met(nftw(T "/up", see, 9, FTW_PHYS | FTW_CHDIR)),	\
    EACCES, OPEN(T "/up/shut", O_RDONLY | O_DIRECTORY))			\
R(ftw_shut, ST, met(ftw(T "/up", see_file, 9)), EACCES,			\
    OPEN(T "/up/shut", O_RDONLY | O_DIRECTORY))				\
R(nftw_below, ST, nftw(T "/shut/x", see, 9, FTW_PHYS), EACCES,		\
    LOOK(T "/shut/x"))							\
R(fts_shut, ST, met(see_fts(T "/up")), EACCES,				\
    OPEN(T "/up/shut", O_RDONLY | O_DIRECTORY))				\
R(glob_ok, ST, glob(T "/f*", 0, NULL, &globbed), 0, NONE)		\
R(glob_shut, ST, globs(NULL, GLOB_NOMATCH), EACCES,			\
    OPEN(T "/shut", O_RDONLY | O_DIRECTORY))				\
R(glob_stops, ST, globs(see_glob, GLOB_ABORTED), EACCES,		\
    OPEN(T "/shut", O_RDONLY | O_DIRECTORY))				\
R(dlopen_ok, ST, dlopen("libc.so.6", RTLD_NOW) ? 0 : -1, 0, NONE)	\
R(dlopen_shut, ST, dlopen(T "/none", RTLD_NOW) ? 0 :			\
    (errno = EACCES, -1), EACCES, OPEN(T "/none", O_RDONLY))		\
R(dlopen_null, ST, dlopen(NULL, RTLD_NOW) ? 0 : -1, 0, NONE)		\
R(raw_openat, ST, (int)syscall(SYS_openat, AT_FDCWD, T "/none", O_RDWR,	\
    0), EACCES, OPEN(T "/none", O_RDWR))				\
R(raw_openat2, ST, (int)syscall(SYS_openat2, AT_FDCWD, T "/ro/file",	\
    &how_write, sizeof how_write), EROFS, OPEN(T "/ro/file", O_WRONLY))	\
R(raw_openat2_ok, FD, (int)syscall(SYS_openat2, AT_FDCWD, T "/file",	\
    &how_write, sizeof how_write), 0, NONE)				\
R(raw_unlinkat, ST, (int)syscall(SYS_unlinkat, AT_FDCWD, T "/ro/file",	\
    0), EROFS, REMOVE(T "/ro/file"))					\
R(raw_renameat2, ST, (int)syscall(SYS_renameat2, AT_FDCWD, T "/ro/file", \
    AT_FDCWD, T "/ro/dir/x", 0), EROFS, MOVE(T "/ro/file",		\
    T "/ro/dir/x"))							\
R(raw_statx, ST, (int)syscall(SYS_statx, AT_FDCWD, T "/shut/x", 0, 0,	\
    &sbx), EACCES, LOOK(T "/shut/x"))					\
R(raw_execve, ST, (int)syscall(SYS_execve, T "/file", ARGV, environ),	\
    EACCES, EXEC(T "/file"))						\
R(raw_nosys, ST, (int)syscall(999999), ENOSYS, NONE)			\
R(raw_negative, ST, (int)syscall(-5), ENOSYS, NONE)			\
R(ioctl_ok, ST, ioctl(at(T "/file"), FIONREAD, &mount_id), 0, NONE)	\
R(ioctl_notty, ST, ioctl(at(T "/file"), TIOCSTI, ""), ENOTTY, NONE)	\
R(ptrace_none, ST, (int)ptrace(PTRACE_ATTACH, 999999, NULL, NULL), ESRCH, \
    NONE)								\
R(ptrace_peek, ST, peeked() == -1 ? 0 : -1, 0, NONE)			\
R(kill_self, ST, kill(getpid(), 0), 0, NONE)				\
R(kill_none, ST, kill(999999, 0), ESRCH, NONE)				\
R(socket_type, ST, socket(AF_INET, 99, 0), EINVAL, NONE)		\
R(clone_ok, ST, cloned(0), 0, NONE)					\
R(clone_vm, ST, cloned(CLONE_VM), 0, NONE)				\
R(vfork_raw, ST, vforked(), 7, NONE)					\
R(mount_not, EX, (refuse_system(), mount("a", T, "tmpfs", MS_BIND, "")),	\
    EPERM, SYSTEM(MS_BIND))						\
R(umount_not, EX, (refuse_system(), umount(T)), EPERM, SYSTEM(0))	\
R(chroot_not, EX, (refuse_system(), chroot(T)), EPERM, SYSTEM(0))	\
R(setns_not, EX, (refuse_system(), setns(0, CLONE_NEWNET)), EPERM,	\
    SYSTEM(CLONE_NEWNET))						\
R(unshare_not, EX, (refuse_system(), unshare(CLONE_NEWNET)), EPERM,	\
    SYSTEM(CLONE_NEWNET))						\
R(unshare_user, EX, (refuse_system(), unshare(CLONE_NEWUSER)), EPERM,	\
    WIRE_NEST, "/", CLONE_NEWUSER)					\
R(socket_not, EX, (refuse_system(), socket(AF_PACKET, SOCK_RAW, 0)), EPERM, \
    SYSTEM(AF_PACKET))							\
R(ioctl_not, EX, (refuse_system(), ioctl(0, TIOCSTI, "x")), EPERM,	\
    SYSTEM(TIOCSTI))							\
R(ioctl_other, EX, (refuse_system(), ioctl(0, FIONREAD, &mount_id)), EPERM, \
    NONE)								\
R(kill_init, EX, (refuse_system(), kill(1, 9)), EPERM, SYSTEM(1))	\
R(kill_other, EX, (refuse_system(), kill(77, 9)), EPERM, NONE)		\
R(ptrace_init, EX, (refuse_system(), ptrace(PTRACE_ATTACH, 1, 0, 0)),	\
    EPERM, SYSTEM(1))							\
R(vm_read_init, EX, (refuse_system(), process_vm_readv(1, NULL, 0, NULL, \
    0, 0)), EPERM, SYSTEM(1))						\
R(hostname_not, EX, (refuse_system(), sethostname("a", 1)), EPERM,	\
    SYSTEM(0))								\
R(reboot_not, EX, (refuse_system(), reboot(0x1234567)), EPERM,		\
    SYSTEM(0x1234567))							\
R(clone_not, EX, (refuse_system(), cloned(CLONE_NEWNET)), EPERM,	\
    SYSTEM(CLONE_NEWNET | SIGCHLD))					\
R(raw_bpf, EX, (refuse_system(), syscall(SYS_bpf, 5, NULL, 0)), EPERM,	\
    SYSTEM(5))								\
R(raw_io_uring, EX, (refuse_system(), syscall(SYS_io_uring_setup, 8,	\
    NULL)), EPERM, SYSTEM(8))						\
R(raw_keyctl, EX, (refuse_system(), syscall(SYS_keyctl, 3, 0)), EPERM,	\
    SYSTEM(3))								\
R(raw_prlimit, EX, (refuse_system(), syscall(SYS_prlimit64, 1, 0, NULL,	\
    NULL)), EPERM, SYSTEM(1))						\
R(bind_ok, ST, listen_at(T "/made.s", SOCK_STREAM, 0600) < 0, 0, NONE)	\
R(bind_used, ST, listen_at(T "/sock", SOCK_STREAM, 0600), EADDRINUSE,	\
    NONE)								\
R(bind_ro, ST, listen_at(T "/ro/s", SOCK_STREAM, 0600), EROFS,		\
    MAKE(T "/ro/s"))							\
R(bind_fault, ST, bind(-7, nowhere_sa(), 20), EBADF, NONE)		\
R(connect4, ST, dial("192.0.2.7", 443), EACCES, WIRE_CONNECT,		\
    "192.0.2.7", 443)							\
R(connect6, ST, dial("2001:db8::7", 8080), EACCES, WIRE_CONNECT,	\
    "2001:db8::7", 8080)						\
R(sendto4, ST, throw_at("192.0.2.7", 443, 0), EACCES, WIRE_CONNECT,	\
    "192.0.2.7", 443)							\
R(sendmsg4, ST, throw_at("192.0.2.7", 53, 1), EACCES, WIRE_CONNECT,	\
    "192.0.2.7", 53)							\
R(sendmmsg4, ST, throw_at("192.0.2.7", 123, 2), EACCES, WIRE_CONNECT,	\
    "192.0.2.7", 123)							\
R(sendto_ok, ST, throw_at("127.0.0.1", 9, 0), 0, NONE)			\
R(sendmsg_ok, ST, throw_at("127.0.0.1", 9, 1), 0, NONE)			\
R(connect_refused, ST, dial("127.0.0.1", 1), ECONNREFUSED, NONE)	\
R(connect_badfd, ST, dial_family(AF_INET, 16), EBADF, NONE)		\
R(unix_ok, ST, dial_unix(T "/sock"), 0, NONE)				\
R(unix_missing, ST, dial_unix(T "/nope"), ENOENT, NONE)			\
R(unix_shut, ST, dial_unix(T "/sock.shut"), EACCES, WIRE_CONNECT,	\
    T "/sock.shut", 0)							\
R(unix_relative, ST, dial_unix("../sock.shut"), EACCES, WIRE_CONNECT,	\
    T "/dir/../sock.shut", 0)						\
R(unix_abstract, EX, (no_connect(), dial_unix("@a b")), EPERM,		\
    WIRE_CONNECT, "@a b", 0)						\
R(unix_nameless, EX, (no_connect(), dial_family(AF_UNIX, 2)), EPERM,	\
    NONE)								\
R(connect_other, EX, (no_connect(), dial_family(AF_NETLINK, 12)), EPERM, \
    NONE)								\
R(connect_short, EX, (no_connect(), dial_family(AF_INET, 7)), EPERM,	\
    NONE)								\
R(connect_empty, EX, (no_connect(), dial_family(AF_INET, 0)), EPERM,	\
    NONE)								\
R(execve_ok, EX, execve("/bin/true", ARGV, environ), 0, NONE)		\
R(execve_missing, EX, execve(T "/nope", ARGV, environ), ENOENT, NONE)	\
R(execve_format, EX, execve(T "/empty", ARGV, environ), ENOEXEC, NONE)	\
R(execve_plain, EX, execve(T "/file", ARGV, environ), EACCES,		\
    EXEC(T "/file"))							\
R(execve_vfork, VF, execve(T "/file", ARGV, environ), EACCES,		\
    EXEC(T "/file"))							\
R(open_vfork, VF, open("../none", O_RDONLY), EACCES,			\
    OPEN(T "/dir/../none", O_RDONLY))					\
R(execv_plain, EX, execv("../file", ARGV), EACCES,			\
    EXEC(T "/dir/../file"))						\
R(execl_ok, EX, execl("/bin/sh", "sh", "-c", "exit $#", "0", NULL), 0,	\
    NONE)								\
R(execl_args, EX, execl("/bin/sh", "sh", "-c", "exit $#", "0", "1", "2", \
    NULL), 2, NONE)							\
R(execl_plain, EX, execl(T "/file", "x", NULL), EACCES, EXEC(T "/file")) \
R(execle_env, EX, execle("/bin/sh", "sh", "-c", "exit $N", NULL,	\
    ((char *[]){ "N=5", NULL })), 5, NONE)				\
R(execle_plain, EX, execle(T "/file", "x", NULL, environ), EACCES,	\
    EXEC(T "/file"))							\
R(execvp_ok, EX, execvp("true", ARGV), 0, NONE)				\
R(execvp_missing, EX, execvp("no-such-program", ARGV), ENOENT, NONE)	\
R(execvp_slash, EX, execvp("../file", ARGV), EACCES,			\
    EXEC(T "/dir/../file"))						\
R(execvp_path, EX, (PATHS("/bin:" T ":/usr/bin"), execvp("file.x",	\
    ARGV)), EACCES, EXEC(T "/file.x"))					\
R(execvp_shut, EX, (PATHS(T "/dir:" T "/shut/"), execvp("gone", ARGV)),	\
    EACCES, EXEC(T "/shut/gone"))					\
R(execvpe_path, EX, (PATHS("/bin:" T), execvpe("file.x", ARGV,		\
    environ)), EACCES, EXEC(T "/file.x"))				\
R(execlp_path, EX, (PATHS("/bin:" T), execlp("file.x", "x", NULL)),	\
    EACCES, EXEC(T "/file.x"))						\
R(fexecve_ok, EX, fexecve(at("/bin/true"), ARGV, environ), 0, NONE)	\
R(fexecve_plain, EX, fexecve(at(T "/file"), ARGV, environ), EACCES,	\
    EXEC(T "/file"))							\
R(execveat_plain, EX, execveat(at(T), "file", ARGV, environ, 0),	\
    EACCES, EXEC(T "/file"))						\
R(spawn_ok, SP, posix_spawn(&p, "/bin/true", NULL, NULL, ARGV,		\
    environ), 0, NONE)							\
R(spawn_missing, SP, posix_spawn(&p, T "/nope", NULL, NULL, ARGV,	\
    environ), ENOENT, NONE)						\
R(spawn_plain, SP, posix_spawn(&p, T "/file", NULL, NULL, ARGV,		\
    environ), EACCES, EXEC(T "/file"))					\
R(spawnp_path, SP, (PATHS("/bin:" T), posix_spawnp(&p, "file.x", NULL,	\
    NULL, ARGV, environ)), EACCES, EXEC(T "/file.x"))			\
R(handler, ST, in_handler(), EACCES, OPEN(T "/none", O_RDONLY))		\
R(small_stack, ST, in_small_thread(), EACCES,				\
    OPEN(T "/dir/../none", O_RDONLY))					\
R(closed_fds, EX, (close(0), close(1), close(2), open(T "/none", O_RDONLY)), \
    EACCES, OPEN(T "/none", O_RDONLY))					\
R(system_ok, EX, errno = shell("cat " T "/file >/dev/null"), 0, NONE)	\
R(popen_ok, EX, errno = piped("cat " T "/file >/dev/null"), 0, NONE)	\
R(sh_system, EX, errno = shell("(: > " T "/ro/x) 2>/dev/null || exit 30"), \
    EROFS, OPEN(T "/ro/x", O_WRONLY | O_CREAT | O_TRUNC))		\
R(sh_popen, EX, errno = piped("(: > " T "/ro/x) 2>/dev/null || exit 30"), \
    EROFS, OPEN(T "/ro/x", O_WRONLY | O_CREAT | O_TRUNC))

static int
fd_mode(int fd, mode_t mode)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	close(fd);
	errno = (st.st_mode & 07777) == mode ? 0 : EINVAL;
	return errno == 0 ? 0 : -1;
}

static int
is_mode(const char *path, mode_t mode)
{
	return fd_mode(at(path), mode);
}

static int
is_stat(const char *path, mode_t mode)
{
	if (fstatat(AT_FDCWD, path, &sb, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	errno = sb.st_mode == mode ? 0 : EINVAL;
	return errno == 0 ? 0 : -1;
}

static int
is_time(const char *path, time_t sec, long nsec)
{
	if (stat(path, &sb) < 0)
		return -1;
	return sb.st_mtim.tv_sec == sec && sb.st_mtim.tv_nsec == nsec ? 0 : -1;
}

/* A template that may be written to. */
static char *
letters(const char *template)
{
	static char buf[64];

	return strcpy(buf, template);
}

static const char *
too_long(void)
{
	static char path[8192];

	memset(path, 'a', sizeof path - 1);
	path[0] = '/';
	return path;
}

static const char *
nowhere(void)
{
	return (const char *)(uintptr_t)8;
}

static const struct sockaddr *
nowhere_sa(void)
{
	return (const struct sockaddr *)(uintptr_t)8;
}

/* By way of a pointer, because the header says that this is never done. */
static int
times_of_nothing(int fd)
{
	int (*volatile fn)(int, const char *, const struct timespec *, int) =
	    utimensat;

	return fn(fd, NULL, NULL, 0);
}

ROWS(ROW_FN)

static const struct row rows[] = {
	ROWS(ROW_DATA)
};

#endif
