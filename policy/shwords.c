#include "policy/shwords.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"
#include "policy/shparse.h"

static void *
to_arena(struct arena *a, const void *v, size_t n, size_t size)
{
	void *copy = arena_alloc(a, n * size + 1);

	if (n > 0)
		memcpy(copy, v, n * size);
	return copy;
}

void
shwords_parse(struct arena *a, enum sh_dialect dialect, const char *text,
    size_t len, struct sh_line *ret)
{
	struct shout out = { .arena = a, .max_steps = SHPARSE_STEPS +
	    SHPARSE_STEPS_PER_BYTE * len };
	struct shparse p = { .out = &out, .dialect = dialect, .s = text,
	    .len = len };

	/* A shell takes no NUL from its arguments, and drops it in files. */
	if (len > SHWORDS_MAX_BYTES)
		shlex_fail(&p, EXEC_UNSEEN_MANY);
	else if (memchr(text, '\0', len) != NULL)
		shlex_fail(&p, EXEC_UNSEEN_SYNTAX);
	else
		shgrammar_all(&p);
	ret->n = out.commands.n;
	ret->v = to_arena(a, out.commands.v, ret->n, sizeof *ret->v);
	ret->nunseen = out.unseen.n;
	ret->unseen = to_arena(a, out.unseen.v, ret->nunseen,
	    sizeof *ret->unseen);
	ret->is_dialect = out.is_dialect;
	vec_release(&out.commands);
	vec_release(&out.unseen);
}

struct sh_word
shwords_literal(const char *text)
{
	size_t len = strlen(text);

	return (struct sh_word){ .text = text, .len = len, .head = len,
	    .tail = len, .is_whole = true };
}

struct sh_word
shwords_join(struct arena *a, const struct sh_word *v, size_t n)
{
	struct sh_word ret = { .is_whole = true };
	struct buf b;

	buf_init(&b, 0);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(&b, ' ');
		if (ret.is_whole && !v[i].is_whole)
			ret.head = b.len + v[i].head;
		if (!v[i].is_whole)
			ret.tail = v[i].tail;
		else if (!ret.is_whole)
			ret.tail += v[i].len + 1;
		ret.is_whole &= v[i].is_whole;
		ret.may_split |= v[i].may_split;
		buf_add(&b, v[i].text, v[i].len);
	}
	ret.text = arena_strndup(a, b.data, b.len);
	ret.len = b.len;
	if (ret.is_whole)
		ret.head = ret.tail = ret.len;
	buf_release(&b);
	return ret;
}
