/*
 * proxyurl: where a proxy is and how to log in there:
 * [SCHEME://][USER[:PASSWORD]@]HOST[:PORT][/], http, socks5 or socks5h.  In
 * user and password %XX stands for a byte.  Pure.
 */
#ifndef FENCE_POLICY_PROXYURL_H
#define FENCE_POLICY_PROXYURL_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/host.h"

struct arena;

enum proxyurl_kind { PROXYURL_HTTP, PROXYURL_SOCKS5 };

enum { PROXYURL_LOGIN_MAX = 255 };	/* bytes of each, as SOCKS5 has room */

struct proxyurl {
	enum proxyurl_kind	kind;
	struct host		host;
	uint16_t		port;	/* 80 and 1080 where none is written */
	bool			has_login;
	char			user[PROXYURL_LOGIN_MAX + 1];
	char			password[PROXYURL_LOGIN_MAX + 1];
};

/* NULL, or what is wrong with it: "has no scheme".  Only where one need not
 * be written, a missing scheme means http. */
const char	*proxyurl_parse(const char *text, bool needs_scheme,
		    struct proxyurl *ret);
/*
 * The text for other people's eyes: whatever may be a user or a password is
 * "***".  For any text; the text itself where there is nothing to hide.
 */
const char	*proxyurl_shown(struct arena *, const char *text);

#endif
