/*
 * anyop SEED COUNT: calls what the shim hooks, in an order and with arguments
 * that the seed chose, in the working directory: a/ may be written, b/ is
 * read-only, c/ may not be read, and "/etc" stands for the rest.  Prints of
 * each call what it answered, as far as that is the same in every run; at the
 * end what became of the tree.  Two runs of one seed print the same, whatever
 * is preloaded.
 */
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

extern char **environ;

static uint64_t state;
static char path[PATH_MAX], other[PATH_MAX], text[256];
static int dir_fd;
static struct stat st;
static long seen;		/* what a call found, beside its answer */

static unsigned
dice(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Mostly of the tree; now and then something that is no name. */
static void
choose(char *buf)
{
	static const char *const tops[] = { "a", "a", "a", "a", "b", "b", "c",
	    "a/d", "a/../b", "./a", "b/d", "/etc", "/proc/self", "/nope" };
	static const char *const leaves[] = { "f", "g", "h", "i", "d", "e",
	    "link", "loop", "new", "new2", "sock", "fifo", "f/x", "nope/x",
	    "d/", ".", "..", "hostname", "a name" };
	unsigned kind = dice(100);

	if (kind == 0)
		strcpy(buf, "");
	else if (kind == 1)
		strcpy(buf, tops[dice(sizeof tops / sizeof *tops)]);
	else if (kind == 2) {
		memset(buf, 'x', PATH_MAX - 1);
		buf[PATH_MAX - 1] = '\0';
	} else
		snprintf(buf, PATH_MAX, "%s/%s",
		    tops[dice(sizeof tops / sizeof *tops)],
		    leaves[dice(sizeof leaves / sizeof *leaves)]);
}

static int
open_flags(void)
{
	static const int how[] = { O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR,
	    O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
	    O_WRONLY | O_TRUNC, O_RDONLY | O_DIRECTORY, O_PATH,
	    O_WRONLY | O_APPEND, O_RDONLY | O_NOFOLLOW };

	return how[dice(sizeof how / sizeof *how)] | O_NONBLOCK | O_CLOEXEC;
}

static long
shut(int fd)
{
	int saved = errno;

	if (fd < 0)
		return -1;
	seen = fcntl(fd, F_GETFL) & O_ACCMODE;
	close(fd);
	errno = saved;
	return 0;
}

static long
shut_file(FILE *f)
{
	if (f == NULL)
		return -1;
	fclose(f);
	return 0;
}

static long
shut_dir(DIR *d)
{
	if (d == NULL)
		return -1;
	while (readdir(d) != NULL)
		seen += path[0] != '/';
	closedir(d);
	return 0;
}

static long
found(long rv)
{
	if (rv == 0)
		seen = (long)st.st_mode * 4096 + (S_ISREG(st.st_mode) ?
		    st.st_size : 0);
	return rv;
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static long
walk_fts(void)
{
	FTS *fts = fts_open((char *const []){ path, NULL },
	    FTS_PHYSICAL | FTS_NOSTAT, by_name);
	FTSENT *e;

	if (fts == NULL)
		return -1;
	while ((e = fts_read(fts)) != NULL && seen < 4000)
		seen += e->fts_info + strlen(e->fts_name);
	return fts_close(fts) < 0 ? -1 : 0;
}

static int
met(const char *p, const struct stat *s, int type, struct FTW *at)
{
	(void)s;
	seen += type + at->level + strlen(p);
	return seen > 4000;
}

static int
met_flat(const char *p, const struct stat *s, int type)
{
	(void)s;
	seen += type + strlen(p);
	return seen > 4000;
}

static int
met_glob(const char *p, int err)
{
	seen += err + strlen(p);
	return 0;
}

static bool
is_tree(void)
{
	return path[0] != '/' && strlen(path) < 20;
}

static long
globbed(void)
{
	glob_t g = { 0 };
	int rv;

	if (!is_tree())
		return 0;
	strcat(path, "/*");
	rv = glob(path, 0, dice(2) ? met_glob : NULL, &g);
	seen += g.gl_pathc;
	globfree(&g);
	return rv;
}

static long
listed(void)
{
	struct dirent **v;
	int n = scandir(path, &v, NULL, alphasort);

	if (n < 0)
		return -1;
	seen = path[0] == '/' ? 0 : n;
	while (n > 0)
		free(v[--n]);
	free(v);
	return 0;
}

static long
bound(int fd)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int rv;

	snprintf(un.sun_path, sizeof un.sun_path, "%.100s", path);
	rv = dice(2) ? bind(fd, (struct sockaddr *)&un, sizeof un) :
	    connect(fd, (struct sockaddr *)&un, sizeof un);
	return rv < 0 ? (shut(fd), -1) : shut(fd);
}

static long
dialled(void)
{
	static const char *const hosts[] = { "\177\0\0\1", "\300\0\2\7",
	    "\306\022\0\1" };
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_port = htons(9) };
	int type = dice(2) ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rv;

	memcpy(&in.sin_addr, hosts[dice(2)], 4);
	rv = type == SOCK_DGRAM ? sendto(fd, "x", 1, 0,
	    (struct sockaddr *)&in, sizeof in) :
	    connect(fd, (struct sockaddr *)&in, sizeof in);
	return rv < 0 ? (shut(fd), -1) : shut(fd);
}

static long
ended(pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	seen = status;
	return 0;
}

static long
executed(void)
{
	char *argv[] = { (char *)"x", NULL };
	char *file = dice(2) ? path : (char *)"true";
	pid_t pid;
	int err;

	switch (dice(4)) {
	case 0:
		pid = vfork();
		break;
	case 1:
		pid = fork();
		break;
	case 2:
		err = posix_spawn(&pid, path, NULL, NULL, argv, environ);
		return err != 0 ? (errno = err, -1) : ended(pid);
	default:
		err = posix_spawnp(&pid, file, NULL, NULL, argv, environ);
		return err != 0 ? (errno = err, -1) : ended(pid);
	}
	if (pid == 0) {
		if (file == path)
			execv(path, argv);
		else
			execvp(file, argv);
		_exit(errno);
	}
	return ended(pid);
}

static long
commanded(void)
{
	char line[64] = "test -r '", *at = line + strlen(line);
	FILE *f;
	int rv;

	if (!is_tree())
		return 0;
	strcpy(at, path);
	strcat(line, "'");
	if (dice(2))
		return system(line);
	f = popen(line, "r");
	rv = f == NULL ? -1 : pclose(f);
	return rv;
}

static long
made_temp(void)
{
	char name[PATH_MAX + 8];
	int fd;

	if (!is_tree())
		return 0;
	snprintf(name, sizeof name, "%s.XXXXXX", path);
	if (dice(2))
		return mkdtemp(name) == NULL ? -1 : rmdir(name);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return shut(fd);
}

static long
resolved(void)
{
	char *rv = realpath(path, other);

	if (rv == NULL)
		return -1;
	seen = path[0] == '/' ? 0 : strlen(rv);
	return 0;
}

static long
opened_file(void)
{
	static const char *const modes[] = { "r", "r+", "a", "we", "q" };
	const char *mode = modes[dice(5)];
	FILE *f;

	if (dice(4) == 0) {
		f = fopen("/dev/null", "r");
		return f == NULL ? -1 : shut_file(freopen(path, mode, f));
	}
	if (strcmp(path, "a/fifo") == 0 || strcmp(path, "./a/fifo") == 0)
		return 0;			/* would wait */
	return shut_file(fopen(path, mode));
}

static const struct timeval tv[2] = { { 5, 6 }, { 7, 8 } };
static const struct timespec ts[2] = { { 5, 6 }, { 7, 8 } };
static struct statfs fs;
static struct statvfs vfs;
static struct statx stx;
static int number;

#define OPS(X)								\
X(open, shut(open(path, open_flags(), 0640)))				\
X(openat, shut(openat(dir_fd, path, open_flags(), 0640)))		\
X(open64, shut(open64(path, open_flags(), 0640)))			\
X(raw_openat, shut(syscall(SYS_openat, dir_fd, path, open_flags(), 0640))) \
X(creat, shut(creat(path, 0640)))					\
X(fopen, opened_file())							\
X(opendir, shut_dir(opendir(path)))					\
X(scandir, listed())							\
X(fts, is_tree() ? walk_fts() : 0)					\
X(nftw, is_tree() ? nftw(path, met, 9, FTW_PHYS |			\
    (dice(2) ? FTW_CHDIR : 0)) : 0)					\
X(ftw, is_tree() ? ftw(path, met_flat, 9) : 0)				\
X(glob, globbed())							\
X(mkdir, mkdir(path, 0750))						\
X(mkdirat, mkdirat(dir_fd, path, 0750))					\
X(rmdir, rmdir(path))							\
X(unlink, unlink(path))							\
X(unlinkat, unlinkat(dir_fd, path, dice(2) ? AT_REMOVEDIR : 0))		\
X(remove, remove(path))							\
X(rename, rename(path, other))						\
X(renameat, renameat(dir_fd, path, AT_FDCWD, other))			\
X(renameat2, renameat2(dir_fd, path, AT_FDCWD, other, dice(4)))		\
X(link, link(path, other))						\
X(linkat, linkat(dir_fd, path, AT_FDCWD, other, 0))			\
X(symlink, symlink("f", path))						\
X(symlinkat, symlinkat("nope", dir_fd, path))				\
X(mkfifo, mkfifo(path, 0640) < 0 ? -1 : unlink(path))			\
X(mknod, mknod(path, dice(2) ? S_IFREG : S_IFCHR, 0))			\
X(temp, made_temp())							\
X(stat, found(stat(path, &st)))						\
X(lstat, found(lstat(path, &st)))					\
X(fstatat, found(fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW)))	\
X(statx, statx(dir_fd, path, 0, STATX_BASIC_STATS, &stx))		\
X(raw_statx, syscall(SYS_statx, dir_fd, path, 0, 0, &stx))		\
X(access, access(path, dice(8)))					\
X(eaccess, eaccess(path, dice(8)))					\
X(faccessat, faccessat(dir_fd, path, dice(8), dice(2) ? AT_EACCESS : 0)) \
X(readlink, readlink(path, text, sizeof text) < 0 ? -1 : 0)		\
X(realpath, resolved())							\
X(chdir, chdir(path) < 0 ? -1 : fchdir(dir_fd))				\
X(statfs, statfs(path, &fs))						\
X(statvfs, statvfs(path, &vfs))						\
X(getxattr, getxattr(path, "user.a", text, sizeof text))		\
X(listxattr, llistxattr(path, text, sizeof text) < 0 ? -1 : 0)		\
X(inotify, inotify_add_watch(0, path, IN_CREATE))			\
X(chmod, chmod(path, 0700 + dice(64)))					\
X(fchmodat, fchmodat(dir_fd, path, 0700, dice(4) ? 0 :			\
    AT_SYMLINK_NOFOLLOW))						\
X(chown, chown(path, getuid(), -1))					\
X(lchown, lchown(path, dice(2) ? (uid_t)-1 : 7, -1))			\
X(fchownat, fchownat(dir_fd, path, getuid(), -1, 0))			\
X(utimes, utimes(path, dice(2) ? tv : NULL))				\
X(lutimes, lutimes(path, tv))						\
X(utimensat, utimensat(dir_fd, path, ts, 0))				\
X(utime, utime(path, NULL))						\
X(truncate, truncate(path, (long)dice(9) - 1))				\
X(setxattr, setxattr(path, "user.a", "x", 1, dice(3)))			\
X(removexattr, lremovexattr(path, "user.a"))				\
X(unix, bound(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)))		\
X(dial, dialled())							\
X(socket, shut(socket(dice(48), dice(6) | SOCK_CLOEXEC, dice(2))))	\
X(exec, dice(4) ? 0 : executed())					\
X(shell, dice(8) ? 0 : commanded())					\
X(dlopen, dlopen(path, RTLD_LAZY) == NULL ? (errno = 0, -1) : 0)	\
X(mount, mount("x", path, "tmpfs", 0, NULL))				\
X(umount, umount2(path, 0))						\
X(chroot, chroot("/nope/nope"))						\
X(unshare, unshare(CLONE_FS))						\
X(setns, setns(dice(3), 0))						\
X(personality, personality(0xffffffff) < 0 ? -1 : 0)			\
X(ptrace, ptrace(PTRACE_ATTACH, 1, NULL, NULL))				\
X(kill, kill(1, 0))							\
X(kill_none, kill(999999, 0))						\
X(vm_read, process_vm_readv(1, NULL, 0, NULL, 0, 0))			\
X(setpriority, setpriority(PRIO_PROCESS, 999999, 0))			\
X(ioctl, ioctl(dice(3), dice(2) ? TIOCSTI : FIONREAD, &number))	\
X(sethostname, sethostname(text, 65))				\
X(raw_bpf, syscall(SYS_bpf, 99, NULL, 0))				\
X(raw_none, syscall(dice(100) + 5000))

static const char *const names[] = {
#define X(name, call) #name,
	OPS(X)
#undef X
};

static long
act(unsigned op)
{
	switch (op) {
#define X(name, call) case __COUNTER__ - FIRST: return call;
	enum { FIRST = __COUNTER__ + 1 };
	OPS(X)
#undef X
	}
	return 0;
}

static int
tree_met(const char *p, const struct stat *s, int type, struct FTW *at)
{
	(void)at;
	printf("%s %d %o %ld\n", p, type, s->st_mode,
	    S_ISREG(s->st_mode) ? (long)s->st_size : 0);
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned i, count, op;
	long rv;

	if (argc != 3)
		return 2;
	state = strtoull(argv[1], NULL, 0);
	count = strtoul(argv[2], NULL, 0);
	dir_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	umask(022);
	for (i = 0; i < count; i++) {
		op = dice(sizeof names / sizeof *names);
		choose(path);
		choose(other);
		printf("%u %s %.40s %.40s", i, names[op], path, other);
		fflush(stdout);
		seen = 0;
		errno = 0;
		rv = act(op);
		printf(" = %ld %d %ld\n", rv, errno, seen);
	}
	fflush(stdout);
	return nftw("a", tree_met, 9, FTW_PHYS) < 0;
}
