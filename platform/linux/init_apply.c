#include "platform/linux/init_apply.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Linux 5.19: once somebody looks, only a deadly signal ends the waiting.
 * Until then any does, on every kernel.
 */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV	(1UL << 5)
#endif

/* Both the soft limit and the hard; a lower one of the user's stays. */
static int
limit(int what, uint64_t most)
{
	struct rlimit lim;

	if (most == 0)
		return 0;
	if (getrlimit(what, &lim) < 0)
		return -1;
	if (lim.rlim_max > most)
		lim.rlim_max = most;
	if (lim.rlim_cur > lim.rlim_max)
		lim.rlim_cur = lim.rlim_max;
	return setrlimit(what, &lim);
}

/*
 * Where core_pattern names a program of the host's, a limit of 0 starts it
 * all the same; 1 does not, and is too little for a file.  Whoever has a hard
 * limit of 0 keeps it.
 */
static int
no_core(void)
{
	struct rlimit lim = { 1, 1 }, was;

	return getrlimit(RLIMIT_CORE, &was) == 0 && was.rlim_max == 0 ? 0 :
	    setrlimit(RLIMIT_CORE, &lim);
}

/*
 * The processes of the jail's own user namespace are counted apart from the
 * host's (since Linux 5.14), of which fence-init is one.
 */
int
init_limits(const struct init_plan *plan)
{
	if (limit(RLIMIT_DATA, plan->limit_data) < 0 ||
	    limit(RLIMIT_NOFILE, plan->limit_files) < 0)
		return -1;
	if (plan->limit_nproc > 0 &&
	    limit(RLIMIT_NPROC, plan->limit_nproc + 1) < 0)
		return -1;
	return plan->no_core ? no_core() : 0;
}

static int
install(const struct init_plan *plan, uint32_t at, uint32_t n,
    unsigned long flags)
{
	struct sock_fprog prog = {
		.len = n,
		.filter = (void *)((uintptr_t)plan + at),
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

int
init_filter(const struct init_plan *plan)
{
	return install(plan, plan->filter, plan->nfilter, 0);
}

int
init_listen(const struct init_plan *plan)
{
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int fd = install(plan, plan->notify, plan->nnotify, flags |
	    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	/* Before 5.19 a signal makes the call begin, and be told, again. */
	return fd >= 0 || errno != EINVAL ? fd :
	    install(plan, plan->notify, plan->nnotify, flags);
}
