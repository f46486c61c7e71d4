#include "launcher/plan/plan.h"

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

#include "launcher/plan/direct.h"
#include "launcher/plan/enforce.h"
#include "launcher/plan/env.h"
#include "launcher/plan/kept_fds.h"
#include "launcher/plan/plan_work.h"
#include "launcher/plan/ranges.h"
#include "launcher/plan/request.h"
#include "launcher/plan/shell.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/decide.h"
#include "policy/flags.h"
#include "policy/hides.h"
#include "policy/pattern.h"
#include "policy/trust.h"

enum {
	ETC_FILE_MAX = 16 * 1024, ETC_FILES_MAX = 64,
	BWRAP_MOUNTS_MAX = 200,	/* see plan_many */
};

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

void
plan_notice(const char *text, void *arg)
{
	struct work *w = arg;

	*vec_push(&w->notices) = arena_strdup(w->arena, text);
}

static int
fail_workspace(const struct entry *entry, const char *path, bool is_lost,
    struct err *e)
{
	if (is_lost) {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it is private "
		    "inside, and what is written there is gone at the end",
		    path);
		err_hint(e, "make a directory in it and cd there");
	} else {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it would make "
		    "your home writable", path);
		err_hint(e, "cd into a project; a policy that means it names "
		    "the path: \"allowWrite\": [\"~\"]");
	}
	err_key(e, "filesystem.allowWrite");
	err_where(e, entry->at.file, entry->at.line, entry->at.col);
	return -1;
}

static bool
is_home_below(const struct policy *p, const char *path)
{
	return strcmp(path, "/") == 0 ||
	    (p->home != NULL && str_path_below(p->home, path)) ||
	    (p->other_home != NULL && str_path_below(p->other_home, path));
}

/*
 * "." is written for a project: where it is a home or above one, the command
 * would be given the user's start files and keys.  A path that is written in
 * full means what it says.
 */
static int
check_workspace(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < p->fs.allow_write.n; i++) {
		const struct entry *entry = &p->fs.allow_write.v[i];
		const char *path = entry->pattern->text;
		bool is_lost = strcmp(path, "/tmp") == 0 ||
		    strcmp(path, "/run") == 0 || strcmp(path, "/dev/shm") == 0;
		struct verdict v;

		if (strchr("/~$", entry->text[0]) != NULL ||
		    entry->pattern->kind != PATTERN_PATH ||
		    (!is_lost && !is_home_below(p, path)))
			continue;
		decide_fs(p, FS_WRITE, path, &v);
		if (v.action == ACTION_ALLOW)
			return fail_workspace(entry, path, is_lost, e);
	}
	return 0;
}

static bool
is_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* A slip of the hand grants nothing, or makes folders. */
static void
notice_missing(struct work *w, const char *flag, const struct strlist *l,
    const struct opt_list *asked, bool is_write)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *path = l->v[i].pattern->text;
		const char *dir = path_dir(w->arena, path);
		bool is_asked = false;

		for (size_t k = 0; k < asked->n; k++)
			is_asked = is_asked || strcmp(asked->v[k],
			    l->v[i].text) == 0;
		if (!is_asked || l->v[i].pattern->kind != PATTERN_PATH ||
		    !flags_made(&l->v[i]))
			continue;
		if (is_missing(dir))
			plan_notice(arena_printf(w->arena, "%s %s: '%s' does "
			    "not exist", flag, l->v[i].text, dir), w);
		else if (!is_write && is_missing(path))
			plan_notice(arena_printf(w->arena, "%s %s: it does "
			    "not exist", flag, l->v[i].text), w);
	}
}

/* The host's network, by name: announced, and checked for what is in vain. */
static int
plan_direct(struct work *w, const struct run_options *ro, struct err *e)
{
	const struct choice *mode = &w->plan->policy->net.mode;

	if (ro->watch_policy) {
		err_set(e, ERR_USAGE, "with network.mode \"direct\" there is "
		    "nothing that a change could take effect on");
		err_key(e, "--watch-policy");
		return -1;
	}

	plan_notice(arena_printf(w->arena, "%s:%d:%d: network.mode is "
	    "\"direct\": the command has the host's network, and none of its "
	    "connections is filtered or told", mode->at.file, mode->at.line,
	    mode->at.col), w);
	w->plan->spec.shares_net = true;
	return direct_check(w->plan->policy, e);
}

/* Once for each policy, and to a person: scripts read what a run says. */
static void
notice_hides(struct work *w, bool is_dry)
{
	const struct resolve_request *r = &w->request;
	const char *text;

	if (w->plan->is_inside || is_dry || !isatty(STDERR_FILENO))
		return;
	text = hides_less(w->arena, r, &w->plan->resolved);
	if (text != NULL && !trust_told(w->arena, trust_store(w->arena,
	    r->home, r->environ), text))
		plan_notice(text, w);
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
	if (!w->plan->is_inside && check_workspace(r->policy, e) != 0)
		return -1;
	notice_hides(w, ro->dry_run);
	notice_missing(w, "--write", &r->policy->fs.allow_write, &ro->write,
	    true);
	notice_missing(w, "--read", &r->policy->fs.allow_read, &ro->read,
	    false);
	if (direct_is(r->policy) && plan_direct(w, ro, e) != 0)
		return -1;
	return enforce_check(r->policy, plan_notice, w, e);
}

/* ---- network ---- */

/* The command line's part, before any policy is read. */
static int
plan_port_options(struct work *w, const struct run_options *ro,
    struct err *e)
{
	struct ports *ports = &w->plan->ports;
	bool is_on_host;

	if (ports_parse_all(w->arena, &ro->port, ports, e) != 0 ||
	    ports_model(ro->model, &is_on_host, e) != 0)
		return -1;
	if (is_on_host)
		ports->nin = 0;
	return 0;
}

static int
plan_ports(struct work *w, struct err *e)
{
	const struct policy *p = w->plan->policy;
	const struct strlist *l = &p->net.allow_local_outbound_ports.list;
	struct ports *ports = &w->plan->ports;

	if (ports_settle(w->arena, p, ports, e) != 0)
		return -1;
	if (w->plan->spec.shares_net && ports->nin > 0) {
		err_set(e, ERR_USAGE, "with network.mode \"direct\" the "
		    "command listens on the host itself");
		err_hint(e, "without the option");
		err_key(e, "--port");
		return -1;
	}
	if (l->n > 0 && !decide_local_is_open(p))
		plan_notice(arena_printf(w->arena, "%s:%d:%d: "
		    "network.allowLocalOutboundPorts grants nothing: "
		    "network.allowLocalOutbound is not true; "
		    "network.hostPorts needs no such switch", l->v[0].at.file,
		    l->v[0].at.line, l->v[0].at.col), w);
	w->plan->spec.http_port = ports->http;
	w->plan->spec.socks_port = ports->socks;
	w->plan->spec.local_ports = ports->out;
	w->plan->spec.nlocal_ports = ports->nout;
	return 0;
}

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct jail_range));
}

struct ranges {
	struct jail_range	*v;
	size_t			 n, cap;
};

static void
add_all(struct ranges *ranges)
{
	struct jail_range r;

	memset(&r, 0, sizeof r);		/* padding counts below */
	r.family = AF_INET;
	*vec_push(ranges) = r;
	r.family = AF_INET6;
	*vec_push(ranges) = r;
}

/*
 * Addresses that the policy names itself: the gate takes them, too.  It takes
 * all of them where an upstream proxy decides about the rest.
 */
static void
plan_ranges(struct work *w, const struct run_options *ro)
{
	const struct strlist *l = &w->plan->policy->net.allowed_domains;
	bool has_grey = decide_has_grey(w->plan->policy);
	struct ranges ranges = { 0 };

	if (has_grey)
		add_all(&ranges);
	for (size_t i = 0; i < l->n; i++) {
		struct jail_range r[RANGES_MAX];
		size_t n = ranges_of(l->v[i].pattern, r);

		for (size_t k = 0; k < n; k++)
			*vec_push(&ranges) = r[k];
	}
	/* The same address on two ports is one route. */
	if (ranges.n > 0)
		qsort(ranges.v, ranges.n, sizeof *ranges.v, by_bytes);
	for (size_t i = 0, n = ranges.n; i < n; i++)
		if (i == 0)
			ranges.n = 1;
		else if (by_bytes(&ranges.v[i], &ranges.v[ranges.n - 1]) != 0)
			ranges.v[ranges.n++] = ranges.v[i];
	w->plan->wants_names = !w->plan->spec.shares_net &&
	    (l->n > 0 || has_grey || ro->watch_policy);
	w->plan->spec.ranges = plan_keep(w->arena, ranges.v,
	    ranges.n * sizeof *ranges.v);
	w->plan->spec.nranges = ranges.n;
	vec_release(&ranges);
}

/* Where nothing may be reached, nobody looks how. */
static int
plan_via(struct work *w, char *const *env, struct err *e)
{
	return !w->plan->wants_names ? 0 : via_make(w->arena, w->plan->policy,
	    env, &w->plan->via, e);
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

/*
 * The host's own, where they would not be seen inside: resolv.conf is often a
 * link into /run, and a closed root has no /etc.
 */
static void
copy_names(struct work *w, struct etc_files *files)
{
	static const char *const names[] = { "resolv.conf", "hosts" };
	char real[PATH_MAX], text[ETC_FILE_MAX];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *path = arena_printf(w->arena, "/etc/%s",
		    names[i]);
		ssize_t n;

		if (realpath(path, real) == NULL ||
		    (str_path_below(real, "/etc") &&
		    !w->plan->policy->fs.default_deny_read.value &&
		    !w->plan->policy->fs.strict_deny_read.value))
			continue;
		n = fd_read_file(AT_FDCWD, real, text, sizeof text);
		if (n >= 0)
			*vec_push(files) = (struct jail_file){ names[i],
			    arena_strdup(w->arena, text) };
	}
}

static void
plan_etc(struct work *w)
{
	struct etc_files files = { 0 };
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	if (w->plan->spec.shares_net) {
		copy_names(w, &files);
	} else {
		*vec_push(&files) = (struct jail_file){ "resolv.conf",
		    make_resolv_conf(w->arena) };
		*vec_push(&files) = (struct jail_file){ "hosts",
		    arena_printf(w->arena, "127.0.0.1\tlocalhost%s%s\n"
		    "::1\tlocalhost ip6-localhost ip6-loopback\n",
		    host[0] != '\0' ? " " : "", host) };
	}
	copy_ssh_config(w, &files);
	w->plan->spec.etc = plan_keep(w->arena, files.v,
	    files.n * sizeof *files.v);
	w->plan->spec.netc = files.n;
	vec_release(&files);
}

/* ---- the command ---- */

/* The program that the command's own PATH leads to. */
static int
plan_program(struct work *w, const struct run_options *ro, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;

	if (paths_program(w->arena, spec->argv[0], env_get(spec->envp,
	    "PATH"), &spec->program, e) == 0)
		return 0;
	if (ro->command != NULL && ro->shell == NULL)
		err_hint(e, "--shell user takes the shell of $SHELL for -c");
	return -1;
}

/*
 * Root's jail would need a writable /proc, and /proc/sys is writable to uid 0
 * without any capability.
 */
static int
plan_nested(struct work *w, struct err *e)
{
	const struct flag *f = &w->plan->policy->allow_nested_sandbox;
	struct jail_spec *spec = &w->plan->spec;

	spec->may_nest = f->value;
	if (!f->value)
		return 0;
	if (spec->uid == 0) {
		err_set(e, ERR_POLICY, "not when root starts the run");
		err_key(e, "allowNestedSandbox");
		err_where(e, f->at.file, f->at.line, f->at.col);
		err_hint(e, "start it as an ordinary user");
		return -1;
	}
	if (w->plan->policy->limits.memory.num.value > 0) {
		const struct origin *at =
		    &w->plan->policy->limits.memory.num.at;

		/* In a cgroup namespace of its own it mounts its group. */
		err_set(e, ERR_POLICY, "cannot be held with "
		    "allowNestedSandbox: who makes namespaces can raise it");
		err_key(e, "limits.memory");
		err_where(e, at->file, at->line, at->col);
		err_hint(e, "limits.processMemory can");
		return -1;
	}
	plan_notice("allowNestedSandbox: programs inside may make sandboxes "
	    "of their own; files are held by mounts, without Landlock", w);
	return 0;
}

/*
 * A kernel's Landlock may be old or missing.  Files are held by the mounts,
 * abstract sockets by the network; but kill(0, ...) reaches the caller's whole
 * group unless the command has one of its own.
 */
static void
plan_walls(struct work *w)
{
	const struct tristate *f = &w->plan->policy->force_new_session;
	struct jail_spec *spec = &w->plan->spec;
	struct jail_walls walls;

	if (f->value == TRI_TRUE)
		spec->session = JAIL_SESSION_NEW;
	if (w->plan->is_inside)
		return;
	jail_walls(&walls);
	if (!walls.has_second)
		plan_notice("this kernel has no Landlock: mounts and system "
		    "call filters hold the policy without a second wall", w);
	if (walls.has_signals)
		return;
	if (f->value != TRI_FALSE)
		spec->session = JAIL_SESSION_NEW;
	else
		plan_notice("forceNewSession is false, and this kernel's "
		    "Landlock knows no signals: the command can signal every "
		    "process of the caller's group", w);
}

/*
 * Limits of each process.  What all processes share is held by a cgroup, and
 * so is the number of root's, which the kernel never counts against a limit.
 */
static void
plan_limits(const struct policy *p, struct jail_spec *spec)
{
	spec->limits = (struct jail_limits){
		.process_memory = p->limits.process_memory.num.value,
		.processes = spec->uid != 0 ? p->limits.processes.value : 0,
		.files = p->limits.files.value,
	};
}

static int
plan_command(struct work *w, const struct run_options *ro, char **argv,
    char **env, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	struct env_dirs dirs;

	if (ro->command != NULL && shell_words(w->arena, ro, env, &argv, e) !=
	    0)
		return -1;
	spec->argv = argv;
	spec->uid = getuid();
	spec->gid = getgid();
	plan_dirs(w, env, &dirs);
	spec->envp = env_compose(w->arena, env, w->plan->policy, &dirs);
	spec->cwd = w->request.cwd;
	spec->is_strict = w->plan->policy->profile.value == PROFILE_STRICT;
	if (plan_nested(w, e) != 0)
		return -1;
	plan_limits(w->plan->policy, spec);
	plan_walls(w);
	sigemptyset(&spec->sigmask);
	kept_fds_list(w->arena, ro, env, &spec->keep_fds, &spec->nkeep_fds);
	return plan_program(w, ro, e);
}

static bool
is_granted(const struct work *w, const char *path)
{
	struct verdict v;

	decide_fs(w->plan->policy, FS_WRITE, path, &v);
	return v.action == ACTION_ALLOW;
}

/* Everything lies below "/", and no policy makes that writable. */
static bool
is_inside(const char *path, const char *dir)
{
	return strcmp(dir, "/") != 0 && str_path_below(path, dir);
}

/*
 * An earlier run may have put it there: we would execute it outside.  Where
 * "/" is granted nothing will be started at all.
 */
static bool
is_commands(const char *path, void *arg)
{
	const struct work *w = arg;
	const char *dir = path_dir(w->arena, path);

	if (is_inside(path, w->request.cwd) ||
	    is_inside(path, w->plan->resolved.workspace))
		return true;
	return (access(path, W_OK) == 0 || access(dir, W_OK) == 0) &&
	    is_granted(w, path) && !is_granted(w, "/");
}

/* bwrap, unless the native engine is asked for by name, or plan_many(). */
static int
plan_engine(struct work *w, const char *name, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;

	if (name == NULL)
		name = pretend_text("FENCE_ENGINE", NULL);
	if (name == NULL || strcmp(name, "bwrap") == 0)
		return paths_bwrap(w->arena, is_commands, w, &spec->bwrap, e);
	if (strcmp(name, "native") == 0)
		return 0;
	err_set(e, ERR_USAGE, "--engine: there is no engine '%s'", name);
	err_hint(e, "bwrap or native");
	return -1;
}

/*
 * bwrap copies every mount twice and reads them all as text: 1,500 of them
 * take it 60 ms more than the native engine.
 */
static void
plan_many(struct work *w, const char *engine)
{
	if (engine == NULL && pretend_text("FENCE_ENGINE", NULL) == NULL &&
	    w->plan->spec.nmounts > BWRAP_MOUNTS_MAX)
		w->plan->spec.bwrap = NULL;
}

static int
plan_parts(struct work *w, const struct run_options *ro, char *const *env,
    struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	/* What getaddrinfo() on the host may be tuned with. */
	static const char *const passed[] = { "RES_OPTIONS", "LOCALDOMAIN" };
	const char *dir;
	size_t k = 0;

	if (paths_libexec(w->arena, &dir, e) != 0)
		return -1;
	if (!w->plan->is_inside && plan_engine(w, ro->engine, e) != 0)
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

/*
 * One more record of its table: what it tells needs no other witness, and
 * where the gate is at loopback.
 */
static void
tell_shim(struct work *w, struct jail_spec *spec)
{
	struct buf b;

	buf_init(&b, 0);
	buf_printf(&b, "L %d %u %u", JAIL_DNS_PORT, spec->http_port,
	    spec->socks_port);
	for (size_t i = 0; i < spec->nlocal_ports; i++)
		buf_printf(&b, " %u", spec->local_ports[i]);
	buf_add(&b, "", 1);
	if (spec->names_len > 0)
		buf_add(&b, spec->names, spec->names_len);
	spec->names = plan_keep(w->arena, b.data, b.len);
	spec->names_len = b.len;
	buf_release(&b);
}

/*
 * Where refusals are told as they happen, calls are witnessed that the gate
 * never hears of, those to addresses without a route, and those of which it
 * hears when their caller may be gone.  A sandbox inside may want a listener
 * of its own, of which there can be one.
 */
static void
plan_calls(struct work *w, const struct run_options *ro)
{
	struct jail_spec *spec = &w->plan->spec;
	bool is_told = ro->monitor || ro->debug || ro->trace_file != NULL;

	spec->wants_calls = is_told && !spec->shares_net &&
	    !spec->may_nest && !w->plan->is_inside;
	if (spec->wants_calls)
		tell_shim(w, spec);
}

int
plan_make(const struct run_options *ro, char **argv, char **env,
    struct plan *ret, struct err *e)
{
	struct work w = { .plan = ret };
	int rc = -1;

	*ret = (struct plan){ .arena = arena_new(),
	    .is_inside = jail_is_inside() };
	if (!ret->is_inside && !ro->dry_run)
		ret->ahead = jail_ahead();
	w.arena = ret->arena;
	if (plan_port_options(&w, ro, e) == 0 &&
	    load_policy(&w, ro, env, e) == 0 && plan_ports(&w, e) == 0 &&
	    plan_parts(&w, ro, env, e) == 0 &&
	    plan_files(&w, ro, env, e) == 0 &&
	    plan_command(&w, ro, argv, env, e) == 0) {
		plan_many(&w, ro->engine);
		plan_ranges(&w, ro);
		plan_calls(&w, ro);
		plan_etc(&w);
		rc = plan_via(&w, env, e);
		ret->notices = plan_keep(w.arena, w.notices.v,
		    w.notices.n * sizeof *w.notices.v);
		ret->nnotices = w.notices.n;
		ret->request = w.request;
		if (rc == 0 && !ret->is_inside)
			rc = jail_probe(&ret->spec, e);
	}
	vec_release(&w.notices);
	if (rc != 0) {
		plan_release(ret);
		ret->is_outdated = e->sys == ESTALE;
	}
	return rc;
}

int
plan_known(struct arena *a, const struct run_options *ro,
    const struct resolve_request *req, struct resolved *res,
    char *const *env, struct jail_spec *ret, struct err *e)
{
	struct plan plan = { .arena = a, .is_inside = jail_is_inside(),
	    .resolved = *res, .policy = res->policy };
	struct work w = { .plan = &plan, .arena = a, .request = *req };
	struct run_options dry = *ro;
	const char *dir;
	int rc;

	dry.dry_run = true;
	rc = paths_libexec(a, &dir, e);
	if (rc == 0) {
		plan.spec.init = arena_printf(a, "%s/fence-init", dir);
		rc = plan_files(&w, &dry, env, e);
	}
	vec_release(&w.notices);
	*ret = plan.spec;
	return rc;
}

void
plan_release(struct plan *p)
{
	jail_ahead_free(p->ahead);
	granted_dirs_close(p->made);
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

static void
put_reason(struct buf *b, const void *reason)
{
	rule_put_whole(b, reason);
}

void
plan_print(const struct plan *p, struct buf *b)
{
	buf_printf(b, "policy %s\n", p->policy->name);
	jail_describe(&p->spec, put_reason, b);
	if (p->spec.shares_net) {
		buf_puts(b, "network direct: the host's, unfiltered\n");
		return;
	}
	print_list(b, "allow", &p->policy->net.allowed_domains);
	print_list(b, "deny ", &p->policy->net.denied_domains);
	if (!p->wants_names)
		buf_puts(b, "network closed\n");
	ports_print(&p->ports, b);
	via_print(&p->via, b);
}
