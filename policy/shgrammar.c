/* The commands of a shell line, by recursive descent of bounded depth. */
#include "policy/shparse.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"

static int
peek(const struct shparse *p)
{
	return shlex_peek(p, 0);
}

static bool
syntax(struct shparse *p)
{
	return shlex_fail(p, EXEC_UNSEEN_SYNTAX);
}

static bool
newline(struct shparse *p)
{
	shlex_skip(p, 1);
	return shlex_heredocs(p);
}

/* Blanks, comments, newlines and the here-documents behind them. */
static bool
skip_lines(struct shparse *p)
{
	for (;;) {
		shlex_blanks(p);
		if (peek(p) != '\n')
			return true;
		if (!newline(p))
			return false;
	}
}

static bool
is_bash(const struct shparse *p)
{
	return p->dialect == SH_BASH;
}

/* Does the reserved word stand here? */
static bool
at_word(const struct shparse *p, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++)
		if (shlex_peek(p, i) != word[i])
			return false;
	return shlex_is_end(shlex_peek(p, n));
}

static bool
eat_word(struct shparse *p, const char *word)
{
	if (!at_word(p, word))
		return false;
	shlex_skip(p, strlen(word));
	shlex_blanks(p);
	return true;
}

/* The same where the grammar wants it, maybe on a later line. */
static bool
want_word(struct shparse *p, const char *word)
{
	return skip_lines(p) && (eat_word(p, word) || syntax(p));
}

static bool
at_closing(const struct shparse *p)
{
	static const char *const words[] = { "then", "do", "done", "fi",
	    "elif", "else", "esac", "}" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (at_word(p, words[i]))
			return true;
	return false;
}

/* ---- redirections ---- */

struct redirects { struct sh_redirect **v; size_t n, cap; };

/* "<", "2>&1", "{fd}>": how long what stands before the operator is. */
static bool
at_redirect(const struct shparse *p, size_t *ret_skip)
{
	size_t n = 0;
	int c = peek(p);

	*ret_skip = 0;
	if (c == '&' && shlex_peek(p, 1) == '>' && is_bash(p))
		return true;
	if (c >= '0' && c <= '9') {
		while (shlex_peek(p, n) >= '0' && shlex_peek(p, n) <= '9')
			n++;
	} else if (c == '{' && is_bash(p)) {
		for (n = 1; shlex_peek(p, n) == '_' ||
		    (shlex_peek(p, n) >= '0' && shlex_peek(p, n) <= '9') ||
		    ((shlex_peek(p, n) | 32) >= 'a' &&
		    (shlex_peek(p, n) | 32) <= 'z'); n++)
			;
		if (n == 1 || shlex_peek(p, n++) != '}')
			return false;
	}
	c = shlex_peek(p, n);
	*ret_skip = n;
	/* "<(" is a word, also behind a digit. */
	return (c == '<' || c == '>') &&
	    !(is_bash(p) && shlex_peek(p, n + 1) == '(');
}

static const struct { const char *text; enum sh_op op; bool is_bash; }
    operators[] = {			/* the longer first */
	{ "&>>", SH_OP_APPEND, true }, { "&>", SH_OP_OUT, true },
	{ "<<<", SH_OP_HERESTRING, true }, { "<<-", SH_OP_HEREDOC, false },
	{ "<<", SH_OP_HEREDOC, false }, { "<&", SH_OP_DUP, false },
	{ "<>", SH_OP_BOTH, false }, { "<", SH_OP_IN, false },
	{ ">>", SH_OP_APPEND, false }, { ">&", SH_OP_DUP, false },
	{ ">|", SH_OP_OUT, false }, { ">", SH_OP_OUT, false },
};

static bool
at_text(const struct shparse *p, const char *text)
{
	for (size_t i = 0; text[i] != '\0'; i++)
		if (shlex_peek(p, i) != text[i])
			return false;
	return true;
}

static bool
operator(struct shparse *p, struct sh_redirect *r)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (!at_text(p, operators[i].text) ||
		    (operators[i].is_bash && !is_bash(p)))
			continue;
		p->out->is_dialect |= operators[i].is_bash;
		r->op = operators[i].op;
		r->strip_tabs = strcmp(operators[i].text, "<<-") == 0;
		if (r->fd < 0 && operators[i].text[0] == '<')
			r->fd = 0;
		shlex_skip(p, strlen(operators[i].text));
		return true;
	}
	return syntax(p);
}

static bool
redirect(struct shparse *p, size_t skip, struct redirects *list)
{
	struct sh_redirect *r = arena_alloc(p->out->arena, sizeof *r);

	r->fd = -1;
	if (skip == 1 && peek(p) >= '0' && peek(p) <= '9')
		r->fd = peek(p) - '0';
	else if (skip > 0)
		r->fd = 99;
	if (skip > 0 && peek(p) == '{')
		p->out->is_dialect = true;
	shlex_skip(p, skip);
	if (!operator(p, r))
		return false;
	shlex_blanks(p);
	if (!shlex_word(p, 0, &r->word, NULL))
		return false;
	if (r->word.text == NULL)
		return syntax(p);
	*vec_push(list) = r;
	if (r->op != SH_OP_HEREDOC)
		return true;
	if (p->npending >= SHPARSE_HEREDOCS)
		return shlex_fail(p, EXEC_UNSEEN_MANY);
	p->pending[p->npending++] = r;
	return true;
}

/* The last redirection of descriptor 0 is what the command reads. */
static void
set_input(struct sh_command *c, struct sh_redirect *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i]->fd != 0)
			continue;
		c->input = v[i];
		c->in = v[i]->op == SH_OP_HEREDOC ||
		    v[i]->op == SH_OP_HERESTRING ? SH_INPUT_TEXT :
		    SH_INPUT_FILE;
	}
}

/* Those behind a compound command hold for what it runs. */
static bool
trailing_redirects(struct shparse *p, size_t first)
{
	struct redirects list = { .n = 0 };
	size_t skip, last = p->out->commands.n;
	bool ok = true;

	for (;;) {
		shlex_blanks(p);
		if (!ok || !at_redirect(p, &skip))
			break;
		ok = redirect(p, skip, &list);
	}
	for (size_t i = first; i < last; i++) {
		struct sh_command *c = &p->out->commands.v[i];

		if (c->in == p->in || c->in == SH_INPUT_OUTER)
			set_input(c, list.v, list.n);
	}
	vec_release(&list);
	return ok;
}

/* ---- simple commands ---- */

struct words { struct sh_word *v; size_t n, cap; };

static void *
keep(struct shparse *p, const void *v, size_t n, size_t size)
{
	void *copy = arena_alloc(p->out->arena, n * size + 1);

	if (n > 0)
		memcpy(copy, v, n * size);
	return copy;
}

static bool	 command(struct shparse *);

static bool
begin_command(struct shparse *p, size_t *ret_index)
{
	if (p->out->commands.n >= SHWORDS_MAX_COMMANDS)
		return shlex_fail(p, EXEC_UNSEEN_MANY);
	*ret_index = p->out->commands.n;
	*vec_push(&p->out->commands) = (struct sh_command){
		.offset = shlex_offset(p, p->pos),
		.in = p->in, .from = p->from,
	};
	return true;
}

/* Behind the name: "()" and a compound command. */
static bool
function_body(struct shparse *p, bool is_paren)
{
	bool ok;

	if (!shlex_enter(p))
		return false;
	if (is_paren) {
		shlex_skip(p, 1);
		shlex_blanks(p);
		if (peek(p) != ')')
			return syntax(p);
		shlex_skip(p, 1);
	}
	ok = skip_lines(p) && command(p);
	p->depth--;
	return ok;
}

struct simple {
	struct words	 words, assigns;
	struct redirects redirects;
	bool		 is_function;
};

/* One element of a simple command: 1, 0 there is none, -1. */
static int
element(struct shparse *p, struct simple *s)
{
	struct sh_word word;
	size_t skip, name_len;
	unsigned flags = SHWORD_ASSIGN;

	shlex_blanks(p);
	if (at_redirect(p, &skip))
		return redirect(p, skip, &s->redirects) ? 1 : -1;
	if (peek(p) == '(' && s->words.n == 1 && s->assigns.n == 0) {
		s->is_function = true;
		return 0;
	}
	if (!shlex_word(p, flags, &word, &name_len)) {
		if (word.text != NULL)
			*vec_push(&s->words) = word;
		return -1;
	}
	if (word.text == NULL)
		return 0;
	*vec_push(name_len > 0 && s->words.n == 0 ? &s->assigns :
	    &s->words) = word;
	return 1;
}

static bool
simple(struct shparse *p)
{
	struct simple s = { .is_function = false };
	struct sh_command *c;
	size_t at = 0;
	int answer;

	if (!begin_command(p, &at))
		return false;
	while ((answer = element(p, &s)) > 0)
		;
	c = &p->out->commands.v[at];
	c->words = keep(p, s.words.v, s.words.n, sizeof *s.words.v);
	c->nwords = s.words.n;
	c->assigns = keep(p, s.assigns.v, s.assigns.n, sizeof *s.assigns.v);
	c->nassigns = s.assigns.n;
	c->redirects = keep(p, s.redirects.v, s.redirects.n,
	    sizeof *s.redirects.v);
	c->nredirects = s.redirects.n;
	set_input(c, c->redirects, c->nredirects);
	vec_release(&s.words);
	vec_release(&s.assigns);
	vec_release(&s.redirects);
	if (answer < 0)
		return false;
	if (s.is_function) {
		p->out->commands.n = at;
		return function_body(p, true);
	}
	return c->nwords + c->nassigns + c->nredirects > 0 || syntax(p);
}

/* ---- compound commands ---- */

static bool
do_group(struct shparse *p)
{
	if (!skip_lines(p))
		return false;
	if (is_bash(p) && eat_word(p, "{"))
		return shgrammar_list(p) && want_word(p, "}");
	return want_word(p, "do") && shgrammar_list(p) &&
	    want_word(p, "done");
}

/* ";" or newlines, or neither. */
static bool
separator(struct shparse *p)
{
	shlex_blanks(p);
	if (peek(p) == ';' && shlex_peek(p, 1) != ';')
		shlex_skip(p, 1);
	return skip_lines(p);
}

static bool
for_words(struct shparse *p)
{
	struct sh_word word;

	for (;;) {
		shlex_blanks(p);
		if (!shlex_word(p, 0, &word, NULL))
			return false;
		if (word.text == NULL)
			return true;
	}
}

/* "for" and "select". */
static bool
for_command(struct shparse *p)
{
	struct sh_word name;

	if (is_bash(p) && at_text(p, "((")) {
		shlex_skip(p, 2);
		if (shlex_arithmetic(p) <= 0)
			return syntax(p);
		return separator(p) && do_group(p);
	}
	if (!shlex_word(p, 0, &name, NULL))
		return false;
	if (name.text == NULL || !skip_lines(p))
		return syntax(p);
	if (eat_word(p, "in") && !for_words(p))
		return false;
	return separator(p) && do_group(p);
}

static bool
while_command(struct shparse *p)
{
	return shgrammar_list(p) && do_group(p);
}

static bool
if_command(struct shparse *p)
{
	for (;;) {
		if (!shgrammar_list(p) || !want_word(p, "then") ||
		    !shgrammar_list(p) || !skip_lines(p))
			return false;
		if (eat_word(p, "fi"))
			return true;
		if (eat_word(p, "else"))
			return shgrammar_list(p) && want_word(p, "fi");
		if (!eat_word(p, "elif"))
			return syntax(p);
	}
}

static bool
case_patterns(struct shparse *p)
{
	struct sh_word word;

	shlex_blanks(p);
	if (peek(p) == '(')
		shlex_skip(p, 1);
	for (;;) {
		shlex_blanks(p);
		if (!shlex_word(p, SHWORD_PATTERN, &word, NULL))
			return false;
		shlex_blanks(p);
		if (peek(p) == ')')
			break;
		if (word.text == NULL || peek(p) != '|')
			return syntax(p);
		shlex_skip(p, 1);
	}
	shlex_skip(p, 1);
	return true;
}

static bool
case_command(struct shparse *p)
{
	struct sh_word word;

	if (!shlex_word(p, 0, &word, NULL))
		return false;
	if (word.text == NULL || !want_word(p, "in"))
		return syntax(p);
	for (;;) {
		if (!skip_lines(p))
			return false;
		if (eat_word(p, "esac"))
			return true;
		if (!case_patterns(p) || !shgrammar_list(p))
			return false;
		if (peek(p) != ';') {
			if (!want_word(p, "esac"))
				return false;
			return true;
		}
		shlex_skip(p, 1);
		if (peek(p) != ';' && peek(p) != '&')
			return syntax(p);
		shlex_skip(p, 1);
		if (peek(p) == '&')
			shlex_skip(p, 1);
	}
}

/* "[[ ... ]]": only its words matter, for what they expand. */
static bool
condition(struct shparse *p)
{
	struct sh_word word;
	bool is_regex = false;

	for (;;) {
		int c;

		if (!skip_lines(p))
			return false;
		if (at_word(p, "]]"))
			break;
		c = peek(p);
		if (c == SHPARSE_EOF || c == ';')
			return syntax(p);
		if (!is_regex && shlex_is_end(c) &&
		    !((c == '<' || c == '>') && shlex_peek(p, 1) == '(')) {
			if ((c == '&' || c == '|') && shlex_peek(p, 1) != c)
				return syntax(p);
			shlex_skip(p, c == '&' || c == '|' ? 2 : 1);
			continue;
		}
		if (!shlex_word(p, is_regex ? SHWORD_REGEX : SHWORD_PATTERN,
		    &word, NULL))
			return false;
		if (word.text == NULL)
			return syntax(p);
		is_regex = word.is_whole && !word.is_quoted &&
		    strcmp(word.text, "=~") == 0;
	}
	shlex_skip(p, 2);
	return true;
}

static bool
subshell(struct shparse *p)
{
	if (!shgrammar_list(p))
		return false;
	if (peek(p) != ')')
		return syntax(p);
	shlex_skip(p, 1);
	return true;
}

static bool
paren_command(struct shparse *p)
{
	struct shparse then;
	size_t ncommands = p->out->commands.n, nunseen = p->out->unseen.n;

	shlex_skip(p, 1);
	if (!is_bash(p) || peek(p) != '(')
		return subshell(p);
	then = *p;
	shlex_skip(p, 1);
	p->out->is_dialect = true;
	if (shlex_arithmetic(p) > 0)
		return true;
	return shlex_rewind(p, &then, ncommands, nunseen) && subshell(p);
}

static bool
brace_command(struct shparse *p)
{
	return shgrammar_list(p) && want_word(p, "}");
}

static bool
function_command(struct shparse *p)
{
	struct sh_word name;

	p->out->is_dialect = true;
	if (!shlex_word(p, 0, &name, NULL))
		return false;
	if (name.text == NULL)
		return syntax(p);
	shlex_blanks(p);
	return function_body(p, peek(p) == '(' && shlex_peek(p, 1) != '(');
}

static bool	 at_compound(const struct shparse *);

static bool
coproc_command(struct shparse *p)
{
	struct shparse then = *p;
	size_t ncommands = p->out->commands.n, nunseen = p->out->unseen.n;
	struct sh_word name;

	p->out->is_dialect = true;
	if (at_compound(p))
		return command(p);
	if (!shlex_word(p, 0, &name, NULL))
		return false;
	shlex_blanks(p);
	if (name.text != NULL && at_compound(p))
		return command(p);
	return shlex_rewind(p, &then, ncommands, nunseen) && simple(p);
}

static const struct compound {
	const char	*word;
	bool		(*parse)(struct shparse *);
	bool		  is_bash;
} compounds[] = {
	{ "{", brace_command, false },
	{ "if", if_command, false },
	{ "while", while_command, false },
	{ "until", while_command, false },
	{ "for", for_command, false },
	{ "case", case_command, false },
	{ "select", for_command, true },
	{ "[[", condition, true },
	{ "function", function_command, true },
	{ "coproc", coproc_command, true },
};

static const struct compound *
find_compound(const struct shparse *p)
{
	for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
		if (at_word(p, compounds[i].word) &&
		    (is_bash(p) || !compounds[i].is_bash))
			return &compounds[i];
	return NULL;
}

static bool
at_compound(const struct shparse *p)
{
	return peek(p) == '(' || find_compound(p) != NULL;
}

static bool
command(struct shparse *p)
{
	const struct compound *c = find_compound(p);
	size_t first = p->out->commands.n;
	bool ok;

	if (c == NULL && peek(p) != '(')
		return simple(p);
	if (!shlex_enter(p))
		return false;
	if (c != NULL) {
		p->out->is_dialect |= c->is_bash;
		eat_word(p, c->word);
		ok = c->parse(p);
	} else {
		ok = paren_command(p);
	}
	ok = ok && trailing_redirects(p, first);
	p->depth--;
	return ok;
}

/* ---- lists ---- */

/* "!" and "time" before a pipeline. */
static bool
pipeline_words(struct shparse *p)
{
	for (;;) {
		if (eat_word(p, "!"))
			continue;
		if (is_bash(p) && eat_word(p, "time")) {
			p->out->is_dialect = true;
			while (eat_word(p, "-p") || eat_word(p, "--"))
				;
		} else {
			return true;
		}
	}
}

static bool
at_list_end(const struct shparse *p)
{
	int c = peek(p);

	return c == SHPARSE_EOF || c == ')' || c == '\n' || c == ';' ||
	    c == '&' || at_closing(p);
}

static bool
pipeline(struct shparse *p)
{
	enum sh_input in = p->in;
	size_t from = p->from;
	bool ok = true;

	pipeline_words(p);
	if (at_list_end(p) && p->pos > 0 && !at_closing(p))
		return true;		/* "!" and "time" alone */
	for (;;) {
		size_t first = p->out->commands.n;
		bool is_simple = !at_compound(p);

		ok = command(p);
		shlex_blanks(p);
		if (!ok || peek(p) != '|' || shlex_peek(p, 1) == '|')
			break;
		shlex_skip(p, 1);
		if (peek(p) == '&' && is_bash(p)) {
			p->out->is_dialect = true;
			shlex_skip(p, 1);
		}
		p->in = is_simple && p->out->commands.n > first ?
		    SH_INPUT_COMMAND : SH_INPUT_OTHER;
		p->from = first;
		if (!skip_lines(p))
			return false;
	}
	p->in = in;
	p->from = from;
	return ok;
}

bool
shgrammar_list(struct shparse *p)
{
	if (!shlex_enter(p) || !skip_lines(p))
		return false;
	while (peek(p) != SHPARSE_EOF && peek(p) != ')' && !at_closing(p)) {
		int c = peek(p), next;

		if (c == ';' && (shlex_peek(p, 1) == ';' ||
		    shlex_peek(p, 1) == '&'))
			break;
		if (c == ';' || c == '|' || (c == '&' &&
		    !(is_bash(p) && shlex_peek(p, 1) == '>')))
			return syntax(p);
		if (!pipeline(p))
			return false;
		c = peek(p);
		next = shlex_peek(p, 1);
		if ((c == '&' || c == '|') && next == c) {
			shlex_skip(p, 2);
			if (!skip_lines(p))
				return false;
			if (at_list_end(p) && peek(p) != '&')
				return syntax(p);
			continue;
		}
		if (c == '&')
			shlex_skip(p, 1);
		else if (c == ';' && next != ';' && next != '&')
			shlex_skip(p, 1);
		else if (c == '(')
			return syntax(p);
		else if (c != '\n' && c != ';' && c != SHPARSE_EOF &&
		    c != ')' && !at_closing(p))
			return syntax(p);
		if (!skip_lines(p))
			return false;
	}
	p->depth--;
	return true;
}

bool
shgrammar_all(struct shparse *p)
{
	if (!shgrammar_list(p))
		return false;
	if (peek(p) != SHPARSE_EOF)
		return syntax(p);
	/* A document that its text has no end, or not even a line, of. */
	return shlex_heredocs(p);
}
