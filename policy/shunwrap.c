#include "policy/shunwrap.h"

#include <string.h>

#include "platform/base/arena.h"
#include "policy/shunwrap_parts.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

struct unwrapped *
unwrap_push(struct unwrap *u, enum unwrap_kind kind)
{
	struct unwrapped *w;

	if (u->n >= UNWRAP_MAX) {
		u->v[UNWRAP_MAX - 1] = (struct unwrapped){
		    .kind = UNWRAP_UNSEEN, .why = EXEC_UNSEEN_MANY };
		return NULL;
	}
	w = &u->v[u->n++];
	*w = (struct unwrapped){ .kind = kind };
	return w;
}

void
unwrap_argv(struct unwrap *u, const struct sh_word *words, size_t n)
{
	struct unwrapped *w = n > 0 ? unwrap_push(u, UNWRAP_ARGV) : NULL;

	if (w == NULL)
		return;
	w->words = words;
	w->nwords = n;
}

void
unwrap_line(struct unwrap *u, struct sh_word text, bool is_posix)
{
	struct unwrapped *w = unwrap_push(u, UNWRAP_LINE);

	if (w == NULL)
		return;
	w->text = text;
	w->is_posix = is_posix;
	if (!text.is_whole)
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
}

void
unwrap_guess(struct unwrap *u, struct sh_word text)
{
	struct unwrapped *w = unwrap_push(u, UNWRAP_GUESS);

	if (w != NULL)
		w->text = text;
	unwrap_unseen(u, EXEC_UNSEEN_LANGUAGE);
}

void
unwrap_unseen(struct unwrap *u, enum exec_unseen why)
{
	struct unwrapped *w = unwrap_push(u, UNWRAP_UNSEEN);

	if (w != NULL)
		w->why = why;
}

struct sh_word
unwrap_behind(const struct sh_word *w, size_t n)
{
	struct sh_word ret = *w;

	ret.text += n;
	ret.len -= n;
	ret.head = ret.head > n ? ret.head - n : 0;
	if (ret.tail > ret.len)
		ret.tail = ret.len;
	return ret;
}

/* ---- the others ---- */

/* find's and fd's commands end at ";", or at "+". */
static void
find_commands(struct unwrap *u)
{
	static const char options[] = " -exec -ok -execdir -okdir ";
	static const char fd_options[] = " -x --exec -X --exec-batch ";
	bool is_find = strcmp(u->name, "find") == 0 ||
	    strcmp(u->name, "gfind") == 0;

	for (size_t i = 1; i < u->nwords; i++) {
		struct unwrap inner = *u;
		size_t end;

		if (!unwrap_has_word(is_find ? options : fd_options,
		    u->words[i].text, u->words[i].len))
			continue;
		for (end = i + 1; end < u->nwords; end++)
			if (u->words[end].is_whole &&
			    (strcmp(u->words[end].text, ";") == 0 ||
			    (is_find && strcmp(u->words[end].text, "+") == 0)))
				break;
		inner.nwords = end;
		inner.n = 0;
		if (i + 1 < end) {
			unwrap_appended(&inner, i + 1);
			unwrap_argv(u, inner.v[0].words,
			    inner.v[0].nwords - is_find);
		}
		i = end;
	}
}

/* env -S: a string of words, as the first ones. */
static void
env_split(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords && unwrap_is_option(&u->words[i]); i++) {
		const struct sh_word *w = &u->words[i];
		struct sh_word text, *all;
		struct sh_line line;
		size_t n = 0, rest = i + 1;

		if (strncmp(w->text, "--split-string=", 15) == 0)
			text = unwrap_behind(w, 15);
		else if (strchr(w->text, 'S') != NULL && w->text[1] != '-' &&
		    w->text[strcspn(w->text, "uCSa")] == 'S' &&
		    strchr(w->text, 'S')[1] != '\0')
			text = unwrap_behind(w,
			    (size_t)(strchr(w->text, 'S') - w->text) + 1);
		else if (i + 1 < u->nwords &&
		    (strcmp(w->text, "--split-string") == 0 ||
		    (w->text[1] != '-' && w->text[w->len - 1] == 'S')))
			text = u->words[rest++];
		else
			continue;
		shwords_parse(u->arena, SH_POSIX, text.text, text.len, &line);
		all = arena_alloc(u->arena, (1 + (line.n > 0 ?
		    line.v[0].nassigns + line.v[0].nwords : 0) +
		    u->nwords - rest) * sizeof *all);
		all[n++] = shwords_literal("env");
		for (size_t k = 0; line.n > 0 && k < line.v[0].nassigns; k++)
			all[n++] = line.v[0].assigns[k];
		for (size_t k = 0; line.n > 0 && k < line.v[0].nwords; k++)
			all[n++] = line.v[0].words[k];
		for (; rest < u->nwords; rest++)
			all[n++] = u->words[rest];
		unwrap_argv(u, all, n);
		if (!text.is_whole || line.n != 1 || line.nunseen > 0)
			unwrap_unseen(u, EXEC_UNSEEN_TEXT);
		return;
	}
}

/* coreutils --coreutils-prog=NAME, busybox NAME. */
static void
coreutils(struct unwrap *u)
{
	static const char option_text[] = "--coreutils-prog=";
	size_t n = sizeof option_text - 1;
	struct sh_word *copy;

	if (u->nwords < 2)
		return;
	copy = arena_alloc(u->arena, u->nwords * sizeof *copy);
	memcpy(copy, u->words + 1, (u->nwords - 1) * sizeof *copy);
	if (copy[0].head >= n && memcmp(copy[0].text, option_text, n) == 0)
		copy[0] = unwrap_behind(&copy[0], n);
	unwrap_argv(u, copy, u->nwords - 1);
}

/* sudo -s and -i give the words to a shell. */
static void
sudo_shell(struct unwrap *u)
{
	if (unwrap_has_option(u, 's') || unwrap_has_option(u, 'i'))
		for (size_t i = 0; i < u->n; i++)
			if (u->v[i].kind == UNWRAP_ARGV)
				unwrap_line(u, shwords_join(u->arena,
				    u->v[i].words, u->v[i].nwords), true);
}

/* alias NAME='line' */
static void
alias(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords; i++) {
		const char *equals = memchr(u->words[i].text, '=',
		    u->words[i].len);

		if (equals != NULL)
			unwrap_line(u, unwrap_behind(&u->words[i],
			    (size_t)(equals - u->words[i].text) + 1), true);
	}
}

static void
trap_line(struct unwrap *u)
{
	size_t i = 1;

	if (i < u->nwords && unwrap_is_dashes(&u->words[i]))
		i++;
	if (i + 1 < u->nwords && !unwrap_is_option(&u->words[i]))
		unwrap_line(u, u->words[i], true);
}

/* export and its kin: each NAME=VALUE is an assignment. */
static void
declaration(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords; i++) {
		struct unwrapped *a;

		if (unwrap_assignment(&u->words[i]) == 0 ||
		    (a = unwrap_push(u, UNWRAP_ASSIGN)) == NULL)
			continue;
		a->words = &u->words[i];
		a->nwords = 1;
	}
}

/* tmux new-session 'line', screen -dm command. */
static void
terminal(struct unwrap *u)
{
	static const char commands[] = " new new-session neww new-window "
	    "split-window splitw respawn-pane respawnp respawn-window "
	    "run-shell run if-shell pipe-pane ";
	static const struct wrapper row = { "tmux", "ctnsxyFefl", "", 0, 0,
	    NULL, NULL, NULL };
	bool is_over = false;
	size_t i;

	for (i = 1; i < u->nwords; i++)
		if (unwrap_has_word(commands, u->words[i].text, u->words[i].len))
			break;
	i = i < u->nwords ? unwrap_skip_options(u, &row, i + 1, &is_over) : i;
	if (i < u->nwords)
		unwrap_line(u, shwords_join(u->arena, u->words + i,
		    u->nwords - i), true);
}

static void
dot(struct unwrap *u)
{
	size_t i = 1;

	if (i < u->nwords && unwrap_is_dashes(&u->words[i]))
		i++;
	if (i < u->nwords)
		unwrap_shell_file(u, &u->words[i], true);
}

static const struct { const char *name; void (*fn)(struct unwrap *); }
    special[] = {
	{ "find", find_commands }, { "gfind", find_commands },
	{ "fd", find_commands }, { "fdfind", find_commands },
	{ "env", env_split }, { "coreutils", coreutils },
	{ "sudo", sudo_shell }, { "alias", alias }, { "trap", trap_line },
	{ "export", declaration }, { "declare", declaration },
	{ "typeset", declaration }, { "readonly", declaration },
	{ "local", declaration }, { "tmux", terminal }, { ".", dot },
	{ "source", dot }, { "git", unwrap_git },
};

void
shunwrap(struct unwrap *u)
{
	u->n = 0;
	if (unwrap_shell(u))
		return;
	unwrap_by_row(u);
	for (size_t i = 0; i < COUNT(special); i++)
		if (strcmp(special[i].name, u->name) == 0)
			special[i].fn(u);
}

/* ---- variables ---- */

static const char *const command_variables[] = {
	"GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "PAGER", "MANPAGER",
	"EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
	"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
	"BROWSER", "LESSOPEN", "LESSCLOSE", "PROMPT_COMMAND", "RSYNC_RSH",
	"CVS_RSH", "SVN_SSH", "GIT_PROXY_COMMAND", "FCEDIT", "SYSTEMD_EDITOR",
	"SYSTEMD_PAGER", "AWS_PAGER", "GH_PAGER", "GH_EDITOR", "PSQL_PAGER",
	"PSQL_EDITOR", "HGEDITOR", "SVN_EDITOR", "KUBE_EDITOR",
};

/* Files that a shell reads first: what their names expand runs. */
static const char *const file_variables[] = { "BASH_ENV", "ENV" };

void
shunwrap_assign(struct unwrap *u, const struct sh_word *w)
{
	static const char git_value[] = "GIT_CONFIG_VALUE_";
	size_t n = unwrap_assignment(w);
	struct sh_word value;

	if (n == 0)
		return;
	value = unwrap_behind(w, n + 1);
	if (value.len == 0)
		return;
	for (size_t i = 0; i < COUNT(command_variables); i++)
		if (strlen(command_variables[i]) == n &&
		    memcmp(w->text, command_variables[i], n) == 0)
			unwrap_line(u, value, true);
	for (size_t i = 0; i < COUNT(file_variables); i++)
		if (strlen(file_variables[i]) == n &&
		    memcmp(w->text, file_variables[i], n) == 0 &&
		    (strstr(value.text, "$(") != NULL ||
		    strchr(value.text, '`') != NULL))
			unwrap_line(u, value, true);
	if (n >= sizeof git_value - 1 &&
	    memcmp(w->text, git_value, sizeof git_value - 1) == 0)
		unwrap_line(u, value.text[0] == '!' ?
		    unwrap_behind(&value, 1) : value, true);
	if (n == 21 && memcmp(w->text, "GIT_CONFIG_PARAMETERS", n) == 0)
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
}
