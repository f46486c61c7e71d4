#include "policy/pattern.h"

#include <limits.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/glob.h"

static struct pattern *
pattern_new(struct arena *a, enum pattern_kind kind, const char *text)
{
	struct pattern *p = arena_alloc(a, sizeof *p);

	p->kind = kind;
	p->text = text;
	return p;
}

static int
bad_domain(const char *text, const char *why, struct err *e)
{
	return err_set(e, ERR_POLICY, "'%.100s' %s", text, why);
}

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* The shapes people write that are not a host; 0: none of them. */
static int
refuse_shape(const char *text, struct err *e)
{
	const char *slash = strchr(text, '/'), *colon = strrchr(text, ':');
	struct host h;

	if (text[0] == '\0')
		return bad_domain(text, "is not a domain pattern", e);
	if (text[0] == '!')
		return bad_domain(text,
		    "removes an entry: not in this version", e);
	if (strstr(text, "://") != NULL) {
		bad_domain(text, "has a protocol", e);
		err_hint(e, "write the host alone: 'example.com'");
		return -1;
	}
	if (slash != NULL && is_number(slash + 1) &&
	    host_canon(text, (size_t)(slash - text), &h) == 0 &&
	    h.kind != HOST_NAME)
		return bad_domain(text,
		    "is an address range: not in this version", e);
	if (slash != NULL) {
		bad_domain(text, "has a path", e);
		err_hint(e, "write the host alone: 'example.com'");
		return -1;
	}
	if (host_canon(text, strlen(text), &h) == 0 && h.kind == HOST_IPV6)
		return 0;
	if (colon != NULL &&
	    (is_number(colon + 1) || strcmp(colon, ":*") == 0)) {
		bad_domain(text, "has a port: not in this version", e);
		err_hint(e, "without the port it means every port");
		return -1;
	}
	return 0;
}

static int
refuse_name(const char *text, struct err *e)
{
	size_t len = strlen(text);

	bad_domain(text, "is not a domain pattern", e);
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80) {
			err_hint(e, "names are written in ASCII (xn--...)");
			return -1;
		}
	if (text[0] == '.' && len > 1 && text[1] != '.')
		err_hint(e, "'*%.80s' matches every subdomain of %.40s", text,
		    text + 1);
	else if (len > 1 && text[len - 1] == '.' && text[0] != '.')
		err_hint(e, "write it without the last dot");
	else
		err_hint(e, "'example.com', '*.example.com', '192.0.2.1', "
		    "'2001:db8::1' and '*' are");
	return -1;
}

static int
pattern_wildcard(struct arena *a, const char *text,
    const struct pattern **ret, struct err *e)
{
	const char *rest = text + 2;
	size_t len = strlen(text);
	struct host h;

	if (strcmp(text, "*") == 0) {
		*ret = pattern_new(a, PATTERN_ANY, "*");
		return 0;
	}
	if (text[0] != '*' || text[1] != '.' || strchr(rest, '*') != NULL ||
	    host_canon(rest, strlen(rest), &h) != 0 || h.kind != HOST_NAME ||
	    text[len - 1] == '.') {
		bad_domain(text, "is not a domain pattern", e);
		err_hint(e, "'*.example.com' matches every subdomain of "
		    "example.com");
		return -1;
	}
	if (strchr(h.text, '.') == NULL) {
		bad_domain(text, "is too broad a wildcard", e);
		err_hint(e, "what follows '*.' needs a dot; "
		    "'*' alone matches every host");
		return -1;
	}
	*ret = pattern_new(a, PATTERN_SUFFIX, arena_strdup(a, h.text));
	return 0;
}

int
pattern_domain(struct arena *a, const char *text, const struct pattern **ret,
    struct err *e)
{
	size_t len = strlen(text);
	struct pattern *p;
	struct host h;

	if (refuse_shape(text, e) != 0)
		return -1;
	if (strchr(text, '*') != NULL)
		return pattern_wildcard(a, text, ret, e);
	if (host_canon(text, len, &h) != 0 || text[len - 1] == '.')
		return refuse_name(text, e);
	p = pattern_new(a, PATTERN_DOMAIN, arena_strdup(a, h.text));
	p->host = h;
	*ret = p;
	return 0;
}

bool
pattern_match_host(const struct pattern *p, const struct host *h)
{
	size_t n, len;

	switch (p->kind) {
	case PATTERN_ANY:
		return true;
	case PATTERN_DOMAIN:
		if (p->host.kind != h->kind)
			return false;
		if (h->kind == HOST_NAME)
			return strcmp(p->host.text, h->text) == 0;
		return memcmp(p->host.addr, h->addr,
		    h->kind == HOST_IPV4 ? 4 : 16) == 0;
	case PATTERN_SUFFIX:
		if (h->kind != HOST_NAME)
			return false;
		n = strlen(p->text);
		len = strlen(h->text);
		return len > n + 1 && h->text[len - n - 1] == '.' &&
		    strcmp(h->text + len - n, p->text) == 0;
	case PATTERN_PATH:
	case PATTERN_GLOB:
		break;
	}
	return false;
}

/* Text that means itself, whatever is in it. */
static void
put_literal(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (strchr("\\*?[", *s) != NULL)
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

static int
compile_path(struct arena *a, const char *text, const struct policy_env *env,
    struct buf *glob, struct buf *out, const struct pattern **ret,
    struct err *e)
{
	if (expand(text, env, glob, e) != 0)
		return -1;
	if (glob->data[0] != '/' && strcmp(env->workspace, "/") != 0)
		put_literal(out, env->workspace);
	if (add_names(out, glob->data, true, e) != 0)
		return -1;
	drop_any_depth(out);
	if (glob->failed || out->failed || out->len >= PATH_MAX)
		return err_set(e, ERR_POLICY, "path is too long");
	if (glob_is_wild(out->data, out->len))
		*ret = pattern_new(a, PATTERN_GLOB,
		    arena_strndup(a, out->data, out->len));
	else
		*ret = pattern_new(a, PATTERN_PATH, unescape(a, out));
	return 0;
}

int
pattern_path(struct arena *a, const char *text, const struct policy_env *env,
    const struct pattern **ret, struct err *e)
{
	struct buf glob, out;
	int rv;

	if (text[0] == '\0')
		return err_set(e, ERR_POLICY, "an empty string is not a path");
	if (text[0] == '!') {
		err_set(e, ERR_POLICY,
		    "'%.100s' removes an entry: not in this version", text);
		err_hint(e, "a name that begins with '!' is written './!...'");
		return -1;
	}
	buf_init(&glob, 4 * PATH_MAX);
	buf_init(&out, 4 * PATH_MAX);
	rv = compile_path(a, text, env, &glob, &out, ret, e);
	buf_release(&glob);
	buf_release(&out);
	return rv;
}

size_t
pattern_match_path(const struct pattern *p, const char *path)
{
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
