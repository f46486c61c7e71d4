/*
 * shadow_store: the store's files: its version and lock, what runs are live,
 * and of each folder what its copies began from.  Private to this room.  What
 * is read here no jail can write; it is bounded and checked all the same.
 */
#ifndef FENCE_LAUNCHER_SHADOW_STORE_H
#define FENCE_LAUNCHER_SHADOW_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/shadow/shadow.h"
#include "launcher/shadow/shadow_tree.h"
#include "platform/base/err.h"

enum { SHADOW_KEY = 33 };	/* hexadecimal, with its NUL */

/* ---- the store ---- */

struct store {
	char	*path;		/* "STATE/shadow" */
	int	 fd;		/* -1: there is none */
	int	 lock_fd;	/* held while it is >= 0 */
};

/*
 * Opens it; make: and makes it, with the folders above.  Without `make` a
 * store that is missing is no error, fd stays -1.  -1: another's, or of a newer
 * version; store_release() is due in any case.
 */
int	 store_open(struct store *, const char *state, bool make,
	    struct err *);
/* Without a look at the version: for `fence shadow reset`. */
int	 store_open_any(struct store *, const char *state, struct err *);
/* Waits so long for whoever has it.  Not for a store that is missing. */
int	 store_lock(struct store *, int wait_ms, struct err *);
void	 store_unlock(struct store *);
void	 store_release(struct store *);

void	 store_key(const char *folder, char ret[SHADOW_KEY]);

/* ---- the index of a folder ---- */

/* What a name in jail/ began from. */
struct record {
	char		*name;
	enum shadow_kind kind;
	char		 host[SHA256_HEX];	/* the host's stamp, then */
	char		 base[SHA256_HEX];	/* the content of both, then */
	char		 clean[SHA256_HEX];	/* the copy's stamp, then */
	char		 seen[SHA256_HEX];	/* its stamp when last told */
};

struct shade {			/* one folder in the store */
	char		*path;		/* the host's */
	char		 key[SHADOW_KEY];
	bool		 is_rest_carried;
	int		 fd, jail_fd;	/* STORE/KEY, and jail/ in it */
	struct { struct record *v; size_t n, cap; } records;
};

/*
 * Opens STORE/KEY and reads its index.  make: makes what is missing.  Without
 * it, -1 and errno ENOENT in e->sys if there is none.
 */
int	 shade_open(struct store *, const char *key, const char *path,
	    bool make, struct shade *ret, struct err *);
/* Replaces the index.  -1 with errno. */
int	 shade_write(const struct shade *);
void	 shade_release(struct shade *);
/* NULL: no record. */
struct record *shade_find(const struct shade *, const char *name);
struct record *shade_add(struct shade *, const char *name,
	    enum shadow_kind);	/* everything "-"; or the one there is */
void	 shade_forget(struct shade *, const char *name);

/*
 * Moves from/name to aside/N/new_name; *ret is the whole path, to be freed.
 * The oldest of too many go.  is_copied: it stays where it is, too.  from:
 * jail_fd, or the folder of the host.  -1 with errno.
 */
int	 shade_set_aside(const struct store *, const struct shade *, int from,
	    const char *name, const char *new_name, bool is_copied,
	    char **ret);

/* ---- runs ---- */

struct run_folder {
	char		*path;
	bool		 is_rest_carried;
	struct { struct shadow_item *v; size_t n, cap; } items;
};

struct run {
	char		*id;
	int		 fd;		/* locked */
	struct { struct run_folder *v; size_t n, cap; } folders;
};

/*
 * Writes it down, under the store's lock.  The run's lock is in its fd.  Until
 * run_begun() (-1 with errno) there is nothing to end if we are killed.
 */
int	 run_create(const struct store *, const char *id,
	    const struct shadow_folder *, size_t n, struct run *ret,
	    struct err *);
int	 run_begun(const struct run *);
/*
 * The next one that nobody holds: 1, and it is held; 0: no more.  *list begins
 * as NULL and is freed by the last call.  One that is incomplete is removed.
 */
int	 run_next_dead(const struct store *, void **list, struct run *ret);
/* Does another run than this (or NULL) live? */
bool	 run_others_live(const struct store *, const char *id);
bool	 run_has_dead(const struct store *);	/* without any lock */
/* is_done: its file goes; else the next start takes it up. */
void	 run_close(const struct store *, struct run *, bool is_done);
void	 run_release(struct run *);	/* memory and descriptor alone */

#endif
