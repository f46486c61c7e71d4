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

/*
 * Sub-commands that execute others of git.  Any other word may be an alias
 * that fence does not know of (include.path, GIT_CONFIG_COUNT); an alias never
 * has a name of these.
 */
static bool
has_parts(const char *name)
{
	static const char names[] = " add am archive backfill bisect "
	    "bundle checkout checkout-index cherry-pick clone column commit "
	    "describe diff diff-files diff-index diff-tree difftool "
	    "difftool--helper fetch fetch-pack fmt-merge-msg format-patch "
	    "fsck gc grep http-backend http-fetch http-push index-pack log "
	    "ls-files ls-remote maintenance merge merge-index "
	    "merge-octopus merge-one-file merge-ours merge-recursive "
	    "merge-resolve merge-subtree mv notes pack-objects prune pull "
	    "push quiltimport read-tree rebase receive-pack reflog remote "
	    "remote-ftp remote-ftps remote-http remote-https repack replace "
	    "replay request-pull reset restore revert rm send-pack show "
	    "stash status submodule--helper switch tag unpack-objects "
	    "upload-archive upload-archive--writer upload-pack worktree ";
	size_t n = strlen(name);
	const char *at = n > 0 ? strstr(names, name) : NULL;

	for (; at != NULL; at = strstr(at + 1, name))
		if (at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

/* "git -C x worktree add" and "git-worktree add": worktree. */
static const char *
subcommand(const char *const *words, size_t n)
{
	static const char *const values[] = { "-C", "-c", "--git-dir",
	    "--work-tree", "--namespace", "--super-prefix", "--config-env",
	    "--attr-source" };
	const char *name = path_name(words[0]);
	size_t i;

	if (strncmp(name, "git-", 4) == 0)
		return name + 4;
	for (i = 1; i < n && words[i][0] == '-'; i++)
		for (size_t k = 0; k < sizeof values / sizeof *values; k++)
			if (strcmp(words[i], values[k]) == 0) {
				i++;
				break;
			}
	return i < n ? words[i] : "";
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
	if (n == 0 || !has_parts(subcommand(words, n)))
		return false;
	decide_argv(j->policy, "git", words, n, j->world, &v);
	return v.v.action == ACTION_ALLOW;
}
