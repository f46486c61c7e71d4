#include "launcher/plan.h"

#include <dirent.h>
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
#include "launcher/plan_work.h"
#include "launcher/request.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/pattern.h"

enum { ETC_FILE_MAX = 16 * 1024, ETC_FILES_MAX = 64 };

struct etc_files {
	struct jail_file	*v;
	size_t			 n, cap;
};

void *
plan_keep(struct arena *a, const void *v, size_t bytes)
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

void
plan_notice(const char *text, void *arg)
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
		plan_notice(r->notices[i], w);
	if (r->is_builtin_default &&
	    check_workspace(r->workspace, w->request.home, e) != 0)
		return -1;
	return enforce_check(r->policy, plan_notice, w, e);
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
	w->plan->spec.ranges = plan_keep(w->arena, ranges.v,
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

/*
 * ssh refuses configuration that it includes if its owner is neither root nor
 * the user, and inside root's files are nobody's: copies of ours.
 */
static void
copy_ssh_config(struct work *w, struct etc_files *files)
{
	static const char dir[] = "/etc/ssh/ssh_config.d";
	DIR *dp = getuid() != 0 ? opendir(dir) : NULL;
	char text[ETC_FILE_MAX];
	struct dirent *d;

	while (dp != NULL && files->n < ETC_FILES_MAX &&
	    (d = readdir(dp)) != NULL) {
		const char *dot = strrchr(d->d_name, '.');
		ssize_t n;

		if (dot == NULL || strcmp(dot, ".conf") != 0)
			continue;
		n = fd_read_file(AT_FDCWD, arena_printf(w->arena, "%s/%s",
		    dir, d->d_name), text, sizeof text);
		if (n < 0 || n == sizeof text)
			continue;
		text[n] = '\0';
		*vec_push(files) = (struct jail_file){
		    arena_printf(w->arena, "%s/%s", dir + strlen("/etc/"),
		    d->d_name), arena_strdup(w->arena, text) };
	}
	if (dp != NULL)
		closedir(dp);
}

static void
plan_etc(struct work *w)
{
	struct etc_files files = { 0 };
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	*vec_push(&files) = (struct jail_file){ "resolv.conf",
	    make_resolv_conf(w->arena) };
	*vec_push(&files) = (struct jail_file){ "hosts",
	    arena_printf(w->arena, "127.0.0.1\tlocalhost%s%s\n"
	    "::1\tlocalhost ip6-localhost ip6-loopback\n",
	    host[0] != '\0' ? " " : "", host) };
	copy_ssh_config(w, &files);
	w->plan->spec.etc = plan_keep(w->arena, files.v,
	    files.n * sizeof *files.v);
	w->plan->spec.netc = files.n;
	vec_release(&files);
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
	spec->is_strict = w->plan->policy->profile.value == PROFILE_STRICT;
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
		ret->notices = plan_keep(w.arena, w.notices.v,
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
	made_close(p->made);
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
