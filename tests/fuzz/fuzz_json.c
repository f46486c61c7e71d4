/*
 * The JSONC reader and, behind it, the policy reader: both end, tokens nest,
 * places are inside of the text, and what is written is read again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/json.h"
#include "policy/policy.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_written(const struct json_token *t)
{
	struct json_reader r;
	struct json_token again;
	struct err e;
	struct buf b;

	buf_init(&b, 0);
	json_put_string(&b, t->text, t->len);
	json_init(&r, "W", b.data, b.len, 1 << 24);
	if (json_next(&r, &again, &e) != 0 || again.len != t->len ||
	    memcmp(again.text, t->text, t->len) != 0)
		abort();
	json_release(&r);
	buf_release(&b);
}

static void
check_tokens(const char *text, size_t len)
{
	struct json_reader r;
	struct json_token t;
	struct err e;
	size_t depth = 0, count = 0;

	json_init(&r, "F", text, len, 1 << 20);
	while (json_next(&r, &t, &e) == 0) {
		depth += t.kind == JSON_OBJECT || t.kind == JSON_ARRAY;
		depth -= t.kind == JSON_OBJECT_END ||
		    t.kind == JSON_ARRAY_END;
		if (depth > JSON_DEPTH || ++count > len + 1 || t.line < 1 ||
		    t.col < 1 || (size_t)t.col > len + 1)
			abort();
		if (t.kind == JSON_KEY || t.kind == JSON_STRING)
			check_written(&t);
		if (t.kind == JSON_END)
			break;
	}
	json_release(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char *const vars[] = { "X=/x", NULL };
	struct policy_env env = { .workspace = "/ws", .home = "/home/u",
	    .environ = vars };
	struct policy *p = NULL;
	struct err e = { 0 };

	check_tokens((const char *)data, len);
	if (policy_parse((const char *)data, len, "F", &env, &p, &e) == 0)
		policy_free(p);
	else if (e.msg[0] == '\0' || e.where[0] == '\0')
		abort();
	return 0;
}
