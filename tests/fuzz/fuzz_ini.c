/*
 * The INI reader: it ends, every refusal has its place, and what is taken is
 * shown as text that is taken again, in both notations, for the same policy.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/buf.h"
#include "policy/emit.h"
#include "policy/merge.h"
#include "policy/policy.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char *const vars[] = { "X=/x", NULL };
static const struct policy_env env = { .workspace = "/ws",
    .home = "/home/u", .environ = vars };

static void
check_shown(const struct policy *p, enum policy_format format,
    struct errlist *errs)
{
	struct policy *again = NULL;
	struct buf b;

	buf_init(&b, 0);
	if (format == POLICY_INI)
		emit_ini(p, EMIT_ORIGINS, &b);
	else
		emit_json(p, EMIT_ORIGINS, &b);
	if (policy_parse_all(b.data, b.len, "F", format, &env, &again,
	    errs) == 0) {
		if (!policy_equal(p, again))
			abort();
		policy_free(again);
	} else if (strstr(errs->v[0].msg, "longer than") == NULL) {
		abort();	/* only a line of INI may be too long */
	}
	buf_release(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct errlist errs;
	struct policy *p = NULL;

	if (policy_parse_all((const char *)data, len, "F", POLICY_INI, &env,
	    &p, &errs) == 0) {
		check_shown(p, POLICY_JSONC, &errs);
		check_shown(p, POLICY_INI, &errs);
		policy_free(p);
	} else if (errs.n == 0 || errs.v[0].msg[0] == '\0' ||
	    errs.v[0].where[0] == '\0') {
		abort();
	}
	return 0;
}
