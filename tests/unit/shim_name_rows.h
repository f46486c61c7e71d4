/*
 * shim_name_rows: the calls of test_shim_table.  They run in their order, with
 * the shim and a table of names; the working directory is W.
 *
 *	W	may be written; .vscode, .envrc, sub/config and
 *		later/settings (whose folder does not exist yet) are guarded
 *		W/held is a mount point that the table names, W/busy one that
 *		it does not
 *	H	is read-only, and in it H/conf is granted; H/conf.bak is really
 *		there, and so is H/broken, which is granted in vain; on its
 *		file system is little room
 */
#ifndef FENCE_TESTS_UNIT_SHIM_NAME_ROWS_H
#define FENCE_TESTS_UNIT_SHIM_NAME_ROWS_H

#include <sys/time.h>

#include <utime.h>

#include "tests/unit/shim_world.h"

#define W	T "/ws"
#define H	T "/home"
#define SAVES	"/tmp/.fence-saves"

extern char **environ;

int	 __xstat64(int, const char *, struct stat64 *);
int	 __lxstat(int, const char *, struct stat *);

static struct stat		 sb;
static struct stat64		 sb64;
static struct statx		 sbx;
static char			 text[64];
static char			 made[64];	/* what mkstemp() chose */
static const struct timeval	 tv[2] = { { 5, 6 }, { 7, 8 } };

/* errno of a call that succeeded is not looked at: there were two. */
#define AS_OK(expr)	int v = (expr); if (v >= 0) errno = 0; return v
#define AS_FO(expr)							\
	int v = (expr); if (v >= 0) { close(v); errno = 0; } return v
#define AS_PO(expr)							\
	FILE *v = (expr); if (v == NULL) return -1; fclose(v); errno = 0; \
	return 0

static int
bind_at(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(un.sun_path, path);
	return bind(fd, (struct sockaddr *)&un,
	    offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

/* A file without a name is given one. */
static int
link_tmpfile(const char *to)
{
	char from[32];
	int fd = open(W, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

static int
write_at(const char *path, int flags, const char *s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || write(fd, s, strlen(s)) < 0)
		return -1;
	return close(fd);
}

static int
has_text(const char *path, const char *want)
{
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	errno = strcmp(text, want) == 0 ? 0 : EILSEQ;
	return errno == 0 ? 0 : -1;
}

static int
has_mode(const char *path, mode_t mode)
{
	if (stat(path, &sb) < 0)
		return -1;
	errno = sb.st_mode == mode ? 0 : EILSEQ;
	return errno == 0 ? 0 : -1;
}

static char *
letters(const char *template)
{
	return strcpy(made, template);
}

/* By way of a pointer, because the header says that this is never done. */
static int
make_nothing(void)
{
	int (*volatile fn)(const char *, mode_t) = mkdir;

	return fn(NULL, 0700);
}

static volatile int handler_err;

static void
on_signal(int signo)
{
	(void)signo;
	handler_err = mkdir(".vscode", 0700) < 0 ? errno : 0;
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
	if (argc < 2 || strcmp(argv[1], "--guard") != 0)
		return;
	prctl(PR_SET_NAME, "rowchild", 0, 0, 0);
	preinit_err = open(W "/.envrc", O_WRONLY | O_CREAT | O_CLOEXEC,
	    0600) < 0 ? errno : 0;
}

__attribute__((used, section(".preinit_array")))
static void (*const preinit_entry)(int, char **) = preinit;

static int
before_main(void)
{
	errno = preinit_err;
	return preinit_err == 0 ? 0 : -1;
}

#define NO(path)	EACCES, MAKE(path)
#define GONE(path)	EACCES, REMOVE(path)
#define NEW		O_WRONLY | O_CREAT | O_CLOEXEC

/* Names that must not be made, and their neighbours that may. */
#define GUARD_ROWS(R)							\
R(g_preinit, ST, before_main(), NO(W "/.envrc"))			\
R(g_mkdir, ST, mkdir(".vscode", 0700), NO(W "/.vscode"))		\
R(g_mkdir_slash, ST, mkdir(".vscode/", 0700), NO(W "/.vscode"))		\
R(g_mkdir_dots, ST, mkdir("./sub/../.vscode//", 0700), NO(W "/.vscode")) \
R(g_mkdir_abs, ST, mkdir(W "/.vscode", 0700), NO(W "/.vscode"))		\
R(g_mkdir_link, ST, mkdir(T "/link/.vscode", 0700), NO(W "/.vscode"))	\
R(g_mkdirat, ST, mkdirat(at(W), ".vscode", 0700), NO(W "/.vscode"))	\
R(g_mkdirat_up, ST, mkdirat(at(W "/sub"), "../.vscode", 0700),		\
    NO(W "/.vscode"))							\
R(g_open, FD, open(".envrc", NEW, 0600), NO(W "/.envrc"))		\
R(g_open64, FD, open64(".envrc", NEW, 0600), NO(W "/.envrc"))		\
R(g_openat, FD, openat(at(W), ".envrc", NEW, 0600), NO(W "/.envrc"))	\
R(g_openat64, FD, openat64(at(W), ".envrc", NEW, 0), NO(W "/.envrc"))	\
R(g_creat, FD, creat(".envrc", 0600), NO(W "/.envrc"))			\
R(g_creat64, FD, creat64(".envrc", 0600), NO(W "/.envrc"))		\
R(g_fopen_w, FP, fopen(".envrc", "w"), NO(W "/.envrc"))			\
R(g_fopen_a, FP, fopen(".envrc", "a+"), NO(W "/.envrc"))		\
R(g_fopen64, FP, fopen64(".envrc", "we"), NO(W "/.envrc"))		\
R(g_freopen, FP, freopen(".envrc", "w", fopen("plain", "r")),		\
    NO(W "/.envrc"))							\
R(g_rename, ST, rename("plain", ".envrc"), NO(W "/.envrc"))		\
R(g_renameat, ST, renameat(at(W), "plain", at(W), ".envrc"),		\
    NO(W "/.envrc"))							\
R(g_renameat2, ST, renameat2(at(W), "plain", at(W), ".envrc", 0),	\
    NO(W "/.envrc"))							\
R(g_exchange, ST, renameat2(at(W), ".envrc", at(W), "plain",		\
    RENAME_EXCHANGE), NO(W "/.envrc"))					\
R(g_link, ST, link("plain", ".envrc"), NO(W "/.envrc"))			\
R(g_linkat, ST, linkat(at(W), "plain", at(W), ".envrc", 0),		\
    NO(W "/.envrc"))							\
R(g_tmpfile, ST, link_tmpfile(".envrc"), NO(W "/.envrc"))		\
R(g_symlink, ST, symlink("plain", ".envrc"), NO(W "/.envrc"))		\
R(g_symlinkat, ST, symlinkat("x", at(W), ".vscode"), NO(W "/.vscode"))	\
R(g_mkfifo, ST, mkfifo(".envrc", 0600), NO(W "/.envrc"))		\
R(g_mkfifoat, ST, mkfifoat(at(W), ".envrc", 0600), NO(W "/.envrc"))	\
R(g_mknod, ST, mknod(".envrc", S_IFREG, 0), NO(W "/.envrc"))		\
R(g_mknodat, ST, mknodat(at(W), ".envrc", S_IFREG, 0), NO(W "/.envrc"))	\
R(g_bind, ST, bind_at(".envrc"), NO(W "/.envrc"))			\
R(g_sub, FD, open("sub/config", NEW, 0600), NO(W "/sub/config"))	\
R(g_bound_to, ST, rename("plain", "held"), NO(W "/held"))		\
R(g_bound_from, ST, rename("held", "other"), GONE(W "/held"))		\
R(g_bound_at, ST, renameat(at(W), "plain", at(W), "./held"),		\
    NO(W "/./held"))							\
R(g_bound_unlink, ST, unlink(T "/link/held"), GONE(T "/link/held"))	\
R(g_bound_link, ST, link("held", "other"), EXDEV, LINK(W "/held", W "/other"))	\
R(g_bound_none, ST, rename("plain", "busy"), EBUSY,			\
    MOVE(W "/plain", W "/busy"))					\
R(g_vfork, VF, mkdir(".vscode", 0700), NO(W "/.vscode"))		\
R(g_fork, EX, mkdir(".vscode", 0700), NO(W "/.vscode"))			\
R(g_handler, ST, in_handler(), NO(W "/.vscode"))			\
R(g_read, FD, open(".envrc", O_RDONLY), ENOENT, NONE)			\
R(g_write, FD, open(".envrc", O_WRONLY | O_TRUNC), ENOENT, NONE)	\
R(g_fopen_r, FP, fopen(".envrc", "r+"), ENOENT, NONE)			\
R(g_unlink, ST, unlink(".envrc"), ENOENT, NONE)				\
R(g_rmdir, ST, rmdir(".vscode"), ENOENT, NONE)				\
R(g_null, ST, make_nothing(), EFAULT, NONE)				\
R(g_empty, ST, mkdir("", 0700), ENOENT, NONE)				\
R(g_dots, ST, mkdir("..", 0700), EEXIST, NONE)				\
R(g_badfd, ST, mkdirat(-7, ".vscode", 0700), EBADF, NONE)		\
R(g_nodir, ST, mkdir("nope/.vscode", 0700), ENOENT, NONE)		\
R(g_below, ST, mkdir(".vscode/x", 0700), ENOENT, NONE)			\
R(g_elsewhere, ST, mkdir("sub/.vscode", 0700), 0, NONE)			\
R(g_longer, ST, mkdir(".vscodes", 0700), 0, NONE)			\
R(g_shorter, ST, mkdir(".vscod", 0700), 0, NONE)			\
R(g_other, FD, open(".env", NEW, 0600), 0, NONE)			\
R(g_rename_ok, ST, rename("plain", "plain2"), 0, NONE)			\
R(g_bind_ok, ST, bind_at("sock"), 0, NONE)				\
R(g_later_none, FD, open("later/settings", NEW, 0), ENOENT, NONE)	\
R(g_later_dir, ST, mkdir("later", 0700), 0, NONE)			\
R(g_later, FD, open("later/settings", NEW, 0), NO(W "/later/settings"))	\
R(g_later_at, FD, openat(at(W "/later"), "settings", NEW, 0),		\
    NO(W "/later/settings"))						\
R(g_later_other, FD, open("later/x", NEW, 0600), 0, NONE)

/* Granted files, and what is written beside them. */
#define STAGE_ROWS(R)							\
R(s_read, OK, has_text(H "/conf", "old"), 0, NONE)			\
R(s_none, ST, stat(H "/conf.tmp.1", &sb), ENOENT, NONE)			\
R(s_none_rm, ST, unlink(H "/conf.tmp.1"), ENOENT, NONE)			\
R(s_new, FO, open(H "/conf.tmp.1", NEW | O_EXCL, 0640), 0, NONE)	\
R(s_excl, FO, open(H "/conf.tmp.1", NEW | O_EXCL, 0640), EEXIST, NONE)	\
R(s_write, OK, write_at(H "/conf.tmp.1", O_TRUNC, "newer"), 0, NONE)	\
R(s_stat, OK, stat(H "/conf.tmp.1", &sb), 0, NONE)			\
R(s_size, ST, sb.st_size == 5 ? 0 : -1, 0, NONE)			\
R(s_lstat64, OK, lstat64(H "/conf.tmp.1", &sb64), 0, NONE)		\
R(s_fstatat, OK, fstatat(at(H), "conf.tmp.1", &sb, 0), 0, NONE)		\
R(s_xstat64, OK, __xstat64(1, H "/conf.tmp.1", &sb64), 0, NONE)		\
R(s_lxstat, OK, __lxstat(1, H "/conf.tmp.1", &sb), 0, NONE)		\
R(s_statx, OK, statx(at(H), "conf.tmp.1", 0, 0, &sbx), 0, NONE)		\
R(s_syscall, OK, syscall(SYS_statx, at(H), "conf.tmp.1", 0, 0, &sbx),	\
    0, NONE)								\
R(s_access, OK, access(H "/conf.tmp.1", W_OK), 0, NONE)			\
R(s_faccessat, OK, faccessat(at(H), "conf.tmp.1", W_OK, 0), 0, NONE)	\
R(s_eaccess, OK, eaccess(H "/conf.tmp.1", R_OK), 0, NONE)		\
R(s_chmod, OK, chmod(H "/conf.tmp.1", 0604), 0, NONE)			\
R(s_mode, OK, has_mode(H "/conf.tmp.1", S_IFREG | 0604), 0, NONE)	\
R(s_fchmodat, OK, fchmodat(at(H), "conf.tmp.1", 0600, 0), 0, NONE)	\
R(s_chown, OK, chown(H "/conf.tmp.1", getuid(), -1), 0, NONE)		\
R(s_lchown, OK, lchown(H "/conf.tmp.1", getuid(), -1), 0, NONE)		\
R(s_utime, OK, utime(H "/conf.tmp.1", NULL), 0, NONE)			\
R(s_utimes, OK, utimes(H "/conf.tmp.1", tv), 0, NONE)			\
R(s_utimensat, OK, utimensat(at(H), "conf.tmp.1", NULL, 0), 0, NONE)	\
R(s_truncate, OK, truncate(H "/conf.tmp.1", 3), 0, NONE)		\
R(s_readlink, ST, (int)readlink(H "/conf.tmp.1", text, sizeof text),	\
    EINVAL, NONE)							\
R(s_fopen, PO, fopen(H "/conf.tmp.1", "r"), 0, NONE)			\
R(s_opendir, DP, opendir(H "/conf.tmp.1"), ENOTDIR, NONE)		\
R(s_rename, OK, rename(H "/conf.tmp.1", H "/conf"), 0, NONE)		\
R(s_text, OK, has_text(H "/conf", "new"), 0, NONE)			\
R(s_keeps_mode, OK, has_mode(H "/conf", S_IFREG | 0644), 0, NONE)	\
R(s_gone, ST, stat(H "/conf.tmp.1", &sb), ENOENT, NONE)			\
R(s_again, ST, rename(H "/conf.tmp.1", H "/conf"), ENOENT, NONE)	\
R(s_still, OK, has_text(H "/conf", "new"), 0, NONE)			\
R(s_longer, OK, write_at(H "/.conf.swp", 0, "longer text"), 0, NONE)	\
R(s_noreplace, ST, renameat2(at(H), ".conf.swp", at(H), "conf",		\
    RENAME_NOREPLACE), EEXIST, NONE)					\
R(s_renameat, OK, renameat(at(H), ".conf.swp", at(H), "conf"), 0, NONE)	\
R(s_text2, OK, has_text(H "/conf", "longer text"), 0, NONE)		\
R(s_empty, FO, creat(H "/conf~", 0600), 0, NONE)			\
R(s_rename2, OK, rename(H "/conf~", H "/conf"), 0, NONE)		\
R(s_text3, OK, has_text(H "/conf", ""), 0, NONE)			\
R(s_lock, OK, mkdir(H "/conf.lock", 0700), 0, NONE)			\
R(s_locked, ST, mkdir(H "/conf.lock/", 0700), EEXIST, NONE)		\
R(s_lock_time, OK, utimes(H "/conf.lock", tv), 0, NONE)			\
R(s_lock_stat, OK, stat(H "/conf.lock", &sb), 0, NONE)			\
R(s_lock_list, OK, closedir(opendir(H "/conf.lock")), 0, NONE)		\
R(s_unlock, OK, rmdir(H "/conf.lock"), 0, NONE)				\
R(s_unlocked, ST, rmdir(H "/conf.lock"), ENOENT, NONE)			\
R(s_lockat, OK, mkdirat(at(H), "conf.lock", 0700), 0, NONE)		\
R(s_unlockat, OK, unlinkat(at(H), "conf.lock", AT_REMOVEDIR), 0, NONE)	\
R(s_mkstemp, FO, mkstemp(letters(H "/conf.XXXXXX")), 0, NONE)		\
R(s_mkstemp_at, OK, rename(made, H "/conf.2"), 0, NONE)			\
R(s_mkstemps, FO, mkostemps(letters(H "/conf.XXXXXX.x"), 2, O_CLOEXEC),	\
    0, NONE)								\
R(s_mkstemps_at, OK, remove(made), 0, NONE)				\
R(s_mkdtemp, OK, mkdtemp(letters(H "/conf.XXXXXX")) == made ? 0 : -1, 0, \
    NONE)								\
R(s_mkdtemp_at, OK, remove(made), 0, NONE)				\
R(s_move, OK, rename(H "/conf.2", H "/conf.3"), 0, NONE)		\
R(s_link, OK, link(H "/conf.3", H "/conf.4"), 0, NONE)			\
R(s_link_over, ST, link(H "/conf.3", H "/conf"), EEXIST, NONE)		\
R(s_symlink, OK, symlink("x", H "/conf.l"), 0, NONE)			\
R(s_symlink_at, OK, (int)readlinkat(at(H), "conf.l", text, 9), 0, NONE)	\
R(s_mkfifo, OK, mkfifo(H "/conf.p", 0600), 0, NONE)			\
R(s_fifo_over, ST, rename(H "/conf.p", H "/conf"), EINVAL, WRITE(H))	\
R(s_away, ST, rename(H "/conf.3", W "/conf.3"), EXDEV, NONE)		\
R(s_aside, ST, rename(H "/conf", H "/conf.old"), EROFS, WRITE(H))	\
R(s_remove, ST, unlink(H "/conf"), EROFS, WRITE(H))			\
R(s_in_place, OK, write_at(H "/conf", O_TRUNC, "in place"), 0, NONE)	\
R(s_mv_made, OK, write_at("/tmp/made", 0, "made"), 0, NONE)		\
R(s_mv, OK, rename("/tmp/made", H "/conf"), 0, NONE)			\
R(s_mv_gone, ST, stat("/tmp/made", &sb), ENOENT, NONE)			\
R(s_mv_text, OK, has_text(H "/conf", "made"), 0, NONE)			\
R(s_mv_dir, ST, rename(W "/sub", H "/conf"), EXDEV, WRITE(H),		\
    WIRE_REMOVE, W "/sub")						\
R(s_big, FO, creat(H "/conf.big", 0600), 0, NONE)			\
R(s_bigger, OK, truncate(H "/conf.big", 1 << 20), 0, NONE)		\
R(s_full, ST, rename(H "/conf.big", H "/conf"), ENOSPC, WRITE(H))	\
R(s_full_text, OK, has_text(H "/conf", "made"), 0, NONE)		\
R(s_real, FD, open(H "/conf.bak", O_WRONLY | O_CREAT, 0600), EROFS,	\
    WRITE(H "/conf.bak"))						\
R(s_real_rm, ST, unlink(H "/conf.bak"), EROFS, REMOVE(H "/conf.bak"))	\
R(s_real_read, OK, has_text(H "/conf.bak", "bak"), 0, NONE)		\
R(s_part, FD, open(H "/con", O_WRONLY | O_CREAT, 0600), EROFS,		\
    WRITE(H "/con"))							\
R(s_other, FD, open(H "/other", O_WRONLY | O_CREAT, 0600), EROFS,	\
    WRITE(H "/other"))							\
R(s_below, FD, open(H "/conf.d/x", O_WRONLY | O_CREAT, 0600), ENOENT,	\
    NONE)								\
R(s_elsewhere, FD, open(W "/conf.tmp", NEW, 0600), 0, NONE)		\
R(s_elsewhere_is, OK, write_at(W "/conf.tmp", 0, "x"), 0, NONE)		\
R(s_broken, OK, write_at(H "/broken.tmp", 0, "x"), 0, NONE)		\
R(s_broken_over, ST, rename(H "/broken.tmp", H "/broken"), EROFS,	\
    WRITE(H))								\
R(s_broken_kept, OK, has_text(H "/broken.tmp", "x"), 0, NONE)		\
R(s_trap, OK, chmod(SAVES, 0755), 0, NONE)				\
R(s_trapped, FD, open(H "/conf.7", O_WRONLY | O_CREAT, 0600), EROFS,	\
    WRITE(H))								\
R(s_trapped_stat, ST, stat(H "/conf.3", &sb), ENOENT, NONE)		\
R(s_untrap, OK, chmod(SAVES, 0700), 0, NONE)				\
R(s_untrapped, OK, stat(H "/conf.3", &sb), 0, NONE)

/* Where reading must be granted, ENOENT may be a refusal. */
#define CLOSED_ROWS(R)							\
R(d_open, FD, open(T "/nope", O_RDONLY), ENOENT, OPEN(T "/nope", 0))	\
R(d_openat, FD, openat(at(T), "nope", O_RDONLY), ENOENT,		\
    OPEN(T "/nope", 0))							\
R(d_fopen, FP, fopen(T "/nope", "r"), ENOENT, OPEN(T "/nope", 0))	\
R(d_opendir, DP, opendir(T "/nope"), ENOENT,				\
    OPEN(T "/nope", O_RDONLY | O_DIRECTORY))				\
R(d_execve, EX, execve(T "/nope", ((char *[]){ "x", NULL }), environ),	\
    ENOENT, EXEC(T "/nope"))						\
R(d_execvp, EX, (setenv("PATH", T, 1), execlp("nope", "x", NULL)),	\
    ENOENT, EXEC(T "/nope"))						\
R(d_stat, ST, stat(T "/nope", &sb), ENOENT, LOOK(T "/nope"))		\
R(d_access, ST, access(T "/no/pe", R_OK), ENOENT, LOOK(T "/no/pe"))	\
R(d_relative, ST, access("../no/pe/", R_OK), ENOENT,			\
    LOOK(W "/../no/pe/"))						\
R(d_link, ST, access("/proc/self/fd/102", R_OK), ENOENT, NONE)		\
R(d_elsewhere, FD, open("/usr/nope", O_RDONLY), ENOENT, NONE)		\
R(d_elsewhere_deep, ST, stat("/usr/lib/nope/nope", &sb), ENOENT, NONE)	\
R(d_at, ST, fstatat(at("/usr"), "lib/nope", &sb, 0), ENOENT, NONE)	\
R(d_dangling, ST, stat(W "/dangling", &sb), ENOENT, LOOK(W "/dangling")) \
R(d_syscall, ST, syscall(SYS_openat, AT_FDCWD, T "/nope", O_RDONLY),	\
    ENOENT, OPEN(T "/nope", 0))						\
R(d_unlink, ST, unlink(T "/nope"), ENOENT, NONE)			\
R(d_mkdir, ST, mkdir(T "/nope/x", 0700), ENOENT, NONE)			\
R(d_ok, FD, open(W "/plain2", O_RDONLY | O_CREAT, 0600), 0, NONE)

GUARD_ROWS(ROW_FN)
STAGE_ROWS(ROW_FN)
CLOSED_ROWS(ROW_FN)

static const struct row guard_rows[] = { GUARD_ROWS(ROW_DATA) };
static const struct row stage_rows[] = { STAGE_ROWS(ROW_DATA) };
static const struct row closed_rows[] = { CLOSED_ROWS(ROW_DATA) };

#endif
