/* Here-documents of a shell line. */
#include <string.h>

#include "platform/base/arena.h"
#include "policy/shparse.h"

static bool
ends_in_backslash(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[len - 1 - n] == '\\')
		n++;
	return n % 2 == 1;
}

/*
 * One line of a body, from p->pos; where backslashes join lines, as many as
 * they join.  Its text without leading tabs goes to *line.
 */
static void
body_line(struct shparse *p, const struct sh_redirect *r, struct buf *line)
{
	bool may_join = !r->word.is_quoted;

	buf_clear(line);
	for (;;) {
		const char *at = p->s + p->pos, *end;
		size_t n;

		end = memchr(at, '\n', p->len - p->pos);
		n = end != NULL ? (size_t)(end - at) : p->len - p->pos;
		p->pos += n + (end != NULL);
		if (r->strip_tabs)
			while (n > 0 && *at == '\t' && line->len == 0)
				at++, n--;
		buf_add(line, at, n);
		if (!may_join || end == NULL || !ends_in_backslash(at, n))
			return;
		line->len--;
		line->data[line->len] = '\0';
	}
}

/* The expansions of a body, whose text without tabs is the word's. */
static bool
expand_body(struct shparse *p, struct sh_redirect *r, const struct buf *text,
    size_t from)
{
	struct shgrow g = { .head = 0 };
	struct shparse q = { .out = p->out, .dialect = p->dialect,
	    .s = arena_strndup(p->out->arena, text->data, text->len),
	    .len = text->len, .base = shlex_offset(p, from),
	    .is_moved = true, .depth = p->depth };
	bool ok;

	buf_init(&g.text, 0);
	p->out->steps += text->len;
	ok = p->out->steps <= p->out->max_steps ?
	    shexpand_quoted(&q, &g, SHPARSE_EOF) :
	    shlex_fail(&q, EXEC_UNSEEN_MANY);
	r->body = shgrow_word(p, &g);
	buf_release(&g.text);
	p->is_failed |= q.is_failed;
	return ok;
}

static bool
heredoc(struct shparse *p, struct sh_redirect *r)
{
	size_t from = p->pos;
	struct buf line, text;
	bool ok = true;

	buf_init(&line, 0);
	buf_init(&text, 0);
	while (p->pos < p->len) {
		body_line(p, r, &line);
		if (line.len == r->word.len &&
		    memcmp(line.data, r->word.text, line.len) == 0)
			break;
		buf_add(&text, line.data, line.len);
		buf_putc(&text, '\n');
	}
	if (r->word.is_quoted) {
		r->body = shwords_literal(arena_strndup(p->out->arena,
		    text.data, text.len));
		r->body.len = r->body.head = r->body.tail = text.len;
	} else {
		ok = expand_body(p, r, &text, from);
	}
	buf_release(&line);
	buf_release(&text);
	return ok;
}

bool
shlex_heredocs(struct shparse *p)
{
	for (size_t i = p->first_pending; i < p->npending; i++)
		if (!heredoc(p, p->pending[i]))
			return false;
	p->npending = p->first_pending;
	return true;
}
