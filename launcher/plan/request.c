#include "launcher/plan/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/plan/env.h"
#include "platform/base/buf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "policy/pattern.h"

extern char **environ;

static const char *
find_cwd(struct arena *a, struct err *e)
{
	char path[PATH_MAX];

	if (getcwd(path, sizeof path) == NULL || path[0] != '/') {
		err_sys(e, errno, "cannot tell the working directory");
		err_hint(e, "it may have been removed: cd somewhere else");
		return NULL;
	}
	return arena_strdup(a, path);
}

static const char *
read_home(struct arena *a, FILE *fp)
{
	const char *home = NULL;
	struct passwd *pw;

	while (home == NULL && (pw = fgetpwent(fp)) != NULL)
		if (pw->pw_uid == getuid() && pw->pw_dir[0] == '/')
			home = arena_strdup(a, pw->pw_dir);
	return home;
}

static pid_t
spawn_getent(struct arena *a, int out_fd)
{
	char *argv[] = { arena_strdup(a, "getent"), arena_strdup(a, "passwd"),
	    arena_printf(a, "%u", (unsigned)getuid()), NULL };
	posix_spawn_file_actions_t acts;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&acts);
	posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&acts, 0, 2);
	posix_spawn_file_actions_adddup2(&acts, out_fd, 1);
	if (posix_spawn(&pid, "/usr/bin/getent", &acts, NULL, argv,
	    environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&acts);
	return pid;
}

/*
 * The users of a network.  Name service modules would have to be loaded for
 * getpwuid(), which a static program cannot do safely: getent asks them.
 */
static const char *
network_home(struct arena *a)
{
	const char *home = NULL;
	char text[PATH_MAX + 512];
	ssize_t len;
	int pair[2];
	FILE *fp;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) != 0)
		return NULL;
	pid = spawn_getent(a, pair[1]);
	close(pair[1]);
	len = io_read_all(pair[0], text, sizeof text);
	close(pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	/* fgetpwent() takes no pipe. */
	if (len > 0 && (fp = fmemopen(text, (size_t)len, "re")) != NULL) {
		home = read_home(a, fp);
		fclose(fp);
	}
	return home;
}

static const char *
passwd_home(struct arena *a)
{
	FILE *fp = fopen("/etc/passwd", "re");
	const char *home = fp != NULL ? read_home(a, fp) : NULL;

	if (fp != NULL)
		fclose(fp);
	return home != NULL ? home : network_home(a);
}

const char *
request_home(struct arena *a, char *const *env)
{
	const char *home = env_get(env, "HOME");

	if (home == NULL || home[0] != '/')
		home = passwd_home(a);
	return home != NULL ? path_real_or_same(a, home) : NULL;
}

/*
 * $HOME is what the command believes in; credentials lie in the home that the
 * user database knows, whatever the caller's environment says.
 */
static int
find_homes(struct arena *a, char *const *env, struct resolve_request *r,
    struct err *e)
{
	const char *home = env_get(env, "HOME"), *other = passwd_home(a);

	if (home == NULL || home[0] != '/')
		home = other;
	if (home == NULL) {
		err_set(e, ERR_POLICY, "HOME is not set, and uid %u has no "
		    "home directory", (unsigned)getuid());
		err_hint(e, "set HOME: the policy hides credentials below it");
		return -1;
	}
	r->home = path_real_or_same(a, home);
	other = other != NULL ? path_real(a, other) : NULL;
	if (other != NULL && strcmp(other, "/") != 0 &&
	    strcmp(other, r->home) != 0)
		r->other_home = other;
	return 0;
}

static struct resolve_list
list_of(const struct opt_list *l)
{
	return (struct resolve_list){ l->v, l->n };
}

const char *
request_path(struct arena *a, const char *cwd, const char *path)
{
	return pattern_clean_path(a, cwd, path);
}

/* An exposed path as an entry that means it and nothing else. */
static const char *
as_entry(struct arena *a, const char *cwd, const char *path)
{
	const char *clean = request_path(a, cwd, path), *ret;
	struct buf b;

	buf_init(&b, 0);
	for (const char *p = clean != NULL ? clean : path; *p != '\0'; p++) {
		if (strchr("\\*?[${", *p) != NULL)
			buf_putc(&b, '\\');
		buf_putc(&b, *p);
	}
	ret = arena_strdup(a, b.data);
	buf_release(&b);
	return ret;
}

static struct resolve_list
with_exposed(struct arena *a, const char *cwd, const struct opt_list *l,
    const struct opt_list *exposed)
{
	const char **v = arena_alloc(a, (l->n + exposed->n + 1) * sizeof *v);

	if (exposed->n == 0)
		return list_of(l);
	for (size_t i = 0; i < l->n; i++)
		v[i] = l->v[i];
	for (size_t i = 0; i < exposed->n; i++)
		v[l->n + i] = as_entry(a, cwd, exposed->v[i]);
	return (struct resolve_list){ v, l->n + exposed->n };
}

/*
 * --env NAME=VALUE sets; --env NAME lets the host's pass where the policy
 * takes it away.  What is never the host's needs its value.
 */
static int
split_env(struct arena *a, const struct opt_list *l,
    struct resolve_request *r, struct err *e)
{
	const char **set = arena_alloc(a, (l->n + 1) * sizeof *set);
	const char **allow = arena_alloc(a, (l->n + 1) * sizeof *allow);

	r->env_set.v = set;
	r->env_allow.v = allow;
	for (size_t i = 0; i < l->n; i++) {
		bool has_value = strchr(l->v[i], '=') != NULL;

		if (env_is_fixed(l->v[i]))
			return err_set(e, ERR_USAGE, "--env: %.60s is fence's "
			    "own", l->v[i]);
		if (!has_value && env_is_ours(l->v[i])) {
			err_set(e, ERR_USAGE, "--env: %.60s is never taken "
			    "from the caller", l->v[i]);
			err_hint(e, "--env %.60s=VALUE sets it", l->v[i]);
			return -1;
		}
		if (has_value)
			set[r->env_set.n++] = l->v[i];
		else
			allow[r->env_allow.n++] = l->v[i];
	}
	return 0;
}

int
request_make(struct arena *a, const struct run_options *ro, char **env,
    struct resolve_request *ret, struct err *e)
{
	struct resolve_request r = {
		.settings = ro->settings,
		.template_name = ro->template_name,
		.environ = env,
		.ignore_unknown = ro->ignore_unknown_keys,
		.allow = list_of(&ro->allow),
		.host_port = list_of(&ro->host_port),
		.deny_read = list_of(&ro->deny_read),
		.force_new_session = ro->force_new_session,
	};

	if (find_homes(a, env, &r, e) != 0 ||
	    (r.cwd = find_cwd(a, e)) == NULL ||
	    split_env(a, &ro->env, &r, e) != 0)
		return -1;
	r.write = with_exposed(a, r.cwd, &ro->write, &ro->expose_rw);
	r.read = with_exposed(a, r.cwd, &ro->read, &ro->expose);
	*ret = r;
	return 0;
}
