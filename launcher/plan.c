#include "launcher/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/enforce.h"
#include "launcher/env.h"
#include "launcher/facts.h"
#include "launcher/mounts.h"
#include "launcher/request.h"
#include "launcher/trace.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/pattern.h"
#include "policy/trust.h"

enum { ETC_FILE_MAX = 16 * 1024 };

struct notices {
	const char	**v;
	size_t		  n, cap;
};

/* While planning; what it gathers moves into the arena at the end. */
struct work {
	struct plan	*plan;
	struct arena	*arena;
	struct notices	 notices;
	struct resolve_request request;
};

static void *
keep(struct arena *a, const void *v, size_t bytes)
{
	void *p = arena_alloc(a, bytes + 1);

	if (bytes > 0)
		memcpy(p, v, bytes);
	return p;
}

/* ---- the policy ---- */

/* Through a directory on stdio the jail would reach around its walls. */
static int
check_stdio(struct err *e)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	struct stat st;

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags < 0 || fstat(fd, &st) != 0 ||
		    (!S_ISDIR(st.st_mode) && (flags & O_PATH) == 0))
			continue;
		err_set(e, ERR_POLICY, "%s is a directory or a mere path",
		    names[fd]);
		err_hint(e, "redirect it from a file, a pipe or /dev/null");
		return -1;
	}
	return 0;
}

static void
add_notice(const char *text, void *arg)
{
	struct work *w = arg;

	*vec_push(&w->notices) = arena_strdup(w->arena, text);
}

/* The built-in policy makes the workspace writable: it must be one. */
static int
check_workspace(const char *path, const char *home, struct err *e)
{
	if (strcmp(path, "/tmp") == 0 || strcmp(path, "/run") == 0 ||
	    strcmp(path, "/dev/shm") == 0) {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it is private "
		    "inside, and what is written there is gone at the end",
		    path);
		err_hint(e, "make a directory in it and cd there");
		return -1;
	}
	if (strcmp(path, "/") != 0 &&
	    (home == NULL || !str_path_below(home, path)))
		return 0;
	err_set(e, ERR_POLICY, "'%s' is no workspace: the built-in policy "
	    "would make your home writable", path);
	err_hint(e, "cd into a project, or name a policy with --settings");
	return -1;
}

static int
load_policy(struct work *w, const struct run_options *ro, char **env,
    struct err *e)
{
	struct resolved *r = &w->plan->resolved;

	if (request_make(w->arena, ro, env, &w->request, e) != 0 ||
	    policy_resolve(&w->request, r, e) != 0)
		return -1;
	w->plan->policy = r->policy;
	for (size_t i = 0; i < r->nnotices; i++)
		add_notice(r->notices[i], w);
	if (r->is_builtin_default &&
	    check_workspace(r->workspace, w->request.home, e) != 0)
		return -1;
	return enforce_check(r->policy, add_notice, w, e);
}

/* ---- files ---- */

struct owns {
	struct own_file	*v;
	size_t		 n, cap;
};

/* Binaries and helpers that a later run would trust. */
static void
own_parts(struct work *w, struct owns *own)
{
	static const char *const names[] = { "fence", "fence-run" };
	const char *init = w->plan->spec.init;
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *slash;

	*vec_push(own) = (struct own_file){ arena_strndup(w->arena, init,
	    (size_t)(strrchr(init, '/') - init)), "fence's own programs", false };
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash != NULL && i < 2; i++)
		*vec_push(own) = (struct own_file){ arena_printf(w->arena,
		    "%.*s/%s", (int)(slash - exe), exe, names[i]),
		    "fence's own program", false };
}

/* The user's own policies and what was trusted: for runs to come. */
static void
own_state(struct work *w, char *const *env, struct owns *own)
{
	const char *home = w->request.home;
	const char *store = trust_store(w->arena, home, env);
	const char *config = env_get(env, "XDG_CONFIG_HOME");

	if (store != NULL)
		*vec_push(own) = (struct own_file){ arena_strndup(w->arena,
		    store, (size_t)(strrchr(store, '/') - store)),
		    "fence's state", true };
	if (config != NULL && config[0] == '/')
		config = arena_printf(w->arena, "%s/fence", config);
	else if (home != NULL)
		config = arena_printf(w->arena, "%s/.config/fence", home);
	else
		return;
	*vec_push(own) = (struct own_file){ config, "your own policies",
	    true };
}

/* A record that the jail could rewrite would be none. */
static void
own_files(struct work *w, const struct run_options *ro, char *const *env,
    struct owns *own)
{
	const struct resolved *r = &w->plan->resolved;

	for (size_t i = 0; i < r->nfiles; i++)
		*vec_push(own) = (struct own_file){ r->files[i],
		    "the policy in force", false };
	/* As it was written: a symlink there could be pointed elsewhere. */
	if (ro->settings != NULL)
		*vec_push(own) = (struct own_file){ ro->settings,
		    "the policy in force", false };
	if (ro->trace_file != NULL && trace_is_file(ro->trace_file))
		*vec_push(own) = (struct own_file){ ro->trace_file,
		    "the record of this run", false };
	own_parts(w, own);
	own_state(w, env, own);
}

static int
plan_files(struct work *w, const struct run_options *ro, char *const *env,
    struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	struct owns own = { 0 };
	struct facts facts = { 0 };
	struct mount_list mounts = { 0 };
	struct path_list roots = { 0 };
	struct facts_request rq = { .arena = w->arena,
	    .policy = w->plan->policy, .cwd = w->request.cwd,
	    .bwrap = spec->bwrap, .notice = add_notice, .arg = w };
	int rc;

	own_files(w, ro, env, &own);
	rq.own = own.v;
	rq.nown = own.n;
	rc = facts_gather(&rq, &facts, e);
	if (rc == 0) {
		mounts_plan(w->arena, facts.v, facts.n, &mounts, &roots);
		rc = facts_check_roots(&roots, e);
	}
	spec->mounts = keep(w->arena, mounts.v, mounts.n * sizeof *mounts.v);
	spec->nmounts = mounts.n;
	spec->write_roots = keep(w->arena, roots.v, roots.n * sizeof *roots.v);
	spec->nwrite_roots = roots.n;
	vec_release(&own);
	vec_release(&facts);
	vec_release(&mounts);
	vec_release(&roots);
	return rc;
}

/* ---- network ---- */

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct jail_range));
}

/* Addresses that the policy names itself: the gate takes them, too. */
static void
plan_ranges(struct work *w)
{
	const struct strlist *l = &w->plan->policy->net.allowed_domains;
	struct { struct jail_range *v; size_t n, cap; } ranges = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *p = l->v[i].pattern;
		struct jail_range r;

		memset(&r, 0, sizeof r);	/* padding counts below */
		if (p->kind == PATTERN_ANY) {
			r.family = AF_INET;
			*vec_push(&ranges) = r;
			r.family = AF_INET6;
			*vec_push(&ranges) = r;
		} else if (p->kind == PATTERN_CIDR ||
		    (p->kind == PATTERN_DOMAIN &&
		    p->host.kind != HOST_NAME)) {
			r.family = p->host.kind == HOST_IPV4 ? AF_INET :
			    AF_INET6;
			r.bits = p->kind == PATTERN_CIDR ? p->bits :
			    r.family == AF_INET ? 32 : 128;
			memcpy(r.addr, p->host.addr, sizeof r.addr);
			*vec_push(&ranges) = r;
		}
	}
	/* The same address on two ports is one route. */
	if (ranges.n > 0)
		qsort(ranges.v, ranges.n, sizeof *ranges.v, by_bytes);
	for (size_t i = 0, n = ranges.n; i < n; i++)
		if (i == 0)
			ranges.n = 1;
		else if (by_bytes(&ranges.v[i], &ranges.v[ranges.n - 1]) != 0)
			ranges.v[ranges.n++] = ranges.v[i];
	w->plan->wants_names = l->n > 0;
	w->plan->spec.ranges = keep(w->arena, ranges.v,
	    ranges.n * sizeof *ranges.v);
	w->plan->spec.nranges = ranges.n;
	vec_release(&ranges);
}

/* Our resolver; search list and options stay the host's. */
static const char *
make_resolv_conf(struct arena *a)
{
	char text[ETC_FILE_MAX];
	ssize_t n = fd_read_file(AT_FDCWD, "/etc/resolv.conf", text,
	    sizeof text - 1);
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "nameserver 127.0.0.1\n");
	text[n > 0 ? n : 0] = '\0';
	for (char *line = text, *next; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (strncmp(line, "search", 6) == 0 ||
		    strncmp(line, "domain", 6) == 0 ||
		    strncmp(line, "options", 7) == 0)
			buf_printf(&b, "%s\n", line);
	}
	ret = arena_strdup(a, b.data);
	buf_release(&b);
	return ret;
}

static void
plan_etc(struct work *w)
{
	struct jail_file *f = arena_alloc(w->arena, 2 * sizeof *f);
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	f[0].name = "resolv.conf";
	f[0].text = make_resolv_conf(w->arena);
	f[1].name = "hosts";
	f[1].text = arena_printf(w->arena, "127.0.0.1\tlocalhost%s%s\n"
	    "::1\tlocalhost ip6-localhost ip6-loopback\n",
	    host[0] != '\0' ? " " : "", host);
	w->plan->spec.etc = f;
	w->plan->spec.netc = 2;
}

/* ---- the command ---- */

/* A make jobserver that the host's make handed us: keep its pipe. */
static void
plan_keep_fds(struct work *w, char *const *env)
{
	const char *flags = env_get(env, "MAKEFLAGS");
	const char *p = flags != NULL ? strstr(flags, "--jobserver-auth=") :
	    NULL;
	int *fds = arena_alloc(w->arena, 2 * sizeof *fds);
	struct stat st;

	if (p == NULL || sscanf(p, "--jobserver-auth=%d,%d", &fds[0],
	    &fds[1]) != 2)
		return;
	for (int i = 0; i < 2; i++)
		if (fds[i] < 3 || fstat(fds[i], &st) != 0 ||
		    !S_ISFIFO(st.st_mode))
			return;
	w->plan->spec.keep_fds = fds;
	w->plan->spec.nkeep_fds = 2;
}

static int
plan_command(struct work *w, char **argv, char **env, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;

	spec->argv = argv;
	spec->uid = getuid();
	spec->gid = getgid();
	spec->envp = env_compose(w->arena, env, w->plan->policy,
	    spec->write_roots, spec->nwrite_roots);
	spec->cwd = w->request.cwd;
	sigemptyset(&spec->sigmask);
	plan_keep_fds(w, env);
	return paths_program(w->arena, argv[0], w->request.cwd, env_get(env, "PATH"),
	    &spec->program, e);
}

static int
plan_parts(struct work *w, char *const *env, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	/* What getaddrinfo() on the host may be tuned with. */
	static const char *const passed[] = { "RES_OPTIONS", "LOCALDOMAIN" };
	const char *dir;
	size_t k = 0;

	if (paths_libexec(w->arena, &dir, e) != 0 ||
	    paths_bwrap(w->arena, w->request.cwd, &spec->bwrap, e) != 0)
		return -1;
	spec->init = arena_printf(w->arena, "%s/fence-init", dir);
	w->plan->net_path = arena_printf(w->arena, "%s/fence-net", dir);
	w->plan->names_path = arena_printf(w->arena, "%s/fence-names", dir);
	if (!pretend_lacks("noshim")) {
		spec->shim = arena_printf(w->arena, "%s/libfence-shim.so",
		    dir);
		spec->shim32 = arena_printf(w->arena,
		    "%s/libfence-shim32.so", dir);
		if (access(spec->shim32, R_OK) != 0)
			spec->shim32 = NULL;
	}
	w->plan->worker_env = arena_alloc(w->arena, 3 * sizeof(char *));
	for (size_t i = 0; i < 2; i++) {
		const char *v = env_get(env, passed[i]);

		if (v != NULL)
			w->plan->worker_env[k++] = arena_printf(w->arena,
			    "%s=%s", passed[i], v);
	}
	return 0;
}

int
plan_make(const struct run_options *ro, char **argv, char **env,
    struct plan *ret, struct err *e)
{
	struct work w = { .plan = ret };
	int rc = -1;

	*ret = (struct plan){ .arena = arena_new() };
	w.arena = ret->arena;
	if (check_stdio(e) == 0 && load_policy(&w, ro, env, e) == 0 &&
	    plan_parts(&w, env, e) == 0 && plan_files(&w, ro, env, e) == 0 &&
	    plan_command(&w, argv, env, e) == 0) {
		plan_ranges(&w);
		plan_etc(&w);
		ret->notices = keep(w.arena, w.notices.v,
		    w.notices.n * sizeof *w.notices.v);
		ret->nnotices = w.notices.n;
		rc = jail_probe(&ret->spec, e);
	}
	vec_release(&w.notices);
	if (rc != 0)
		plan_release(ret);
	return rc;
}

void
plan_release(struct plan *p)
{
	resolved_release(&p->resolved);
	arena_free(p->arena);
	*p = (struct plan){ 0 };
}

static void
print_list(struct buf *b, const char *verb, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		buf_printf(b, "%s %s  (%s:%d:%d)\n", verb, l->v[i].text,
		    l->v[i].at.file, l->v[i].at.line, l->v[i].at.col);
}

void
plan_print(const struct plan *p, struct buf *b)
{
	buf_printf(b, "policy %s\n", p->policy->name);
	jail_describe(&p->spec, b);
	print_list(b, "allow", &p->policy->net.allowed_domains);
	print_list(b, "deny ", &p->policy->net.denied_domains);
	if (p->policy->net.allowed_domains.n == 0)
		buf_puts(b, "network closed\n");
}
