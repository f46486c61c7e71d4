/* The words of a shell line. */
#include "policy/shparse.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"

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

bool
shlex_enter(struct shparse *p)
{
	if (p->depth >= SHWORDS_MAX_DEPTH)
		return shlex_fail(p, EXEC_UNSEEN_DEEP);
	/* Each level of a substitution may be read twice: 2^depth times. */
	p->out->steps += 8;
	if (p->out->steps > p->out->max_steps)
		return shlex_fail(p, EXEC_UNSEEN_MANY);
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
	if (out->steps > out->max_steps)
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

/* ---- words ---- */

/* "?(", "@(" ...: to the parenthesis that ends it. */
static bool
extended_glob(struct shparse *p, struct shgrow *g)
{
	size_t from = p->pos, at = g->text.len, open = 0;

	if (!shlex_enter(p))
		return false;
	p->out->is_dialect = true;
	do {
		int c = peek(p);

		if (c == SHPARSE_EOF)
			return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
		if (c == '(' || c == ')') {
			open += c == '(' ? 1 : (size_t)-1;
			shlex_skip(p, 1);
		} else if (!shexpand_inner(p, false, true)) {
			return false;
		}
	} while (open > 0);
	shgrow_slice(g, p, from);
	shgrow_mark(g, at > 0 ? at - 1 : 0, true);
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
	if (!shexpand_commands(p))
		return false;
	shgrow_slice(g, p, from);
	shgrow_mark(g, at, false);
	return true;
}

/* NAME= or NAME[...]= begins here: how far that is, without side effects. */
static bool
assignment_head(struct shparse *p, size_t *ret_name_len, size_t *ret_end)
{
	size_t n = 0;

	if (!shlex_is_name(peek(p), true))
		return false;
	while (shlex_is_name(shlex_peek(p, n), false))
		n++;
	*ret_name_len = n;
	*ret_end = 0;
	if (shlex_peek(p, n) == '[' && p->dialect == SH_BASH) {
		struct shparse then = *p;
		size_t ncommands = p->out->commands.n;
		size_t nunseen = p->out->unseen.n, end;
		bool ok;

		shlex_skip(p, n + 1);
		ok = shexpand_bracket(p);
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

	shgrow_add(g, c);
	switch (c) {
	case '*':
	case '?':
		shgrow_mark(g, at, true);
		break;
	case '[':
		b->has_bracket = true;
		b->bracket_at = at;
		break;
	case ']':
		if (b->has_bracket)
			shgrow_mark(g, b->bracket_at, true);
		break;
	case '{':
		if (b->n < sizeof b->at / sizeof *b->at) {
			b->at[b->n] = at;
			b->has_comma[b->n++] = false;
		} else {
			shgrow_mark(g, b->at[0], true);
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
			shgrow_mark(g, b->at[b->n], true);
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

	while (shlex_is_name(shlex_peek(p, n), false) || shlex_peek(p, n) == '-' ||
	    shlex_peek(p, n) == '+' || shlex_peek(p, n) == '.')
		n++;
	if (shlex_peek(p, n) != '/' && !shlex_is_end(shlex_peek(p, n)) &&
	    shlex_peek(p, n) != ':')
		return;
	while (n-- > 0) {
		shgrow_add(g, peek(p));
		shlex_skip(p, 1);
	}
	shgrow_mark(g, at, false);
}

/* A part that is more than its character: 1 done, 0 it is not, -1. */
static int
part(struct shparse *p, struct shgrow *g)
{
	int c = peek(p), next = shlex_peek(p, 1);

	if (c == '\'')
		return shexpand_single(p, g) ? 1 : -1;
	if (c == '"') {
		shlex_skip(p, 1);
		return shexpand_quoted(p, g, '"') ? 1 : -1;
	}
	if (c == '\\') {
		shlex_skip(p, 1);
		if (p->pos < p->len)
			shgrow_add(g, p->s[p->pos++]);
		else
			shgrow_add(g, '\\');
		g->is_quoted = true;
		return 1;
	}
	if (c == '$' && (next == '\'' || next == '"'))
		p->out->is_dialect = true;
	if (c == '$' && next == '\'' && p->dialect == SH_BASH) {
		shlex_skip(p, 2);
		return shexpand_ansi(p, g) ? 1 : -1;
	}
	if (c == '$' && next == '"' && p->dialect == SH_BASH) {
		shlex_skip(p, 2);
		return shexpand_quoted(p, g, '"') ? 1 : -1;
	}
	if (c == '$')
		return shexpand_dollar(p, g, false) ? 1 : -1;
	if (c == '`')
		return shexpand_backquotes(p, g, false) ? 1 : -1;
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
			shgrow_add(g, c);
		else
			special(p, g, &braces, c);
		shlex_skip(p, 1);
	}
}

struct sh_word
shgrow_word(struct shparse *p, const struct shgrow *g)
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

	if (!shlex_enter(p))
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
	shgrow_slice(g, p, from);
	shgrow_mark(g, at, false);
	return true;
}

bool
shlex_word(struct shparse *p, unsigned flags, struct sh_word *ret,
    size_t *ret_name_len)
{
	struct shgrow g = { .head = 0 };
	size_t name_len = 0, floor = 0, begin;
	bool is_assign, ok;

	shlex_join(p);
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
		*ret = shgrow_word(p, &g);
	buf_release(&g.text);
	if (ret_name_len != NULL)
		*ret_name_len = is_assign ? name_len : 0;
	return ok;
}
