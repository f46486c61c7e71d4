#include "launcher/plan/exec_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/vec.h"

struct dirs {
	const char	**v;		/* real */
	size_t		  n, cap;
};

struct search {
	struct arena		*arena;
	const struct policy	*policy;
	const char		*shell;		/* real, or NULL */
	struct dirs		 dirs;
	struct exec_files	*out;
};

/* ---- words ---- */

/* The word of a rule that has no more than that, or NULL. */
static const char *
single_word(struct arena *a, const char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strcspn(text, " \t");
	if (n == 0 || text[n + strspn(text + n, " \t")] != '\0' ||
	    strncmp(text, "re:", 3) == 0)
		return NULL;
	text = arena_strndup(a, text, n);
	return strpbrk(text, "*?[]|&;()<>$`=\\'\"") == NULL ? text : NULL;
}

static bool
is_listed(struct arena *a, const struct strlist *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *word = single_word(a, l->v[i].text);

		if (word != NULL && strcmp(path_name(word), name) == 0)
			return true;
	}
	return false;
}

static bool
is_denied(const struct search *s, const char *name)
{
	for (const struct policy *p = s->policy; p != NULL; p = p->also)
		if (is_listed(s->arena, &p->command.deny, name))
			return true;
	return false;
}

/* ---- directories ---- */

static void
add_dir(struct search *s, const char *path)
{
	const char *real = path[0] == '/' ? path_real(s->arena, path) : NULL;

	for (size_t i = 0; real != NULL && i < s->dirs.n; i++)
		if (strcmp(s->dirs.v[i], real) == 0)
			return;
	if (real != NULL)
		*vec_push(&s->dirs) = real;
}

static void
add_dirs(struct search *s, const char *search)
{
	static const char *const usual[] = { "/usr/local/sbin",
	    "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin" };

	for (const char *p = search; p != NULL && *p != '\0';) {
		size_t n = strcspn(p, ":");

		add_dir(s, arena_strndup(s->arena, p, n));
		p += n + (p[n] == ':');
	}
	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		add_dir(s, usual[i]);
}

/* ---- files ---- */

static void
add_file(struct search *s, const char *path, const char *word,
    const struct rule *rule)
{
	const char *real = path_real(s->arena, path);
	struct exec_file f = { .path = real, .rule = rule, .word = word };
	const char *name;
	struct stat st;

	if (real == NULL || stat(real, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (st.st_mode & 0111) == 0 || (s->shell != NULL &&
	    strcmp(s->shell, real) == 0))
		return;
	for (size_t i = 0; i < s->out->n; i++)
		if (strcmp(s->out->v[i].path, real) == 0)
			return;
	name = path_name(real);
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	if (!is_denied(s, name))
		f.other = name;
	else if (st.st_nlink > 1)
		f.other = "a hard link";
	*vec_push(s->out) = f;
}

static void
add_word(struct search *s, const char *word, const struct rule *rule)
{
	if (strchr(word, '/') != NULL) {
		if (word[0] == '/')
			add_file(s, word, word, rule);
		return;
	}
	for (size_t i = 0; i < s->dirs.n; i++)
		add_file(s, arena_printf(s->arena, "%s/%s", s->dirs.v[i],
		    word), word, rule);
}

static void
add_layer(struct search *s, const struct policy *p)
{
	const struct strlist *l = &p->command.deny;

	for (size_t i = 0; i < l->n; i++) {
		const char *word = single_word(s->arena, l->v[i].text);
		struct rule *rule;

		if (word == NULL)
			continue;
		rule = arena_alloc(s->arena, sizeof *rule);
		*rule = (struct rule){ .id = RULE_ENTRY,
		    .key = KEY_OF(command.deny), .index = i,
		    .text = l->v[i].text, .at = l->v[i].at };
		add_word(s, word, rule);
	}
}

/* ---- other names ---- */

static void
take_name(struct search *s, int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, 0) != 0)
		return;
	for (size_t i = 0; i < s->out->n; i++) {
		struct exec_file *f = &s->out->v[i];

		if (f->other == NULL && st.st_dev == f->dev &&
		    st.st_ino == f->ino && !is_denied(s, name))
			f->other = arena_strdup(s->arena, name);
	}
}

/* Symlinks; hard links were counted. */
static void
look_for_names(struct search *s, const char *dir)
{
	DIR *dp = opendir(dir);
	struct dirent *d;

	while (dp != NULL && (d = readdir(dp)) != NULL)
		if (d->d_type == DT_LNK || d->d_type == DT_UNKNOWN)
			take_name(s, dirfd(dp), d->d_name);
	if (dp != NULL)
		closedir(dp);
}

static bool
is_accepted(const struct search *s, const struct exec_file *f)
{
	for (const struct policy *p = s->policy; p != NULL; p = p->also)
		if (!is_listed(s->arena, &p->command.accept_shared_binary,
		    path_name(f->word)))
			return false;
	return true;
}

void
exec_files_find(struct arena *a, const struct policy *p, const char *search,
    const char *shell, struct exec_files *ret)
{
	struct search s = { .arena = a, .policy = p, .out = ret,
	    .shell = shell != NULL ? path_real(a, shell) : NULL };

	add_dirs(&s, search);
	for (; p != NULL; p = p->also)
		add_layer(&s, p);
	for (size_t i = 0; ret->n > 0 && i < s.dirs.n; i++)
		look_for_names(&s, s.dirs.v[i]);
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].is_accepted = is_accepted(&s, &ret->v[i]);
	vec_release(&s.dirs);
}

bool
exec_files_shared(const struct exec_files *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].other != NULL && !l->v[i].is_accepted)
			return true;
	return false;
}
