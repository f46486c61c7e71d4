/* paths: where things are on this machine. */
#ifndef FENCE_PLATFORM_PATHS_H
#define FENCE_PLATFORM_PATHS_H

#include <stdbool.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"

/*
 * The folder of fence-init, fence-net and the shim, found relative to the
 * running binary: .../bin/fence-run -> .../libexec/fence, and in a build
 * tree build/fence-run -> build/libexec/fence.  Never through the
 * environment or the working directory.
 */
int	 paths_libexec(struct arena *, const char **ret, struct err *);

/* The program that runs, as the kernel knows it; NULL: errno says why. */
const char	*paths_self(struct arena *);

/*
 * bwrap from the absolute entries of PATH and the usual places; never one
 * of which is_foreign(real path, arg) is true (it may be NULL), and never a
 * setuid one.
 */
int	 paths_bwrap(struct arena *, bool (*is_foreign)(const char *, void *),
	    void *arg, const char **ret, struct err *);

/*
 * The program that execvp(name) would start here, by the path that execvp()
 * would give it: a script sees it as $0.  Fails with ERR_NOTFOUND or
 * ERR_NOEXEC.
 */
int	 paths_program(struct arena *, const char *name, const char *path_var,
	    const char **ret, struct err *);

#endif
