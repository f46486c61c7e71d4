/* The words of a shell line: quotes, expansions, here-documents. */
#include "policy/shparse.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"

/* What a text may cost in all, counting what is read twice or nested. */
enum { MAX_STEPS = 32 * SHWORDS_MAX_BYTES };

int
shlex_peek(const struct shparse *p, size_t k)
{
	size_t i = p->pos;

	for (;; k--, i++) {
		while (i + 1 < p->len && p->s[i] == '\\' &&
		    p->s[i + 1] == '\n')
			i += 2;
		if (i >= p->len)
			return SHPARSE_EOF;
		if (k == 0)
			return (unsigned char)p->s[i];
	}
}

void
shlex_skip(struct shparse *p, size_t n)
{
	for (; n > 0 && p->pos < p->len; n--) {
		while (p->pos + 1 < p->len && p->s[p->pos] == '\\' &&
		    p->s[p->pos + 1] == '\n')
			p->pos += 2;
		if (p->pos < p->len)
			p->pos++;
	}
}

static int
peek(const struct shparse *p)
{
	return shlex_peek(p, 0);
}

size_t
shlex_offset(const struct shparse *p, size_t pos)
{
	return p->is_moved ? p->base : p->base + pos;
}

bool
shlex_fail(struct shparse *p, enum exec_unseen why)
{
	if (!p->is_failed)
		*vec_push(&p->out->unseen) = (struct sh_unseen){ why,
		    shlex_offset(p, p->pos) };
	p->is_failed = true;
	return false;
}

static bool
enter(struct shparse *p)
{
	if (p->depth >= SHWORDS_MAX_DEPTH)
		return shlex_fail(p, EXEC_UNSEEN_DEEP);
	p->depth++;
	return true;
}

bool
shlex_rewind(struct shparse *p, const struct shparse *then, size_t ncommands,
    size_t nunseen)
{
	struct shout *out = p->out;

	out->steps += p->pos - then->pos + 1;
	*p = *then;
	out->commands.n = ncommands;
	out->unseen.n = nunseen;
	if (out->steps > MAX_STEPS)
		return shlex_fail(p, EXEC_UNSEEN_MANY);
	return true;
}

bool
shlex_is_end(int c)
{
	return c == SHPARSE_EOF || strchr(" \t\n;&|<>()", c) != NULL;
}

void
shlex_blanks(struct shparse *p)
{
	while (peek(p) == ' ' || peek(p) == '\t')
		shlex_skip(p, 1);
	if (peek(p) != '#')
		return;
	shlex_skip(p, 1);	/* a comment has no continuation lines */
	while (p->pos < p->len && p->s[p->pos] != '\n')
		p->pos++;
}

/* ---- a word that grows ---- */

static void
add(struct shgrow *g, int c)
{
	buf_putc(&g->text, (char)c);
}

/* From text offset `from` on, the word is an expansion's. */
static void
mark(struct shgrow *g, size_t from, bool may_split)
{
	if (!g->has_expansion || from < g->head)
		g->head = from;
	g->has_expansion = true;
	g->may_split |= may_split;
	g->tail_at = g->text.len;
}

static void
add_slice(struct shgrow *g, const struct shparse *p, size_t from)
{
	buf_add(&g->text, p->s + from, p->pos - from);
}

/* ---- quotes ---- */

static bool
single_quotes(struct shparse *p, struct shgrow *g)
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
		add(g, (int)cp);
	} else if (cp < 0x800) {
		add(g, (int)(0xc0 | cp >> 6));
		add(g, (int)(0x80 | (cp & 0x3f)));
	} else if (cp < 0x10000) {
		add(g, (int)(0xe0 | cp >> 12));
		add(g, (int)(0x80 | (cp >> 6 & 0x3f)));
		add(g, (int)(0x80 | (cp & 0x3f)));
	} else {
		add(g, (int)(0xf0 | (cp >> 18 & 7)));
		add(g, (int)(0x80 | (cp >> 12 & 0x3f)));
		add(g, (int)(0x80 | (cp >> 6 & 0x3f)));
		add(g, (int)(0x80 | (cp & 0x3f)));
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
		add(g, to[at - from]);
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
		add(g, '\\');
		add(g, c);
	} else if (n != 0) {
		add(g, (int)n);
	}
	return n != 0;
}

/* Behind "$'". */
static bool
ansi_quotes(struct shparse *p, struct shgrow *g)
{
	bool is_over = false;
	size_t end;

	g->is_quoted = true;
	while (p->pos < p->len && p->s[p->pos] != '\'') {
		end = g->text.len;
		if (p->s[p->pos] != '\\') {
			add(g, p->s[p->pos++]);
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

/* Text inside double quotes, or of a here-document, up to `end`. */
static bool	 quoted_text(struct shparse *, struct shgrow *, int end);
static bool	 dollar(struct shparse *, struct shgrow *, bool is_quoted);
static bool	 backquotes(struct shparse *, struct shgrow *, bool is_quoted);

/* Commands up to ')', in a context of their own. */
static bool
substitution(struct shparse *p)
{
	enum sh_input in = p->in;
	size_t from = p->from, first = p->first_pending;

	if (!enter(p))
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
static bool
inner(struct shparse *p, bool is_quoted, bool has_single)
{
	struct shgrow g = { .head = 0 };
	bool ok = true;

	buf_init(&g.text, 0);
	switch (peek(p)) {
	case '\'':
		if (has_single)
			ok = single_quotes(p, &g);
		else
			shlex_skip(p, 1);
		break;
	case '"':
		shlex_skip(p, 1);
		ok = quoted_text(p, &g, '"');
		break;
	case '\\':
		shlex_skip(p, 1);
		p->pos += p->pos < p->len;
		break;
	case '$':
		ok = dollar(p, &g, is_quoted);
		break;
	case '`':
		ok = backquotes(p, &g, is_quoted);
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

	if (!enter(p))
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
			if (!inner(p, true, true))
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
		return substitution(p);
	shlex_skip(p, 1);
	answer = shlex_arithmetic(p);
	if (answer == 1)
		return true;
	after = *p;
	/* Not arithmetic: a subshell that begins a substitution. */
	if (!shlex_rewind(p, &then, ncommands, nunseen))
		return false;
	if (substitution(p))
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

	if (!enter(p))
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
		else if (!inner(p, is_quoted, has_single))
			return false;
	}
	shlex_skip(p, 1);
	p->depth--;
	return true;
}

static bool
is_name(int c, bool is_first)
{
	return c != SHPARSE_EOF && (c == '_' || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (!is_first && c >= '0' && c <= '9'));
}

/* "$[...]", bash's old arithmetic: behind the bracket. */
static bool
dollar_bracket(struct shparse *p)
{
	size_t open = 0;

	if (!enter(p))
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
		} else if (!inner(p, true, true)) {
			return false;
		}
	}
	shlex_skip(p, 1);
	p->depth--;
	return true;
}

/* To the character that peek() sees. */
static void
join_lines(struct shparse *p)
{
	while (p->pos + 1 < p->len && p->s[p->pos] == '\\' &&
	    p->s[p->pos + 1] == '\n')
		p->pos += 2;
}

/* What "$" begins is added as it is written. */
static bool
dollar(struct shparse *p, struct shgrow *g, bool is_quoted)
{
	size_t from, at = g->text.len;
	int c = shlex_peek(p, 1);
	bool ok = true;

	join_lines(p);
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
		ok = dollar_bracket(p);
	} else if (is_name(c, true)) {
		shlex_skip(p, 2);
		while (is_name(peek(p), false))
			shlex_skip(p, 1);
	} else if (c > 0 && strchr("@*#?-$!0123456789", c) != NULL) {
		shlex_skip(p, 2);
	} else {
		shlex_skip(p, 1);
		add(g, '$');
		return true;
	}
	add_slice(g, p, from);
	/* "$@" gives none, or many, in quotes too. */
	mark(g, at, !is_quoted || c == '@' || (c == '{' &&
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
	if (p->out->steps > MAX_STEPS)
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

static bool
backquotes(struct shparse *p, struct shgrow *g, bool is_quoted)
{
	size_t from, at = g->text.len;
	struct buf text;
	bool ok;

	join_lines(p);
	from = p->pos;
	if (!enter(p))
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
	add_slice(g, p, from);
	mark(g, at, !is_quoted);
	p->depth--;
	return ok;
}

static bool
quoted_text(struct shparse *p, struct shgrow *g, int end)
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
			if (!dollar(p, g, true))
				return false;
		} else if (c == '`') {
			if (!backquotes(p, g, true))
				return false;
		} else if (c == '\\') {
			shlex_skip(p, 1);
			/* Not peek(): the backslash spoke for the next. */
			next = p->pos < p->len ? (unsigned char)p->s[p->pos] :
			    SHPARSE_EOF;
			if (next <= 0 || strchr("$`\\", next) == NULL)
				if (next != end || end != '"')
					add(g, '\\');
			if (next != SHPARSE_EOF) {
				add(g, next);
				p->pos++;
			}
		} else {
			add(g, c);
			shlex_skip(p, 1);
		}
	}
	if (end != SHPARSE_EOF)
		shlex_skip(p, 1);
	return true;
}

/* ---- words ---- */

/* "?(", "@(" ...: to the parenthesis that ends it. */
static bool
extended_glob(struct shparse *p, struct shgrow *g)
{
	size_t from = p->pos, at = g->text.len, open = 0;

	if (!enter(p))
		return false;
	p->out->is_dialect = true;
	do {
		int c = peek(p);

		if (c == SHPARSE_EOF)
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		if (c == '(' || c == ')') {
			open += c == '(' ? 1 : (size_t)-1;
			shlex_skip(p, 1);
		} else if (!inner(p, false, true)) {
			return false;
		}
	} while (open > 0);
	add_slice(g, p, from);
	mark(g, at > 0 ? at - 1 : 0, true);
	p->depth--;
	return true;
}

/* "<(" and ">(". */
static bool
process_substitution(struct shparse *p, struct shgrow *g)
{
	size_t from = p->pos, at = g->text.len;

	p->out->is_dialect = true;
	shlex_skip(p, 2);
	if (!substitution(p))
		return false;
	add_slice(g, p, from);
	mark(g, at, false);
	return true;
}

/* NAME= or NAME[...]= begins here: how far that is, without side effects. */
static bool
assignment_head(struct shparse *p, size_t *ret_name_len, size_t *ret_end)
{
	size_t n = 0;

	if (!is_name(peek(p), true))
		return false;
	while (is_name(shlex_peek(p, n), false))
		n++;
	*ret_name_len = n;
	*ret_end = 0;
	if (shlex_peek(p, n) == '[' && p->dialect == SH_BASH) {
		struct shparse then = *p;
		size_t ncommands = p->out->commands.n;
		size_t nunseen = p->out->unseen.n, end;
		bool ok;

		shlex_skip(p, n + 1);
		ok = dollar_bracket(p);
		end = p->pos;
		if (ok && peek(p) == '+')
			shlex_skip(p, 1);
		ok = ok && peek(p) == '=';
		if (!shlex_rewind(p, &then, ncommands, nunseen))
			return false;
		*ret_end = end;
		return ok;
	}
	if (shlex_peek(p, n) == '+' && p->dialect == SH_BASH)
		n++;
	return shlex_peek(p, n) == '=';
}

struct braces {
	size_t	at[16];		/* where each open one begins in the text */
	bool	has_comma[16];
	size_t	n;
	size_t	bracket_at;
	bool	has_bracket;
};

/* Globs and braces; the character is added by the caller. */
static void
special(struct shparse *p, struct shgrow *g, struct braces *b, int c)
{
	size_t at = g->text.len;

	add(g, c);
	switch (c) {
	case '*':
	case '?':
		mark(g, at, true);
		break;
	case '[':
		b->has_bracket = true;
		b->bracket_at = at;
		break;
	case ']':
		if (b->has_bracket)
			mark(g, b->bracket_at, true);
		break;
	case '{':
		if (b->n < sizeof b->at / sizeof *b->at) {
			b->at[b->n] = at;
			b->has_comma[b->n++] = false;
		} else {
			mark(g, b->at[0], true);
		}
		break;
	case ',':
		if (b->n > 0)
			b->has_comma[b->n - 1] = true;
		break;
	case '.':
		if (b->n > 0 && at > 0 && g->text.data[at - 1] == '.')
			b->has_comma[b->n - 1] = true;
		break;
	case '}':
		if (b->n > 0 && b->has_comma[--b->n] &&
		    p->dialect == SH_BASH) {
			p->out->is_dialect = true;
			mark(g, b->at[b->n], true);
		}
		break;
	default:
		break;
	}
}

/* "~", "~user": an expansion that gives one word. */
static void
tilde(struct shparse *p, struct shgrow *g)
{
	size_t at = g->text.len, n = 1;

	while (is_name(shlex_peek(p, n), false) || shlex_peek(p, n) == '-' ||
	    shlex_peek(p, n) == '+' || shlex_peek(p, n) == '.')
		n++;
	if (shlex_peek(p, n) != '/' && !shlex_is_end(shlex_peek(p, n)) &&
	    shlex_peek(p, n) != ':')
		return;
	while (n-- > 0) {
		add(g, peek(p));
		shlex_skip(p, 1);
	}
	mark(g, at, false);
}

/* A part that is more than its character: 1 done, 0 it is not, -1. */
static int
part(struct shparse *p, struct shgrow *g)
{
	int c = peek(p), next = shlex_peek(p, 1);

	if (c == '\'')
		return single_quotes(p, g) ? 1 : -1;
	if (c == '"') {
		shlex_skip(p, 1);
		return quoted_text(p, g, '"') ? 1 : -1;
	}
	if (c == '\\') {
		shlex_skip(p, 1);
		if (p->pos < p->len)
			add(g, p->s[p->pos++]);
		else
			add(g, '\\');
		g->is_quoted = true;
		return 1;
	}
	if (c == '$' && (next == '\'' || next == '"'))
		p->out->is_dialect = true;
	if (c == '$' && next == '\'' && p->dialect == SH_BASH) {
		shlex_skip(p, 2);
		return ansi_quotes(p, g) ? 1 : -1;
	}
	if (c == '$' && next == '"' && p->dialect == SH_BASH) {
		shlex_skip(p, 2);
		return quoted_text(p, g, '"') ? 1 : -1;
	}
	if (c == '$')
		return dollar(p, g, false) ? 1 : -1;
	if (c == '`')
		return backquotes(p, g, false) ? 1 : -1;
	if ((c == '<' || c == '>') && next == '(' && p->dialect == SH_BASH)
		return process_substitution(p, g) ? 1 : -1;
	return 0;
}

static bool
is_extended_glob(const struct shparse *p, const struct shgrow *g,
    size_t begin, unsigned flags)
{
	char before;

	if (g->text.len == 0 || p->pos == begin ||
	    (p->dialect != SH_BASH && (flags & SHWORD_PATTERN) == 0))
		return false;
	before = p->s[p->pos - 1];
	return strchr("?*+@!", before) != NULL && (p->pos < begin + 2 ||
	    p->s[p->pos - 2] != '\\');
}

/* The word up to its end; floor: blanks before it are the word's. */
static bool
grow(struct shparse *p, struct shgrow *g, unsigned flags, size_t floor)
{
	struct braces braces = { .n = 0 };
	size_t begin = p->pos, open = 0;

	for (;;) {
		int c = peek(p), answer;
		bool is_end = shlex_is_end(c);

		if (c == SHPARSE_EOF)
			return true;
		if (c == '~' && (g->text.len == 0 || ((flags &
		    SHWORD_ASSIGN) != 0 && strchr("=:", g->text.data[
		    g->text.len - 1]) != NULL)))
			tilde(p, g);
		c = peek(p);
		is_end = shlex_is_end(c);
		if (c == SHPARSE_EOF)
			return true;
		answer = part(p, g);
		if (answer < 0)
			return false;
		if (answer > 0)
			continue;
		if (is_end && p->pos >= floor) {
			if (c == '(' && is_extended_glob(p, g, begin, flags)) {
				if (!extended_glob(p, g))
					return false;
				continue;
			}
			if ((flags & SHWORD_REGEX) == 0)
				return true;
			if (c == '(')
				open++;
			else if (c == ')' && open > 0)
				open--;
			else if (open == 0 && c != '|' && c != '<' &&
			    c != '>')
				return true;
		}
		if (p->pos < floor)		/* NAME[INDEX]= */
			add(g, c);
		else
			special(p, g, &braces, c);
		shlex_skip(p, 1);
	}
}

static struct sh_word
finish(struct shparse *p, const struct shgrow *g)
{
	size_t len = g->text.len;

	return (struct sh_word){
		.text = arena_strndup(p->out->arena, g->text.data, len),
		.len = len, .is_whole = !g->has_expansion,
		.head = g->has_expansion ? g->head : len,
		.tail = g->has_expansion ? len - g->tail_at : len,
		.is_quoted = g->is_quoted, .may_split = g->may_split,
	};
}

/* "(" directly behind "NAME=": the elements of an array. */
static bool
array(struct shparse *p, struct shgrow *g)
{
	size_t at = g->text.len, from = p->pos;
	struct sh_word word;

	if (!enter(p))
		return false;
	p->out->is_dialect = true;
	shlex_skip(p, 1);
	for (;;) {
		shlex_blanks(p);
		if (peek(p) == '\n') {
			shlex_skip(p, 1);
			if (!shlex_heredocs(p))
				return false;
		} else if (peek(p) == ')') {
			break;
		} else if (!shlex_word(p, SHWORD_ASSIGN, &word, NULL)) {
			return false;
		} else if (word.text == NULL) {
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		}
	}
	shlex_skip(p, 1);
	p->depth--;
	add_slice(g, p, from);
	mark(g, at, false);
	return true;
}

bool
shlex_word(struct shparse *p, unsigned flags, struct sh_word *ret,
    size_t *ret_name_len)
{
	struct shgrow g = { .head = 0 };
	size_t name_len = 0, floor = 0, begin;
	bool is_assign, ok;

	join_lines(p);
	begin = p->pos;
	*ret = (struct sh_word){ .text = NULL };
	is_assign = (flags & SHWORD_ASSIGN) != 0 &&
	    assignment_head(p, &name_len, &floor);
	if (p->is_failed)
		return false;
	if (!is_assign)
		floor = 0;
	buf_init(&g.text, 0);
	ok = grow(p, &g, is_assign ? flags : flags & ~SHWORD_ASSIGN, floor);
	if (ok && is_assign && peek(p) == '(' && g.text.len > 0 &&
	    g.text.data[g.text.len - 1] == '=' && p->dialect == SH_BASH &&
	    !g.is_quoted)
		ok = array(p, &g) && grow(p, &g, flags, 0);
	if (p->pos > begin || !ok)
		*ret = finish(p, &g);
	buf_release(&g.text);
	if (ret_name_len != NULL)
		*ret_name_len = is_assign ? name_len : 0;
	return ok;
}

/* ---- here-documents ---- */

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
	ok = p->out->steps <= MAX_STEPS ?
	    quoted_text(&q, &g, SHPARSE_EOF) :
	    shlex_fail(&q, EXEC_UNSEEN_MANY);
	r->body = finish(p, &g);
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
