#include "shim/hook.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <string.h>

#include "shim/call.h"
#include "shim/hidden.h"
#include "shim/refuse.h"
#include "shim/stage.h"

/* Which arguments are the names. */
enum shape {
	SHAPE_NO_CALL,		/* not in the table */
	NONE,
	PATH,			/* path */
	AT,			/* dir_fd, path */
	FD,			/* a descriptor stands for the file */
	TO,			/* text, path: symlink() */
	TO_AT,			/* text, dir_fd, path */
	TWO,			/* path, path */
	TWO_AT,			/* dir_fd, path, dir_fd, path */
};

/* Which errors may be a refusal. */
enum may {
	WALL,			/* EACCES, EPERM, EROFS */
	NAMED,			/* and what mount points answer */
	SEEN,			/* EACCES; ENOENT where that may hide */
	OPENED,			/* both of WALL and SEEN */
	FILTER,			/* EPERM */
	OF_INIT,		/* EPERM, if the argument `flags` is pid 1 */
};

struct row {
	uint8_t		 call;		/* enum wire_call */
	uint8_t		 shape, may;
	int8_t		 flags;		/* their argument; -1: none */
};

#define LOOK(shape)	{ WIRE_LOOK, shape, SEEN, -1 }
#define CHANGE(shape)	{ WIRE_CHANGE, shape, WALL, -1 }
#define MAKE(shape)	{ WIRE_MAKE, shape, NAMED, -1 }
#define REMOVE(shape)	{ WIRE_REMOVE, shape, NAMED, -1 }
#define OPEN(shape, flags)	{ WIRE_OPEN, shape, OPENED, flags }
#define EXEC(shape)	{ WIRE_EXEC, shape, OPENED, -1 }
#define SYSTEM(flags)	{ WIRE_SYSTEM, NONE, FILTER, flags }
#define INIT(flags)	{ WIRE_SYSTEM, NONE, OF_INIT, flags }

/*
 * Refusals of the jail's filter are EPERM.  What it answers ENOSYS to, as
 * clone3, libcs do in another way.
 */
static const struct row call_rows[] = {
#ifdef SYS_open
	[SYS_open] = OPEN(PATH, 1),
	[SYS_creat] = OPEN(PATH, -1),
	[SYS_stat] = LOOK(PATH),
	[SYS_lstat] = LOOK(PATH),
	[SYS_access] = LOOK(PATH),
	[SYS_readlink] = LOOK(PATH),
	[SYS_chmod] = CHANGE(PATH),
	[SYS_chown] = CHANGE(PATH),
	[SYS_lchown] = CHANGE(PATH),
	[SYS_utime] = CHANGE(PATH),
	[SYS_utimes] = CHANGE(PATH),
	[SYS_futimesat] = CHANGE(AT),
	[SYS_mkdir] = MAKE(PATH),
	[SYS_mknod] = MAKE(PATH),
	[SYS_symlink] = MAKE(TO),
	[SYS_rmdir] = REMOVE(PATH),
	[SYS_unlink] = REMOVE(PATH),
	[SYS_rename] = MAKE(TWO),
	[SYS_renameat] = MAKE(TWO_AT),
	[SYS_link] = MAKE(TWO),
#endif
	[SYS_openat] = OPEN(AT, 2),
	[SYS_openat2] = OPEN(AT, 2),

	[SYS_newfstatat] = LOOK(AT),
	[SYS_statx] = LOOK(AT),
	[SYS_faccessat] = LOOK(AT),
	[SYS_faccessat2] = LOOK(AT),
	[SYS_readlinkat] = LOOK(AT),
	[SYS_chdir] = LOOK(PATH),
	[SYS_statfs] = LOOK(PATH),
	[SYS_getxattr] = LOOK(PATH),
	[SYS_lgetxattr] = LOOK(PATH),
	[SYS_listxattr] = LOOK(PATH),
	[SYS_llistxattr] = LOOK(PATH),
	[SYS_name_to_handle_at] = LOOK(AT),
	[SYS_inotify_add_watch] = LOOK(AT),

	[SYS_truncate] = CHANGE(PATH),
	[SYS_fchmod] = CHANGE(FD),
	[SYS_fchmodat] = CHANGE(AT),
	[452 /* fchmodat2 */] = CHANGE(AT),
	[SYS_fchown] = CHANGE(FD),
	[SYS_fchownat] = CHANGE(AT),
	[SYS_utimensat] = CHANGE(AT),
	[SYS_setxattr] = CHANGE(PATH),
	[SYS_lsetxattr] = CHANGE(PATH),
	[SYS_fsetxattr] = CHANGE(FD),
	[SYS_removexattr] = CHANGE(PATH),
	[SYS_lremovexattr] = CHANGE(PATH),
	[SYS_fremovexattr] = CHANGE(FD),

	[SYS_mkdirat] = MAKE(AT),
	[SYS_mknodat] = MAKE(AT),
	[SYS_symlinkat] = MAKE(TO_AT),
	[SYS_unlinkat] = REMOVE(AT),
	[SYS_renameat2] = MAKE(TWO_AT),
	[SYS_linkat] = MAKE(TWO_AT),

	[SYS_execve] = EXEC(PATH),
	[SYS_execveat] = EXEC(AT),

	[SYS_mount] = SYSTEM(3),
	[SYS_umount2] = SYSTEM(1),
	[SYS_pivot_root] = SYSTEM(-1),
	[SYS_chroot] = SYSTEM(-1),
	[SYS_open_tree] = SYSTEM(2),
	[SYS_move_mount] = SYSTEM(4),
	[SYS_fsopen] = SYSTEM(1),
	[SYS_fsconfig] = SYSTEM(1),
	[SYS_fsmount] = SYSTEM(1),
	[SYS_fspick] = SYSTEM(2),
	[SYS_mount_setattr] = SYSTEM(2),
	[SYS_clone] = SYSTEM(0),
	[SYS_unshare] = SYSTEM(0),
	[SYS_setns] = SYSTEM(1),
	[SYS_socket] = SYSTEM(0),
	[SYS_socketpair] = SYSTEM(0),
	[SYS_personality] = SYSTEM(0),
	[SYS_io_uring_setup] = SYSTEM(0),
	[SYS_io_uring_enter] = SYSTEM(-1),
	[SYS_io_uring_register] = SYSTEM(1),
	[SYS_open_by_handle_at] = SYSTEM(2),
	[SYS_userfaultfd] = SYSTEM(0),
	[SYS_keyctl] = SYSTEM(0),
	[SYS_add_key] = SYSTEM(-1),
	[SYS_request_key] = SYSTEM(-1),
	[SYS_bpf] = SYSTEM(0),
	[SYS_perf_event_open] = SYSTEM(-1),
	[SYS_syslog] = SYSTEM(0),
	[SYS_kexec_load] = SYSTEM(-1),
	[SYS_kexec_file_load] = SYSTEM(-1),
	[SYS_init_module] = SYSTEM(-1),
	[SYS_finit_module] = SYSTEM(-1),
	[SYS_delete_module] = SYSTEM(-1),
	[SYS_reboot] = SYSTEM(2),
	[SYS_swapon] = SYSTEM(-1),
	[SYS_swapoff] = SYSTEM(-1),
	[SYS_acct] = SYSTEM(-1),
	[SYS_quotactl] = SYSTEM(0),
	[SYS_quotactl_fd] = SYSTEM(1),
	[SYS_vhangup] = SYSTEM(-1),
	[SYS_sethostname] = SYSTEM(-1),
	[SYS_setdomainname] = SYSTEM(-1),
	[SYS_settimeofday] = SYSTEM(-1),
	[SYS_clock_settime] = SYSTEM(0),
	[SYS_ioctl] = SYSTEM(1),
#ifdef SYS_iopl
	[SYS_iopl] = SYSTEM(0),
	[SYS_ioperm] = SYSTEM(-1),
#endif

	/* Pid 1 is fence-init's; what another process may be is as outside. */
	[SYS_kill] = INIT(0),
	[SYS_tgkill] = INIT(0),
	[SYS_rt_sigqueueinfo] = INIT(0),
	[SYS_ptrace] = INIT(1),
	[SYS_process_vm_readv] = INIT(0),
	[SYS_process_vm_writev] = INIT(0),
	[SYS_prlimit64] = INIT(0),
	[SYS_setpriority] = INIT(1),
	[SYS_ioprio_set] = INIT(1),
	[SYS_sched_setaffinity] = INIT(0),
	[SYS_sched_setattr] = INIT(0),
	[SYS_sched_setparam] = INIT(0),
	[SYS_sched_setscheduler] = INIT(0),
};

enum { ROWS = sizeof call_rows / sizeof call_rows[0] };

static const struct row *
find_row(const struct call *c)
{
	return c->nr < ROWS && call_rows[c->nr].shape != SHAPE_NO_CALL ?
	    &call_rows[c->nr] : NULL;
}

struct place {
	int		 dir_fd;
	const char	*path;
};

static struct place
place(const struct call *c, enum shape shape)
{
	const long *a = c->arg;

	switch (shape) {
	case PATH:
		return (struct place){ AT_FDCWD, (const char *)a[0] };
	case AT:
		return (struct place){ a[0], (const char *)a[1] };
	case FD:
		return (struct place){ a[0], "" };
	case TO:
	case TWO:
		return (struct place){ AT_FDCWD, (const char *)a[1] };
	case TO_AT:
		return (struct place){ a[1], (const char *)a[2] };
	case TWO_AT:
		return (struct place){ a[2], (const char *)a[3] };
	default:
		return (struct place){ AT_FDCWD, NULL };
	}
}

static struct place
old_place(const struct call *c, enum shape shape)
{
	return place(c, shape == TWO ? PATH : AT);
}

static bool
is_two(const struct row *row)
{
	return row->shape == TWO || row->shape == TWO_AT;
}

/* ---- siblings of granted files ---- */

static long
made_again(const struct call *c)
{
	const long *a = c->arg;

	return sys_errno(sys_call(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* Calls on two names are in hook_name.c: they need both. */
static long
try_staged(struct call *c, const struct row *row)
{
	struct place p = place(c, row->shape);
	bool makes = row->call == WIRE_MAKE;
	long rv = -1, *path;

	if (row->call == WIRE_OPEN || row->call == WIRE_EXEC)
		return -1;
	if (row->shape == PATH)
		path = &c->arg[0];
	else if (row->shape == AT || row->shape == TO)
		path = &c->arg[1];
	else if (row->shape == TO_AT)
		path = &c->arg[2];
	else
		return -1;
	STAGED(rv, -1, p.dir_fd, p.path, makes,
	    (*path = (long)staged, made_again(c)));
	*path = (long)p.path;
	return rv;
}

/* ---- what is told ---- */

/* Cheap: asked of each call that failed. */
static bool
may_be_told(const struct row *row, int err)
{
	switch ((enum may)row->may) {
	case WALL:
		return told_by_kernel(err);
	case NAMED:
		return told_by_kernel(err) || err == EBUSY || err == EXDEV;
	case SEEN:
		return err == EACCES || err == ENOENT;
	case OPENED:
		return told_by_kernel(err) || err == ENOENT;
	case FILTER:
	case OF_INIT:
		return err == EPERM;
	}
	return false;
}

/* The memory was read by the kernel a moment ago. */
static uint32_t
flags_of(const struct call *c, const struct row *row)
{
	if (c->nr == SYS_openat2)
		return ((const struct open_how *)c->arg[2])->flags;
#ifdef SYS_creat
	if (c->nr == SYS_creat)
		return O_WRONLY | O_CREAT | O_TRUNC;
#endif
	return row->flags < 0 ? 0 : c->arg[row->flags];
}

/* Only these are refused by what they ask for, and not for lack of a right. */
static bool
is_refused_ioctl(unsigned long request)
{
	return request == 0x5412 /* TIOCSTI */ ||
	    request == 0x541c /* TIOCLINUX */ || request == 0x5423;
}

static void
tell_system(const struct call *c, const struct row *row, struct told t)
{
	if (row->may == OF_INIT && t.flags != 1)
		return;
	if (c->nr == SYS_ioctl && !is_refused_ioctl(c->arg[1]))
		return;
	if ((c->nr == SYS_clone || c->nr == SYS_unshare) &&
	    (t.flags & CLONE_NEWUSER) != 0) {
		t.call = WIRE_NEST;
		report_path(t, AT_FDCWD, "/");
		return;
	}
	report_call(t, c->nr == SYS_socket ? c->arg[1] : 0);
}

static bool
is_one_folder(struct place a, struct place b)
{
	struct dir_id x, y;
	struct leaf leaf;

	return leaf_of(a.path, &leaf) &&
	    leaf_dir(a.dir_fd, a.path, &leaf, &x) && leaf_of(b.path, &leaf) &&
	    leaf_dir(b.dir_fd, b.path, &leaf, &y) && x.dev == y.dev &&
	    x.ino == y.ino;
}

/*
 * Either name may be the reason; where both lie in one folder and that is
 * refused, the new one speaks for both.  A link changes what it is made of, and
 * that alone is asked of the old name: to lie on the same mount.
 */
static void
tell_two(const struct call *c, struct told t, struct place old,
    struct place new)
{
	bool is_link = c->nr == SYS_linkat;

#ifdef SYS_link
	is_link = is_link || c->nr == SYS_link;
#endif
	if (is_link ? t.err == EXDEV : t.err == EBUSY || t.err == EPERM ||
	    !is_one_folder(old, new)) {
		t.call = is_link ? WIRE_CHANGE : WIRE_REMOVE;
		stage_report_change(t, old.dir_fd, old.path);
	}
	t.call = WIRE_MAKE;
	stage_report_change(t, new.dir_fd, new.path);
}

void
call_tell(const struct call *c)
{
	const struct row *row = find_row(c);
	struct told t = { .nr = c->told_as, .err = errno };
	struct place p;

	if (row == NULL || !may_be_told(row, t.err))
		return;
	t.call = row->call;
	t.flags = row->call == WIRE_OPEN || row->call == WIRE_SYSTEM ?
	    flags_of(c, row) : 0;
	if (row->call == WIRE_SYSTEM) {
		tell_system(c, row, t);
		return;
	}
	p = place(c, row->shape);
	if (p.path == NULL || (is_two(row) &&
	    old_place(c, row->shape).path == NULL) || (t.err == ENOENT &&
	    !hidden_may(t.err, p.dir_fd, p.path)))
		return;
	if (is_two(row))
		tell_two(c, t, old_place(c, row->shape), p);
	else if (row->call == WIRE_REMOVE)
		stage_report_change(t, p.dir_fd, p.path);
	else if (row->call == WIRE_LOOK || row->call == WIRE_EXEC)
		report_path(t, p.dir_fd, p.path);
	else
		stage_report(t, p.dir_fd, p.path);
}

static __attribute__((noinline)) long
settle(struct call *c)
{
	const struct row *row = find_row(c);
	long rv = -1;

	if (row == NULL)
		return -1;
	if (stage_on())
		rv = try_staged(c, row);
	if (rv >= 0)
		return rv;
	/* A guarded name held by a mount is refused as a missing one. */
	if (errno == EBUSY && row->may == NAMED) {
		struct place p = place(c, row->shape);

		if (refuse_is_bound(p.dir_fd, p.path))
			errno = EACCES;
	}
	call_tell(c);
	return -1;
}

/* What is not there is what programs ask most; it ends here. */
long
call_failed(long rv, unsigned told_as, unsigned nr, long a, long b, long c,
    long d, long e, long f)
{
	errno = -rv;
	if (rv == -ENOENT && !stage_on() && !table_get()->needs_grant)
		return -1;
	return settle(&(struct call){ nr, told_as, { a, b, c, d, e, f } });
}
