/*
 * netns: a network namespace of one's own for a test program, which lives in
 * it from then on.  uid 0 inside, so that programs it runs keep their rights.
 */
#ifndef FENCE_TESTS_NETNS_H
#define FENCE_TESTS_NETNS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int
netns_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rv;

	if (fd < 0)
		return -1;
	rv = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return rv;
}

/* 0, or -1 with errno when the kernel refuses. */
static inline int
netns_enter(void)
{
	char uid_map[32], gid_map[32];

	snprintf(uid_map, sizeof uid_map, "0 %u 1", geteuid());
	snprintf(gid_map, sizeof gid_map, "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -1;
	(void)netns_put("/proc/self/setgroups", "deny");
	if (netns_put("/proc/self/uid_map", uid_map) < 0)
		return -1;
	return netns_put("/proc/self/gid_map", gid_map);
}

#endif
