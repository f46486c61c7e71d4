#include "policy/pattern.h"

#include <limits.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/glob.h"

/* Text that means itself, whatever is in it. */
static void
put_literal(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (strchr("\\*?[{},", *s) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
}

static const char *
find_var(const struct policy_env *env, const char *name, size_t len)
{
	if (env->environ == NULL)
		return NULL;
	for (char *const *v = env->environ; *v != NULL; v++)
		if (strncmp(*v, name, len) == 0 && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

/* p is behind the '$'.  Returns what follows the variable, NULL: error. */
static const char *
expand_var(const char *p, const struct policy_env *env, struct buf *b,
    struct err *e)
{
	static const char first[] = "_abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char later[] = "_abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	bool has_brace = *p == '{';
	const char *name = p + has_brace, *value;
	size_t len = strspn(name, later);

	if (*name == '\0' || strchr(first, *name) == NULL ||
	    (has_brace && name[len] != '}')) {
		err_set(e, ERR_POLICY, "'$' without a variable's name");
		err_hint(e, "'$NAME' or '${NAME}'; a literal '$' is '\\\\$'");
		return NULL;
	}
	value = find_var(env, name, len);
	/* An empty one would turn "$DIR/x" into "/x". */
	if (value == NULL || *value == '\0') {
		err_set(e, ERR_POLICY, "variable '%.*s' is not set",
		    len < 100 ? (int)len : 100, name);
		return NULL;
	}
	put_literal(b, value);
	return name + len + has_brace;
}

/* "~", "$VAR" and escapes -> a glob that means the same without them. */
static int
expand(const char *p, const struct policy_env *env, struct buf *b,
    struct err *e)
{
	if (p[0] == '~') {
		if (p[1] != '\0' && p[1] != '/')
			return err_set(e, ERR_POLICY,
			    "another user's home ('%.60s') is not known", p);
		if (env->home == NULL || env->home[0] != '/')
			return err_set(e, ERR_POLICY,
			    "'~' is used and the home directory is not known");
		put_literal(b, env->home);
		p++;
	}
	while (*p != '\0') {
		if (p[0] == '$') {
			p = expand_var(p + 1, env, b, e);
			if (p == NULL)
				return -1;
		} else if (p[0] == '\\') {
			if (p[1] == '\0' || p[1] == '/')
				return err_set(e, ERR_POLICY,
				    "backslash with nothing to escape");
			buf_add(b, p, 2);
			p += 2;
		} else {
			buf_putc(b, *p++);
		}
	}
	return 0;
}

static void
pop_name(struct buf *out)
{
	while (out->len > 0 && out->data[out->len - 1] != '/')
		out->len--;
	if (out->len > 0)
		out->len--;
}

/* Appends the names of p to out ("" is the root); "." and ".." go. */
static int
add_names(struct buf *out, const char *p, bool is_glob, struct err *e)
{
	while (*p != '\0') {
		const char *end = strchrnul(p, '/');
		struct str name = { p, (size_t)(end - p) };

		p = *end == '/' ? end + 1 : end;
		if (name.len == 0 || str_eq(name, "."))
			continue;
		if (str_eq(name, "..")) {
			/* Behind a wildcard it has no lexical meaning. */
			if (is_glob && glob_is_wild(out->data, out->len))
				return err_set(e, ERR_POLICY,
				    "'..' behind a wildcard");
			pop_name(out);
			continue;
		}
		if (is_glob && glob_check_name(name.p, name.len, e) != 0)
			return -1;
		buf_putc(out, '/');
		buf_add(out, name.p, name.len);
	}
	return 0;
}

/* A last "**" adds nothing: an entry covers what is below it. */
static void
drop_any_depth(struct buf *out)
{
	while (out->len >= 3 &&
	    memcmp(out->data + out->len - 3, "/**", 3) == 0)
		out->len -= 3;
}

static char *
unescape(struct arena *a, const struct buf *b)
{
	char *text = arena_alloc(a, b->len + 2), *to = text;

	if (b->len == 0)
		*to++ = '/';
	for (size_t i = 0; i < b->len; i++) {
		if (b->data[i] == '\\' && i + 1 < b->len)
			i++;
		*to++ = b->data[i];
	}
	return text;
}

/* One alternative: a glob without braces. */
static int
compile_one(struct arena *a, const char *glob, const struct policy_env *env,
    const struct pattern **ret, struct err *e)
{
	struct buf out;
	int rv = -1;

	buf_init(&out, 4 * PATH_MAX);
	if (glob[0] != '/' && strcmp(env->workspace, "/") != 0)
		put_literal(&out, env->workspace);
	if (add_names(&out, glob, true, e) != 0)
		goto out;
	drop_any_depth(&out);
	if (out.failed || out.len >= PATH_MAX) {
		err_set(e, ERR_POLICY, "path is too long");
		goto out;
	}
	if (glob_is_wild(out.data, out.len))
		*ret = pattern_new(a, PATTERN_GLOB,
		    arena_strndup(a, out.data, out.len));
	else
		*ret = pattern_new(a, PATTERN_PATH, unescape(a, &out));
	rv = 0;
out:
	buf_release(&out);
	return rv;
}

/* How far two paths go together, up to a slash. */
static size_t
common_len(const char *a, const char *b, size_t max)
{
	size_t n = 0, slash = 0;

	while (n < max && a[n] != '\0' && a[n] == b[n]) {
		if (a[n] == '/')
			slash = n;
		n++;
	}
	/* Both must end a component here: "/d/x?" is not below "/d/x". */
	if (n == max && b[n] == '/' && (a[n] == '/' || a[n] == '\0'))
		slash = n;
	return slash;
}

/* The directory that holds all alternatives, then "**". */
static const char *
cover(struct arena *a, const struct pattern *const *alts, size_t n)
{
	const char *first = alts[0]->text, *text;
	size_t len = strlen(first);
	struct buf b;

	for (size_t i = 0; i < n; i++) {
		size_t plain = alts[i]->kind == PATTERN_PATH ?
		    strlen(alts[i]->text) :
		    strcspn(alts[i]->text, "*?[\\");

		len = common_len(alts[i]->text, first,
		    plain < len ? plain : len);
	}
	buf_init(&b, 0);
	put_literal(&b, arena_strndup(a, first, len));
	buf_puts(&b, "/**");
	text = arena_strdup(a, b.data);
	buf_release(&b);
	return text;
}

/* Each of the alternatives, which live in `scratch` while they are texts. */
static int
compile_alts(struct arena *a, struct arena *scratch, const char *glob,
    const struct policy_env *env, const struct pattern **alts, size_t *ret_n,
    struct err *e)
{
	const char *texts[PATTERN_ALTS_MAX];

	if (glob_braces(scratch, glob, texts, PATTERN_ALTS_MAX, ret_n,
	    e) != 0)
		return -1;
	for (size_t i = 0; i < *ret_n; i++)
		if (compile_one(a, texts[i], env, &alts[i], e) != 0)
			return -1;
	return 0;
}

static struct pattern *
new_alts(struct arena *a, const struct pattern *const *alts, size_t n)
{
	struct pattern *p = pattern_new(a, PATTERN_GLOB, cover(a, alts, n));

	p->alts = arena_alloc(a, n * sizeof *alts);
	p->nalts = n;
	memcpy(p->alts, alts, n * sizeof *alts);
	return p;
}

static int
compile_path(struct arena *a, const char *text, const struct policy_env *env,
    struct buf *glob, const struct pattern **ret, struct err *e)
{
	const struct pattern *alts[PATTERN_ALTS_MAX] = { NULL };
	struct arena *scratch;
	size_t n;
	int rv;

	if (expand(text, env, glob, e) != 0)
		return -1;
	if (glob->failed)
		return err_set(e, ERR_POLICY, "path is too long");
	if (strchr(glob->data, '{') == NULL)
		return compile_one(a, glob->data, env, ret, e);
	scratch = arena_new();
	rv = compile_alts(a, scratch, glob->data, env, alts, &n, e);
	arena_free(scratch);
	if (rv != 0)
		return -1;
	*ret = alts[0];
	if (n == 1)
		return 0;
	*ret = new_alts(a, alts, n);
	return 0;
}

int
pattern_path(struct arena *a, const char *text, const struct policy_env *env,
    const struct pattern **ret, struct err *e)
{
	struct buf glob;
	int rv;

	if (text[0] == '\0') {
		err_set(e, ERR_POLICY, "an empty string is not a path");
		err_hint(e, "'.' is the workspace");
		return -1;
	}
	buf_init(&glob, 4 * PATH_MAX);
	rv = compile_path(a, text, env, &glob, ret, e);
	buf_release(&glob);
	return rv;
}

static size_t
put_alts(const struct pattern **to, const struct pattern *p)
{
	if (p->nalts == 0)
		to[0] = p;
	else
		memcpy(to, p->alts, p->nalts * sizeof *to);
	return p->nalts == 0 ? 1 : p->nalts;
}

int
pattern_denial(struct arena *a, const char *text,
    const struct policy_env *env, const struct pattern **ret, struct err *e)
{
	const struct pattern *alts[2 * PATTERN_ALTS_MAX], *here, *there;
	struct policy_env other = *env;
	size_t n;

	other.home = env->other_home;
	if (pattern_path(a, text, env, &here, e) != 0)
		return -1;
	*ret = here;
	if (text[0] != '~' || other.home == NULL)
		return 0;
	if (pattern_path(a, text, &other, &there, e) != 0)
		return -1;
	n = put_alts(alts, here);
	n += put_alts(alts + n, there);
	*ret = new_alts(a, alts, n);
	return 0;
}

size_t
pattern_match_path(const struct pattern *p, const char *path)
{
	size_t len = 0, n;

	for (size_t i = 0; i < p->nalts; i++)
		if ((n = pattern_match_path(p->alts[i], path)) > len)
			len = n;
	if (p->nalts != 0)
		return len;
	if (p->kind == PATTERN_GLOB)
		return glob_match(p->text, path);
	if (p->kind == PATTERN_PATH && str_path_below(path, p->text))
		return strlen(p->text);
	return 0;
}

const char *
pattern_clean_path(struct arena *a, const char *base, const char *path)
{
	const char *clean = NULL;
	struct buf out;

	buf_init(&out, 4 * PATH_MAX);
	if (path[0] != '/')
		add_names(&out, base, false, NULL);
	add_names(&out, path, false, NULL);
	if (!out.failed && out.len < PATH_MAX)
		clean = out.len == 0 ? "/" :
		    arena_strndup(a, out.data, out.len);
	buf_release(&out);
	return clean;
}
