/* policy/shwords: the simple commands of a text, and what is unseen. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/shwords.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static void
put_words(struct buf *b, const char *before, const struct sh_word *v,
    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (b->len > 0 && b->data[b->len - 1] != ' ')
			buf_putc(b, ' ');
		buf_puts(b, before);
		buf_puts(b, v[i].len == 0 ? "''" : v[i].is_whole ? "" : "<");
		buf_add(b, v[i].text, v[i].len);
		buf_puts(b, v[i].is_whole ? "" : ">");
	}
}

/* "a b / c <$d>": commands apart by slashes; "=" before assignments. */
static void
shown(struct buf *b, enum sh_dialect dialect, const char *text)
{
	struct arena *a = arena_new();
	struct sh_line line;

	shwords_parse(a, dialect, text, strlen(text), &line);
	for (size_t i = 0; i < line.n; i++) {
		if (i > 0)
			buf_puts(b, " / ");
		put_words(b, "=", line.v[i].assigns, line.v[i].nassigns);
		put_words(b, "", line.v[i].words, line.v[i].nwords);
	}
	for (size_t i = 0; i < line.nunseen; i++)
		buf_printf(b, " !%d@%zu", (int)line.unseen[i].why,
		    line.unseen[i].offset);
	arena_free(a);
}

struct row { const char *text, *want; };

static void
check_rows(enum sh_dialect dialect, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf b;

		buf_init(&b, 0);
		shown(&b, dialect, rows[i].text);
		if (strcmp(b.data, rows[i].want) != 0)
			fail_msg("%s\n gives %s\n not   %s", rows[i].text,
			    b.data, rows[i].want);
		buf_release(&b);
	}
}

static void
words(void **state)
{
	static const struct row rows[] = {
		{ "", "" }, { " \t\n ", "" }, { "# x", "" },
		{ "ls -l", "ls -l" }, { "ls # -l", "ls" },
		{ "ls a#b", "ls a#b" }, { "  git   push  ", "git push" },
		{ "a 'b c' \"d e\"", "a b c d e" }, { "'a'b\"c\"\\d", "abcd" },
		{ "a '' \"\"", "a '' ''" }, { "a\\ b", "a b" },
		{ "a \\\n b", "a b" }, { "a\\\nb", "ab" },
		{ "a 'x\\\ny'", "a x\\\ny" }, { "\"a\\\nb\"", "ab" },
		{ "\"\\a\\$\\\"\\\\\\`\"", "\\a$\"\\`" },
		{ "'\\n'", "\\n" }, { "$'a\\tb\\x41\\101\\u00e9'",
		  "a\tbAA\xc3\xa9" }, { "$'a\\'b'", "a'b" },
		{ "$'a\\0b'", "a" }, { "$'a\\0b'c", "ac" },
		{ "$'\\q\\cA'", "\\q\001" }, { "$\"a b\"", "a b" },
		{ "a $", "a $" }, { "a $,", "a $," }, { "a \"$\"", "a $" },
		{ "a $x ${y} $1 $@ $? $$", "a <$x> <${y}> <$1> <$@> <$?> "
		  "<$$>" },
		{ "a x${y:-'}'}z", "a <x${y:-'}'}z>" },
		{ "a \"${x:-\"b c\"}\"", "a <${x:-\"b c\"}>" },
		{ "a *.c [ab]? x", "a <*.c> <[ab]?> x" },
		{ "a '*' \\? \"[x]\"", "a * ? [x]" }, { "[ -f x ]", "[ -f x ]" },
		{ "a {b,c} {1..3} {} {x}", "a <{b,c}> <{1..3}> {} {x}" },
		{ "a '{b,c}' \\{b,c}", "a {b,c} {b,c}" },
		{ "~/x ~u a~ \"~\"", "<~/x> <~u> a~ ~" },
		{ "a $((1 + (2))) $[3]", "a <$((1 + (2)))> <$[3]>" },
		{ "x=1 y='a b' c d=2", "=x=1 =y=a b c d=2" },
		{ "x=1", "=x=1" }, { "x+=1 c", "=x+=1 c" },
		{ "x[1]=2 c", "=x[1]=2 c" }, { "1x=2 c", "1x=2 c" },
		{ "x=(a b) c", "=<x=(a b)> c" }, { "'x'=1", "x=1" },
		{ "declare x=(a 'b')", "declare <x=(a 'b')>" },
		{ "x=~/y c", "=<x=~/y> c" },
	};

	(void)state;
	check_rows(SH_BASH, rows, N_OF(rows));
}

static void
lists(void **state)
{
	static const struct row rows[] = {
		{ "a;b&c\nd&&e||f|g|&h", "a / b / c / d / e / f / g / h" },
		{ "a &&\n b |\n\n c", "a / b / c" }, { "! a", "a" },
		{ "a &", "a" }, { "a;", "a" }, { "ls && pwd || echo fail; date",
		  "ls / pwd / echo fail / date" },
		{ "echo \"hello && world\"", "echo hello && world" },
		{ "echo 'a; b'", "echo a; b" }, { "(ls && pwd)", "ls / pwd" },
		{ "{ a; b; }", "a / b" }, { "{a;b}", "{a / b}" },
		{ "((1+1)) && a", "a" }, { "((a); b)", "a / b" },
		{ "a $(b $(c)) `d \\`e\\``", "a <$(b $(c))> <`d \\`e\\``> / "
		  "b <$(c)> / c / d <`e`> / e" },
		{ "a \"`b \\\"c\\\"`\"", "a <`b \\\"c\\\"`> / b c" },
		{ "a $(( $(b) ))", "a <$(( $(b) ))> / b" },
		{ "a <(b) >(c)", "a <<(b)> <>(c)> / b / c" },
		{ "a >x 2>&1 <y b", "a b" }, { ">x", "" },
		{ "a &>x b >>y c >|z {fd}<w d", "a b c d" },
		{ "a 2>x 3<>y 12 13>z", "a 12" },
		{ "a < $(b)", "a / b" },
		{ "if a; then b; elif c; then d; else e; fi",
		  "a / b / c / d / e" },
		{ "while a; do b; done; until c\ndo d\ndone",
		  "a / b / c / d" },
		{ "for x in $(a) b; do c; done", "a / c" },
		{ "for x; do c; done", "c" }, { "for x\ndo c\ndone", "c" },
		{ "for ((i=$(a);;)) { b; }", "a / b" },
		{ "select x in a; do b; done", "b" },
		{ "case $(a) in x|y) b;; (z) c;& *) d;;& esac; e",
		  "a / b / c / d / e" },
		{ "case x in esac", "" }, { "case x in a) esac", "" },
		{ "case x in @(a|b)) c;; esac", "c" },
		{ "f() { a; }; f", "a / f" }, { "function f { a; }", "a" },
		{ "function f() (a)", "a" }, { "f () if a; then b; fi",
		  "a / b" }, { "coproc a b", "a b" },
		{ "coproc X { a; }", "a" }, { "time -p a", "a" },
		{ "time", "" }, { "! ! a", "a" },
		{ "[[ a < b && $(c) =~ ^(x|y)$ ]] && d", "c / d" },
		{ "echo if then fi", "echo if then fi" },
		{ "'if' a", "if a" }, { "i\\\nf a; then b; fi", "a / b" },
	};

	(void)state;
	check_rows(SH_BASH, rows, N_OF(rows));
}

static void
here_documents(void **state)
{
	static const struct row rows[] = {
		{ "a <<E\n$(b)\nE\nc", "a / b / c" },
		{ "a <<'E'\n$(b)\nE\nc", "a / c" },
		{ "a <<\\E\n$(b)\nE\nc", "a / c" },
		{ "a <<\"E F\"\n$(b)\nE F\nc", "a / c" },
		{ "a <<-E\n\t$(b)\n\tE\nc", "a / b / c" },
		{ "a <<E b; c\nx\nE\nd", "a b / c / d" },
		{ "a <<E <<F\n$(b)\nE\n$(c)\nF\nd", "a / b / c / d" },
		{ "a <<E\n\\$(b)\nE", "a" }, { "a <<E\n`b`\nE", "a / b" },
		{ "a <<E\nx\\\nE\nc\nE\nd", "a / d" },
		{ "a <<E\n'$(b)\"\nE", "a / b" },
		{ "a <<E\n${x:-$(b)}\nE", "a / b" },
		{ "a $(b <<E\nE\n) c", "a <$(b <<E\nE\n)> c / b" },
		{ "a <<< \"$(b)\" c", "a c / b" }, { "a <<E\n$(b)", "a / b" },
		{ "while a; do b; done <<E\n$(c)\nE\nd", "a / b / c / d" },
		{ "a <<E\nif\nE\n", "a" },
	};

	(void)state;
	check_rows(SH_BASH, rows, N_OF(rows));
}

static void
what_is_unseen(void **state)
{
	static const struct row rows[] = {
		{ "a; echo 'b", "a / echo !1@13" },
		{ "a )", "a !1@2" }, { "a; ; b", "a !1@3" },
		{ "a && | b", "a !1@5" }, { "a | | b", "a !1@4" },
		{ "fi; a", " !1@0" }, { "a $(b", "a <$(b> / b !1@5" },
		{ "a `b", "a <`b> !1@4" }, { "a ${x", "a <${x> !1@5" },
		{ "if a; then b", "a / b !1@12" }, { "{ a", "a !1@3" },
		{ "a >", "a !1@3" }, { "case x in a", " !1@11" },
		{ "for x in a; b; done", " !1@12" },
	};
	struct buf b;
	struct sh_line line;
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		buf_init(&b, 0);
		shown(&b, SH_BASH, rows[i].text);
		if (strstr(b.data, " !1@") == NULL)
			fail_msg("%s: %s", rows[i].text, b.data);
		buf_release(&b);
	}
	shwords_parse(a, SH_BASH, "a\0b", 3, &line);
	assert_int_equal(line.n, 0);
	assert_int_equal(line.unseen[0].why, EXEC_UNSEEN_SYNTAX);
	arena_free(a);
}

/* The same text, as dash reads it. */
static void
posix(void **state)
{
	static const struct row rows[] = {
		{ "a &>x b", "a / b" }, { "a $'b' c", "a $b c" },
		{ "a $'\\' ; b #'", "a $\\ / b" }, { "[[ a || b ]]",
		  "[[ a / b ]]" }, { "a {b,c}", "a {b,c}" },
		{ "((a))", "a" }, { "function f { a; }",
		  "function f { a !1@16" }, { "time a", "time a" },
		{ "a \"${x:-it's}\" b", "a <${x:-it's}> b" },
		{ "a $\"b\"", "a $b" }, { "x[1]=2", "<x[1]=2>" },
	};

	(void)state;
	check_rows(SH_POSIX, rows, N_OF(rows));
}

static void
inputs(void **state)
{
	static const struct {
		const char *text; size_t command; enum sh_input in;
		size_t from; const char *body;
	} rows[] = {
		{ "a", 0, SH_INPUT_OUTER, 0, NULL },
		{ "a | b", 1, SH_INPUT_COMMAND, 0, NULL },
		{ "a | b | c", 2, SH_INPUT_COMMAND, 1, NULL },
		{ "x; a |& b", 2, SH_INPUT_COMMAND, 1, NULL },
		{ "(a) | b", 1, SH_INPUT_OTHER, 0, NULL },
		{ "a | (b)", 1, SH_INPUT_COMMAND, 0, NULL },
		{ "a | { x; b; }", 2, SH_INPUT_COMMAND, 0, NULL },
		{ "a | if x; then b; fi", 2, SH_INPUT_COMMAND, 0, NULL },
		{ "a | b; c", 2, SH_INPUT_OUTER, 0, NULL },
		{ "a | b $(c)", 2, SH_INPUT_OUTER, 0, NULL },
		{ "a | b <x", 1, SH_INPUT_FILE, 0, NULL },
		{ "a <<E\nx\n\ty\nE", 0, SH_INPUT_TEXT, 0, "x\n\ty\n" },
		{ "a <<-E\nx\n\ty\nE", 0, SH_INPUT_TEXT, 0, "x\ny\n" },
		{ "a <<E\n\\$x\\\ny\nE", 0, SH_INPUT_TEXT, 0, "$xy\n" },
		{ "a <<'E'\n\\$x\nE", 0, SH_INPUT_TEXT, 0, "\\$x\n" },
		{ "(a) <<E\nx\nE", 0, SH_INPUT_TEXT, 0, "x\n" },
		{ "while x; do a; done <y", 1, SH_INPUT_FILE, 0, NULL },
		{ "a 3<<E\nx\nE", 0, SH_INPUT_OUTER, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct arena *a = arena_new();
		const struct sh_command *c;
		struct sh_line line;

		shwords_parse(a, SH_BASH, rows[i].text, strlen(rows[i].text),
		    &line);
		c = &line.v[rows[i].command];
		if (line.n <= rows[i].command || c->in != rows[i].in ||
		    (c->in == SH_INPUT_COMMAND && c->from != rows[i].from))
			fail_msg("%s: %d from %zu", rows[i].text, (int)c->in,
			    c->from);
		if (rows[i].body != NULL)
			assert_string_equal(c->input->body.text,
			    rows[i].body);
		arena_free(a);
	}
}

/* Offsets are those of the text; of backquotes, where they begin. */
static void
offsets(void **state)
{
	static const char text[] = "a; b $(c) `d; e`\nf";
	static const size_t want[] = { 0, 3, 7, 10, 10, 17 };
	struct arena *a = arena_new();
	struct sh_line line;

	(void)state;
	shwords_parse(a, SH_BASH, text, sizeof text - 1, &line);
	assert_int_equal(line.n, N_OF(want));
	for (size_t i = 0; i < line.n; i++)
		assert_int_equal(line.v[i].offset, want[i]);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(lists),
		cmocka_unit_test(here_documents),
		cmocka_unit_test(what_is_unseen),
		cmocka_unit_test(posix),
		cmocka_unit_test(inputs),
		cmocka_unit_test(offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
