#include "policy/exec_remedy.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"

enum { MOST_WORDS = 12, MOST_BYTES = 240 };

/* The word as next_token() of cmdrule.c reads it. */
static void
put_rule_word(struct buf *b, const char *text, bool is_first)
{
	bool is_odd = text[strcspn(text, " \t\n'\"\\")] != '\0' ||
	    (is_first && (text[0] == '!' || strncmp(text, "re:", 3) == 0));

	if (!is_odd) {
		buf_puts(b, text);
	} else if (strchr(text, '\'') == NULL) {
		buf_printf(b, "'%s'", text);
	} else {
		for (; *text != '\0'; text++) {
			if (strchr(" \t\n'\"\\!", *text) != NULL)
				buf_putc(b, '\\');
			buf_putc(b, *text);
		}
	}
}

/* A policy is UTF-8, and nobody wants to read escapes in it. */
static bool
is_plain(const char *s)
{
	size_t n;
	uint32_t cp;

	for (; *s != '\0'; s += n) {
		n = str_utf8(s, strlen(s), &cp);
		if (n == 0 || cp < 0x20 || cp == 0x7f)
			return false;
	}
	return true;
}

/* How many leading words a rule can say. */
static size_t
count_plain(const struct cmd_ask *ask)
{
	size_t n = 1, bytes = strlen(ask->name);

	while (n < ask->nwords && n < MOST_WORDS && ask->words[n].is_whole &&
	    ask->words[n].len > 0 && is_plain(ask->words[n].text) &&
	    bytes + ask->words[n].len < MOST_BYTES)
		bytes += ask->words[n++].len + 1;
	return n;
}

static bool
would_match(struct arena *a, const char *text, const struct cmd_ask *ask,
    const struct cmdrule *denied)
{
	const struct cmdrule *rule;
	enum cmd_match m;
	struct err e;

	if (cmdrule_new(a, text, &rule, &e) != 0)
		return false;
	m = cmdrule_match(rule, ask, false);
	return m == CMD_YES || (m == CMD_YES_WITHOUT && denied != NULL &&
	    cmdrule_match(denied, ask, true) == CMD_YES_WITHOUT);
}

bool
exec_remedy_add(struct verdict *v, size_t key, const struct cmd_ask *ask,
    const struct cmdrule *denied)
{
	struct cmd_ask cut = *ask;
	struct arena *a;
	struct buf b;
	bool ok;

	if (ask->nwords == 0 || ask->name[0] == '\0' || !is_plain(ask->name))
		return false;
	a = arena_new();
	buf_init(&b, 0);
	cut.nwords = count_plain(ask);
	put_rule_word(&b, ask->name, true);
	for (size_t i = 1; i < cut.nwords; i++) {
		buf_putc(&b, ' ');
		put_rule_word(&b, ask->words[i].text, false);
	}
	ok = (denied == NULL || cmdrule_match(denied, &cut, true) ==
	    CMD_YES) && would_match(a, b.data, ask, denied);
	if (!ok && denied != NULL) {
		buf_clear(&b);
		buf_puts(&b, denied->text);
		ok = would_match(a, b.data, ask, denied);
	}
	if (ok)
		verdict_remedy(v, REMEDY_ADD, key, b.data);
	buf_release(&b);
	arena_free(a);
	return ok;
}

static void
put_shell_word(struct buf *b, const struct sh_word *w)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
	bool is_fine = w->len > 0 && strspn(w->text, fine) == w->len;

	if (is_fine || !w->is_whole) {
		buf_add(b, w->text, w->len);
		return;
	}
	buf_putc(b, '\'');
	for (size_t i = 0; i < w->len; i++)
		if (w->text[i] == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, w->text[i]);
	buf_putc(b, '\'');
}

void
exec_words(const struct sh_word *words, size_t n, char *out, size_t size)
{
	static const char dots[] = "...";
	struct buf b;
	size_t len;

	buf_init(&b, 0);
	for (size_t i = 0; i < n && b.len < size; i++) {
		if (i > 0)
			buf_putc(&b, ' ');
		put_shell_word(&b, &words[i]);
	}
	len = b.len;
	if (len >= size) {
		len = size - sizeof dots;
		while (len > 0 && ((unsigned char)b.data[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(out, b.data, len);
	memcpy(out + len, b.len >= size ? dots : "", b.len >= size ?
	    sizeof dots : 1);
	buf_release(&b);
}
