/* What the guard knows of git directories, and the last thing that it does. */
#include <fcntl.h>
#include <string.h>

#include "launcher/guard/gitjournal.h"
#include "launcher/guard/guard_parts.h"
#include "platform/base/str.h"
#include "platform/fd.h"

/* Every git directory has one of these names on the list. */
static const char *const marks[] = { "/commondir", "/config.worktree",
    "/info/attributes" };

static size_t
ends_with(const char *path, const char *mark)
{
	size_t n = strlen(path), k = strlen(mark);

	return n > k && strcmp(path + n - k, mark) == 0 ? n - k : 0;
}

/*
 * A git directory of another name may have come with the tree: it is left alone
 * as long as nothing that a run made leads to it.
 */
static bool
is_repository(const char *path, size_t n)
{
	const char *at = strstr(path, "/.git");

	while (at != NULL && at[5] != '/')
		at = strstr(at + 1, "/.git");
	return at != NULL && (size_t)(at - path) + 5 <= n;
}

static void
add_once(struct guard *g, const char **list, size_t *len, const char *path,
    size_t n)
{
	for (size_t i = 0; i < *len; i++)
		if (strlen(list[i]) == n && strncmp(list[i], path, n) == 0)
			return;
	list[(*len)++] = arena_strndup(g->arena, path, n);
}

static void
add_held(struct guard *g, const char *git_dir, const char **held,
    const char **still, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof marks / sizeof *marks && n == 0; i++)
		n = ends_with(path, marks[i]);
	if (n == 0)
		return;
	if (is_repository(path, n) ||
	    (git_dir != NULL && str_path_below(path, git_dir)))
		add_once(g, held, &g->git.nheld, path, n);
	else
		add_once(g, still, &g->git.nstill, path, n);
}

void
guard_git_init(struct guard *g, const struct guard_config *c)
{
	const char **held = arena_alloc(g->arena, (c->npaths + 1) *
	    sizeof *held);
	const char **still = arena_alloc(g->arena, (c->npaths + 1) *
	    sizeof *still);
	const char **roots = arena_alloc(g->arena, (c->nroots + 1) *
	    sizeof *roots);

	for (size_t i = 0; i < c->npaths; i++)
		add_held(g, c->git_dir, held, still, c->paths[i].path);
	for (size_t i = 0; i < c->nroots; i++)
		roots[i] = arena_strdup(g->arena, c->roots[i]);
	g->git.held = held;
	g->git.still = still;
	g->git.roots = roots;
	g->git.nroots = c->nroots;
	g->git.is_open = c->is_open;
	g->git.open_arg = c->arg;
	if (c->quarantine != NULL)
		g->git.quarantine = arena_strdup(g->arena, c->quarantine);
	if (c->journal != NULL)
		g->journal = arena_strdup(g->arena, c->journal);
}

/* By the clock that files are stamped with. */
void
guard_git_start(struct guard *g)
{
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &g->git.since);
	g->is_git_due = g->git.nroots > 0;
}

void
guard_git_journal(struct guard *g)
{
	if (!g->is_git_due || g->journal == NULL)
		return;
	g->shared->has_journal = true;
	g->journal_fd = gitjournal_write(g->journal, &g->git,
	    &g->shared->journal_made);
}

void
guard_git_unjournal(struct guard *g)
{
	if (g->shared != NULL && g->shared->has_journal)
		gitjournal_remove(g->journal, g->shared->journal_made);
	if (g->shared != NULL)
		g->shared->has_journal = false;
	fd_close(&g->journal_fd);
}

static void
done(struct guard *g)
{
	g->is_git_due = false;
	guard_git_unjournal(g);
}

bool
guard_git_is_over(struct guard *g)
{
	if (g->is_git_due && gitend_is_needed(&g->git))
		return false;
	done(g);
	return true;
}

void
guard_tell_end(const struct guard_told *t, void *arg)
{
	struct guard *g = arg;

	if (g->tell != NULL)
		(void)g->tell(g, t, NULL, 0);
}

void
guard_git_last(struct guard *g)
{
	if (!g->is_git_due)
		return;
	g->git.told = guard_tell_end;
	g->git.arg = g;
	gitend_run(&g->git);
	done(g);
}

/* ---- on the way to the launcher ---- */

/* path, to, what: each with its NUL; "" is NULL.  0: it does not fit. */
size_t
guard_git_pack(const struct guard_told *t, char *text, size_t size)
{
	const char *parts[] = { t->path, t->to, t->what };
	size_t at = 0;

	for (size_t i = 0; i < 3; i++) {
		const char *part = parts[i] != NULL ? parts[i] : "";
		size_t n = strlen(part) + 1;

		if (n > size - at)
			return 0;
		memcpy(text + at, part, n);
		at += n;
	}
	return at;
}

bool
guard_git_unpack(const char *text, size_t len, struct guard_told *ret)
{
	const char **parts[] = { &ret->path, &ret->to, &ret->what };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strnlen(text, len);

		if (n == len)
			return false;
		*parts[i] = n > 0 ? text : NULL;
		text += n + 1;
		len -= n + 1;
	}
	return len == 0 && ret->path != NULL && ret->path[0] == '/' &&
	    (ret->to == NULL || ret->to[0] == '/');
}
