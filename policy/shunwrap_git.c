/* Commands that git runs because its words say so. */
#include <string.h>
#include <strings.h>

#include "platform/base/arena.h"
#include "policy/shunwrap_parts.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

/* Keys whose value is run; '*' is a middle part. */
static const char *const command_keys[] = {
	"core.pager", "pager.*", "core.editor", "sequence.editor",
	"core.sshcommand", "core.fsmonitor", "core.askpass", "core.gitproxy",
	"diff.external", "diff.*.command", "diff.*.textconv",
	"difftool.*.cmd", "mergetool.*.cmd", "merge.*.driver",
	"filter.*.clean", "filter.*.smudge", "filter.*.process",
	"credential.helper", "credential.*.helper", "gpg.program",
	"gpg.*.program", "uploadpack.packobjectshook",
	"remote.*.uploadpack", "remote.*.receivepack",
	"interactive.difffilter", "browser.*.cmd", "man.*.cmd",
	"trailer.*.command", "trailer.*.cmd", "submodule.*.update",
	"tar.*.command", "gpg.ssh.defaultkeycommand", "sendemail.smtpserver",
	"sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd",
	"web.browser", "guitool.*.cmd",
};

static const char *const words_that_say_no[] = { "true", "false", "cat", "",
    "on", "off", "yes", "no", "1", "0" };

static bool
key_is(const char *pattern, const char *key, size_t n)
{
	const char *star = strchr(pattern, '*');
	size_t head, tail;

	if (star == NULL)
		return strlen(pattern) == n &&
		    strncasecmp(pattern, key, n) == 0;
	head = (size_t)(star - pattern);
	tail = strlen(star + 1);
	return n > head + tail && strncasecmp(pattern, key, head) == 0 &&
	    strncasecmp(star + 1, key + n - tail, tail) == 0;
}

/* The words of an alias before those that follow it. */
static void
expand_alias(struct unwrap *u, struct sh_word value, size_t rest)
{
	struct sh_line line;
	struct sh_word *all;
	size_t n = 0, more;

	if (value.len > 0 && value.text[0] == '!') {
		struct sh_word parts[2] = { unwrap_behind(&value, 1) };

		parts[1] = shwords_join(u->arena, u->words + rest,
		    u->nwords - rest);
		unwrap_line(u, u->nwords > rest ?
		    shwords_join(u->arena, parts, 2) : parts[0], true);
		return;
	}
	shwords_parse(u->arena, SH_POSIX, value.text, value.len, &line);
	if (line.n != 1 || line.nunseen > 0 || !value.is_whole)
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
	if (line.n == 0)
		return;
	more = line.v[0].nwords;
	all = arena_alloc(u->arena, (1 + more + u->nwords - rest) *
	    sizeof *all);
	all[n++] = shwords_literal("git");
	for (size_t i = 0; i < more; i++)
		all[n++] = line.v[0].words[i];
	for (; rest < u->nwords; rest++)
		all[n++] = u->words[rest];
	unwrap_argv(u, all, n);
}

struct settings {
	const struct sh_word	*v[16];		/* KEY=VALUE of -c */
	size_t			 n;
};

static void
setting(struct unwrap *u, struct settings *s, const struct sh_word *w)
{
	const char *equals = memchr(w->text, '=', w->len);
	size_t n = equals != NULL ? (size_t)(equals - w->text) : w->len;
	struct sh_word value;

	if (s->n < COUNT(s->v))
		s->v[s->n++] = w;
	else
		unwrap_unseen(u, EXEC_UNSEEN_MANY);
	if (w->head < n) {		/* even the key is unknown */
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
		return;
	}
	if (equals == NULL)
		return;
	value = unwrap_behind(w, n + 1);
	for (size_t i = 0; i < COUNT(words_that_say_no); i++)
		if (value.is_whole && strcmp(value.text,
		    words_that_say_no[i]) == 0)
			return;
	for (size_t i = 0; i < COUNT(command_keys); i++)
		if (key_is(command_keys[i], w->text, n)) {
			unwrap_line(u, value.text[0] == '!' ?
			    unwrap_behind(&value, 1) : value, true);
			return;
		}
}

/* The options before the sub-command; the sub-command's place. */
static size_t
global_options(struct unwrap *u, struct settings *s)
{
	static const char *const values[] = { "-C", "--git-dir",
	    "--work-tree", "--namespace", "--super-prefix", "--attr-source" };
	size_t i = 1;

	while (i < u->nwords && u->words[i].head > 0 &&
	    u->words[i].text[0] == '-') {
		const struct sh_word *w = &u->words[i++];

		if (strcmp(w->text, "-c") == 0) {
			if (i < u->nwords)
				setting(u, s, &u->words[i++]);
		} else if (strncmp(w->text, "--config-env", 12) == 0) {
			unwrap_unseen(u, EXEC_UNSEEN_TEXT);
			i += w->text[12] == '\0';
		}
		for (size_t k = 0; k < COUNT(values); k++)
			i += strcmp(w->text, values[k]) == 0;
	}
	return i;
}

/* Options of sub-commands whose value is a shell line. */
static const struct { const char *command, *option; } line_options[] = {
	{ "rebase", "-x" }, { "rebase", "--exec" },
	{ "difftool", "-x" }, { "difftool", "--extcmd" },
	{ "grep", "--open-files-in-pager" },
	{ "filter-branch", "--tree-filter" },
	{ "filter-branch", "--index-filter" },
	{ "filter-branch", "--msg-filter" },
	{ "filter-branch", "--env-filter" },
	{ "filter-branch", "--commit-filter" },
	{ "filter-branch", "--parent-filter" },
	{ "filter-branch", "--tag-name-filter" },
	{ "clone", "-u" }, { "clone", "--upload-pack" },
	{ "fetch", "--upload-pack" }, { "pull", "--upload-pack" },
	{ "ls-remote", "--upload-pack" }, { "ls-remote", "--exec" },
	{ "fetch-pack", "--upload-pack" }, { "fetch-pack", "--exec" },
	{ "push", "--receive-pack" }, { "push", "--exec" },
	{ "send-pack", "--receive-pack" }, { "send-pack", "--exec" },
	{ "archive", "--exec" },
};

static void
line_option(struct unwrap *u, const char *command, size_t i)
{
	const struct sh_word *w = &u->words[i];

	for (size_t k = 0; k < COUNT(line_options); k++) {
		const char *option = line_options[k].option;
		size_t n = strlen(option);

		if (strcmp(line_options[k].command, command) != 0 ||
		    w->head < n || memcmp(w->text, option, n) != 0)
			continue;
		if (w->text[n] == '\0' && i + 1 < u->nwords)
			unwrap_line(u, u->words[i + 1], true);
		else if (option[1] != '-' && w->len > n)
			unwrap_line(u, unwrap_behind(w, n), true);
		else if (w->text[n] == '=')
			unwrap_line(u, unwrap_behind(w, n + 1), true);
		return;
	}
}

static size_t
skip_flags(const struct unwrap *u, size_t i)
{
	while (i < u->nwords && u->words[i].head > 0 &&
	    u->words[i].text[0] == '-')
		i++;
	return i;
}

/* git for-each-repo --config=KEY WORDS-OF-GIT... */
static void
each_repo(struct unwrap *u, size_t i)
{
	struct sh_word *all = arena_alloc(u->arena, (u->nwords + 1) *
	    sizeof *all);
	size_t n = 0;

	while (i < u->nwords && u->words[i].head > 0 &&
	    u->words[i].text[0] == '-')
		i += strcmp(u->words[i].text, "--config") == 0 ? 2 : 1;
	all[n++] = shwords_literal("git");
	while (i < u->nwords)
		all[n++] = u->words[i++];
	unwrap_argv(u, all, n);
}

static void
subcommand(struct unwrap *u, struct settings *s, size_t i)
{
	const char *command = u->words[i].text;
	size_t k = i + 1;

	for (size_t n = i + 1; n < u->nwords; n++) {
		line_option(u, command, n);
		if (strcmp(command, "clone") == 0 && n + 1 < u->nwords &&
		    (strcmp(u->words[n].text, "-c") == 0 ||
		    strcmp(u->words[n].text, "--config") == 0))
			setting(u, s, &u->words[n + 1]);
		if (strncmp(u->words[n].text, "ext::", 5) == 0)
			unwrap_line(u, unwrap_behind(&u->words[n], 5), true);
	}
	if (strcmp(command, "bisect") == 0 && k < u->nwords &&
	    strcmp(u->words[k].text, "run") == 0)
		unwrap_argv(u, u->words + k + 1, u->nwords - k - 1);
	if (strcmp(command, "for-each-repo") == 0)
		each_repo(u, k);
	if (strcmp(command, "remote-ext") == 0 && k + 1 < u->nwords)
		unwrap_line(u, u->words[k + 1], true);
	if (strcmp(command, "submodule") == 0 ||
	    strcmp(command, "submodule--helper") == 0) {
		k = skip_flags(u, k);
		if (k < u->nwords && strcmp(u->words[k].text, "foreach") == 0 &&
		    (k = skip_flags(u, k + 1)) < u->nwords)
			unwrap_line(u, shwords_join(u->arena, u->words + k,
			    u->nwords - k), true);
	}
}

void
unwrap_git(struct unwrap *u)
{
	struct settings s = { .n = 0 };
	size_t i = global_options(u, &s);
	const char *alias = NULL;

	if (i >= u->nwords || !u->words[i].is_whole)
		return;
	subcommand(u, &s, i);
	for (size_t k = 0; k < s.n; k++) {
		const char *text = s.v[k]->text;
		size_t n = strlen(u->words[i].text);

		if (strncasecmp(text, "alias.", 6) == 0 &&
		    s.v[k]->head > 6 + n &&
		    strncasecmp(text + 6, u->words[i].text, n) == 0 &&
		    text[6 + n] == '=')
			expand_alias(u, unwrap_behind(s.v[k], 7 + n), i + 1);
	}
	if (u->git_alias != NULL)
		alias = u->git_alias(u->arg, u->words[i].text);
	if (alias != NULL)
		expand_alias(u, shwords_literal(arena_strdup(u->arena,
		    alias)), i + 1);
}
