/*
 * How platform/machine.h is done: one function for each part of a jail.  Most
 * look at what the miniature jail (mini.h) noted.
 */
#include "platform/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/base/errname.h"
#include "platform/fd.h"
#include "platform/limits.h"
#include "platform/linux/cure.h"
#include "platform/linux/landlock.h"
#include "platform/linux/mini.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "platform/pause.h"

enum { LANDLOCK_WHOLE = 6, WATCHES_LOW = 8192, INSTANCES_LOW = 16,
	DETAIL_MAX = 1024 };

#define NO_USERNS	"it needs the namespaces above"

/* What there is to go by. */
struct look {
	struct arena	*arena;
	struct mini	 mini;
};

/* Fills status, detail and cure of the part. */
typedef void	 fact_fn(struct look *, struct machine_part *);

void
machine_set(struct machine_part *it, enum machine_status status,
    const char *detail, const char *cure)
{
	it->status = status;
	it->detail = detail;
	it->cure = status == MACHINE_STRICT ? NULL : cure;
}

static const char *
errno_text(struct look *l, int sys)
{
	char room[ERRNAME_MAX];

	return arena_strdup(l->arena, errname(sys, room));
}

/* A step of the miniature jail, in words. */
static void
by_step(struct look *l, struct machine_part *it, enum mini_step step,
    const char *good, const char *cure)
{
	const struct mini_note *note = &l->mini.step[step];

	if (mini_worked(&l->mini, step))
		machine_set(it, MACHINE_STRICT, good, NULL);
	else if (!note->is_tried)
		machine_set(it, MACHINE_ABSENT, "not tried: an earlier step "
		    "failed", NO_USERNS);
	else
		machine_set(it, MACHINE_ABSENT, errno_text(l, note->error),
		    cure);
}

/* ---- kernel, namespaces ---- */

static void
fact_kernel(struct look *l, struct machine_part *it)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	major = pretend_number("kernel", major);
	machine_set(it, major > 5 || (major == 5 && minor >= 12) ?
	    MACHINE_STRICT : MACHINE_ABSENT, arena_printf(l->arena,
	    "%s %s (%s)", u.sysname, u.release, u.machine),
	    "a newer kernel");
}

static void
fact_userns(struct look *l, struct machine_part *it)
{
	const struct mini_note *user = &l->mini.step[MINI_USER];
	const struct mini_note *maps = &l->mini.step[MINI_MAPS];
	struct cure c;

	if (mini_worked(&l->mini, MINI_MAPS)) {
		machine_set(it, MACHINE_STRICT, "made, with rights in it",
		    NULL);
		return;
	}
	c = cure_userns(user->error != 0 ? user->error : maps->error,
	    user->error == 0);
	machine_set(it, MACHINE_ABSENT, arena_printf(l->arena, "%s: %s",
	    errno_text(l, user->error != 0 ? user->error : maps->error),
	    c.cause), c.cure);
}

static void
fact_namespaces(struct look *l, struct machine_part *it)
{
	static const struct {
		enum mini_step	 step;
		const char	*name;
	} kinds[] = {
		{ MINI_MOUNTS, "mount" }, { MINI_PID, "pid" },
		{ MINI_IPC, "ipc" }, { MINI_UTS, "uts" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!mini_worked(&l->mini, kinds[i].step)) {
			by_step(l, it, kinds[i].step, "", "a kernel with "
			    "CONFIG_PID_NS, CONFIG_IPC_NS and CONFIG_UTS_NS");
			it->detail = arena_printf(l->arena, "%s: %s",
			    kinds[i].name, it->detail);
			return;
		}
	machine_set(it, MACHINE_STRICT, mini_worked(&l->mini, MINI_CGROUP) ?
	    "mount, pid, ipc, uts, cgroup" : "mount, pid, ipc, uts", NULL);
}

static void
fact_netns(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_NET, "made", "a kernel with CONFIG_NET_NS=y");
}

static void
fact_routes(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_ROUTES, "lo, the fake range, and no way else",
	    "a kernel with CONFIG_IP_ADVANCED_ROUTER and "
	    "CONFIG_IP_MULTIPLE_TABLES");
	if (it->status != MACHINE_STRICT && l->mini.step[MINI_ROUTES].is_tried)
		it->detail = arena_printf(l->arena, "%s: %s", route_step_text(
		    l->mini.step[MINI_ROUTES].detail), it->detail);
}

/* Without it there is one way less to close. */
static void
fact_ipv6(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_IPV6, "closed as IPv4 is",
	    "nothing is needed: what is not there is closed");
}

static void
fact_nft(struct look *l, struct machine_part *it)
{
	if (!mini_worked(&l->mini, MINI_LISTEN) &&
	    l->mini.step[MINI_LISTEN].is_tried)
		by_step(l, it, MINI_LISTEN, "", "a kernel with transparent "
		    "sockets (CONFIG_NETFILTER_XT_MATCH_SOCKET)");
	else
		by_step(l, it, MINI_NFT, "the rule was loaded and thrown "
		    "away", "modprobe nft_tproxy; a kernel with "
		    "CONFIG_NF_TABLES and CONFIG_NFT_TPROXY");
	if (it->status != MACHINE_STRICT && l->mini.step[MINI_NFT].is_tried)
		it->detail = arena_printf(l->arena, "%s: %s", nft_step_text(
		    l->mini.step[MINI_NFT].detail), it->detail);
}

/* ---- mounts ---- */

static void
fact_mounts(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_TREE, "open_tree and mount_setattr work",
	    "a newer kernel");
	if (it->status == MACHINE_STRICT)
		by_step(l, it, MINI_RUN, it->detail, "a kernel with "
		    "CONFIG_TMPFS=y");
}

static void
fact_overlay(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_OVERLAY, "laid over /etc",
	    l->mini.step[MINI_OVERLAY].error == EINVAL ?
	    "nothing may be mounted below /etc, as containers do: bind files "
	    "elsewhere" : "modprobe overlay");
}

static void
fact_proc(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_PROC, "mounted, read-only", "parts of /proc are "
	    "covered, as in containers: --security-opt "
	    "systempaths=unconfined (docker), --privileged or "
	    "unmask=ALL (podman)");
}

/* ---- what a process gives up ---- */

static void
fact_landlock(struct look *l, struct machine_part *it)
{
	static const struct {
		int		 abi;
		const char	*text;
	} lost[] = {
		{ 2, "moving files between folders" },
		{ 3, "truncating files" },
		{ 5, "ioctl of devices" },
		{ 6, "signals and abstract sockets" },
	};
	int abi = mini_landlock_abi();
	struct buf b;

	if (abi == 0 || !mini_worked(&l->mini, MINI_LANDLOCK)) {
		machine_set(it, MACHINE_ABSENT, abi == 0 ? "this kernel has "
		    "none, or it is switched off" : errno_text(l,
		    l->mini.step[MINI_LANDLOCK].error),
		    "Linux 6.12 with CONFIG_SECURITY_LANDLOCK=y, and "
		    "\"landlock\" among lsm= of the kernel's command line");
		return;
	}
	buf_init(&b, DETAIL_MAX);
	buf_printf(&b, "ABI %d", abi);
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
		if (abi < lost[i].abi)
			buf_printf(&b, "%s%s", strchr(b.data, ':') == NULL ?
			    ": no say in " : ", ", lost[i].text);
	machine_set(it, abi >= LANDLOCK_WHOLE ? MACHINE_STRICT :
	    MACHINE_DEGRADED, arena_strdup(l->arena, b.data),
	    "Linux 6.12 or later (ABI 6)");
	buf_release(&b);
}

static void
fact_seccomp(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_SECCOMP, "the jail's filter loads and refuses",
	    "a kernel with CONFIG_SECCOMP_FILTER=y");
}

static void
fact_notify(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_NOTIFY, "a listener can be made",
	    "Linux 5.5 or later, and no sandbox around this one that "
	    "listens itself");
}

static void
fact_pidfd(struct look *l, struct machine_part *it)
{
	by_step(l, it, MINI_PIDFD, "pidfd_open works", "Linux 5.3 or later");
}

/* ---- what the host has ---- */

static void
fact_apparmor(struct look *l, struct machine_part *it)
{
	bool restricts = cure_sysctl_is("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns", "1");

	if (!restricts)
		machine_set(it, MACHINE_STRICT,
		    "user namespaces are not restricted", NULL);
	else if (mini_worked(&l->mini, MINI_MAPS))
		machine_set(it, MACHINE_STRICT, geteuid() == 0 ? "root is not "
		    "restricted" : "a profile permits fence", NULL);
	else
		machine_set(it, MACHINE_ABSENT,
		    "kernel.apparmor_restrict_unprivileged_userns is 1, "
		    "and no profile permits fence",
		    "apparmor_parser -r /etc/apparmor.d/fence (make install "
		    "puts it there; the same is share/fence/fence.apparmor)");
}

/* The number in a file below /proc/sys; -1 without one. */
static long
number_in(const char *path)
{
	char text[32];

	if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
		return -1;
	return strtol(text, NULL, 10);
}

static void
fact_inotify(struct look *l, struct machine_part *it)
{
	long watches = number_in("/proc/sys/fs/inotify/max_user_watches");
	long instances = number_in("/proc/sys/fs/inotify/max_user_instances");
	auto_fd fd = inotify_init1(IN_CLOEXEC);
	const char *detail = arena_printf(l->arena, "%ld watches, %ld "
	    "instances a user", watches, instances);

	if (pretend_lacks("noinotify")) {
		fd_close(&fd);
		errno = ENOSYS;
	}
	if (fd < 0 || inotify_add_watch(fd, "/", IN_CREATE) < 0)
		machine_set(it, MACHINE_ABSENT, arena_printf(l->arena, "%s; %s",
		    errno_text(l, errno), detail),
		    "sysctl fs.inotify.max_user_instances=1024 "
		    "fs.inotify.max_user_watches=524288");
	else
		machine_set(it, watches < WATCHES_LOW ||
		    instances < INSTANCES_LOW ? MACHINE_DEGRADED :
		    MACHINE_STRICT, detail,
		    "sysctl fs.inotify.max_user_instances=1024 "
		    "fs.inotify.max_user_watches=524288");
}

/* One is made, and goes again at once. */
static void
fact_cgroup(struct look *l, struct machine_part *it)
{
	const uint64_t max[LIMIT_NKINDS] = { [LIMIT_MEMORY] = 1u << 30,
	    [LIMIT_PROCESSES] = 1000 };
	enum limit_kind kind = LIMIT_MEMORY;
	struct err e = { 0 };
	struct limit_group *g = limit_group_new(max, &kind, &e);

	if (g != NULL)
		machine_set(it, MACHINE_STRICT, "a group was made, for memory "
		    "and processes", NULL);
	else
		machine_set(it, MACHINE_ABSENT, arena_printf(l->arena,
		    "%s: %s", kind == LIMIT_MEMORY ? "memory" : "processes",
		    e.msg), e.hint[0] != '\0' ? arena_strdup(l->arena,
		    e.hint) : "systemd-run --user --scope -p Delegate=yes "
		    "fence-run ...");
	limit_group_free(g);
}

/* ---- the table ---- */

static const struct {
	const char	*id;
	fact_fn		*fn;		/* NULL: the launcher's */
	const char	*purpose;
	const char	*needs;
	bool		 is_needed;
} rows[] = {
	{ "kernel", fact_kernel, "everything below", "Linux 5.12", true },
	{ "user-namespaces", fact_userns, "a jail without root",
	    "CONFIG_USER_NS", true },
	{ "apparmor", fact_apparmor, "leave to make user namespaces",
	    "fence's profile, where AppArmor restricts them", true },
	{ "namespaces", fact_namespaces, "files, processes and names of its "
	    "own", "CONFIG_PID_NS, CONFIG_IPC_NS, CONFIG_UTS_NS", true },
	{ "network-namespace", fact_netns, "a network without a way out",
	    "CONFIG_NET_NS", true },
	{ "routes", fact_routes, "every other address is refused",
	    "CONFIG_IP_MULTIPLE_TABLES", true },
	{ "ipv6", fact_ipv6, "IPv6 inside", "CONFIG_IPV6", false },
	{ "nftables", fact_nft, "every connection ends at the gate",
	    "nf_tables, nft_tproxy", true },
	{ "mounts", fact_mounts, "the tree inside", "Linux 5.12", true },
	{ "overlay", fact_overlay, "the jail's own files in /etc",
	    "Linux 5.11, overlay", true },
	{ "proc", fact_proc, "a /proc of the jail's processes alone",
	    "a /proc that is not masked", true },
	{ "landlock", fact_landlock, "the second wall: files, devices, "
	    "signals", "Linux 6.12 (ABI 6)", true },
	{ "seccomp", fact_seccomp, "the third wall: system calls",
	    "CONFIG_SECCOMP_FILTER", true },
	{ "seccomp-notify", fact_notify, "refused addresses are told "
	    "without the shim", "Linux 5.5", false },
	{ "bwrap", NULL, "starts the jail", "bubblewrap", true },
	{ "pidfd", fact_pidfd, "the jail ends with its launcher",
	    "Linux 5.3", true },
	{ "inotify", fact_inotify, "guarded names stay as they are",
	    "fs.inotify.max_user_watches", true },
	{ "cgroup", fact_cgroup, "limits of memory and processes",
	    "a control group, delegated", false },
	{ "parts", NULL, "fence's own programs",
	    "make install", true },
	{ "shim", NULL, "refusals of files are told",
	    "make install", true },
	{ "state", NULL, "trust, quarantine",
	    "a writable HOME", true },
};

enum { NROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)NROWS <= (int)MACHINE_PARTS_MAX, "room for each part");

void
machine_try(struct arena *arena, struct machine *ret)
{
	struct look look = { .arena = arena };

	*ret = (struct machine){ .nparts = NROWS };
	mini_run(&look.mini);
	ret->logs_calls = mini_worked(&look.mini, MINI_SECCOMP_LOG);
	for (size_t i = 0; i < NROWS; i++) {
		struct machine_part *it = &ret->parts[i];

		*it = (struct machine_part){ .id = rows[i].id,
		    .purpose = rows[i].purpose, .needs = rows[i].needs,
		    .is_needed = rows[i].is_needed };
		if (rows[i].fn != NULL)
			rows[i].fn(&look, it);
	}
}
