#include "platform/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/base/io.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/linux/ahead.h"
#include "platform/linux/bwrap.h"
#include "platform/linux/control.h"
#include "platform/linux/initplan.h"
#include "platform/linux/jailplan.h"
#include "platform/linux/landlock.h"
#include "platform/linux/mini.h"
#include "platform/linux/notify.h"
#include "platform/linux/outer.h"
#include "platform/linux/seccomp.h"
#include "platform/pause.h"

enum {
	SHIM_MAX = 1 << 20, PRELOAD_MAX = 4096,
	BWRAP_WORDS = 4,	/* of the arguments: before fence-init's */
};

/* What jail_start() opens for bwrap and closes again. */
struct parts {
	int	init_fd;
	int	control_fd;	/* fence-init's end */
	int	args_fd;
	struct { int *v; size_t n, cap; } pass;	/* all of the above */
};

static void
parts_release(struct parts *p)
{
	fd_close(&p->init_fd);
	fd_close(&p->control_fd);
	fd_close(&p->args_fd);
	vec_release(&p->pass);
}

static int
make_args(const struct jail_spec *spec, struct parts *p, struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	bwrap_args(spec, &b);
	p->args_fd = b.failed ? -1 : fd_memfd("bwrap-args", b.data, b.len);
	buf_release(&b);
	if (p->args_fd < 0)
		return err_sys(e, errno, "cannot write bwrap's arguments");
	return 0;
}

static int
make_parts(const struct jail_spec *spec, struct parts *p, int *ret_control,
    struct err *e)
{
	int pair[2];

	p->init_fd = open(spec->init, O_RDONLY | O_CLOEXEC);
	if (p->init_fd < 0)
		return err_sys(e, errno, "cannot open '%s'", spec->init);
	if (spec->bwrap != NULL && make_args(spec, p, e) != 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	*ret_control = pair[0];
	p->control_fd = pair[1];
	*vec_push(&p->pass) = p->init_fd;
	*vec_push(&p->pass) = p->control_fd;
	if (p->args_fd >= 0)
		*vec_push(&p->pass) = p->args_fd;
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		*vec_push(&p->pass) = spec->keep_fds[i];
	return 0;
}

static int
slurp(const char *path, size_t max, char **ret, size_t *ret_len,
    struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_sys(e, errno, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > max)
		return err_set(e, ERR_JAIL, "'%s' is no library of ours", path);
	*ret = xrealloc(NULL, (size_t)st.st_size, 1);
	n = io_read_all(fd, *ret, (size_t)st.st_size);
	if (n == (ssize_t)st.st_size) {
		*ret_len = (size_t)n;
		return 0;
	}
	free(*ret);
	*ret = NULL;
	return err_sys(e, n < 0 ? errno : EIO, "cannot read '%s'", path);
}

/*
 * Is a loader of 32-bit programs there?  Then the shim's path needs $LIB, or
 * each of them would say that it cannot load the shim.  $LIB makes every start
 * of a program about 15 us dearer: the loader looks up /proc/self/exe for it.
 */
static bool
has_loader32(void)
{
	static const char *const loaders[] = {
#if defined(__x86_64__)
		"/lib/ld-linux.so.2",
#elif defined(__aarch64__)
		"/lib/ld-linux-armhf.so.3", "/lib/ld-linux.so.3",
#endif
	};

	for (size_t i = 0; i < sizeof loaders / sizeof loaders[0]; i++)
		if (access(loaders[i], F_OK) == 0)
			return true;
	return false;
}

/* Ours first; what the host preloads for everyone stays. */
static void
make_preload(bool is_for_both, bool has_probe, struct buf *b)
{
	const char *dir = is_for_both ? "/etc/.fence/$LIB" : "/etc/.fence";
	char host[PRELOAD_MAX];
	ssize_t n = fd_read_file(AT_FDCWD, "/etc/ld.so.preload", host,
	    sizeof host);

	buf_init(b, 0);
	buf_printf(b, "%s/libfence-shim.so\n", dir);
	if (has_probe)
		buf_printf(b, "%s/libfence-probe.so\n", dir);
	if (n > 0)
		buf_add(b, host, (size_t)n);
}

struct shim_bytes {
	char		*shim, *shim32, *probe;
	size_t		 shim_len, shim32_len, probe_len;
	struct buf	 preload;
};

static int
load_shim(const struct jail_spec *spec, struct shim_bytes *s,
    struct outer *o, struct err *e)
{
	bool is_for_both = has_loader32();

	if (spec->shim == NULL)
		return 0;
	if (slurp(spec->shim, SHIM_MAX, &s->shim, &s->shim_len, e) != 0)
		return -1;
	if (is_for_both && spec->shim32 != NULL && slurp(spec->shim32,
	    SHIM_MAX, &s->shim32, &s->shim32_len, e) != 0)
		return -1;
	if (spec->probe != NULL && slurp(spec->probe, SHIM_MAX, &s->probe,
	    &s->probe_len, e) != 0)
		return -1;
	make_preload(is_for_both, spec->probe != NULL, &s->preload);
	o->preload = s->preload.data;
	o->shim = s->shim;
	o->shim_len = s->shim_len;
	o->has_lib_dirs = is_for_both;
	o->shim32 = s->shim32;
	o->shim32_len = s->shim32_len;
	o->probe = s->probe;
	o->probe_len = s->probe_len;
	return 0;
}

struct jail_ahead *
jail_ahead(void)
{
	return (struct jail_ahead *)ahead_start(true);
}

void
jail_ahead_free(struct jail_ahead *a)
{
	ahead_free((struct ahead *)a);
}

int
jail_start(const struct jail_spec *spec, struct jail_ahead *ahead,
    struct jail *ret, struct err *e)
{
	struct parts p = { .init_fd = -1, .control_fd = -1, .args_fd = -1 };
	struct shim_bytes s = { 0 };
	char num[3][16], init_path[FD_PATH_MAX];
	char *argv[] = { "bwrap", "--args", num[0], "--", init_path, num[1],
	    num[2], NULL };
	struct outer o = { .spec = spec, .argv = spec->bwrap != NULL ? argv :
	    argv + BWRAP_WORDS, .program = spec->bwrap,
	    .ahead = (struct ahead *)ahead };
	auto_fd control = -1;
	int rc = -1;

	buf_init(&s.preload, 0);
	if (make_parts(spec, &p, &control, e) != 0 ||
	    load_shim(spec, &s, &o, e) != 0)
		goto out;
	o.local_fd = xcalloc(2 * spec->nlocal_ports + 1, sizeof *o.local_fd);
	snprintf(num[0], sizeof num[0], "%d", p.args_fd);
	snprintf(num[1], sizeof num[1], "%d", p.control_fd);
	snprintf(num[2], sizeof num[2], "%d", p.init_fd);
	fd_path(p.init_fd, init_path);
	if (o.program == NULL)
		o.program = init_path;
	o.pass_fds = p.pass.v;
	o.npass_fds = p.pass.n;
	pause_at("before-clone");
	if (outer_start(&o) != 0) {
		outer_explain(&o, e);
		goto out;
	}
	ret->pid = o.pid;
	ret->control_fd = fd_take(&control);
	ret->heard = 0;
	ret->report_fd = o.report_fd;
	ret->stdin_fd = o.stdin_fd;
	ret->kept_fd = o.kept_fd;
	ret->keep_fds = spec->keep_fds;
	ret->nkept_fds = spec->nkeep_fds;
	memcpy(ret->listen_fd, o.listen_fd, sizeof ret->listen_fd);
	ret->local_fd = o.local_fd;
	ret->nlocal_fds = 2 * spec->nlocal_ports;
	o.local_fd = NULL;
	rc = 0;
out:
	free(o.local_fd);
	parts_release(&p);
	buf_release(&s.preload);
	free(s.shim);
	free(s.shim32);
	free(s.probe);
	return rc;
}

/* ---- the plan for fence-init ---- */

static uint32_t
plan_bytes(struct buf *b, const void *p, size_t n)
{
	static const char pad[8];
	uint32_t at;

	buf_add(b, pad, (8 - b->len % 8) % 8);
	at = (uint32_t)b->len;
	buf_add(b, p, n);
	return at;
}

static uint32_t
plan_string(struct buf *b, const char *s)
{
	uint32_t at = (uint32_t)b->len;

	buf_add(b, s, strlen(s) + 1);
	return at;
}

static uint32_t
plan_strings(struct buf *b, char *const *v, uint32_t *ret_n)
{
	uint32_t n = 0, at, *offs;

	while (v[n] != NULL)
		n++;
	offs = xcalloc(n + 1, sizeof *offs);
	for (uint32_t i = 0; i < n; i++)
		offs[i] = plan_string(b, v[i]);
	at = plan_bytes(b, offs, n * sizeof *offs);
	free(offs);
	*ret_n = n;
	return at;
}

struct rules {
	struct init_rule	*v;
	size_t			 n, cap;
};

static void
add_rule(struct rules *r, struct buf *b, const char *path, uint64_t rights)
{
	*vec_push(r) = (struct init_rule){ .path = plan_string(b, path),
	    .rights = rights };
}

/* Where reading has to be granted, the second wall grants it mount by mount. */
static void
add_reading(struct rules *r, struct buf *b, const struct jail_spec *spec,
    uint64_t rights)
{
	static const char *const own[] = { "/proc", "/run" };

	if (spec->nmounts == 0 || (spec->mounts[0].kind != MOUNT_CLOSED &&
	    !spec->mounts[0].is_unlisted)) {
		add_rule(r, b, "/", rights);
		return;
	}
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		add_rule(r, b, own[i], rights);
	for (size_t i = 0; i < spec->nmounts; i++) {
		enum mount_kind kind = spec->mounts[i].kind;

		if (kind == MOUNT_RO || kind == MOUNT_RW ||
		    kind == MOUNT_OTHER ||
		    kind == MOUNT_ETC || kind == MOUNT_ETC_OWN)
			add_rule(r, b, spec->mounts[i].path,
			    spec->mounts[i].is_unlisted ?
			    rights & ~landlock_list_rights() : rights);
	}
}

static uint32_t
plan_rules(struct buf *b, const struct jail_spec *spec, int abi,
    uint32_t *ret_n)
{
	static const char *const private_dirs[] = { "/tmp", "/dev/shm" };
	const uint64_t write = landlock_write_rights(abi);
	struct rules rules = { 0 };
	uint32_t at;

	add_reading(&rules, b, spec, landlock_read_rights(abi));
	add_rule(&rules, b, "/dev", landlock_dev_rights(abi));
	for (size_t i = 0; i < 2; i++)
		add_rule(&rules, b, private_dirs[i], write);
	for (size_t i = 0; i < spec->nmounts; i++)
		if (spec->mounts[i].kind == MOUNT_OWN)
			add_rule(&rules, b, spec->mounts[i].path, write);
	for (size_t i = 0; i < spec->nwrite_roots; i++)
		add_rule(&rules, b, spec->write_roots[i], write);
	at = plan_bytes(b, rules.v, rules.n * sizeof *rules.v);
	*ret_n = (uint32_t)rules.n;
	vec_release(&rules);
	return at;
}

static uint64_t
mask_bits(const sigset_t *set)
{
	uint64_t bits = 0;

	for (int i = 1; i <= 64; i++)
		if (sigismember(set, i) == 1)
			bits |= (uint64_t)1 << (i - 1);
	return bits;
}

static enum seccomp_who
filter_of(const struct jail_spec *spec)
{
	return seccomp_choose(spec->uid == 0, spec->is_strict,
	    spec->may_nest);
}

/*
 * A program ("|") or a socket ("@") of the host's takes the cores; perhaps,
 * where we cannot read who does.
 */
static bool
is_core_taken(void)
{
	char text[256];
	ssize_t n = fd_read_file(AT_FDCWD, "/proc/sys/kernel/core_pattern",
	    text, sizeof text);

	return pretend_lacks("nocore") || n < 0 ||
	    (n > 0 && (text[0] == '|' || text[0] == '@'));
}

static void
plan_limits(struct init_plan *plan, const struct jail_limits *l)
{
	plan->limit_data = l->process_memory;
	plan->limit_nproc = l->processes;
	plan->limit_files = l->files;
	plan->no_core = is_core_taken();
}

static const uint32_t session_of[] = {
	[JAIL_SESSION_SAME] = INIT_SESSION_SAME,
	[JAIL_SESSION_NEW] = INIT_SESSION_NEW,
	[JAIL_SESSION_TTY] = INIT_SESSION_TTY,
};

static int
lacks_filters(struct err *e)
{
	err_set(e, ERR_JAIL, "this kernel has no system call filters");
	err_hint(e, "it needs CONFIG_SECCOMP_FILTER");
	return -1;
}

/* Empties the filter. */
static uint32_t
plan_filter(struct buf *b, struct buf *filter, uint32_t *ret_n)
{
	uint32_t at = plan_bytes(b, filter->data, filter->len);

	*ret_n = (uint32_t)(filter->len / sizeof(struct sock_filter));
	b->failed |= filter->failed;
	buf_clear(filter);
	return at;
}

static unsigned
notify_kinds(const struct jail_spec *spec)
{
	return (spec->wants_calls ? NOTIFY_CALLS : 0) |
	    (spec->wants_exec ? NOTIFY_EXEC : 0) |
	    (spec->wants_files ? NOTIFY_FILES : 0);
}

/*
 * What holds files holds what the filter refuses, too, and is one program with
 * it: among several, a refusal would come before the listener.
 */
static void
plan_listener(struct init_plan *plan, const struct jail_spec *spec,
    const struct buf *jail_filter, struct buf *b)
{
	struct buf filter;

	if (notify_kinds(spec) == 0 || pretend_lacks("nonotify"))
		return;
	buf_init(&filter, 0);
	plan->is_joined = spec->wants_files;
	if (!plan->is_joined)
		notify_filter(notify_kinds(spec), &filter);
	else if (notify_join(jail_filter, notify_kinds(spec), &filter) != 0)
		filter.failed = true;
	plan->notify = plan_filter(b, &filter, &plan->nnotify);
	buf_release(&filter);
}

int
jail_make_plan(const struct jail_spec *spec, struct buf *b, struct err *e)
{
	struct init_plan plan = { .magic = INIT_PLAN_MAGIC };
	int abi = mini_landlock_abi();
	struct buf filter;

	if (pretend_lacks("noseccomp"))
		return lacks_filters(e);
	buf_init(&filter, 0);
	if (seccomp_jail_filter(filter_of(spec), &filter, e) != 0) {
		buf_release(&filter);
		return -1;
	}
	buf_add(b, &plan, sizeof plan);
	plan_listener(&plan, spec, &filter, b);
	plan.filter = plan_filter(b, &filter, &plan.nfilter);
	plan.must_notify = spec->wants_exec;
	buf_release(&filter);
	plan.program = plan_string(b, spec->program);
	plan.cwd = plan_string(b, spec->cwd);
	plan.argv = plan_strings(b, spec->argv, &plan.argc);
	plan.envp = plan_strings(b, spec->envp, &plan.envc);
	plan.rules = plan_rules(b, spec, abi, &plan.nrules);
	plan.keep = plan_bytes(b, spec->keep_fds,
	    spec->nkeep_fds * sizeof *spec->keep_fds);
	plan.nkeep = (uint32_t)spec->nkeep_fds;
	for (size_t i = 0; i < spec->nmounts; i++)
		if (spec->mounts[i].kind == MOUNT_PROC)
			plan.proc = plan_string(b, spec->mounts[i].path);
	plan.leaves_user = 1;
	plan.has_shim = spec->shim != NULL;
	plan.uid = spec->uid;
	plan.gid = spec->gid;
	/* Whoever is in a domain that handles any file may not mount. */
	plan.handled_fs = spec->may_nest ? 0 : landlock_handled(abi);
	plan.is_proc_writable = spec->may_nest && spec->uid != 0;
	plan.scoped = landlock_scoped(abi);
	plan.stdio_read = landlock_stdio_read(abi);
	plan.stdio_write = landlock_stdio_write(abi);
	plan.sigmask = mask_bits(&spec->sigmask);
	plan.session = session_of[spec->session];
	plan_limits(&plan, &spec->limits);
	plan.size = (uint32_t)b->len;
	if (b->failed)
		return err_set(e, ERR_JAIL, "out of memory");
	memcpy(b->data, &plan, sizeof plan);
	return 0;
}

int
jail_plan(const struct jail_spec *spec, struct jail *j, struct err *e)
{
	auto_fd fd = -1;
	struct buf b;
	int rc = -1;

	buf_init(&b, 0);
	if (jail_make_plan(spec, &b, e) == 0) {
		fd = fd_memfd("fence-plan", b.data, b.len);
		if (fd < 0)
			err_sys(e, errno, "cannot write the jail's plan");
		else
			rc = control_send(j->control_fd, INIT_PLAN, fd, e);
	}
	buf_release(&b);
	return rc;
}

void
jail_release(struct jail *j)
{
	fd_close(&j->control_fd);
	fd_close(&j->report_fd);
	fd_close(&j->stdin_fd);
	for (size_t i = 0; i < j->nkept_fds; i++) {
		if (j->kept_fd[i] >= 0)
			(void)lseek(j->keep_fds[i], lseek(j->kept_fd[i], 0,
			    SEEK_CUR), SEEK_SET);
		fd_close(&j->kept_fd[i]);
	}
	free(j->kept_fd);
	j->kept_fd = NULL;
	j->nkept_fds = 0;
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&j->listen_fd[i]);
	for (size_t i = 0; i < j->nlocal_fds; i++)
		fd_close(&j->local_fd[i]);
	free(j->local_fd);
	j->local_fd = NULL;
	j->nlocal_fds = 0;
}

void
jail_walls(struct jail_walls *ret)
{
	int abi = mini_landlock_abi();

	ret->has_second = landlock_handled(abi) != 0;
	ret->has_signals = landlock_scoped(abi) != 0;
}

/* ---- words ---- */

int
jail_probe(const struct jail_spec *spec, struct err *e)
{
	if (access(spec->init, R_OK) != 0)
		return err_sys(e, errno, "cannot read '%s'", spec->init);
	/* Abstract sockets belong to a network: where that is the host's,
	 * this is the only wall before them. */
	if (spec->shares_net && landlock_scoped(mini_landlock_abi()) == 0) {
		err_set(e, ERR_JAIL, "this kernel cannot keep abstract "
		    "sockets of the host from a command in its network");
		err_hint(e, "network.mode \"gate\", or Linux 6.12 with "
		    "Landlock");
		return -1;
	}
	return 0;
}

static const char *const kind_text[] = {
	[MOUNT_RO] = "read-only", [MOUNT_RW] = "writable",
	[MOUNT_OTHER] = "own copy",
	[MOUNT_TMPFS] = "private", [MOUNT_OWN] = "private",
	[MOUNT_MASK_DIR] = "hidden",
	[MOUNT_MASK_FILE] = "hidden", [MOUNT_MASK_AROUND] = "hidden",
	[MOUNT_CLOSED] = "empty", [MOUNT_LINK] = "link",
	[MOUNT_PLACE] = "empty", [MOUNT_ETC] = "read-only",
	[MOUNT_ETC_OWN] = "private", [MOUNT_DEV] = "devices",
	[MOUNT_DEV_HOST] = "devices", [MOUNT_DEVICE] = "device",
	[MOUNT_PROC] = "processes",
};

static void
describe_limits(const struct jail_limits *l, struct buf *b)
{
	const struct { uint64_t value; const char *what; } rows[] = {
		{ l->process_memory, "bytes of memory in a process" },
		{ l->processes, "processes and threads" },
		{ l->files, "open files in a process" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].value > 0)
			buf_printf(b, "limit %" PRIu64 " %s\n",
			    rows[i].value, rows[i].what);
}

void
jail_describe(const struct jail_spec *spec,
    void (*put_reason)(struct buf *, const void *), struct buf *b)
{
	for (size_t i = 0; i < spec->nmounts; i++) {
		const struct jail_mount *m = &spec->mounts[i];

		buf_printf(b, "mount %-10s ", kind_text[m->kind]);
		str_escape(b, m->path, strlen(m->path), 0);
		if (m->text != NULL) {
			buf_puts(b, " -> ");
			str_escape(b, m->text, strlen(m->text), 0);
		}
		if (m->reason != NULL && put_reason != NULL) {
			buf_puts(b, "  (");
			put_reason(b, m->reason);
			buf_putc(b, ')');
		}
		buf_putc(b, '\n');
	}
	for (size_t i = 0; i < spec->netc; i++)
		buf_printf(b, "file  /etc/%s\n", spec->etc[i].name);
	buf_printf(b, "jail  %s\n", spec->bwrap != NULL ? spec->bwrap :
	    "native");
	buf_printf(b, "shim  %s\n", spec->shim != NULL ? spec->shim : "none");
	if (spec->probe != NULL)
		buf_printf(b, "probe %s\n", spec->probe);
	if (spec->is_strict)
		buf_puts(b, "calls strict\n");
	if (spec->may_nest)
		buf_puts(b, "nested sandboxes may be made\n");
	if (spec->wants_exec)
		buf_puts(b, "executions are supervised\n");
	if (spec->session != JAIL_SESSION_SAME)
		buf_puts(b, "session new\n");
	describe_limits(&spec->limits, b);
	buf_puts(b, "cwd   ");
	str_escape(b, spec->cwd, strlen(spec->cwd), 0);
	buf_puts(b, "\nexec  ");
	str_escape(b, spec->program, strlen(spec->program), 0);
	buf_putc(b, '\n');
}

void
jail_features(const struct jail_spec *spec, struct buf *b)
{
	struct utsname u = { .release = "?" };

	(void)uname(&u);
	buf_printf(b, "kernel %s%s, seccomp, landlock-v%d%s", u.release,
	    spec->bwrap != NULL ? ", bwrap" : "", landlock_abi(),
	    spec->shim != NULL ? ", shim" : "");
}
