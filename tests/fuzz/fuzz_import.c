/*
 * Import of other tools' settings: whatever can be read becomes a policy that
 * can be read.  The first byte says whose settings they are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/hooks/import.h"
#include "policy/policy.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_policy(const struct buf *b)
{
	static const struct policy_env env = { .workspace = "/ws",
	    .home = "/home/u" };
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(b->data, b->len, "F", &env, &p, &e) != 0) {
		/* What is left out is said at length; a policy is not. */
		if (b->len > POLICY_MAX_BYTES)
			return;
		fprintf(stderr, "%s: %s: %s\n%s\n", e.where, e.key, e.msg,
		    b->data);
		abort();
	}
	policy_free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct import_request rq = { .home = "/home/u" };
	struct arena *a;
	struct import m = { .nrules = 0 };
	struct err e = { 0 };
	struct buf b;

	if (len == 0)
		return 0;
	a = arena_new();
	rq.source = (enum import_source)(data[0] % 3);
	rq.file = data[0] & 4 ? "/home/u/.claude/settings.json" :
	    "/p/.claude/settings.json";
	rq.text = arena_strndup(a, (const char *)data + 1, len - 1);
	rq.len = len - 1;
	buf_init(&b, 0);
	if (import_read(a, &rq, &m, &e) != 0) {
		if (e.msg[0] == '\0' || e.where[0] == '\0')
			abort();
	} else {
		import_put(&m, &b);
		check_policy(&b);
	}
	import_release(&m);
	buf_release(&b);
	arena_free(a);
	return 0;
}
