/*
 * What the configuration of a repository leads git to: folders of hooks, and
 * more configuration.  Where these lie in a writable tree they are guarded as
 * what is in the git directory itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/guard/gitconf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "policy/pattern.h"

enum { INCLUDES_MAX = 8 };	/* one in the other */

/* One file of configuration, while it is read. */
struct config {
	struct gather	*g;
	const char	*dir;		/* of the file: what paths in it mean */
	const char	*tree;		/* where hooks are run */
	unsigned	 depth;
};

static void	 read_config(struct config, const char *path);

/* Absolute, or NULL for what only git can say ("%(prefix)/x", "~user/x"). */
static const char *
path_of(struct gather *g, const char *base, const char *value)
{
	const char *home = g->rq->policy->home;

	if (strncmp(value, "~/", 2) == 0)
		return home == NULL ? NULL : pattern_clean_path(g->arena,
		    home, value + 2);
	return value[0] == '~' || value[0] == '%' || value[0] == '\0' ?
	    NULL : pattern_clean_path(g->arena, base, value);
}

/* Held where it lies, or would be made. */
static void
guard_target(struct gather *g, const char *path)
{
	struct tree_node node;
	const char *real;

	gather_look(g, path, &node);
	real = node.kind != TREE_MISSING ? node.real : gather_target(g, path);
	if (real == NULL || !gather_in_grant(g, real))
		return;
	if (strcmp(path, real) != 0)
		gather_hold_links(g, path);
	guard_add_at(g, real, GUARD_ITSELF);
}

static bool
is_include(const char *name)
{
	static const char begin[] = "includeif.", end[] = ".path";
	size_t n = strlen(name), k = sizeof end - 1;

	return strcmp(name, "include.path") == 0 ||
	    (strncmp(name, begin, sizeof begin - 1) == 0 && n > k &&
	    strcmp(name + n - k, end) == 0);
}

static void
take_entry(const struct gitconf_entry *e, void *arg)
{
	const struct config *c = arg;
	bool is_hooks = strcmp(e->name, "core.hookspath") == 0;
	struct config next = *c;
	const char *path;

	if (e->value == NULL || (!is_hooks && !is_include(e->name)))
		return;
	path = path_of(c->g, is_hooks ? c->tree : c->dir, e->value);
	if (path == NULL)
		return;
	guard_target(c->g, path);
	next.depth++;
	if (!is_hooks && next.depth < INCLUDES_MAX)
		read_config(next, path);
}

/* A FIFO would keep us waiting for ever; what cannot be read is not obeyed. */
static void
read_config(struct config c, const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || st.st_size > GITCONF_MAX)
		return;
	c.dir = path_dir(c.g->arena, path);
	text = xrealloc(NULL, (size_t)st.st_size, 1);
	n = io_read_all(fd, text, (size_t)st.st_size);
	if (n > 0)
		(void)gitconf_each(text, (size_t)n, take_entry, &c);
	free(text);
}

/* The work tree of a git directory: the folder around a .git, or itself. */
static const char *
tree_of(struct gather *g, const char *dir)
{
	static const char name[] = "/.git";
	size_t n = strlen(dir), k = sizeof name - 1;

	return n > k && strcmp(dir + n - k, name) == 0 ?
	    arena_strndup(g->arena, dir, n - k) : dir;
}

void
guard_git_targets(struct gather *g, const char *dir)
{
	const char *home = g->rq->policy->home;
	struct config c = { .g = g, .tree = tree_of(g, dir) };

	read_config(c, arena_printf(g->arena, "%s/config", dir));
	read_config(c, arena_printf(g->arena, "%s/config.worktree", dir));
	if (home == NULL)
		return;
	read_config(c, arena_printf(g->arena, "%s/.gitconfig", home));
	read_config(c, arena_printf(g->arena, "%s/.config/git/config", home));
}
