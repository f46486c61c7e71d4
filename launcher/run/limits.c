#include "launcher/run/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "launcher/log.h"
#include "platform/base/xalloc.h"
#include "platform/limits.h"
#include "platform/pause.h"
#include "policy/keys.h"
#include "policy/rule.h"

enum { GRACE_MS = 5000, SOON_MS = 100 };

struct limits {
	struct limits_config	 c;
	struct limit_group	*group;
	struct watch		*clock;
	int			 command_fd;	/* borrowed */
	bool			 is_over;
	bool			 has_alarm;
	timer_t			 alarm;		/* see wake_after() */
	int64_t			 due_ms;
};

/* The kernel never counts root's processes against a limit of theirs. */
static bool
needs_group(const struct policy *p, uid_t uid)
{
	return p->limits.memory.num.value > 0 ||
	    (p->limits.processes.value > 0 && uid == 0);
}

static const size_t group_key[] = {
	[LIMIT_MEMORY] = KEY_OF(limits.memory),
	[LIMIT_PROCESSES] = KEY_OF(limits.processes),
};

static const struct number *
limit_of(const struct policy *p, enum limit_kind kind)
{
	return kind == LIMIT_MEMORY ? &p->limits.memory.num :
	    &p->limits.processes;
}

static void
explain(const struct policy *p, enum limit_kind kind, struct err *e)
{
	const struct number *n = limit_of(p, kind);

	err_key(e, "%s", keys_name(group_key[kind]));
	err_where(e, n->at.file, n->at.line, n->at.col);
	if (getuid() == 0)
		err_hint(e, "mount cgroup v2 with its %s controller on, "
		    "writable%s", kind == LIMIT_MEMORY ? "memory" : "pids",
		    kind == LIMIT_MEMORY ? "; or limits.processMemory" : "");
	else
		err_hint(e, "systemd-run --user --scope fence-run ... has "
		    "one; or limits.processMemory, which needs none");
}

/*
 * Before Linux 5.14 the limit counts every process of the user's on the
 * host, and would be met by chance.
 */
static int
check_kernel(const struct policy *p, const struct jail_limits *l,
    struct err *e)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (l->processes == 0)
		return 0;
	if (!pretend_lacks("noucounts") && uname(&u) == 0 &&
	    sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major > 5 || (major == 5 && minor >= 14)))
		return 0;
	err_set(e, ERR_JAIL, "this kernel cannot count a jail's processes");
	err_key(e, "limits.processes");
	err_where(e, p->limits.processes.at.file, p->limits.processes.at.line,
	    p->limits.processes.at.col);
	err_hint(e, "Linux 5.14 can");
	return -1;
}

static int
make_group(struct limits *l, struct jail_limits *jail, struct err *e)
{
	const struct policy *p = l->c.policy;
	enum limit_kind kind = LIMIT_MEMORY;
	uint64_t max[LIMIT_NKINDS] = {
		[LIMIT_MEMORY] = p->limits.memory.num.value };

	if (!needs_group(p, getuid()))
		return 0;
	if (getuid() == 0 && p->limits.processes.value > 0)
		max[LIMIT_PROCESSES] = p->limits.processes.value +
		    l->c.nown;
	l->group = limit_group_new(max, &kind, e);
	if (l->group == NULL) {
		explain(p, kind, e);
		return -1;
	}
	jail->njoin_fds = limit_group_join_fds(l->group, &jail->join_fds);
	pause_at("in-cgroup");
	return 0;
}

struct limits *
limits_new(const struct limits_config *c, struct jail_limits *jail,
    struct err *e)
{
	struct limits *l = xcalloc(1, sizeof *l);

	l->c = *c;
	if (check_kernel(c->policy, jail, e) == 0 &&
	    make_group(l, jail, e) == 0)
		return l;
	free(l);
	return NULL;
}

/* ---- met ---- */

static void
tell(struct limits *l, size_t key, const struct number *n,
    const char *what)
{
	struct event ev = { .kind = EVENT_LIMIT, .count = 1,
	    .witness = WITNESS_MONITOR, .enforcer = ENFORCER_NONE };
	char text[512];

	snprintf(text, sizeof text, "%s %s (%s:%d:%d): %s", keys_name(key),
	    n->text, n->at.file, n->at.line, n->at.col, what);
	ev.detail = text;
	witness_gate(l->c.witness, &ev);
	if (!l->c.is_told)
		log_say("%s", text);
}

static void
on_grace(struct watch *w, int what, void *arg)
{
	struct limits *l = arg;

	(void)w;
	(void)what;
	l->c.kill(l->c.arg);
}

static void
on_deadline(struct watch *w, int what, void *arg)
{
	struct limits *l = arg;

	(void)w;
	(void)what;
	l->is_over = true;
	tell(l, KEY_OF(limits.time), &l->c.policy->limits.time.num,
	    "its time is over");
	/* One that is stopped hears nothing but SIGCONT. */
	syscall(SYS_pidfd_send_signal, l->command_fd, SIGTERM, NULL, 0);
	syscall(SYS_pidfd_send_signal, l->command_fd, SIGCONT, NULL, 0);
	watch_free(l->clock);
	l->clock = loop_after(l->c.loop, GRACE_MS, on_grace, l);
	if (l->clock == NULL)
		l->c.kill(l->c.arg);
}

static struct timespec
to_timespec(int64_t ms)
{
	return (struct timespec){ .tv_sec = ms / 1000,
	    .tv_nsec = ms % 1000 * 1000000 };
}

/*
 * A command that stops takes us with it (tty.c) and may leave others running;
 * a clock that is stopped does not strike.  The kernel wakes us.
 */
static int
wake_after(struct limits *l, int64_t ms)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGCONT };
	struct itimerspec when = { .it_value = to_timespec(ms) };

	l->due_ms = loop_now_ms(l->c.loop) + ms;
	if (timer_create(CLOCK_MONOTONIC, &ev, &l->alarm) != 0)
		return -1;
	l->has_alarm = true;
	return timer_settime(l->alarm, 0, &when, NULL);
}

int
limits_started(struct limits *l, int command_fd)
{
	const struct number *n = &l->c.policy->limits.time.num;

	l->command_fd = command_fd;
	if (n->value == 0)
		return 0;
	l->clock = loop_after(l->c.loop, (int64_t)n->value, on_deadline, l);
	return l->clock != NULL ? wake_after(l, (int64_t)n->value) : -1;
}

/* Stopping takes back a SIGCONT that is on its way: not so near to it. */
bool
limits_may_stop(const struct limits *l)
{
	return !l->has_alarm || (!l->is_over &&
	    l->due_ms - loop_now_ms(l->c.loop) > SOON_MS);
}

void
limits_ended(struct limits *l)
{
	static const char *const text[] = {
		[LIMIT_MEMORY] = "the kernel ended a process of the run",
		[LIMIT_PROCESSES] = "a new process was refused",
	};

	watch_free(l->clock);
	l->clock = NULL;
	if (l->has_alarm)
		(void)timer_delete(l->alarm);
	l->has_alarm = false;
	for (int i = 0; l->group != NULL && i < LIMIT_NKINDS; i++)
		if (limit_group_hits(l->group, (enum limit_kind)i) > 0)
			tell(l, group_key[i], limit_of(l->c.policy,
			    (enum limit_kind)i), text[i]);
}

bool
limits_is_over(const struct limits *l)
{
	return l->is_over;
}

void
limits_free(struct limits *l)
{
	if (l == NULL)
		return;
	watch_free(l->clock);
	limit_group_free(l->group);
	free(l);
}
