#include <string.h>

#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

enum { UNIX_KEY = KEY_OF(net.allow_unix_sockets) };

static void
decide_layer(const struct policy *p, const char *path, struct verdict *v)
{
	const struct strlist *l = &p->net.allow_unix_sockets;

	for (size_t i = 0; i < l->n; i++)
		if (pattern_match_path(l->v[i].pattern, path) > 0) {
			verdict_entry(v, ACTION_ALLOW, UNIX_KEY, l, i);
			verdict_reason(v, "allowed by path");
			return;
		}
	if (p->net.allow_all_unix_sockets.value) {
		verdict_key(v, ACTION_ALLOW,
		    KEY_OF(net.allow_all_unix_sockets),
		    p->net.allow_all_unix_sockets.at);
		verdict_reason(v, "all are allowed");
		return;
	}
	verdict_default(v, ACTION_DENY, UNIX_KEY, l);
	verdict_remedy_path(v, UNIX_KEY, NULL, path);
}

void
decide_unix(const struct policy *p, const char *path, struct verdict *v)
{
	decide_layer(p, path, v);
	for (p = p->also; p != NULL && v->action == ACTION_ALLOW; p = p->also)
		decide_layer(p, path, v);
}
