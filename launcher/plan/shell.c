#include "launcher/plan/shell.h"

#include <stdbool.h>
#include <string.h>

#include "launcher/plan/env.h"
#include "platform/base/path.h"

/* They take -c and -l, and have these names wherever they are. */
static const char *const known[] = { "sh", "bash", "zsh", "ksh", "dash",
    "fish" };

int
shell_check(const struct run_options *ro, char *const *argv, struct err *e)
{
	if (ro->command == NULL && (ro->shell != NULL || ro->shell_login)) {
		err_set(e, ERR_USAGE, "%s is for -c, which alone uses a "
		    "shell", ro->shell != NULL ? "--shell" : "--shell-login");
		err_hint(e, "-c 'command argument ...'");
		return -1;
	}
	if (ro->command != NULL && argv[0] != NULL) {
		err_set(e, ERR_USAGE, "-c is the whole command: '%.60s' would "
		    "be lost", argv[0]);
		err_hint(e, "put it into the string, or run 'sh -c STRING "
		    "NAME ARGUMENT ...' without -c");
		return -1;
	}
	return 0;
}

static bool
is_known(const char *path)
{
	const char *name = path_name(path);

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

static int
user_shell(char *const *env, const char **ret, struct err *e)
{
	const char *shell = env_get(env, "SHELL");

	if (shell == NULL || shell[0] == '\0')
		return err_set(e, ERR_POLICY, "--shell user: SHELL is not "
		    "set");
	if (shell[0] != '/')
		return err_set(e, ERR_POLICY, "--shell user: SHELL is "
		    "'%.100s', which is no absolute path", shell);
	if (!is_known(shell)) {
		err_set(e, ERR_POLICY, "--shell user: SHELL is '%.100s', "
		    "which is no shell known here", shell);
		err_hint(e, "sh, bash, zsh, ksh, dash and fish are; any "
		    "program runs without -c");
		return -1;
	}
	*ret = shell;
	return 0;
}

int
shell_words(struct arena *a, const struct run_options *ro, char *const *env,
    char ***ret_argv, struct err *e)
{
	const char *shell = "bash";
	char **v = arena_alloc(a, 4 * sizeof *v);

	if (ro->shell != NULL && strcmp(ro->shell, "user") == 0 &&
	    user_shell(env, &shell, e) != 0)
		return -1;
	v[0] = arena_strdup(a, shell);
	v[1] = arena_strdup(a, ro->shell_login ? "-lc" : "-c");
	v[2] = arena_strdup(a, ro->command);
	v[3] = NULL;
	*ret_argv = v;
	return 0;
}
