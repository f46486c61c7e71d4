/* Lines that shells are given: by -c, or on their standard input. */
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/cmdrule.h"
#include "policy/shunwrap_parts.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

static const struct { const char *name; bool is_ours, is_posix; } shells[] = {
	{ "sh", true, true }, { "bash", true, false }, { "dash", true, true },
	{ "ash", true, true }, { "ksh", true, true }, { "mksh", true, true },
	{ "zsh", true, true }, { "rbash", true, false },
	{ "ksh93", true, true }, { "posh", true, true },
	{ "yash", true, true }, { "oksh", true, true },
	{ "hush", true, true }, { "lksh", true, true },
	{ "fish", false, true }, { "csh", false, true },
	{ "tcsh", false, true }, { "nu", false, true },
	{ "elvish", false, true }, { "xonsh", false, true },
	{ "pwsh", false, true }, { "rc", false, true }, { "es", false, true },
};

/* Escapes of echo -e and of printf's format. */
static struct sh_word
unescape(struct arena *a, const char *s)
{
	static const char from[] = "nt\\\"'abfrv", to[] = "\nt\\\"'\a\b\f\r\v";
	struct buf b;
	struct sh_word ret;
	const char *at;

	buf_init(&b, 0);
	for (; *s != '\0'; s++) {
		unsigned n = 0, k;

		if (*s != '\\' || s[1] == '\0') {
			buf_putc(&b, *s);
		} else if ((at = strchr(from, s[1])) != NULL) {
			buf_putc(&b, s[1] == 't' ? '\t' : to[at - from]);
			s++;
		} else if (s[1] >= '0' && s[1] <= '7') {
			for (k = 0; k < 4 && s[1] >= '0' && s[1] <= '7'; k++)
				n = n * 8 + (unsigned)(*++s - '0');
			buf_putc(&b, (char)(n != 0 ? n : ' '));
		} else if (s[1] == 'x') {
			static const char hex[] = "0123456789abcdef";

			s++;
			for (k = 0; k < 2 && s[1] != '\0' &&
			    (at = strchr(hex, s[1] | 32)) != NULL; k++, s++)
				n = n * 16 + (unsigned)(at - hex);
			buf_putc(&b, (char)(n != 0 ? n : ' '));
		} else {
			buf_putc(&b, '\\');
		}
	}
	ret = shwords_literal(arena_strndup(a, b.data, b.len));
	buf_release(&b);
	return ret;
}

/* What echo writes. */
static bool
echo_output(struct unwrap *u, const struct sh_command *c, bool *ret_escapes,
    struct sh_word *ret)
{
	size_t i = 1;

	*ret_escapes = false;
	while (i < c->nwords && c->words[i].is_whole &&
	    c->words[i].text[0] == '-' && c->words[i].text[1] != '\0' &&
	    c->words[i].text[1 + strspn(c->words[i].text + 1, "neE")] == '\0')
		i++;
	*ret = shwords_join(u->arena, c->words + i, c->nwords - i);
	*ret_escapes = strchr(ret->text, '\\') != NULL;
	return true;
}

static struct sh_word
join_with(struct unwrap *u, const struct sh_word *v, size_t n,
    const char *separator)
{
	struct sh_word ret = shwords_join(u->arena, v, n);
	struct buf b;

	if (!ret.is_whole)
		return ret;
	buf_init(&b, 0);
	for (size_t i = 0; i < n; i++) {
		buf_add(&b, v[i].text, v[i].len);
		buf_puts(&b, separator);
	}
	ret = shwords_literal(arena_strndup(u->arena, b.data, b.len));
	buf_release(&b);
	return ret;
}

/* What printf writes, of the formats that people use for this. */
static bool
printf_output(struct unwrap *u, const struct sh_command *c,
    struct sh_word *ret)
{
	static const struct { const char *text, *separator; } formats[] = {
		{ "%s", "" }, { "%b", "" }, { "%s\\n", "\n" },
		{ "%b\\n", "\n" }, { "%s ", " " }, { "%s;", ";" },
	};
	size_t i = 1;
	const char *format;

	if (i < c->nwords && unwrap_is_dashes(&c->words[i]))
		i++;
	if (i >= c->nwords || !c->words[i].is_whole)
		return false;
	format = c->words[i++].text;
	if (strchr(format, '%') == NULL) {
		*ret = unescape(u->arena, format);
		return true;
	}
	for (size_t k = 0; k < COUNT(formats); k++) {
		if (strcmp(format, formats[k].text) != 0)
			continue;
		*ret = join_with(u, c->words + i, c->nwords - i,
		    formats[k].separator);
		if (format[1] == 'b' && ret->is_whole)
			*ret = unescape(u->arena, ret->text);
		return true;
	}
	return false;
}

static void
input_text(struct unwrap *u, const struct sh_redirect *r, bool is_posix)
{
	const struct sh_word *text = r->op == SH_OP_HEREDOC ? &r->body :
	    &r->word;

	if (text->text != NULL)	/* else the text ends before its body */
		unwrap_line(u, *text, is_posix);
}

static void
input_command(struct unwrap *u, const struct sh_command *c, bool is_posix)
{
	const char *name = c->nwords > 0 && c->words[0].is_whole ?
	    cmdrule_last_name(c->words[0].text) : "";
	struct sh_word text;
	bool escapes;

	if (strcmp(name, "echo") == 0 && echo_output(u, c, &escapes, &text)) {
		unwrap_line(u, text, is_posix);
		if (escapes && text.is_whole)
			unwrap_line(u, unescape(u->arena, text.text),
			    is_posix);
	} else if (strcmp(name, "printf") == 0 && printf_output(u, c, &text)) {
		unwrap_line(u, text, is_posix);
	} else if (strcmp(name, "cat") == 0 && c->nwords == 1 &&
	    c->in == SH_INPUT_TEXT) {
		input_text(u, c->input, is_posix);
	} else {
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
	}
}

/* A shell without a file reads what its input says. */
static void
shell_input(struct unwrap *u, bool is_posix)
{
	const struct sh_command *c = u->command;

	if (c == NULL)
		return;
	switch (c->in) {
	case SH_INPUT_OUTER:
		break;
	case SH_INPUT_FILE:	/* a file of commands is a program; <(..)? */
		if (c->input != NULL && !c->input->word.is_whole &&
		    strstr(c->input->word.text, "<(") != NULL)
			unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	case SH_INPUT_TEXT:
		input_text(u, c->input, is_posix);
		break;
	case SH_INPUT_COMMAND:
		if (u->line != NULL && c->from < u->line->n)
			input_command(u, &u->line->v[c->from], is_posix);
		else
			unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	case SH_INPUT_OTHER:
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	}
}

/* A file that is no file: standard input, or a substitution. */
static bool
is_input(const struct sh_word *w)
{
	static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0",
	    "/proc/self/fd/0", "/dev/tty" };

	for (size_t i = 0; w->is_whole && i < COUNT(names); i++)
		if (strcmp(w->text, names[i]) == 0)
			return true;
	return false;
}

void
unwrap_shell_file(struct unwrap *u, const struct sh_word *w, bool is_posix)
{
	if (is_input(w))
		shell_input(u, is_posix);
	else if (!w->is_whole && strstr(w->text, "<(") != NULL)
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
}

/* One word of options: what it says, and how many values follow it. */
struct shell_options { bool is_line, is_input, is_sure; };

static size_t
shell_option(const struct sh_word *w, struct shell_options *o)
{
	static const char *const longs[] = { "--rcfile", "--init-file",
	    "--init-command", "--features", "--debug", "--profile" };
	size_t values = 0;

	if (w->text[0] == '-' && w->text[1] == '-') {
		if (strcmp(w->text, "--command") == 0)
			o->is_line = true;
		for (size_t i = 0; i < COUNT(longs); i++)
			values |= strcmp(w->text, longs[i]) == 0;
		return values;
	}
	for (size_t i = 1; i < w->len; i++) {
		if (w->text[i] == 'c' && w->text[0] == '-')
			o->is_line = true;
		if (w->text[i] == 's' && w->text[0] == '-')
			o->is_input = true;
		values += w->text[i] == 'o' || w->text[i] == 'O';
	}
	return values;
}

static void
shell(struct unwrap *u, bool is_ours, bool is_posix)
{
	struct shell_options o = { .is_line = false };
	size_t i = 1;

	while (i < u->nwords) {
		const struct sh_word *w = &u->words[i];

		if (unwrap_is_dashes(w) || (w->is_whole &&
		    strcmp(w->text, "-") == 0)) {
			i++;
			break;
		}
		if (w->head == 0 && !w->is_whole && w->may_split &&
		    i + 1 < u->nwords) {	/* sh $flags -c ... */
			i++;
			continue;
		}
		if (w->head < 2 || (w->text[0] != '-' && w->text[0] != '+'))
			break;
		i += 1 + shell_option(w, &o);
	}
	if (o.is_line && i < u->nwords) {
		if (is_ours)
			unwrap_line(u, u->words[i], is_posix);
		else
			unwrap_guess(u, u->words[i]);
	} else if (i >= u->nwords || o.is_input) {
		shell_input(u, is_posix);
		if (!is_ours && u->n > 0)
			unwrap_unseen(u, EXEC_UNSEEN_LANGUAGE);
	} else {
		unwrap_shell_file(u, &u->words[i], is_posix);
	}
}

/* "--command=text" of fish. */
static void
attached_lines(struct unwrap *u)
{
	static const char option_text[] = "--command=";
	size_t n = sizeof option_text - 1;

	for (size_t i = 1; i < u->nwords; i++)
		if (u->words[i].head >= n &&
		    memcmp(u->words[i].text, option_text, n) == 0)
			unwrap_guess(u, unwrap_behind(&u->words[i], n));
}

bool
unwrap_shell(struct unwrap *u)
{
	for (size_t i = 0; i < COUNT(shells); i++)
		if (strcmp(shells[i].name, u->name) == 0) {
			shell(u, shells[i].is_ours, shells[i].is_posix);
			if (!shells[i].is_ours)
				attached_lines(u);
			return true;
		}
	return false;
}
