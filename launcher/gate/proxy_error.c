#include "launcher/gate/proxy_error.h"

#include <errno.h>
#include <stddef.h>

#include "policy/verdict.h"
#include "proxy/upstream.h"

enum { HTTP_FORBIDDEN = 403, HTTP_NO_METHOD = 405, SOCKS_FORBIDDEN = 2 };

/* Replies of SOCKS5 that speak of the host, not of the proxy. */
static const int socks_sys[] = {
	[3] = ENETUNREACH, [4] = EHOSTUNREACH, [5] = ECONNREFUSED,
	[6] = ETIMEDOUT,
};

static bool
is_http(const struct via_proxy *p)
{
	return p->url.kind == PROXYURL_HTTP;
}

/* The other end is there and does not do what it should. */
static void
error_of_none(const struct via_proxy *p, const char *how, struct verdict *v)
{
	verdict_reason(v, "%.40s %s", p->shown, how);
	verdict_remedy(v, REMEDY_START_PROXY, p->key, NULL);
}

static void
error_of_login(const struct via_proxy *p, struct verdict *v)
{
	verdict_reason(v, "%.40s %s", p->shown, p->url.has_login ?
	    "does not take the user and password" :
	    "wants a user and password");
	verdict_remedy(v, p->url.has_login ? REMEDY_OTHER_LOGIN :
	    REMEDY_LOGIN, p->key, p->at.file);
}

static enum ask_status
error_of_refusal(const struct via_proxy *p, uint16_t port, int code,
    struct verdict *v)
{
	verdict_reason(v, "%.40s answered %d", p->shown, code);
	if (is_http(p) && port != 443 &&
	    (code == HTTP_FORBIDDEN || code == HTTP_NO_METHOD))
		verdict_remedy_number(v, REMEDY_PROXY_PORT, p->key, port);
	return code == (is_http(p) ? HTTP_FORBIDDEN : SOCKS_FORBIDDEN) ?
	    ASK_PROXY_DENIED : ASK_PROXY_FAILED;
}

static enum ask_status
error_of_answer(const struct via_proxy *p, uint16_t port,
    const struct ask_answer *a, struct verdict *v)
{
	switch (a->why) {
	case UPSTREAM_LOGIN:
		error_of_login(p, v);
		break;
	case UPSTREAM_REFUSED:
		return error_of_refusal(p, port, a->code, v);
	default:
		verdict_reason(v, "%.40s is no %s proxy", p->shown,
		    is_http(p) ? "http" : "socks5");
		verdict_remedy(v, REMEDY_PROXY_KIND, p->key, p->at.file);
		break;
	}
	return ASK_PROXY_FAILED;
}

enum ask_status
proxy_error(const struct via_proxy *p, uint16_t port,
    const struct ask_answer *a, int *ret_sys, struct verdict *v)
{
	if (a->status == ASK_FULL)
		return ASK_FULL;
	if (a->status == ASK_PROXY_DENIED && a->why == UPSTREAM_REFUSED &&
	    !is_http(p) && a->code < sizeof socks_sys / sizeof socks_sys[0] &&
	    socks_sys[a->code] != 0) {
		*ret_sys = socks_sys[a->code];
		return ASK_REFUSED;
	}
	verdict_key(v, ACTION_DENY, p->key, p->at);
	if (a->status == ASK_PROXY_DENIED)
		return error_of_answer(p, port, a, v);
	if (a->status == ASK_NOHOST)
		error_of_none(p, "does not resolve", v);
	else if (a->sys == ETIMEDOUT)
		error_of_none(p, "does not answer", v);
	else if (a->status == ASK_REFUSED)
		error_of_none(p, "cannot be reached", v);
	else
		error_of_none(p, "closed the connection", v);
	return ASK_PROXY_FAILED;
}
