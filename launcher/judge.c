#include "launcher/judge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

enum { MAX_COMPONENTS = 128 };	/* of a path we resolve */

/* The length of the kept name that the path is or is below, or 0. */
static size_t
kept_len(const struct judge *j, const char *path)
{
	for (size_t i = 0; i < j->nguards; i++)
		if (str_path_below(path, j->guards[i].path))
			return strlen(j->guards[i].path);
	return 0;
}

/* A mask or a missing right takes reading away, too: ask for both. */
static bool
is_denied(const struct judge *j, enum fs_op op, const char *path,
    struct verdict *ret)
{
	struct fs_question q = { .op = op, .path = path };

	decide_fs_ask(j->policy, &q, ret);
	/* What the lists would let write is kept for what it is. */
	if (ret->action == ACTION_ALLOW && op == FS_WRITE) {
		q.guarded_len = kept_len(j, path);
		q.is_guarded = q.guarded_len > 0;
		(void)decide_guarded(j->policy, path, &q.is_own);
		decide_fs_ask(j->policy, &q, ret);
	}
	if (ret->action == ACTION_ALLOW && op != FS_READ)
		decide_fs(j->policy, FS_READ, path, ret);
	return ret->action == ACTION_DENY;
}

/*
 * Where the path leads on the host: its longest existing part resolved, the
 * rest as it is.  NULL below /proc (there "self" would be us), or if looking
 * would take too long.
 */
static const char *
resolve(struct arena *arena, const char *path)
{
	char *part = arena_strdup(arena, path), *real, *slash;
	const char *resolved = NULL;
	unsigned n = 0;

	for (const char *p = path; *p != '\0'; p++)
		n += *p == '/';
	if (n > MAX_COMPONENTS || str_path_below(path, "/proc"))
		return NULL;
	while (access(part, F_OK) != 0 &&
	    (slash = strrchr(part, '/')) != NULL && slash != part)
		*slash = '\0';
	real = realpath(part, NULL);
	if (real != NULL)
		resolved = pattern_clean_path(arena, "/", arena_printf(arena,
		    "%s/%s", real, path + strlen(part)));
	free(real);
	return resolved;
}

const char *
judge_path(const struct judge *j, struct arena *arena, enum fs_op op,
    const char *cwd, const char *path, struct verdict *ret)
{
	const char *clean, *real;

	if (path[0] != '/' && cwd[0] != '/')
		return NULL;
	clean = pattern_clean_path(arena, path[0] == '/' ? "/" : cwd, path);
	if (clean == NULL)
		return NULL;
	if (is_denied(j, op, clean, ret))
		return clean;
	real = resolve(arena, path[0] == '/' ? path :
	    arena_printf(arena, "%s/%s", cwd, path));
	return real != NULL && strcmp(real, clean) != 0 &&
	    is_denied(j, op, real, ret) ? clean : NULL;
}

const char *
judge_late(const struct judge *j, struct arena *arena, const char *cwd,
    const char *path, struct verdict *ret)
{
	const char *clean = pattern_clean_path(arena, path[0] == '/' ? "/" :
	    cwd, path);
	char *folder;

	if (clean == NULL || clean[0] != '/')
		return NULL;
	decide_fs(j->policy, FS_WRITE, clean, ret);
	if (ret->action != ACTION_ALLOW ||
	    ret->rule.id != RULE_ENTRY ||
	    ret->rule.key != KEY_OF(fs.allow_write))
		return NULL;
	folder = arena_strdup(arena, clean);
	*strrchr(folder, '/') = '\0';
	if (access(folder, W_OK) != 0 && errno == EROFS)
		return NULL;
	ret->action = ACTION_DENY;
	verdict_reason(ret, "it was not there when the run began");
	verdict_remedy(ret, REMEDY_MUST_EXIST, KEY_OF(fs.allow_write), NULL);
	return clean;
}
