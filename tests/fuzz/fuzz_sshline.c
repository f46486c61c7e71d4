/*
 * Words of ssh and its kin in the first line (apart by blanks), an ssh_config
 * in the rest: hosts are named, and canonical names stay what they are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/arena.h"
#include "policy/cmdrule.h"
#include "policy/sshline.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct text { const char *s; size_t len; };

static const char *
config(void *arg, const char *path, size_t *ret_len)
{
	const struct text *t = arg;

	(void)path;
	*ret_len = t->len;
	return t->s;
}

static void
check(const struct sshline *line)
{
	if (line->nhosts > SSHLINE_MAX || line->nremote > SSHLINE_MAX ||
	    line->nlocal > SSHLINE_MAX)
		abort();
	for (size_t i = 0; i < line->nhosts; i++) {
		const char *name = line->hosts[i].name;

		if (name == NULL || (line->hosts[i].is_renamed &&
		    line->hosts[i].real_name == NULL))
			abort();
		for (; *name != '\0'; name++)
			if (*name >= 'A' && *name <= 'Z')
				abort();
	}
	for (size_t i = 0; i < line->nlocal; i++)
		if (line->local[i].len == 0 || line->local[i].text == NULL)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sh_line parsed;
	struct sshline *line;
	struct arena *a;
	const char *s, *newline;
	struct text rest;
	size_t first;

	if (len > 8192 || memchr(data, '\0', len) != NULL)
		return 0;
	a = arena_new();
	s = arena_strndup(a, (const char *)data, len);
	newline = strchr(s, '\n');
	first = newline != NULL ? (size_t)(newline - s) : len;
	rest = newline != NULL ? (struct text){ newline + 1,
	    len - first - 1 } : (struct text){ "", 0 };
	shwords_parse(a, SH_BASH, s, first, &parsed);
	line = arena_alloc(a, sizeof *line);
	for (size_t i = 0; i < parsed.n && i < 16; i++) {
		const struct sh_command *c = &parsed.v[i];
		struct sshline_ask ask = { .arena = a, .words = c->words,
		    .nwords = c->nwords, .config = config, .arg = &rest };

		if (c->nwords == 0)
			continue;
		ask.name = cmdrule_last_name(c->words[0].text);
		if (sshline_parse(&ask, line))
			check(line);
	}
	arena_free(a);
	return 0;
}
