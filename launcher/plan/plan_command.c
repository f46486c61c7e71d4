/*
 * Planning: the command, its limits and session, and the programs that jail it.
 */
#include <string.h>
#include <unistd.h>

#include "launcher/exec/preflight.h"
#include "launcher/plan/env.h"
#include "launcher/plan/kept_fds.h"
#include "launcher/plan/plan_work.h"
#include "launcher/plan/shell.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/decide.h"

enum { BWRAP_MOUNTS_MAX = 200 };	/* see plan_many */

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

		/* A process in its own cgroup namespace could mount its group
		 * and raise the limit. */
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

/* The words of -c are the line; its shell is ours. */
static int
check_command(const struct work *w, const struct run_options *ro,
    struct err *e)
{
	const struct preflight p = { .arena = w->arena,
	    .policy = w->plan->policy, .env = w->plan->spec.envp,
	    .cwd = w->plan->spec.cwd, .line = ro->command,
	    .argv = w->plan->spec.argv,
	    .program = ro->command == NULL ? w->plan->spec.program : NULL };

	return preflight_check(&p, e);
}

int
plan_command(struct work *w, const struct run_options *ro, char **argv,
    char **env, struct err *e)
{
	struct jail_spec *spec = &w->plan->spec;
	struct err missing = { 0 };
	struct env_dirs dirs;

	if (ro->command != NULL && shell_words(w->arena, ro, env, &argv, e) !=
	    0)
		return -1;
	spec->argv = argv;
	spec->uid = getuid();
	spec->gid = getgid();
	plan_dirs(w, env, &dirs);
	dirs.keeps_reflogs = w->plan->has_others;
	dirs.agents = w->plan->variables;
	dirs.nagents = w->plan->nvariables;
	spec->envp = env_compose(w->arena, env, w->plan->policy, &dirs);
	spec->cwd = w->request.cwd;
	spec->is_strict = w->plan->policy->profile.value == PROFILE_STRICT;
	if (plan_nested(w, e) != 0)
		return -1;
	plan_limits(w->plan->policy, spec);
	plan_walls(w);
	sigemptyset(&spec->sigmask);
	kept_fds_list(w->arena, ro, env, &spec->keep_fds, &spec->nkeep_fds);
	/* A command that is refused need not be there. */
	(void)plan_program(w, ro, &missing);
	if (check_command(w, ro, e) != 0)
		return -1;
	if (spec->program == NULL)
		*e = missing;
	return spec->program != NULL ? 0 : -1;
}

static bool
is_granted(const struct work *w, const char *path)
{
	struct verdict v;

	decide_fs(w->plan->policy, FS_WRITE, path, &v);
	return v.action == ACTION_ALLOW;
}

/* Everything lies below "/": of that is_granted() speaks. */
static bool
is_inside(const char *path, const char *dir)
{
	return strcmp(dir, "/") != 0 && str_path_below(path, dir);
}

/*
 * Could a command of an earlier run have written this file?  fence-run would
 * execute it outside.  Where "/" is granted the file is kept as fence's own:
 * own_parts() of plan_files.c.
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
void
plan_many(struct work *w, const char *engine)
{
	if (engine == NULL && pretend_text("FENCE_ENGINE", NULL) == NULL &&
	    w->plan->spec.nmounts > BWRAP_MOUNTS_MAX)
		w->plan->spec.bwrap = NULL;
}

int
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
 * One more record in the shim's table: calls are held by the listener, and
 * these ports of loopback are the gate's.
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
 * Where refusals are reported as they happen, calls to addresses without a
 * route are held, because the gate never hears of them, and so are calls to the
 * gate, whose caller may be gone when it asks; and calls that change files,
 * which programs without the shim make as well.  Not with allowNestedSandbox: a
 * sandbox inside may want the one listener that a process can have.
 */
void
plan_calls(struct work *w, const struct run_options *ro)
{
	struct jail_spec *spec = &w->plan->spec;
	bool is_told = ro->monitor || ro->debug || ro->trace_file != NULL;

	spec->wants_files = is_told && !spec->may_nest &&
	    !w->plan->is_inside;
	spec->wants_calls = spec->wants_files && !spec->shares_net;
	if (spec->wants_calls)
		tell_shim(w, spec);
}
