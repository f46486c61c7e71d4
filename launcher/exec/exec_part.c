#include "launcher/exec/exec_part.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/fd.h"

enum { CMDLINE_MAX = 64 * 1024, WORDS_MAX = 4096 };

/* /usr/lib/git-core/git: what git executes, and hardly anybody else. */
static bool
is_in_git_core(const char *path)
{
	static const char end[] = "/git-core/git";
	size_t n = strlen(path), len = sizeof end - 1;

	return n > len && strcmp(path + n - len, end) == 0;
}

static bool
is_git(pid_t pid)
{
	char path[64], exe[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	return strcmp(path_name(exe), "git") == 0;
}

/* The words that the caller was started with; 0: there are none. */
static size_t
read_words(pid_t pid, struct arena *a, const char ***ret)
{
	char path[64], *text = arena_alloc(a, CMDLINE_MAX + 1);
	const char **v = arena_alloc(a, (WORDS_MAX + 1) * sizeof *v);
	size_t argc = 0, at = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	n = fd_read_file(AT_FDCWD, path, text, CMDLINE_MAX);
	while (n > 0 && at < (size_t)n && argc < WORDS_MAX) {
		v[argc++] = text + at;
		at += strlen(text + at) + 1;
	}
	*ret = v;
	return argc;
}

bool
exec_is_part(const struct exec_judge *j, pid_t caller,
    const struct exec_step *s, struct arena *a)
{
	struct exec_verdict v;
	const char **words;
	size_t n;

	if (s->real == NULL || !is_in_git_core(s->real) || !is_git(caller))
		return false;
	n = read_words(caller, a, &words);
	if (n == 0)
		return false;
	decide_argv(j->policy, "git", words, n, j->world, &v);
	return v.v.action == ACTION_ALLOW;
}
