#include "launcher/plan/via.h"

#include <stddef.h>
#include <string.h>

#include "launcher/plan/env.h"
#include "launcher/plan/noproxy.h"
#include "policy/rule.h"

static const char via_key[] = "network.via";

/* "http://proxy.example:8080", whatever was written. */
static const char *
shown(struct arena *a, const struct proxyurl *u)
{
	const char *fmt = u->host.kind == HOST_IPV6 ? "%s://[%s]:%u" :
	    "%s://%s:%u";

	return arena_printf(a, fmt, u->kind == PROXYURL_HTTP ? "http" :
	    "socks5", u->host.text, u->port);
}

static struct via_proxy *
make_proxy(struct arena *a, const struct proxyurl *url, size_t key,
    struct origin at)
{
	struct via_proxy *p = arena_alloc(a, sizeof *p);

	*p = (struct via_proxy){ .url = *url, .shown = shown(a, url),
	    .key = key, .at = at };
	return p;
}

/* The policy's own URL: it was checked when it was read. */
static const struct via_proxy *
of_policy(struct arena *a, const struct string *s, size_t key)
{
	struct proxyurl url;

	return proxyurl_parse(s->text, true, &url) == NULL ?
	    make_proxy(a, &url, key, s->at) : NULL;
}

/* The first of the variables that says something; *ret NULL: none does. */
static int
of_env(struct arena *a, char *const *env, const char *const *names,
    const struct via_proxy **ret, struct err *e)
{
	struct proxyurl url;
	const char *text = NULL, *why;

	*ret = NULL;
	for (; *names != NULL; names++) {
		text = env_get(env, *names);
		if (text != NULL && text[0] != '\0')
			break;
	}
	if (*names == NULL)
		return 0;
	why = proxyurl_parse(text, false, &url);
	if (why == NULL) {
		*ret = make_proxy(a, &url, KEY_OF(net.via), (struct origin){
		    .file = arena_printf(a, "$%s", *names) });
		return 0;
	}
	err_set(e, ERR_POLICY, "$%s: '%.100s' %s", *names,
	    proxyurl_shown(a, text), why);
	err_key(e, "%s", via_key);
	err_hint(e, "an http or socks5 URL; or set %s to \"direct\", or to "
	    "the proxy", via_key);
	return -1;
}

static int
make_auto(struct arena *a, char *const *env, struct via *ret, struct err *e)
{
	static const char *const plain[] = { "http_proxy", "HTTP_PROXY",
	    "all_proxy", "ALL_PROXY", NULL };
	static const char *const other[] = { "https_proxy", "HTTPS_PROXY",
	    "all_proxy", "ALL_PROXY", NULL };
	const char *no_proxy = env_get(env, "no_proxy");

	if (no_proxy == NULL || no_proxy[0] == '\0')
		no_proxy = env_get(env, "NO_PROXY");
	if (no_proxy != NULL)
		ret->no_proxy = arena_strdup(a, no_proxy);
	if (of_env(a, env, plain, &ret->plain, e) != 0)
		return -1;
	return of_env(a, env, other, &ret->other, e);
}

int
via_make(struct arena *a, const struct policy *p, char *const *env,
    struct via *ret, struct err *e)
{
	*ret = (struct via){ .no_proxy = "" };
	if (p->net.upstream_proxy.is_set)
		ret->upstream = of_policy(a, &p->net.upstream_proxy,
		    KEY_OF(net.upstream_proxy));
	if (!p->net.via.is_set || strcmp(p->net.via.text, "auto") == 0)
		return make_auto(a, env, ret, e);
	if (strcmp(p->net.via.text, "direct") != 0)
		ret->plain = ret->other = of_policy(a, &p->net.via,
		    KEY_OF(net.via));
	return 0;
}

const struct via_proxy *
via_pick(const struct via *v, const struct host *h, uint16_t port,
    bool is_plain)
{
	const struct via_proxy *p = is_plain || port == 80 ? v->plain :
	    v->other;

	return p != NULL && !noproxy_is_loopback(h) &&
	    !noproxy_has(v->no_proxy, h, port) ? p : NULL;
}

static void
print_proxy(struct buf *b, const char *what, const struct via_proxy *p)
{
	if (p == NULL)
		return;
	buf_printf(b, "%s %s  (%s", what, p->shown, p->at.file);
	if (p->at.line > 0)
		buf_printf(b, ":%d:%d", p->at.line, p->at.col);
	buf_puts(b, ")\n");
}

void
via_print(const struct via *v, struct buf *b)
{
	if (v->plain == v->other) {
		print_proxy(b, "via  ", v->plain);
	} else {
		print_proxy(b, "via   plain HTTP:", v->plain);
		print_proxy(b, "via  ", v->other);
	}
	print_proxy(b, "rest  to", v->upstream);
}
