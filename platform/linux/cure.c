#include "platform/linux/cure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/jail.h"

bool
cure_sysctl_is(const char *path, const char *value)
{
	char text[32];
	ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text);

	if (n <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, value) == 0;
}

static const char *
cure_container(void)
{
	static const struct {
		const char	*path;
		const char	*name;
	} marks[] = {
		{ "/.dockerenv", "docker" },
		{ "/run/.containerenv", "podman" },
		{ "/run/systemd/container", "a container" },
		{ "/dev/lxd/sock", "lxd" },
	};

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (access(marks[i].path, F_OK) == 0)
			return marks[i].name;
	return NULL;
}

/* A filter of whoever started us: containers and services bring one. */
static bool
is_filtered(void)
{
	char text[8192];

	(void)fd_read_file(AT_FDCWD, "/proc/self/status", text, sizeof text);
	return strstr(text, "\nSeccomp:\t2") != NULL;
}

/* Since Linux 5.12 whoever maps uid 0 needs it, root of a container, too. */
static bool
lacks_setfcap(void)
{
	char text[8192];
	const char *line;

	(void)fd_read_file(AT_FDCWD, "/proc/self/status", text, sizeof text);
	line = strstr(text, "\nCapEff:");
	return line != NULL && (strtoull(line + strlen("\nCapEff:"), NULL,
	    16) >> CAP_SETFCAP & 1) == 0;
}

static bool
never(void)
{
	return access("/proc/self/ns/user", F_OK) != 0;
}

static bool
by_debian(void)
{
	return cure_sysctl_is("/proc/sys/kernel/unprivileged_userns_clone",
	    "0");
}

static bool
by_limit(void)
{
	return cure_sysctl_is("/proc/sys/user/max_user_namespaces", "0");
}

/* Ubuntu 23.10 and later let the clone pass and then take every right of the
 * new namespace away. */
static bool
by_apparmor(void)
{
	return cure_sysctl_is("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns", "1");
}

static bool
in_container(void)
{
	return cure_container() != NULL;
}

/* The first that is so. */
static const struct {
	bool		(*is)(void);
	bool		 is_root_free;	/* does not bind root */
	struct cure	 text;
} causes[] = {
	{ never, false, { "this kernel has no user namespaces",
	    "a kernel with CONFIG_USER_NS=y" } },
	{ jail_is_inside, false, { "this is inside a jail of fence",
	    "already inside fence: the outer jail holds for every command in "
	    "it" } },
	{ by_debian, true, { "kernel.unprivileged_userns_clone is 0",
	    "sysctl kernel.unprivileged_userns_clone=1 allows user "
	    "namespaces" } },
	{ by_limit, false, { "user.max_user_namespaces is 0",
	    "sysctl user.max_user_namespaces=15000 allows user namespaces" } },
	{ by_apparmor, true, { "AppArmor restricts user namespaces",
	    "load fence's AppArmor profile (apparmor_parser -r "
	    "/etc/apparmor.d/fence), or sysctl "
	    "kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ in_container, false, { "this container forbids them",
	    "docker/podman run --security-opt seccomp=unconfined "
	    "--security-opt apparmor=unconfined --security-opt "
	    "systempaths=unconfined" } },
	{ is_filtered, false, { "a seccomp filter on this process refuses "
	    "them", "start fence outside of the service or sandbox that set "
	    "the filter" } },
};

struct cure
cure_userns(int sys, bool is_map)
{
	bool is_root = geteuid() == 0;

	if ((sys == ENOSPC || sys == EUSERS) && !by_limit())
		return (struct cure){ "the limit on namespaces is used up",
		    "the limit user.max_user_namespaces or its net, mnt or "
		    "pid sibling is used up" };
	if (sys == EAGAIN || sys == ENOMEM)
		return (struct cure){ "there is no room for another process",
		    "the limit on processes (ulimit -u, pids.max of a cgroup) "
		    "or the memory is used up" };
	if (sys == EPERM && is_map && is_root && lacks_setfcap())
		return (struct cure){ "root without CAP_SETFCAP cannot be "
		    "mapped into a new namespace", "docker/podman run "
		    "--cap-add SETFCAP, or start fence as an ordinary user" };
	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
		if (causes[i].is() && !(is_root && causes[i].is_root_free))
			return causes[i].text;
	return (struct cure){ is_map ? "the user cannot be mapped into a new "
	    "namespace" : "a container or security module forbids them",
	    "a container or security module forbids user namespaces here" };
}
