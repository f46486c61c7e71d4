/*
 * Hosts as strangers write them: a canonical text is its own canonical text,
 * carries nothing but host bytes, and every literal is one inet_aton() or
 * inet_pton() agrees with.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/arena.h"
#include "policy/host.h"
#include "policy/pattern.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_canon(const struct host *h)
{
	struct host again;

	if (host_canon(h->text, strlen(h->text), &again) != 0 ||
	    again.kind != h->kind || strcmp(again.text, h->text) != 0 ||
	    memcmp(again.addr, h->addr, sizeof h->addr) != 0)
		abort();
	if (h->text[strspn(h->text,
	    "abcdefghijklmnopqrstuvwxyz0123456789-_.:")] != '\0')
		abort();
	if (h->kind != HOST_NAME)
		host_addr_class(h->addr, h->kind == HOST_IPV4 ? 4 : 16);
}

/* What libc would take for an address is never a name to us. */
static void
check_libc(const char *text, const struct host *h)
{
	struct in_addr in;

	if (inet_aton(text, &in) != 0 && (h->kind != HOST_IPV4 ||
	    memcmp(&in, h->addr, sizeof in) != 0))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct pattern *p;
	struct arena *a;
	struct err e = { 0 };
	struct host h;
	char *text;

	if (len > 4096)
		return 0;
	a = arena_new();
	text = arena_strndup(a, (const char *)data, len);
	if (host_canon((const char *)data, len, &h) == 0) {
		check_canon(&h);
		check_libc(text, &h);
	}
	if (pattern_domain(a, text, &p, &e) != 0) {
		if (e.msg[0] == '\0')
			abort();
	} else if (p->kind == PATTERN_DOMAIN) {
		check_canon(&p->host);
		if (!pattern_match_host(p, &p->host))
			abort();
	}
	arena_free(a);
	return 0;
}
