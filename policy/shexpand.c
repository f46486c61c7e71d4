/* Quotes and expansions: what a word of a shell line is made of. */
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"
#include "policy/shparse.h"

static int
peek(const struct shparse *p)
{
	return shlex_peek(p, 0);
}

/* ---- a word that grows ---- */

void
shgrow_add(struct shgrow *g, int c)
{
	buf_putc(&g->text, (char)c);
}

/* From text offset `from` on, the word is an expansion's. */
void
shgrow_mark(struct shgrow *g, size_t from, bool may_split)
{
	if (!g->has_expansion || from < g->head)
		g->head = from;
	g->has_expansion = true;
	g->may_split |= may_split;
	g->tail_at = g->text.len;
}

void
shgrow_slice(struct shgrow *g, const struct shparse *p, size_t from)
{
	buf_add(&g->text, p->s + from, p->pos - from);
}

/* ---- quotes ---- */

bool
shexpand_single(struct shparse *p, struct shgrow *g)
{
	const char *end;

	shlex_skip(p, 1);
	end = memchr(p->s + p->pos, '\'', p->len - p->pos);
	if (end == NULL)
		return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
	buf_add(&g->text, p->s + p->pos, (size_t)(end - p->s) - p->pos);
	p->pos = (size_t)(end - p->s) + 1;
	g->is_quoted = true;
	return true;
}

static int
digit_of(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ?
	    c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits at p->pos, at most `most` of them, in the base. */
static unsigned
number(struct shparse *p, unsigned base, size_t most)
{
	unsigned n = 0;

	for (; most > 0 && p->pos < p->len &&
	    digit_of((unsigned char)p->s[p->pos]) < (int)base; most--)
		n = n * base + (unsigned)digit_of((unsigned char)
		    p->s[p->pos++]);
	return n;
}

static void
add_utf8(struct shgrow *g, unsigned cp)
{
	if (cp < 0x80) {
		shgrow_add(g, (int)cp);
	} else if (cp < 0x800) {
		shgrow_add(g, (int)(0xc0 | cp >> 6));
		shgrow_add(g, (int)(0x80 | (cp & 0x3f)));
	} else if (cp < 0x10000) {
		shgrow_add(g, (int)(0xe0 | cp >> 12));
		shgrow_add(g, (int)(0x80 | (cp >> 6 & 0x3f)));
		shgrow_add(g, (int)(0x80 | (cp & 0x3f)));
	} else {
		shgrow_add(g, (int)(0xf0 | (cp >> 18 & 7)));
		shgrow_add(g, (int)(0x80 | (cp >> 12 & 0x3f)));
		shgrow_add(g, (int)(0x80 | (cp >> 6 & 0x3f)));
		shgrow_add(g, (int)(0x80 | (cp & 0x3f)));
	}
}

/* Behind a backslash of $'...'; false: a NUL, where bash ends the string. */
static bool
ansi_escape(struct shparse *p, struct shgrow *g)
{
	static const char from[] = "abeEfnrtv\\'\"?";
	static const char to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	int c = (unsigned char)p->s[p->pos++];
	const char *at = c != 0 ? strchr(from, c) : NULL;
	unsigned n;

	if (at != NULL) {
		shgrow_add(g, to[at - from]);
		return true;
	}
	switch (c) {
	case '0': case '1': case '2': case '3':
	case '4': case '5': case '6': case '7':
		p->pos--;
		n = number(p, 8, 3) & 0xff;
		break;
	case 'x':
		n = digit_of(p->pos < p->len ? p->s[p->pos] : 'x') < 16 ?
		    number(p, 16, 2) : 256;
		break;
	case 'u':
	case 'U':
		n = number(p, 16, c == 'u' ? 4 : 8);
		if (n != 0)
			add_utf8(g, n);
		return n != 0;
	case 'c':
		n = p->pos < p->len ? (unsigned char)p->s[p->pos++] & 0x1f :
		    256;
		break;
	default:
		n = 256;
		break;
	}
	if (n == 256) {		/* no escape: the backslash stays */
		shgrow_add(g, '\\');
		shgrow_add(g, c);
	} else if (n != 0) {
		shgrow_add(g, (int)n);
	}
	return n != 0;
}

/* Behind "$'". */
bool
shexpand_ansi(struct shparse *p, struct shgrow *g)
{
	bool is_over = false;
	size_t end;

	g->is_quoted = true;
	while (p->pos < p->len && p->s[p->pos] != '\'') {
		end = g->text.len;
		if (p->s[p->pos] != '\\') {
			shgrow_add(g, p->s[p->pos++]);
		} else if (++p->pos < p->len) {
			if (!ansi_escape(p, g) && !is_over) {
				is_over = true;
				continue;
			}
		}
		if (is_over) {
			g->text.len = end;
			if (g->text.cap > 0)
				g->text.data[end] = '\0';
		}
	}
	if (p->pos >= p->len)
		return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
	p->pos++;
	return true;
}

/* ---- expansions ---- */

/* Commands up to ')', in a context of their own. */
bool
shexpand_commands(struct shparse *p)
{
	enum sh_input in = p->in;
	size_t from = p->from, first = p->first_pending;

	if (!shlex_enter(p))
		return false;
	p->in = SH_INPUT_OUTER;
	p->first_pending = p->npending;
	if (!shgrammar_list(p))
		return false;
	if (peek(p) != ')' || p->npending > p->first_pending)
		return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
	shlex_skip(p, 1);
	p->in = in;
	p->from = from;
	p->first_pending = first;
	p->depth--;
	return true;
}

/* One element of an expression or of ${...}: quotes and expansions. */
bool
shexpand_inner(struct shparse *p, bool is_quoted, bool has_single)
{
	struct shgrow g = { .head = 0 };
	bool ok = true;

	buf_init(&g.text, 0);
	switch (peek(p)) {
	case '\'':
		if (has_single)
			ok = shexpand_single(p, &g);
		else
			shlex_skip(p, 1);
		break;
	case '"':
		shlex_skip(p, 1);
		ok = shexpand_quoted(p, &g, '"');
		break;
	case '\\':
		shlex_skip(p, 1);
		p->pos += p->pos < p->len;
		break;
	case '$':
		ok = shexpand_dollar(p, &g, is_quoted);
		break;
	case '`':
		ok = shexpand_backquotes(p, &g, is_quoted);
		break;
	default:
		shlex_skip(p, 1);
		break;
	}
	buf_release(&g.text);
	return ok;
}

int
shlex_arithmetic(struct shparse *p)
{
	bool is_odd = false;
	size_t open = 0;

	if (!shlex_enter(p))
		return -1;
	for (;;) {
		int c = peek(p);

		if (c == SHPARSE_EOF)
			return 0;
		if (c == ')' && open == 0)
			break;
		if (c == '(' || c == ')') {
			open += c == '(' ? 1 : (size_t)-1;
			shlex_skip(p, 1);
		} else {
			is_odd |= c == ';' || c == '\n';
			if (!shexpand_inner(p, true, true))
				return -1;
		}
	}
	p->depth--;
	if (shlex_peek(p, 1) != ')')
		return 0;
	shlex_skip(p, 2);
	return is_odd ? 2 : 1;
}

/* Behind "$(" or "$((". */
static bool
dollar_paren(struct shparse *p)
{
	struct shparse then = *p, after;
	size_t ncommands = p->out->commands.n, nunseen = p->out->unseen.n;
	int answer;

	if (peek(p) != '(')
		return shexpand_commands(p);
	shlex_skip(p, 1);
	answer = shlex_arithmetic(p);
	if (answer == 1)
		return true;
	after = *p;
	/* Not arithmetic: a subshell that begins a substitution. */
	if (!shlex_rewind(p, &then, ncommands, nunseen))
		return false;
	if (shexpand_commands(p))
		return true;
	if (answer <= 0)
		return false;
	*p = after;
	p->out->unseen.n = nunseen;
	return true;
}

/*
 * Behind "${".  In double quotes bash gives single quotes their meaning; other
 * shells only behind the operators that take a pattern.
 */
static bool
dollar_brace(struct shparse *p, bool is_quoted)
{
	bool has_single = !is_quoted || p->dialect == SH_BASH;
	size_t begin = p->pos;

	if (!shlex_enter(p))
		return false;
	if (is_quoted && p->dialect == SH_POSIX) {
		const char *op = p->s + p->pos;
		size_t left = p->len - p->pos, n = 0;

		while (n < left && (digit_of(op[n]) < 10 || op[n] == '_' ||
		    ((op[n] | 32) >= 'a' && (op[n] | 32) <= 'z')))
			n++;
		has_single = n > 0 && n < left &&
		    (op[n] == '#' || op[n] == '%');
	}
	for (;;) {
		int c = peek(p);

		if (c == SHPARSE_EOF)
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		if (c == '}')
			break;
		if (c == '\'' && is_quoted)
			p->out->is_dialect = true;
		if (c == '$' && p->pos == begin)	/* ${$} */
			shlex_skip(p, 1);
		else if (!shexpand_inner(p, is_quoted, has_single))
			return false;
	}
	shlex_skip(p, 1);
	p->depth--;
	return true;
}

bool
shlex_is_name(int c, bool is_first)
{
	return c != SHPARSE_EOF && (c == '_' || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (!is_first && c >= '0' && c <= '9'));
}

/* "$[...]", bash's old arithmetic: behind the bracket. */
bool
shexpand_bracket(struct shparse *p)
{
	size_t open = 0;

	if (!shlex_enter(p))
		return false;
	for (;;) {
		int c = peek(p);

		if (c == SHPARSE_EOF)
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		if (c == ']' && open == 0)
			break;
		if (c == '[' || c == ']') {
			open += c == '[' ? 1 : (size_t)-1;
			shlex_skip(p, 1);
		} else if (!shexpand_inner(p, true, true)) {
			return false;
		}
	}
	shlex_skip(p, 1);
	p->depth--;
	return true;
}

/* To the character that peek() sees. */
void
shlex_join(struct shparse *p)
{
	while (p->pos + 1 < p->len && p->s[p->pos] == '\\' &&
	    p->s[p->pos + 1] == '\n')
		p->pos += 2;
}

/* What "$" begins is added as it is written. */
bool
shexpand_dollar(struct shparse *p, struct shgrow *g, bool is_quoted)
{
	size_t from, at = g->text.len;
	int c = shlex_peek(p, 1);
	bool ok = true;

	shlex_join(p);
	from = p->pos;

	if (c == '(') {
		shlex_skip(p, 2);
		ok = dollar_paren(p);
	} else if (c == '{') {
		shlex_skip(p, 2);
		ok = dollar_brace(p, is_quoted);
	} else if (c == '[' && p->dialect == SH_BASH) {
		p->out->is_dialect = true;
		shlex_skip(p, 2);
		ok = shexpand_bracket(p);
	} else if (shlex_is_name(c, true)) {
		shlex_skip(p, 2);
		while (shlex_is_name(peek(p), false))
			shlex_skip(p, 1);
	} else if (c > 0 && strchr("@*#?-$!0123456789", c) != NULL) {
		shlex_skip(p, 2);
	} else {
		shlex_skip(p, 1);
		shgrow_add(g, '$');
		return true;
	}
	shgrow_slice(g, p, from);
	/* "$@" gives none, or many, in quotes too. */
	shgrow_mark(g, at, !is_quoted || c == '@' || (c == '{' &&
	    memchr(p->s + from, '@', p->pos - from) != NULL));
	return ok;
}

static bool
parse_moved(struct shparse *p, const char *text, size_t len, size_t pos)
{
	struct shparse q = { .out = p->out, .dialect = p->dialect,
	    .s = text, .len = len, .base = shlex_offset(p, pos),
	    .is_moved = true, .depth = p->depth };

	p->out->steps += len;
	if (p->out->steps > p->out->max_steps)
		return shlex_fail(p, EXEC_UNSEEN_MANY);
	if (shgrammar_all(&q))
		return true;
	p->is_failed = true;
	return false;
}

/* Braces with a comma or dots in them that quotes alone keep together. */
static bool
has_quoted_braces(const char *s)
{
	const char *at = s;

	while ((at = strchr(at, '{')) != NULL) {
		if ((at == s || at[-1] != '$') &&
		    (strchr(at, ',') != NULL || strstr(at, "..") != NULL))
			return strchr(s, '"') != NULL;
		at++;
	}
	return false;
}

bool
shexpand_backquotes(struct shparse *p, struct shgrow *g, bool is_quoted)
{
	size_t from, at = g->text.len;
	struct buf text;
	bool ok;

	shlex_join(p);
	from = p->pos;
	if (!shlex_enter(p))
		return false;
	buf_init(&text, 0);
	shlex_skip(p, 1);
	while (p->pos < p->len && p->s[p->pos] != '`') {
		char c = p->s[p->pos++];

		/* Before any quote in it is looked at. */
		if (c == '\\' && p->pos < p->len && p->s[p->pos] == '\n') {
			p->pos++;
			continue;
		}
		if (c == '\\' && p->pos < p->len &&
		    (strchr("\\$`", p->s[p->pos]) != NULL ||
		    (is_quoted && p->s[p->pos] == '"')))
			c = p->s[p->pos++];
		buf_putc(&text, c);
	}
	ok = p->pos < p->len || shlex_fail(p, EXEC_UNSEEN_SYNTAX);
	/* bash expands braces in "`cmd "{a,b}"`", as if they were bare. */
	if (ok && is_quoted && p->dialect == SH_BASH &&
	    has_quoted_braces(text.data))
		*vec_push(&p->out->unseen) = (struct sh_unseen){
		    EXEC_UNSEEN_WORDS, shlex_offset(p, from) };
	if (ok) {
		p->pos++;
		ok = parse_moved(p, arena_strndup(p->out->arena, text.data,
		    text.len), text.len, from);
	}
	buf_release(&text);
	shgrow_slice(g, p, from);
	shgrow_mark(g, at, !is_quoted);
	p->depth--;
	return ok;
}

bool
shexpand_quoted(struct shparse *p, struct shgrow *g, int end)
{
	if (end == '"')
		g->is_quoted = true;
	for (;;) {
		int c = peek(p), next;

		if (c == end)
			break;
		if (c == SHPARSE_EOF)
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		if (c == '$') {
			if (!shexpand_dollar(p, g, true))
				return false;
		} else if (c == '`') {
			if (!shexpand_backquotes(p, g, true))
				return false;
		} else if (c == '\\') {
			shlex_skip(p, 1);
			/* Not peek(): the backslash spoke for the next. */
			next = p->pos < p->len ? (unsigned char)p->s[p->pos] :
			    SHPARSE_EOF;
			if (next <= 0 || strchr("$`\\", next) == NULL)
				if (next != end || end != '"')
					shgrow_add(g, '\\');
			if (next != SHPARSE_EOF) {
				shgrow_add(g, next);
				p->pos++;
			}
		} else {
			shgrow_add(g, c);
			shlex_skip(p, 1);
		}
	}
	if (end != SHPARSE_EOF)
		shlex_skip(p, 1);
	return true;
}
