#include "launcher/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/env.h"
#include "launcher/mounts.h"
#include "launcher/trace.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "platform/tree.h"
#include "policy/pattern.h"

enum { ETC_FILE_MAX = 16 * 1024, WALK_MAX = 1000 * 1000 };

struct facts {
	struct mount_fact	*v;
	size_t			 n, cap;
};

struct notices {
	const char	**v;
	size_t		  n, cap;
};

/* While planning; what it gathers moves into the arena at the end. */
struct work {
	struct plan	*plan;
	struct arena	*arena;
	struct facts	 facts;
	struct notices	 notices;
	const char	*cwd;
	const char	*home;
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

static int
find_cwd(struct work *w, struct err *e)
{
	char path[PATH_MAX];

	if (getcwd(path, sizeof path) == NULL || path[0] != '/') {
		err_sys(e, errno, "cannot tell the working directory");
		err_hint(e, "it may have been removed: cd somewhere else");
		return -1;
	}
	w->cwd = arena_strdup(w->arena, path);
	return 0;
}

/* By hand: name service modules would have to be loaded for it. */
static const char *
passwd_home(struct arena *a)
{
	FILE *fp = fopen("/etc/passwd", "re");
	const char *home = NULL;
	struct passwd *pw;

	while (fp != NULL && home == NULL && (pw = fgetpwent(fp)) != NULL)
		if (pw->pw_uid == getuid() && pw->pw_dir[0] == '/')
			home = arena_strdup(a, pw->pw_dir);
	if (fp != NULL)
		fclose(fp);
	return home;
}

static const char *
find_home(struct arena *a, char *const *env, struct err *e)
{
	const char *home = env_get(env, "HOME");
	char real[PATH_MAX];

	if (home == NULL || home[0] != '/')
		home = passwd_home(a);
	if (home == NULL) {
		err_set(e, ERR_POLICY, "HOME is not set, and /etc/passwd does "
		    "not know uid %u", (unsigned)getuid());
		err_hint(e, "set HOME: the policy hides credentials below it");
		return NULL;
	}
	return arena_strdup(a, realpath(home, real) != NULL ? real : home);
}

static int
load_policy(struct work *w, const struct run_options *ro, char **env,
    struct err *e)
{
	struct policy_env pe = { .workspace = w->cwd, .home = w->home,
	    .environ = env };

	if (ro->settings != NULL)
		return policy_load_file(ro->settings, &pe, &w->plan->policy,
		    e);
	/* The built-in policy makes the workspace writable: it must be one. */
	if (strcmp(w->cwd, "/tmp") == 0 || strcmp(w->cwd, "/run") == 0 ||
	    strcmp(w->cwd, "/dev/shm") == 0) {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it is private "
		    "inside, and what is written there is gone at the end",
		    w->cwd);
		err_hint(e, "make a directory in it and cd there");
		return -1;
	}
	if (strcmp(w->cwd, "/") == 0 ||
	    (w->home != NULL && str_path_below(w->home, w->cwd))) {
		err_set(e, ERR_POLICY, "'%s' is no workspace: the built-in "
		    "policy would make your home writable", w->cwd);
		err_hint(e, "cd into a project, or name a policy with "
		    "--settings");
		return -1;
	}
	return policy_load_builtin("workspace-write", &pe, &w->plan->policy,
	    e);
}

/* ---- files ---- */

static void
add_fact(struct work *w, enum fact_kind kind, const struct tree_node *node,
    const char *why)
{
	*vec_push(&w->facts) = (struct mount_fact){ kind, *node, why };
}

static bool
matches(const char *path, void *arg)
{
	return pattern_match_path(arg, path) > 0;
}

/* The directory above a glob's first wildcard: where the walk begins. */
static const char *
glob_root(struct arena *a, const char *glob)
{
	size_t n = strcspn(glob, "*?[\\");

	while (n > 1 && glob[n - 1] != '/')
		n--;
	return n <= 1 ? "/" : arena_strndup(a, glob, n - 1);
}

static int
add_entry(struct work *w, enum fact_kind kind, const char *key, size_t i,
    const struct entry *entry, struct err *e)
{
	const struct pattern *p = entry->pattern;
	const char *why = arena_printf(w->arena, "%s[%zu] \"%s\" %s:%d:%d",
	    key, i, entry->text, entry->at.file, entry->at.line,
	    entry->at.col);
	struct tree_nodes found = { 0 };
	struct tree_node node;
	int rc = 0;

	if (p->kind == PATTERN_PATH) {
		tree_look(w->arena, p->text, &node);
		if (node.kind != TREE_MISSING)
			add_fact(w, kind, &node, why);
		else if (kind == FACT_ALLOW_WRITE)
			*vec_push(&w->notices) = arena_printf(w->arena,
			    "%s[%zu] \"%s\" (%s:%d:%d) does not exist and "
			    "stays unwritable", key, i, entry->text,
			    entry->at.file, entry->at.line, entry->at.col);
		return 0;
	}
	rc = tree_find(w->arena, glob_root(w->arena, p->text), matches,
	    (void *)p, WALK_MAX, &found, e);
	if (rc != 0) {
		err_key(e, "%s[%zu]", key, i);
		err_where(e, entry->at.file, entry->at.line, entry->at.col);
	}
	for (size_t k = 0; k < found.n; k++)
		add_fact(w, kind, &found.v[k], why);
	vec_release(&found);
	return rc;
}

static int
add_list(struct work *w, enum fact_kind kind, const char *key,
    const struct strlist *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (add_entry(w, kind, key, i, &list->v[i], e) != 0)
			return -1;
	return 0;
}

static void
add_path(struct work *w, enum fact_kind kind, const char *path,
    const char *why)
{
	struct tree_node node;

	tree_look(w->arena, path, &node);
	if (node.kind != TREE_MISSING)
		add_fact(w, kind, &node, why);
}

/* Is this path, as written, inside a tree that the policy makes writable? */
static bool
in_grant(const struct work *w, const char *path)
{
	for (size_t i = 0; i < w->facts.n; i++) {
		const struct mount_fact *f = &w->facts.v[i];

		if (f->kind == FACT_ALLOW_WRITE &&
		    f->node.kind == TREE_DIR &&
		    strcmp(path, f->node.real) != 0 &&
		    str_path_below(path, f->node.real))
			return true;
	}
	return false;
}

/*
 * The policy in force, the record, our programs: told as fence's own when
 * refused.  A name that is a symlink in a writable tree cannot be kept.
 */
static int
add_own(struct work *w, const char *path, const char *what, struct err *e)
{
	const char *full = pattern_clean_path(w->arena, w->cwd, path);
	struct tree_node node;

	tree_look(w->arena, path, &node);
	if (node.kind == TREE_MISSING)
		return 0;
	if (full != NULL && strcmp(full, node.real) != 0 &&
	    in_grant(w, full)) {
		err_set(e, ERR_POLICY, "'%s' (%s) is a symlink inside a "
		    "writable tree", path, what);
		err_hint(e, "the command could point it elsewhere: use '%s'",
		    node.real);
		return -1;
	}
	add_fact(w, FACT_DENY_WRITE, &node, what);
	policy_own(w->plan->policy, node.real, what);
	return 0;
}

/* Binaries and helpers that a later run would trust. */
static int
add_own_parts(struct work *w, struct err *e)
{
	static const char *const names[] = { "fence", "fence-run" };
	const char *libexec = w->plan->spec.init;
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *slash;

	libexec = arena_strndup(w->arena, libexec,
	    (size_t)(strrchr(libexec, '/') - libexec));
	if (add_own(w, libexec, "fence's own programs", e) != 0)
		return -1;
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash != NULL && i < 2; i++)
		if (add_own(w, arena_printf(w->arena, "%.*s/%s",
		    (int)(slash - exe), exe, names[i]),
		    "fence's own program", e) != 0)
			return -1;
	return 0;
}

/* A grant through a symlink that an earlier run could have planted. */
static int
check_links(const struct work *w, struct err *e)
{
	for (size_t i = 0; i < w->facts.n; i++) {
		const struct mount_fact *f = &w->facts.v[i];

		if (f->kind != FACT_ALLOW_WRITE ||
		    strcmp(f->node.path, f->node.real) == 0 ||
		    !in_grant(w, f->node.path) || in_grant(w, f->node.real))
			continue;
		err_set(e, ERR_POLICY, "'%s' is a symlink inside a writable "
		    "tree and leads out of it, to '%s'", f->node.path,
		    f->node.real);
		err_key(e, "filesystem.allowWrite");
		err_hint(e, "a command could have planted it: name '%s' "
		    "itself", f->node.real);
		return -1;
	}
	return 0;
}

/* What the jail itself stands on, and places that are its own. */
static int
check_places(const struct work *w, struct err *e)
{
	static const char *const needed[] = { "/etc", "/proc", "/dev", "/run",
	    "/usr/lib", "/lib64", "/sys" };

	for (size_t i = 0; i < w->facts.n; i++) {
		const struct mount_fact *f = &w->facts.v[i];
		bool is_hidden = f->kind == FACT_DENY_READ;
		const char *bad = NULL;

		for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++)
			if (str_path_below(needed[k], f->node.real) &&
			    (is_hidden || (f->kind == FACT_ALLOW_WRITE &&
			    strcmp(f->node.real, "/etc") == 0)))
				bad = "the jail itself needs it as it is";
		if (is_hidden &&
		    str_path_below(w->plan->spec.bwrap, f->node.real))
			bad = "bwrap lies there";
		if (f->kind != FACT_SEE && (str_path_below(f->node.real,
		    "/proc") || (str_path_below(f->node.real, "/dev") &&
		    !str_path_below(f->node.real, "/dev/shm") &&
		    f->kind != FACT_ALLOW_WRITE)))
			bad = "/proc and /dev are the jail's own";
		if (bad == NULL)
			continue;
		err_set(e, ERR_POLICY, "'%s' cannot be used here: %s",
		    f->node.path, bad);
		err_hint(e, "%s", f->why);
		return -1;
	}
	return 0;
}

/* Another proc or sysfs mounted inside a writable tree stays read-only. */
static void
add_kernel_mount(const char *path, void *arg)
{
	struct work *w = arg;

	if (in_grant(w, path))
		add_path(w, FACT_DENY_WRITE, path, "the kernel's own");
}

static int
gather(struct work *w, const struct run_options *ro, struct err *e)
{
	/* Programs of these systems live below /run. */
	static const char *const run_dirs[] = { "/run/current-system",
	    "/run/opengl-driver", "/run/wrappers" };
	static const char *const secrets[] = { "/etc/shadow", "/etc/shadow-",
	    "/etc/gshadow", "/etc/gshadow-" };
	const struct policy *p = w->plan->policy;

	if (add_list(w, FACT_ALLOW_WRITE, "filesystem.allowWrite",
	    &p->fs.allow_write, e) != 0 ||
	    add_list(w, FACT_DENY_WRITE, "filesystem.denyWrite",
	    &p->fs.deny_write, e) != 0 ||
	    add_list(w, FACT_DENY_READ, "filesystem.denyRead",
	    &p->fs.deny_read, e) != 0)
		return -1;
	add_path(w, FACT_SEE, w->cwd, "the working directory");
	for (size_t i = 0; i < sizeof run_dirs / sizeof run_dirs[0]; i++)
		add_path(w, FACT_SEE, run_dirs[i], "programs of this system");
	if (check_places(w, e) != 0 || check_links(w, e) != 0)
		return -1;
	if (ro->settings != NULL &&
	    add_own(w, ro->settings, "the policy in force", e) != 0)
		return -1;
	/* A record that the jail could rewrite would be none. */
	if (ro->trace_file != NULL && trace_is_file(ro->trace_file) &&
	    add_own(w, ro->trace_file, "the record of this run", e) != 0)
		return -1;
	/* To root's own uid these are open without any capability. */
	for (size_t i = 0; getuid() == 0 &&
	    i < sizeof secrets / sizeof secrets[0]; i++)
		add_path(w, FACT_DENY_READ, secrets[i], "always hidden");
	if (getuid() == 0)
		tree_kernel_mounts(add_kernel_mount, w);
	return add_own_parts(w, e);
}

static int
check_roots(const struct path_list *roots, struct err *e)
{
	for (size_t i = 0; i < roots->n; i++) {
		const char *path = roots->v[i];
		struct stat st;

		if (strcmp(path, "/") == 0) {
			err_set(e, ERR_POLICY, "'/' as a whole cannot be made "
			    "writable");
			err_key(e, "filesystem.allowWrite");
			err_hint(e, "name the directories that the command "
			    "has to write to");
			return -1;
		}
		if (tree_is_kernel(path)) {
			err_set(e, ERR_POLICY, "'%s' is the kernel's own and "
			    "cannot be made writable", path);
			err_key(e, "filesystem.allowWrite");
			return -1;
		}
		if (getuid() != 0 || stat(path, &st) != 0 || st.st_uid == 0)
			continue;
		/* Without CAP_DAC_OVERRIDE root may not write there. */
		err_set(e, ERR_POLICY, "'%s' belongs to uid %u, and inside the "
		    "jail root has no power over it", path,
		    (unsigned)st.st_uid);
		err_hint(e, "run fence-run as that user");
		return -1;
	}
	return 0;
}

static int
plan_files(struct work *w, const struct run_options *ro, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	struct mount_list mounts = { 0 };
	struct path_list roots = { 0 };
	int rc;

	if (gather(w, ro, e) != 0)
		return -1;
	mounts_plan(w->arena, w->facts.v, w->facts.n, &mounts, &roots);
	rc = check_roots(&roots, e);
	spec->mounts = keep(w->arena, mounts.v, mounts.n * sizeof *mounts.v);
	spec->nmounts = mounts.n;
	spec->write_roots = keep(w->arena, roots.v, roots.n * sizeof *roots.v);
	spec->nwrite_roots = roots.n;
	vec_release(&mounts);
	vec_release(&roots);
	return rc;
}

/* ---- network ---- */

static void
plan_ranges(struct work *w)
{
	const struct strlist *l = &w->plan->policy->net.allowed_domains;
	struct { struct jail_range *v; size_t n, cap; } ranges = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *p = l->v[i].pattern;
		struct jail_range r = { 0 };

		if (p->kind == PATTERN_ANY) {
			r.family = AF_INET;
			*vec_push(&ranges) = r;
			r.family = AF_INET6;
			*vec_push(&ranges) = r;
		} else if (p->kind == PATTERN_DOMAIN &&
		    p->host.kind != HOST_NAME) {
			r.family = p->host.kind == HOST_IPV4 ? AF_INET :
			    AF_INET6;
			r.bits = r.family == AF_INET ? 32 : 128;
			memcpy(r.addr, p->host.addr, sizeof r.addr);
			*vec_push(&ranges) = r;
		}
	}
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
	spec->envp = env_compose(w->arena, env, spec->write_roots,
	    spec->nwrite_roots);
	spec->cwd = w->cwd;
	sigemptyset(&spec->sigmask);
	plan_keep_fds(w, env);
	return paths_program(w->arena, argv[0], w->cwd, env_get(env, "PATH"),
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
	    paths_bwrap(w->arena, w->cwd, &spec->bwrap, e) != 0)
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
	w.home = find_home(w.arena, env, e);
	if (w.home != NULL && check_stdio(e) == 0 && find_cwd(&w, e) == 0 && load_policy(&w, ro, env, e) == 0 &&
	    plan_parts(&w, env, e) == 0 && plan_files(&w, ro, e) == 0 &&
	    plan_command(&w, argv, env, e) == 0) {
		plan_ranges(&w);
		plan_etc(&w);
		for (size_t i = 0; i < ret->policy->nwarnings; i++)
			*vec_push(&w.notices) = ret->policy->warnings[i];
		ret->notices = keep(w.arena, w.notices.v,
		    w.notices.n * sizeof *w.notices.v);
		ret->nnotices = w.notices.n;
		rc = jail_probe(&ret->spec, e);
	}
	vec_release(&w.facts);
	vec_release(&w.notices);
	if (rc != 0)
		plan_release(ret);
	return rc;
}

void
plan_release(struct plan *p)
{
	policy_free(p->policy);
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
