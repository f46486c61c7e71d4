/* What doctor tries on processes and on the kernel: see try.h. */
#include "launcher/doctor/try.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

void
try_namespaces(const struct scene *s, struct try_answer *a)
{
	static const char *const names[TRY_NNS] = TRY_NAMESPACES;
	char shared[64] = "";

	for (size_t i = 0; i < TRY_NNS; i++)
		if (try_shares(s, i)) {
			strcat(shared, " ");
			strcat(shared, names[i]);
		}
	if (shared[0] != '\0') {
		char text[TRY_TEXT_MAX];

		snprintf(text, sizeof text, "it shares the host's:%s", shared);
		try_hole(a, text);
	} else
		try_say(a, TRY_HELD, 0, "each is its own");
}

static long
seize(pid_t pid)
{
	long rc = ptrace(PTRACE_SEIZE, pid, NULL, NULL);

	if (rc == 0)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return rc;
}

/* The host's pid 1 is left alone: seeing it is enough. */
void
try_ptrace_init(const struct scene *s, struct try_answer *a)
{
	if (try_shares(s, TRY_NS_PID))
		try_hole(a, "pid 1 is the host's");
	else
		try_refused(a, seize(1));
}

void
try_ptrace_outside(const struct scene *s, struct try_answer *a)
{
	try_refused(a, seize((pid_t)atol(s->victim)));
}

void
try_kill_outside(const struct scene *s, struct try_answer *a)
{
	try_refused(a, kill((pid_t)atol(s->victim), 0));
}

/* Of a place that does not exist: where it is not refused, nothing happens. */
void
try_mount(const struct scene *s, struct try_answer *a)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/no-such-place", s->work);
	try_filtered(a, mount("none", path, "tmpfs", 0, NULL));
}

void
try_unshare(const struct scene *s, struct try_answer *a)
{
	(void)s;
	try_refused(a, unshare(CLONE_NEWUSER));
}

void
try_setns(const struct scene *s, struct try_answer *a)
{
	(void)s;
	try_filtered(a, setns(-1, 0));
}

void
try_tiocsti(const struct scene *s, struct try_answer *a)
{
	char byte = '\n';

	(void)s;
	try_filtered(a, ioctl(-1, TIOCSTI, &byte));
}

void
try_io_uring(const struct scene *s, struct try_answer *a)
{
	(void)s;
	try_filtered(a, syscall(SYS_io_uring_setup, 0, NULL));
}

void
try_keyctl(const struct scene *s, struct try_answer *a)
{
	(void)s;
	try_filtered(a, syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
	    KEY_SPEC_SESSION_KEYRING, 0));
}
