#include "launcher/exec/exec_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/gitconf.h"
#include "platform/base/environ.h"
#include "platform/base/path.h"
#include "platform/calls.h"
#include "platform/fd.h"
#include "platform/paths.h"

enum { TEXT_MAX = 256 * 1024, PARENTS_MAX = 64 };

struct alias {
	const char	*name, *value;
	struct alias	*next;		/* written before it */
};

struct exec_facts {
	struct exec_world	 world;
	struct arena		*arena;
	char *const		*env;
	const char		*cwd, *home;	/* home: or NULL */
	const char		*known_word, *known_path;	/* or NULL */
	int			 root_fd;	/* of a jail; -1: of none */
	bool			 has_aliases;	/* they were read */
	struct alias		*aliases;	/* the last first */
};

/* ---- files ---- */

/* As a shell would spell it: "~/x", "x" of the working directory. */
static const char *
whole_path(const struct exec_facts *f, const char *path)
{
	if (path[0] == '/')
		return path;
	if (path[0] == '~' && path[1] == '/')
		return f->home != NULL ? arena_join(f->arena, f->home,
		    path + 2) : NULL;
	return arena_join(f->arena, f->cwd, path);
}

/* Regular files alone: reading another might wait. */
static const char *
read_text(const struct exec_facts *f, const char *path, size_t *ret_len)
{
	auto_fd fd = path == NULL ? -1 : f->root_fd >= 0 ?
	    exec_open(f->root_fd, f->arena, path) : open(path, O_RDONLY |
	    O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t len = 0;
	char *text;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > TEXT_MAX)
		return NULL;
	text = arena_alloc(f->arena, (size_t)st.st_size + 1);
	while (len < (size_t)st.st_size) {
		ssize_t n = read(fd, text + len, (size_t)st.st_size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return text;
}

/* ---- the answers ---- */

static const char *
real_name(void *arg, const char *program)
{
	const struct exec_facts *f = arg;
	const char *path = NULL;
	char real[PATH_MAX];

	if (f->known_word != NULL && strcmp(program, f->known_word) == 0)
		path = f->known_path;
	else if (strchr(program, '/') != NULL)
		path = whole_path(f, program);
	else if (paths_program(f->arena, program, env_get(f->env, "PATH"),
	    &path, NULL) != 0)
		path = NULL;
	if (path == NULL || realpath(path, real) == NULL)
		return NULL;
	return arena_strdup(f->arena, path_name(real));
}

static const char *
ssh_config(void *arg, const char *path, size_t *ret_len)
{
	const struct exec_facts *f = arg;

	return read_text(f, whole_path(f, path != NULL ? path :
	    "~/.ssh/config"), ret_len);
}

static void
take_alias(const struct gitconf_entry *e, void *arg)
{
	struct exec_facts *f = arg;
	struct alias *a;

	if (strncmp(e->name, "alias.", 6) != 0 || e->value == NULL)
		return;
	a = arena_alloc(f->arena, sizeof *a);
	*a = (struct alias){ arena_strdup(f->arena, e->name + 6),
	    arena_strdup(f->arena, e->value), f->aliases };
	f->aliases = a;
}

static bool
read_aliases(struct exec_facts *f, const char *path)
{
	size_t len;
	const char *text = read_text(f, path, &len);

	if (text != NULL)
		(void)gitconf_each(text, len, take_alias, f);
	return text != NULL;
}

/* The repository around the working directory; later files speak over. */
static void
read_git(struct exec_facts *f)
{
	const char *xdg = env_get(f->env, "XDG_CONFIG_HOME");
	const char *dir = f->cwd;

	if (xdg != NULL && xdg[0] == '/')
		read_aliases(f, arena_join(f->arena, xdg, "git/config"));
	else
		read_aliases(f, whole_path(f, "~/.config/git/config"));
	read_aliases(f, whole_path(f, "~/.gitconfig"));
	for (unsigned i = 0; i < PARENTS_MAX; i++) {
		if (read_aliases(f, arena_join(f->arena, dir, ".git/config")))
			break;
		if (dir[0] == '\0' || strcmp(dir, "/") == 0)
			break;
		dir = path_dir(f->arena, dir);
	}
}

static const char *
git_alias(void *arg, const char *name)
{
	struct exec_facts *f = arg;

	if (!f->has_aliases)
		read_git(f);
	f->has_aliases = true;
	for (const struct alias *a = f->aliases; a != NULL; a = a->next)
		if (strcmp(a->name, name) == 0)
			return a->value;
	return NULL;
}

struct exec_facts *
exec_facts_new(struct arena *a, char *const *env, const char *cwd,
    int root_fd)
{
	struct exec_facts *f = arena_alloc(a, sizeof *f);

	*f = (struct exec_facts){
		.world = { real_name, ssh_config, git_alias, f },
		.arena = a, .env = env, .cwd = cwd,
		.home = env_get(env, "HOME"), .root_fd = root_fd,
	};
	return f;
}

void
exec_facts_know(struct exec_facts *f, const char *word, const char *path)
{
	f->known_word = word;
	f->known_path = path;
}

const struct exec_world *
exec_facts_world(const struct exec_facts *f)
{
	return &f->world;
}
