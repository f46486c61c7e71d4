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
	char		*text;		/* the index as it is on the disk */
	size_t		 len;
};

/*
 * Opens STORE/KEY and reads its index.  make: makes what is missing.  Without
 * it, -1 and errno ENOENT in e->sys if there is none.
 */
int	 shade_open(struct store *, const char *key, const char *path,
	    bool make, struct shade *ret, struct err *);
/* Replaces the index if it says something else.  -1 with errno. */
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

/* ---- what the files are made of ---- */

/*
 * Records of a letter and a text, each ended by NUL, as a path may hold
 * everything else; "E" is the last one.
 */
enum { STORE_MAX = 8 << 20 };
void	 store_put(struct buf *, char what, const char *text);
/* The whole file, NUL-terminated twice, to be freed; NULL with errno. */
char	*store_read(int dir, const char *name, size_t *ret_len);
bool	 store_take_kind(const char *text, enum shadow_kind *ret);
/* Is it a name directly in a folder? */
bool	 store_is_name(const char *);
/* Opens a folder in a folder of the store. */
int	 store_sub(int dir, const char *name, bool make);

#endif
