#include "policy/cmdrule.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/vec.h"
#include "policy/policy.h"
#include "policy/regex.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

const char *
cmdrule_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* ---- rules ---- */

struct tokens { const char **v; size_t n, cap; };

/* The next word of a rule, without its quotes; NULL at the end. */
static const char *
next_token(struct arena *a, const char **s)
{
	struct buf b;
	char quote = '\0';
	const char *p = *s, *ret = NULL;

	buf_init(&b, 0);
	p += strspn(p, " \t\n");
	if (*p != '\0') {
		for (; *p != '\0' && (quote != '\0' ||
		    strchr(" \t\n", *p) == NULL); p++) {
			if (*p == '\\' && quote != '\'' && p[1] != '\0')
				buf_putc(&b, *++p);
			else if (quote == '\0' && (*p == '\'' || *p == '"'))
				quote = *p;
			else if (quote != '\0' && *p == quote)
				quote = '\0';
			else
				buf_putc(&b, *p);
		}
		ret = arena_strndup(a, b.data, b.len);
	}
	buf_release(&b);
	*s = p;
	return ret;
}

static void
tokenise(struct arena *a, struct cmdrule *r)
{
	struct tokens list = { .n = 0 };
	const char *s = r->text, *token, **copy;

	while ((token = next_token(a, &s)) != NULL)
		if (token[0] != '\0')
			*vec_push(&list) = token;
	if (list.n > 0)
		list.v[0] = cmdrule_last_name(list.v[0]);
	copy = arena_alloc(a, list.n * sizeof *copy + 1);
	if (list.n > 0)
		memcpy(copy, list.v, list.n * sizeof *copy);
	r->tokens = copy;
	r->ntokens = list.n;
	vec_release(&list);
}

int
cmdrule_new(struct arena *a, const char *text, const struct cmdrule **ret,
    struct err *e)
{
	struct cmdrule *r = arena_alloc(a, sizeof *r);
	struct regex *regex;

	r->text = text;
	if (strncmp(text, "re:", 3) == 0) {
		if (regex_new(a, text + 3, &regex, e) != 0)
			return -1;
		r->regex = regex;
	} else {
		tokenise(a, r);
		if (r->ntokens == 0 || r->tokens[0][0] == '\0') {
			err_set(e, ERR_POLICY, "'%.80s' names no command",
			    text);
			err_hint(e, "a command is its first words: "
			    "'git push'");
			return -1;
		}
	}
	*ret = r;
	return 0;
}

/* ---- words against a rule ---- */

/* Could the word be the token?  len: of the token that must be there. */
static enum cmd_match
word_is(const struct sh_word *w, const char *token, bool is_prefix)
{
	size_t len = strlen(token);

	if (w->is_whole)
		return (is_prefix ? w->len >= len : w->len == len) &&
		    memcmp(w->text, token, len) == 0 ? CMD_YES : CMD_NO;
	if (is_prefix && w->head >= len)
		return memcmp(w->text, token, len) == 0 ? CMD_YES : CMD_NO;
	if (w->head > len || memcmp(w->text, token, w->head) != 0)
		return CMD_NO;
	if (is_prefix || w->may_split)
		return CMD_MAYBE;
	return w->head + w->tail <= len && memcmp(w->text + w->len - w->tail,
	    token + len - w->tail, w->tail) == 0 ? CMD_MAYBE : CMD_NO;
}

/* All of the word is an expansion that may give no word at all. */
static bool
may_vanish(const struct sh_word *w)
{
	return w->may_split && w->head == 0 && w->tail == 0;
}

/* Options of well-known programs that no value follows. */
static const struct { const char *name, *options; } bare[] = {
	{ "git", " -p --paginate -P --no-pager --bare --no-replace-objects "
	    "--literal-pathspecs --glob-pathspecs --noglob-pathspecs "
	    "--icase-pathspecs --no-optional-locks --no-lazy-fetch "
	    "--no-advice " },
	{ "docker", " -D --debug --tls --tlsverify " },
	{ "npm", " -g --global -s --silent -q --quiet -d -dd -ddd " },
	{ "systemctl", " --user --system --global --no-block --no-wall -q "
	    "--quiet -f --force --now --no-pager -i " },
};

static bool
is_bare(const char *name, const struct sh_word *w)
{
	for (size_t i = 0; i < COUNT(bare); i++) {
		const char *at;

		if (strcmp(bare[i].name, name) != 0)
			continue;
		at = strstr(bare[i].options, w->text);
		return w->len > 0 && at != NULL && at[-1] == ' ' &&
		    at[w->len] == ' ';
	}
	return false;
}

static bool
is_option(const struct sh_word *w)
{
	return w->head > 0 && w->text[0] == '-' &&
	    !(w->is_whole && strcmp(w->text, "--") == 0);
}

/* May the next word be this option's value? */
static bool
takes_value(const char *name, const struct sh_word *w)
{
	if (is_bare(name, w))
		return false;
	return w->len == 2 || (w->text[1] == '-' &&
	    memchr(w->text, '=', w->len) == NULL);
}

/* Past options, and values of theirs, to what may be the token. */
static size_t
skip_options(const struct cmd_ask *ask, size_t i, const char *token)
{
	const struct sh_word *w = ask->words;

	while (i < ask->nwords && is_option(&w[i])) {
		bool has_value = takes_value(ask->name, &w[i]);

		i++;
		if (has_value && i < ask->nwords && !is_option(&w[i]) &&
		    strcmp(w[i].text, "--") != 0 &&
		    strcmp(w[i].text, token) != 0)
			i++;
	}
	return i;
}

/* "if=": some word from here on begins with it. */
static enum cmd_match
anywhere(const struct cmd_ask *ask, size_t i, const char *token)
{
	enum cmd_match best = CMD_NO, m;

	for (; i < ask->nwords; i++)
		if ((m = word_is(&ask->words[i], token, true)) > best)
			best = m;
	return best;
}

static bool
ends_in_equals(const char *s)
{
	return s[0] != '\0' && s[strlen(s) - 1] == '=';
}

static enum cmd_match
match_tokens(const struct cmdrule *r, const struct cmd_ask *ask)
{
	bool may_skip = true;
	enum cmd_match m;
	size_t i = 1;

	if (strcmp(r->tokens[0], ask->name) != 0)
		return CMD_NO;
	for (size_t k = 1; k < r->ntokens; k++) {
		const char *token = r->tokens[k];

		if (ends_in_equals(token)) {
			if ((m = anywhere(ask, i, token)) != CMD_YES)
				return m;
			continue;
		}
		if (token[0] == '-') {
			/* Options of the rule stand where they stand. */
			if (strcmp(token, "--") != 0 && k == 1)
				may_skip = false;
		} else if (may_skip) {
			i = skip_options(ask, i, token);
			may_skip = false;
		}
		if (i >= ask->nwords)
			return CMD_NO;
		if ((m = word_is(&ask->words[i], token, false)) != CMD_YES)
			return m;
		i++;
	}
	return CMD_YES;
}

/* The words, joined; up to the first expansion, where *ret_is_cut. */
static void
join(const struct cmd_ask *ask, struct buf *b, bool *ret_is_cut)
{
	*ret_is_cut = false;
	buf_puts(b, ask->name);
	for (size_t i = 1; i < ask->nwords && !*ret_is_cut; i++) {
		const struct sh_word *w = &ask->words[i];

		buf_putc(b, ' ');
		buf_add(b, w->text, w->is_whole ? w->len : w->head);
		*ret_is_cut = !w->is_whole;
	}
}

static enum cmd_match
match_regex(const struct cmdrule *r, const struct cmd_ask *ask,
    bool is_denial)
{
	enum regex_answer answer;
	struct buf b;
	bool is_cut;

	buf_init(&b, 0);
	join(ask, &b, &is_cut);
	answer = regex_match(r->regex, b.data, b.len, is_cut);
	buf_release(&b);
	switch (answer) {
	case REGEX_YES:
		return CMD_YES;
	case REGEX_PARTLY:
		return CMD_MAYBE;
	case REGEX_LIMIT:
		return is_denial ? CMD_YES : CMD_NO;
	case REGEX_NO:
		break;
	}
	return CMD_NO;
}

/* Once more without the words that may vanish: "git $flags push". */
static enum cmd_match
match_without(const struct cmdrule *r, const struct cmd_ask *ask)
{
	struct { struct sh_word *v; size_t n, cap; } kept = { .n = 0 };
	enum cmd_match m;

	for (size_t i = 0; i < ask->nwords; i++)
		if (i == 0 || !may_vanish(&ask->words[i]))
			*vec_push(&kept) = ask->words[i];
	m = kept.n == ask->nwords ? CMD_NO :
	    match_tokens(r, &(struct cmd_ask){ ask->name, kept.v, kept.n });
	vec_release(&kept);
	return m == CMD_YES ? CMD_YES_WITHOUT : m;
}

enum cmd_match
cmdrule_match(const struct cmdrule *r, const struct cmd_ask *ask,
    bool is_denial)
{
	enum cmd_match m, without;

	if (r == NULL || ask->nwords == 0)
		return CMD_NO;
	if (r->regex != NULL)
		return match_regex(r, ask, is_denial);
	m = match_tokens(r, ask);
	if (m == CMD_YES)
		return m;
	without = strcmp(r->tokens[0], ask->name) == 0 ?
	    match_without(r, ask) : CMD_NO;
	return without > m ? without : m;
}

/* ---- the built-in list ---- */

#define RULE(text, ...)	{ text, (const char *const []){ __VA_ARGS__ },	\
	    COUNT(((const char *const []){ __VA_ARGS__ })), NULL }
#define LONE(name)	RULE(name, name)

static const struct cmdrule builtins[] = {
	LONE("shutdown"), LONE("reboot"), LONE("halt"), LONE("poweroff"),
	RULE("init 0", "init", "0"), RULE("init 6", "init", "6"),
	RULE("systemctl poweroff", "systemctl", "poweroff"),
	RULE("systemctl reboot", "systemctl", "reboot"),
	RULE("systemctl halt", "systemctl", "halt"),
	LONE("insmod"), LONE("rmmod"), LONE("modprobe"), LONE("kexec"),
	LONE("mkfs"), LONE("fdisk"), LONE("parted"),
	RULE("dd if=", "dd", "if="),
	LONE("chroot"), LONE("unshare"), LONE("nsenter"),
};

/* A path of slashes and dots is "/". */
static bool
is_root(const char *s, size_t len)
{
	return len > 0 && s[0] == '/' && strspn(s, "/.") >= len;
}

/* "/:/host", or "type=bind,src=/,dst=/host" of --mount. */
static bool
mounts_root(const char *value, bool is_mount)
{
	size_t n;

	if (!is_mount)
		return value[strcspn(value, ":")] == ':' &&
		    is_root(value, strcspn(value, ":"));
	for (; *value != '\0'; value += n + (value[n] == ',')) {
		size_t skip = strncmp(value, "source=", 7) == 0 ? 7 :
		    strncmp(value, "src=", 4) == 0 ? 4 : 0;

		n = strcspn(value, ",");
		if (skip > 0 && is_root(value + skip, n - skip))
			return true;
	}
	return false;
}

static const char	docker_privileged[] = "docker run --privileged";
static const char	docker_root[] = "docker run -v /:/";

/* One option: its rule, and whether the next word is its value. */
static const char *
docker_option(const struct sh_word *w, const struct sh_word *next,
    bool *ret_has_value)
{
	static const char bools[] = " --rm --privileged --init --read-only "
	    "--detach --interactive --tty --publish-all --no-healthcheck "
	    "--quiet --oom-kill-disable --sig-proxy --tls --tlsverify "
	    "--debug ";
	const char *t = w->text, *value = next != NULL ? next->text : "";
	const char *equals = strchr(t, '='), *at;
	size_t n = equals != NULL ? (size_t)(equals - t) : w->len;

	*ret_has_value = false;
	if (t[1] != '-') {
		size_t k = 1 + strspn(t + 1, "ditPqD");

		if (t[k] == '\0')
			return NULL;
		*ret_has_value = t[k + 1] == '\0';
		if (t[k + 1] != '\0')
			value = t + k + 1 + (t[k + 1] == '=');
		return t[k] == 'v' && mounts_root(value, false) ?
		    docker_root : NULL;
	}
	if (n == 12 && memcmp(t, "--privileged", n) == 0)
		return equals != NULL && strcmp(equals, "=false") == 0 ?
		    NULL : docker_privileged;
	at = strstr(bools, t);
	if (equals == NULL && at != NULL && at[-1] == ' ' && at[n] == ' ')
		return NULL;
	*ret_has_value = equals == NULL;
	if (equals != NULL)
		value = equals + 1;
	if ((n == 8 && memcmp(t, "--volume", n) == 0 &&
	    mounts_root(value, false)) ||
	    (n == 7 && memcmp(t, "--mount", n) == 0 &&
	    mounts_root(value, true)))
		return docker_root;
	return NULL;
}

/* Does a container get all of this machine? */
static const char *
docker(const struct cmd_ask *ask)
{
	static const char *const names[] = { "docker", "podman", "nerdctl" };
	bool is_docker = false, is_run = false, has_value;
	const char *rule;

	for (size_t i = 0; i < COUNT(names); i++)
		is_docker |= strcmp(ask->name, names[i]) == 0;
	for (size_t i = 1; is_docker && i < ask->nwords; i++) {
		const struct sh_word *w = &ask->words[i];

		if (w->len < 2 || w->text[0] != '-') {
			if (is_run)		/* the image */
				return NULL;
			is_run = strcmp(w->text, "run") == 0 ||
			    strcmp(w->text, "create") == 0 ||
			    strcmp(w->text, "exec") == 0;
			if (!is_run && strcmp(w->text, "container") != 0)
				return NULL;
			continue;
		}
		rule = docker_option(w, i + 1 < ask->nwords ? w + 1 : NULL,
		    &has_value);
		if (rule != NULL)
			return rule;
		i += has_value;
	}
	return NULL;
}

const char *
cmdrule_builtin(const struct cmd_ask *ask, enum cmd_match *ret)
{
	const char *rule = NULL, *text;

	*ret = CMD_NO;
	if (ask->nwords == 0)
		return NULL;
	text = docker(ask);
	if (text == NULL && strncmp(ask->name, "mkfs.", 5) == 0)
		text = "mkfs";
	if (text != NULL) {
		*ret = CMD_YES;
		return text;
	}
	for (size_t i = 0; i < COUNT(builtins); i++) {
		enum cmd_match m = cmdrule_match(&builtins[i], ask, true);

		if (m > *ret) {
			*ret = m;
			rule = builtins[i].text;
		}
	}
	return rule;
}

/* ---- lists ---- */

const struct strlist *
cmd_list_of(const struct policy *p, enum cmd_list list)
{
	switch (list) {
	case CMD_DENY:
		return &p->command.deny;
	case CMD_ALLOW:
		return &p->command.allow;
	case CMD_SSH_ALLOWED:
		return &p->ssh.allowed_commands;
	case CMD_SSH_DENIED:
	case CMD_NLISTS:
		break;
	}
	return &p->ssh.denied_commands;
}

const struct cmd_index *
cmd_index_new(struct arena *a, const struct policy *p)
{
	struct cmd_index *ix = arena_alloc(a, sizeof *ix);
	struct err e;

	for (int list = 0; list < CMD_NLISTS; list++) {
		const struct strlist *l = cmd_list_of(p, list);

		ix->v[list] = arena_alloc(a, l->n * sizeof *ix->v[list] + 1);
		for (size_t i = 0; i < l->n; i++)	/* checked as read */
			if (cmdrule_new(a, l->v[i].text, &ix->v[list][i],
			    &e) != 0)
				ix->v[list][i] = NULL;
	}
	return ix;
}

enum cmd_match
cmd_index_find(const struct policy *p, enum cmd_list list,
    const struct cmd_ask *ask, size_t *ret_entry)
{
	const struct strlist *l = cmd_list_of(p, list);
	bool is_denial = list == CMD_DENY || list == CMD_SSH_DENIED;
	enum cmd_match best = CMD_NO;

	for (size_t i = 0; i < l->n && best != CMD_YES; i++) {
		enum cmd_match m = cmdrule_match(p->cmd_index->v[list][i],
		    ask, is_denial);

		if (m > best) {
			best = m;
			*ret_entry = i;
		}
	}
	return best;
}
