#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/jsonc.h"
#include "policy/pattern.h"

/* Made from policy/templates/ by policy/embed.awk. */
static const struct builtin {
	const char	*name;
	const char	*text;
} builtins[] = {
#include "policy/builtin.inc"
};

static struct policy *
policy_new(const char *shown, const struct policy_env *env)
{
	struct arena *a = arena_new();
	struct policy *p = arena_alloc(a, sizeof *p);

	p->arena = a;
	p->name = arena_strdup(a, shown);
	p->workspace = arena_strdup(a, env->workspace);
	p->home = env->home != NULL ? arena_strdup(a, env->home) : NULL;
	return p;
}

void
policy_free(struct policy *p)
{
	if (p != NULL)
		arena_free(p->arena);
}

void
policy_own(struct policy *p, const char *path, const char *what)
{
	struct strlist *own = &p->fs.own;
	struct entry *v = arena_alloc(p->arena, (own->n + 1) * sizeof *v);
	struct pattern *pat = arena_alloc(p->arena, sizeof *pat);

	pat->kind = PATTERN_PATH;
	pat->text = arena_strdup(p->arena, path);
	if (own->n > 0)
		memcpy(v, own->v, own->n * sizeof *v);
	v[own->n] = (struct entry){ arena_strdup(p->arena, what),
	    { "<built-in>", 0, 0 }, pat };
	own->v = v;
	own->n++;
}

int
policy_parse(const char *text, size_t len, const char *shown,
    const struct policy_env *env, struct policy **ret, struct err *e)
{
	struct policy *p = policy_new(shown, env);

	if (jsonc_read(p, text, len, env, e) != 0) {
		policy_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

static int
fail_file(const char *path, int sys, const char *what, struct err *e)
{
	err_set(e, ERR_POLICY, "%s", what);
	if (e != NULL)
		e->sys = sys;
	err_where(e, path, 0, 0);
	return -1;
}

/* To the end, or one byte past the ceiling; 0 or an errno. */
static int
read_all(int fd, struct buf *b)
{
	char chunk[16 * 1024];
	ssize_t n;

	while (b->len <= POLICY_MAX_BYTES) {
		n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		buf_add(b, chunk, (size_t)n);
		if (b->failed)
			return ENOMEM;
	}
	return 0;
}

static int
read_file(int fd, const char *path, struct buf *b, struct err *e)
{
	struct stat st;
	int sys;

	if (fstat(fd, &st) != 0)
		return fail_file(path, errno, "cannot read the policy", e);
	if (S_ISDIR(st.st_mode))
		return fail_file(path, 0,
		    "is a directory, not a policy file", e);
	if ((sys = read_all(fd, b)) != 0)
		return fail_file(path, sys, "cannot read the policy", e);
	if (b->len > POLICY_MAX_BYTES)
		return fail_file(path, 0,
		    "is longer than 1 MiB, too long for a policy", e);
	return 0;
}

int
policy_load_file(const char *path, const struct policy_env *env,
    struct policy **ret, struct err *e)
{
	struct buf b;
	int fd, rv;

	/* A pipe is welcome: the shell's <(...) is one. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fail_file(path, errno, "cannot open the policy", e);
	buf_init(&b, 0);
	rv = read_file(fd, path, &b, e);
	close(fd);
	if (rv == 0)
		rv = policy_parse(b.data, b.len, path, env, ret, e);
	buf_release(&b);
	return rv;
}

int
policy_load_builtin(const char *name, const struct policy_env *env,
    struct policy **ret, struct err *e)
{
	char shown[64];

	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
		const struct builtin *t = &builtins[i];

		if (strcmp(t->name, name) != 0)
			continue;
		snprintf(shown, sizeof shown, "<built-in %s>", name);
		return policy_parse(t->text, strlen(t->text), shown, env, ret,
		    e);
	}
	return err_set(e, ERR_POLICY, "no built-in policy is named '%.60s'",
	    name);
}
