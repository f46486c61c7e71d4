/* What this machine has: one function for each part of a jail. */
#include "launcher/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "launcher/doctor_facts.h"
#include "platform/base/errname.h"
#include "platform/linux/cure.h"
#include "platform/linux/landlock.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "platform/pause.h"

enum { LANDLOCK_WHOLE = 6 };

#define NO_USERNS	"it needs the namespaces above"

void
doctor_set(struct doctor_item *it, enum doctor_status status,
    const char *detail, const char *cure)
{
	it->status = status;
	it->detail = detail;
	it->cure = status == DOCTOR_STRICT ? NULL : cure;
}

const char *
doctor_errno(struct doctor *d, int sys)
{
	char room[ERRNAME_MAX];

	return arena_strdup(d->arena, errname(sys, room));
}

/* A step of the miniature jail, in words. */
static void
by_step(struct doctor *d, struct doctor_item *it, enum mini_step step,
    const char *good, const char *cure)
{
	const struct mini_note *note = &d->mini.step[step];

	if (mini_worked(&d->mini, step))
		doctor_set(it, DOCTOR_STRICT, good, NULL);
	else if (!note->is_tried)
		doctor_set(it, DOCTOR_ABSENT, "not tried: an earlier step "
		    "failed", NO_USERNS);
	else
		doctor_set(it, DOCTOR_ABSENT, doctor_errno(d, note->error),
		    cure);
}

/* ---- kernel, namespaces ---- */

static void
fact_kernel(struct doctor *d, struct doctor_item *it)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	major = pretend_number("kernel", major);
	doctor_set(it, major > 5 || (major == 5 && minor >= 12) ?
	    DOCTOR_STRICT : DOCTOR_ABSENT, arena_printf(d->arena,
	    "%s %s (%s)", u.sysname, u.release, u.machine),
	    "a newer kernel");
}

static void
fact_userns(struct doctor *d, struct doctor_item *it)
{
	const struct mini_note *user = &d->mini.step[MINI_USER];
	const struct mini_note *maps = &d->mini.step[MINI_MAPS];
	struct cure c;

	if (mini_worked(&d->mini, MINI_MAPS)) {
		doctor_set(it, DOCTOR_STRICT, "made, with rights in it", NULL);
		return;
	}
	c = cure_userns(user->error != 0 ? user->error : maps->error,
	    user->error == 0);
	doctor_set(it, DOCTOR_ABSENT, arena_printf(d->arena, "%s: %s",
	    doctor_errno(d, user->error != 0 ? user->error : maps->error),
	    c.cause), c.cure);
}

static void
fact_namespaces(struct doctor *d, struct doctor_item *it)
{
	static const struct {
		enum mini_step	 step;
		const char	*name;
	} kinds[] = {
		{ MINI_MOUNTS, "mount" }, { MINI_PID, "pid" },
		{ MINI_IPC, "ipc" }, { MINI_UTS, "uts" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!mini_worked(&d->mini, kinds[i].step)) {
			by_step(d, it, kinds[i].step, "", "a kernel with "
			    "CONFIG_PID_NS, CONFIG_IPC_NS and CONFIG_UTS_NS");
			it->detail = arena_printf(d->arena, "%s: %s",
			    kinds[i].name, it->detail);
			return;
		}
	doctor_set(it, DOCTOR_STRICT, mini_worked(&d->mini, MINI_CGROUP) ?
	    "mount, pid, ipc, uts, cgroup" : "mount, pid, ipc, uts", NULL);
}

static void
fact_netns(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_NET, "made", "a kernel with CONFIG_NET_NS=y");
}

static void
fact_routes(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_ROUTES, "lo, the fake range, and no way else",
	    "a kernel with CONFIG_IP_ADVANCED_ROUTER and "
	    "CONFIG_IP_MULTIPLE_TABLES");
	if (it->status != DOCTOR_STRICT && d->mini.step[MINI_ROUTES].is_tried)
		it->detail = arena_printf(d->arena, "%s: %s", route_step_text(
		    d->mini.step[MINI_ROUTES].detail), it->detail);
}

/* Without it there is one way less to close. */
static void
fact_ipv6(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_IPV6, "closed as IPv4 is",
	    "nothing is needed: what is not there is closed");
}

static void
fact_nft(struct doctor *d, struct doctor_item *it)
{
	if (!mini_worked(&d->mini, MINI_LISTEN) &&
	    d->mini.step[MINI_LISTEN].is_tried)
		by_step(d, it, MINI_LISTEN, "", "a kernel with transparent "
		    "sockets (CONFIG_NETFILTER_XT_MATCH_SOCKET)");
	else
		by_step(d, it, MINI_NFT, "the rule was loaded and thrown "
		    "away", "modprobe nft_tproxy; a kernel with "
		    "CONFIG_NF_TABLES and CONFIG_NFT_TPROXY");
	if (it->status != DOCTOR_STRICT && d->mini.step[MINI_NFT].is_tried)
		it->detail = arena_printf(d->arena, "%s: %s", nft_step_text(
		    d->mini.step[MINI_NFT].detail), it->detail);
}

/* ---- mounts ---- */

static void
fact_mounts(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_TREE, "open_tree and mount_setattr work",
	    "a newer kernel");
	if (it->status == DOCTOR_STRICT)
		by_step(d, it, MINI_RUN, it->detail, "a kernel with "
		    "CONFIG_TMPFS=y");
}

static void
fact_overlay(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_OVERLAY, "laid over /etc",
	    d->mini.step[MINI_OVERLAY].error == EINVAL ?
	    "nothing may be mounted below /etc, as containers do: bind files "
	    "elsewhere" : "modprobe overlay");
}

static void
fact_proc(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_PROC, "mounted, read-only", "parts of /proc are "
	    "covered, as in containers: --security-opt "
	    "systempaths=unconfined (docker), --privileged or "
	    "unmask=ALL (podman)");
}

/* ---- what a process gives up ---- */

static void
fact_landlock(struct doctor *d, struct doctor_item *it)
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

	if (abi == 0 || !mini_worked(&d->mini, MINI_LANDLOCK)) {
		doctor_set(it, DOCTOR_ABSENT, abi == 0 ? "this kernel has "
		    "none, or it is switched off" : doctor_errno(d,
		    d->mini.step[MINI_LANDLOCK].error),
		    "Linux 6.12 with CONFIG_SECURITY_LANDLOCK=y, and "
		    "\"landlock\" among lsm= of the kernel's command line");
		return;
	}
	buf_init(&b, DOCTOR_TEXT_MAX);
	buf_printf(&b, "ABI %d", abi);
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
		if (abi < lost[i].abi)
			buf_printf(&b, "%s%s", strchr(b.data, ':') == NULL ?
			    ": no say in " : ", ", lost[i].text);
	doctor_set(it, abi >= LANDLOCK_WHOLE ? DOCTOR_STRICT : DOCTOR_DEGRADED,
	    arena_strdup(d->arena, b.data), "Linux 6.12 or later (ABI 6)");
	buf_release(&b);
}

static void
fact_seccomp(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_SECCOMP, "the jail's filter loads and refuses",
	    "a kernel with CONFIG_SECCOMP_FILTER=y");
}

static void
fact_notify(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_NOTIFY, "a listener can be made",
	    "Linux 5.5 or later, and no sandbox around this one that "
	    "listens itself");
}

static void
fact_pidfd(struct doctor *d, struct doctor_item *it)
{
	by_step(d, it, MINI_PIDFD, "pidfd_open works", "Linux 5.3 or later");
}

/* ---- the table ---- */

static const struct {
	const char	*id;
	doctor_fact_fn	*fn;
	const char	*purpose;
	const char	*needs;
	bool		 is_needed;
} rows[DOCTOR_NITEMS] = {
	{ "kernel", fact_kernel, "everything below", "Linux 5.12", true },
	{ "user-namespaces", fact_userns, "a jail without root",
	    "CONFIG_USER_NS", true },
	{ "apparmor", doctor_fact_apparmor, "leave to make user namespaces",
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
	{ "bwrap", doctor_fact_bwrap, "starts the jail", "bubblewrap", true },
	{ "pidfd", fact_pidfd, "the jail ends with its launcher",
	    "Linux 5.3", true },
	{ "inotify", doctor_fact_inotify, "guarded names stay as they are",
	    "fs.inotify.max_user_watches", true },
	{ "cgroup", doctor_fact_cgroup, "limits of memory and processes",
	    "a control group, delegated", false },
	{ "parts", doctor_fact_parts, "fence's own programs",
	    "make install", true },
	{ "shim", doctor_fact_shim, "refusals of files are told",
	    "make install", true },
	{ "state", doctor_fact_state, "trust, quarantine",
	    "a writable HOME", true },
};

void
doctor_facts(struct doctor *d)
{
	mini_run(&d->mini);
	for (size_t i = 0; i < DOCTOR_NITEMS; i++) {
		struct doctor_item *it = &d->items[i];

		*it = (struct doctor_item){ .id = rows[i].id,
		    .purpose = rows[i].purpose, .needs = rows[i].needs,
		    .is_needed = rows[i].is_needed };
		if (strcmp(it->id, "bwrap") == 0)
			it->is_needed = strcmp(d->engine, "bwrap") == 0;
		rows[i].fn(d, it);
	}
}
