/*
 * stray: unix sockets whose name does not lead to them: bound by a relative
 * one, by one of /proc/self/fd, or renamed since.  Found by the file they made
 * and by the folders of the process that holds them.  For facts_socket.c.
 */
#ifndef FENCE_LAUNCHER_STRAY_H
#define FENCE_LAUNCHER_STRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/plan/mounts.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/sockets.h"

struct stray {
	struct unixlist_entry	 e;	/* its path is the arena's */
	bool			 is_named;	/* the name never led to it */
	bool			 has_owner;	/* a process that we see */
	bool			 is_found;
};

struct strays {
	struct stray		*v;
	size_t			 n, cap;
	struct path_list	 dirs;	/* searched */
	struct arena		*arena;
	/* Called for each place of each, perhaps more than once. */
	void			(*found)(const char *path, void *arg);
	void			*arg;
};

/* Relative, or by a descriptor of the process that bound it. */
bool	 stray_is_named(const char *name);
void	 strays_add(struct strays *, const struct unixlist_entry *);
/* This socket file: is it one of them? */
void	 strays_try(struct strays *, const char *path);
/* Looks where they may be; bounded. */
void	 strays_search(struct strays *);
/* Names of those that may be reached and lie nobody knows where; how many. */
size_t	 strays_lost(const struct strays *, struct buf *);
void	 strays_release(struct strays *);

#endif
