/*
 * The hook's reader of an agent's input, and all that is done with the line in
 * it before the policy is asked: it ends, what is taken has what its kind
 * promises, and every agent's answer is one JSON object or nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/hooks/answer.h"
#include "launcher/hooks/input.h"
#include "launcher/hooks/line.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_json(struct arena *a, const struct buf *b)
{
	struct jnode *n = NULL;
	struct err e;

	if (b->len > 0 && (jsontree_parse(a, "A", b->data, b->len,
	    4 * HOOK_INPUT_MAX, &n, &e) != 0 || n == NULL ||
	    n->kind != JSON_OBJECT))
		abort();
}

static void
check_answers(struct arena *a, const struct hook_input *in)
{
	static const char *const texts[] = { NULL, NULL, "x 'y'", "why \"z\"",
	    "e" };
	struct answer_out out;

	for (const struct agent *g = agents; g->name != NULL; g++)
		for (int k = ANSWER_NONE; k <= ANSWER_ERROR; k++) {
			struct answer ans = { (enum answer_kind)k, texts[k] };

			if (k == ANSWER_REWRITE && (!g->can_rewrite ||
			    in->tool != TOOL_SHELL))
				continue;
			answer_put(g, k == ANSWER_ERROR ? NULL : in, &ans,
			    &out);
			check_json(a, &out.out);
			answer_release(&out);
		}
}

static void
check_line(struct arena *a, const char *line)
{
	char word[LINE_WORD_MAX];
	const char *again, *p = line;
	struct buf b;

	if (line_is_cd(line) && (strchr(line, '`') != NULL &&
	    strpbrk(line, "'\\") == NULL))
		abort();
	while (line_next_word(&p, word))
		(void)line_is_assignment(word);
	buf_init(&b, 0);
	buf_puts(&b, "/f -c ");
	line_quote_always(&b, line);
	again = line_wrapped(a, b.data, "/f");
	if (again == NULL || strcmp(again, line) != 0)
		abort();
	buf_release(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena *a = arena_new();
	struct hook_input in;
	struct err e = { 0 };

	if (hook_input_parse(a, (const char *)data, len, &in, &e) != 0) {
		if (e.msg[0] == '\0')
			abort();
	} else {
		if (in.tool == TOOL_SHELL && (in.command_key == NULL ||
		    strlen(in.command) != in.command_len))
			abort();
		if (in.tool == TOOL_SHELL)
			check_line(a, in.command);
		check_answers(a, &in);
	}
	arena_free(a);
	return 0;
}
