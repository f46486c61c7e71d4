/*
 * A shell line: both dialects end, words are within their text, and a policy
 * of several layers has an answer whose remedy, if there is one, is followed
 * by another.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/arena.h"
#include "policy/decide_exec.h"
#include "policy/layers.h"
#include "policy/shwords.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char text[] = "{\"command\":{\"deny\":[\"git push\","
    "\"rm -rf\",\"dd if=\",\"re:^npm (run )?publish\"],\"allow\":"
    "[\"git push origin docs\"]},\"ssh\":{\"allowedHosts\":[\"*.test\"],"
    "\"allowedCommands\":[\"ls\"]}}";

static void
check_words(const struct sh_word *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].text == NULL || v[i].text[v[i].len] != '\0' ||
		    v[i].head > v[i].len || v[i].tail > v[i].len)
			abort();
		if (v[i].is_whole != (v[i].head == v[i].len &&
		    v[i].tail == v[i].len) && v[i].is_whole)
			abort();
	}
}

static void
check_line(const char *line, size_t len, enum sh_dialect dialect)
{
	struct arena *a = arena_new();
	struct sh_line l;

	shwords_parse(a, dialect, line, len, &l);
	if (l.n > SHWORDS_MAX_COMMANDS)
		abort();
	for (size_t i = 0; i < l.n; i++) {
		const struct sh_command *c = &l.v[i];

		if (c->offset > len || (c->in == SH_INPUT_COMMAND &&
		    c->from >= i) || (c->in == SH_INPUT_TEXT &&
		    c->input == NULL))
			abort();
		check_words(c->words, c->nwords);
		check_words(c->assigns, c->nassigns);
	}
	for (size_t i = 0; i < l.nunseen; i++)
		if (l.unseen[i].offset > len)
			abort();
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct policy *p;
	static const struct policy_env env = { .workspace = "/ws",
	    .home = "/h" };
	struct exec_verdict v;
	struct err e;
	char *line;

	if (len > 16384)
		return 0;
	if (p == NULL && policy_parse(text, sizeof text - 1, "F", &env, &p,
	    &e) != 0)
		abort();
	line = malloc(len + 1);
	if (len > 0)
		memcpy(line, data, len);
	line[len] = '\0';
	check_line(line, len, SH_BASH);
	check_line(line, len, SH_POSIX);
	decide_line(p, line, len, NULL, &v);
	if (v.offset > len || strlen(v.command) >= sizeof v.command ||
	    (v.unseen == EXEC_SEEN) != (v.unseen_text[0] == '\0' &&
	    unseen_words(v.unseen)[0] == '\0'))
		abort();
	free(line);
	return 0;
}
