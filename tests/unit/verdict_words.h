/* verdict_words: what a verdict says, as the words a reader sees. */
#ifndef FENCE_TESTS_VERDICT_WORDS_H
#define FENCE_TESTS_VERDICT_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/buf.h"
#include "policy/decide.h"
#include "policy/keys.h"

/* Each is valid until it was called sixteen times more. */
static inline const char *
words_keep(struct buf *b)
{
	static char kept[16][REMEDY_VALUE + 64];
	static unsigned next;
	char *ret = kept[next++ % 16];

	snprintf(ret, sizeof kept[0], "%s", b->data);
	buf_release(b);
	return ret;
}

static inline const char *
rule_words(const struct verdict *v)
{
	struct buf b;

	buf_init(&b, 0);
	rule_put(&b, &v->rule);
	return words_keep(&b);
}

static inline const char *
remedy_key_words(const struct verdict *v)
{
	return v->remedy.kind == REMEDY_NONE ? "" : keys_name(v->remedy.key);
}

static inline const char *
remedy_value_words(const struct verdict *v)
{
	struct buf b;

	buf_init(&b, 0);
	if (v->remedy.kind != REMEDY_NONE)
		remedy_put_value(&b, &v->remedy);
	return words_keep(&b);
}

/* The reverse, for records made by hand: "network.deniedDomains[0]". */
static inline struct rule
rule_from(const char *words, const char *text, const char *file, int line,
    int col)
{
	const struct key *key = NULL;
	const char *bracket = strchr(words, '[');
	char name[96], spelling[96];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(words, "["), words);
	if (keys_find(name, &key, spelling, sizeof spelling) != KEY_FOUND)
		return (struct rule){ .id = RULE_NONE };
	return (struct rule){ .id = bracket != NULL ? RULE_ENTRY :
	    RULE_NO_ENTRY, .key = key->offset, .text = text,
	    .index = bracket != NULL ? (size_t)atoi(bracket + 1) : 0,
	    .at = { file, line, col, ORIGIN_FILE } };
}

static inline void
remedy_from(struct remedy *r, enum remedy_kind kind, const char *words,
    const char *value)
{
	r->kind = kind;
	r->key = rule_from(words, NULL, NULL, 0, 0).key;
	snprintf(r->value, sizeof r->value, "%s", value);
}

#endif
