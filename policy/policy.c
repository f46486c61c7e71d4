#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "policy/cmdrule.h"
#include "policy/index.h"
#include "policy/ini.h"
#include "policy/jsonc.h"
#include "policy/load.h"
#include "policy/pattern.h"

/* Made from policy/templates/ by policy/embed.awk. */
static const struct builtin {
	const char	*name;
	const char	*text;
} builtins[] = {
#include "policy/builtin.inc"
};

struct policy *
policy_new(const char *shown, const struct policy_env *env)
{
	struct arena *a = arena_new();
	struct policy *p = arena_alloc(a, sizeof *p);

	p->arena = a;
	p->name = arena_strdup(a, shown);
	p->kind = env->kind;
	p->workspace = arena_strdup(a, env->workspace);
	p->home = env->home != NULL ? arena_strdup(a, env->home) : NULL;
	p->other_home = env->other_home != NULL ?
	    arena_strdup(a, env->other_home) : NULL;
	for (size_t i = 0; i < policy_nkeys; i++) {
		struct strlist *list = keys_strlist(&policy_keys[i], p);

		if (list != NULL)
			list->at = (struct origin){ .file = p->name,
			    .kind = p->kind };
		else if (policy_keys[i].type == KEY_STRING)
			*(struct string *)keys_field(&policy_keys[i], p) =
			    (struct string){ .text = "", .shown = "" };
	}
	policy_index(p);
	return p;
}

void
policy_free(struct policy *p)
{
	if (p != NULL)
		arena_free(p->arena);
}

static void
add_path(struct policy *p, struct strlist *l, const char *path,
    const char *what)
{
	struct entry *v = arena_alloc(p->arena, (l->n + 1) * sizeof *v);
	struct pattern *pat = arena_alloc(p->arena, sizeof *pat);

	pat->kind = PATTERN_PATH;
	pat->text = arena_strdup(p->arena, path);
	if (l->n > 0)
		memcpy(v, l->v, l->n * sizeof *v);
	v[l->n] = (struct entry){ .text = arena_strdup(p->arena, what),
	    .at = { "<built-in>", 0, 0, ORIGIN_BUILT_IN },
	    .pattern = pat };
	l->v = v;
	l->n++;
}

void
policy_own(struct policy *p, const char *path, const char *what)
{
	add_path(p, &p->fs.own, path, what);
}

void
policy_hide(struct policy *p, const char *path, const char *what)
{
	add_path(p, &p->fs.hidden, path, what);
}

void
policy_alias(struct policy *p, size_t key, size_t entry, const char *real)
{
	size_t n = p->fs.naliases;

	/* Grown by doubling: a glob may match many links. */
	if ((n & (n - 1)) == 0) {
		struct fs_alias *v = arena_alloc(p->arena,
		    (n > 0 ? 2 * n : 1) * sizeof *v);

		if (n > 0)
			memcpy(v, p->fs.aliases, n * sizeof *v);
		p->fs.aliases = v;
	}
	p->fs.aliases[p->fs.naliases++] = (struct fs_alias){
	    .real = arena_strdup(p->arena, real), .len = strlen(real),
	    .list = key, .entry = entry };
}

void
policy_git(struct policy *p, const char *path, const char *top)
{
	p->fs.git_top = arena_strdup(p->arena, top);
	p->fs.git_dir = arena_strdup(p->arena, path);
}

void
policy_index(struct policy *p)
{
	p->net_allowed_index = net_index_new(p->arena,
	    &p->net.allowed_domains);
	p->net_denied_index = net_index_new(p->arena, &p->net.denied_domains);
	p->fs_index = fs_index_new(p->arena, p);
	p->cmd_index = cmd_index_new(p->arena, p);
}

enum policy_format
policy_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL && (strcmp(dot, ".ini") == 0 ||
	    strcmp(dot, ".conf") == 0) ? POLICY_INI : POLICY_JSONC;
}

int
policy_cross_check(const struct policy *p, struct err *e)
{
	const struct choice *action = &p->net.default_action;

	if (action->value != NET_ACTION_PROXY || p->net.upstream_proxy.is_set)
		return 0;
	err_set(e, ERR_POLICY, "'proxy' needs network.upstreamProxy");
	err_hint(e, "say which proxy decides about hosts that no list names");
	err_key(e, "network.defaultAction");
	err_where(e, action->at.file, action->at.line, action->at.col);
	return -1;
}

struct errlist *
errlist_new(void)
{
	struct errlist *l = xrealloc(NULL, 1, sizeof *l);

	l->n = l->unlisted = 0;
	return l;
}

/* What a file without `extends` will never get from elsewhere. */
static int
check_alone(const struct policy *p, struct errlist *errs)
{
	if (p->extends.n != 0 || policy_cross_check(p, &errs->v[0]) == 0)
		return 0;
	errs->n = 1;
	return -1;
}

int
policy_parse_all(const char *text, size_t len, const char *shown,
    enum policy_format format, const struct policy_env *env,
    struct policy **ret, struct errlist *errs)
{
	struct policy *p = policy_new(shown, env);
	struct load l;

	errs->n = errs->unlisted = 0;
	load_init(&l, p, env, errs);
	if (format == POLICY_INI)
		ini_read(&l, text, len);
	else
		jsonc_read(&l, text, len);
	if (load_finish(&l) != 0 || check_alone(p, errs) != 0) {
		policy_free(p);
		return -1;
	}
	p->fs.default_deny_read.value |= p->fs.strict_deny_read.value;
	policy_index(p);
	*ret = p;
	return 0;
}

/* Takes errs, and leaves its first error to the caller. */
static int
first_of(int rv, struct errlist *errs, struct err *e)
{
	if (rv != 0 && e != NULL)
		*e = errs->v[0];
	free(errs);
	return rv;
}

int
policy_parse(const char *text, size_t len, const char *shown,
    const struct policy_env *env, struct policy **ret, struct err *e)
{
	struct errlist *errs = errlist_new();

	return first_of(policy_parse_all(text, len, shown, POLICY_JSONC, env,
	    ret, errs), errs, e);
}

static int
fail_file(struct err *e, const char *path, int sys, const char *what)
{
	err_set(e, ERR_POLICY, "%s", what);
	if (e != NULL)
		e->sys = sys;
	err_where(e, path, 0, 0);
	return -1;
}

static int
read_fd(int fd, const char *path, bool may_be_pipe, struct buf *b,
    bool *ret_is_file, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return fail_file(e, path, errno, "cannot read the policy");
	if (S_ISDIR(st.st_mode))
		return fail_file(e, path, 0,
		    "is a directory, not a policy file");
	*ret_is_file = S_ISREG(st.st_mode);
	if (!*ret_is_file && !may_be_pipe)
		return fail_file(e, path, 0, "is not a regular file");
	b->max_bytes = POLICY_MAX_BYTES;
	if (buf_read(b, fd) == 0)
		return 0;
	return errno == EFBIG ? fail_file(e, path, 0,
	    "is longer than 1 MiB, too long for a policy") :
	    fail_file(e, path, errno, "cannot read the policy");
}

int
policy_read(const char *path, bool may_be_pipe, struct buf *b,
    bool *ret_is_file, struct err *e)
{
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    (may_be_pipe ? 0 : O_NONBLOCK));
	if (fd < 0)
		return fail_file(e, path, errno, "cannot open the policy");
	rc = read_fd(fd, path, may_be_pipe, b, ret_is_file, e);
	close(fd);
	return rc;
}

int
policy_load_file_all(const char *path, const struct policy_env *env,
    struct policy **ret, struct errlist *errs)
{
	bool is_file;
	struct buf b;
	int rv;

	errs->n = errs->unlisted = 0;
	buf_init(&b, 0);
	rv = policy_read(path, true, &b, &is_file, &errs->v[0]);
	if (rv != 0)
		errs->n = 1;
	else
		rv = policy_parse_all(b.data, b.len, path,
		    policy_format_of(path), env, ret, errs);
	buf_release(&b);
	return rv;
}

const char *
policy_builtin_name(size_t i, const char **ret_text)
{
	if (i >= sizeof builtins / sizeof *builtins)
		return NULL;
	if (ret_text != NULL)
		*ret_text = builtins[i].text;
	return builtins[i].name;
}

const char *
policy_builtin_near(const char *name)
{
	const char *best = NULL;
	unsigned least = strlen(name) < 6 ? 2 : 4, d;

	for (size_t i = 0; strlen(name) < 64 &&
	    i < sizeof builtins / sizeof *builtins; i++)
		if ((d = str_distance(name, builtins[i].name)) < least) {
			least = d;
			best = builtins[i].name;
		}
	return best;
}

int
policy_load_builtin(const char *name, const struct policy_env *env,
    struct policy **ret, struct err *e)
{
	struct policy_env own = *env;
	char shown[64];

	own.kind = ORIGIN_BUILT_IN;
	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
		const struct builtin *t = &builtins[i];

		if (strcmp(t->name, name) != 0)
			continue;
		snprintf(shown, sizeof shown, "<built-in %s>", name);
		return policy_parse(t->text, strlen(t->text), shown, &own,
		    ret, e);
	}
	return err_set(e, ERR_POLICY, "no built-in policy is named '%.60s'",
	    name);
}
