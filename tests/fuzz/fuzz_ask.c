/* What passes the check keeps its promises. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>

#include "proxy/ask.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);
size_t	fuzz_seed(size_t n, uint8_t *out, size_t size);

#define MSG(k, ...) { .magic = ASK_MAGIC, .id = 7, .kind = k,		\
	.source = { .family = AF_INET, .port = 1, .addr = { 127, 0, 0, 1 } }, \
	.name_len = 6, .name = "a.test", __VA_ARGS__ }
#define DIAL(v) MSG(ASK_DIAL, .via = v, .port = 443, .method = "CONNECT", \
	.url_path = "/path")
#define ANSWER(s) { .magic = ASK_MAGIC, .id = 7, .status = s, .naddrs = 2, \
	.sys = 111, .count = 3,						\
	.addrs = { { .family = AF_INET }, { .family = AF_INET6 } },	\
	.name = "a.test", .rule = "network.allowedDomains", .remedy = "x" }

/* One of each kind, way and status. */
static const struct ask_msg msgs[] = {
	MSG(ASK_LOOKUP, .via = ASK_VIA_DNS, .qtype = 1, .is_udp = 1),
	DIAL(ASK_VIA_HTTP), DIAL(ASK_VIA_TRANSPARENT), DIAL(ASK_VIA_SOCKS),
	DIAL(ASK_VIA_LOCAL), DIAL(ASK_VIA_INSIDE),
	MSG(ASK_PTR, .via = ASK_VIA_DNS),
	MSG(ASK_SNI, .via = ASK_VIA_HTTP, .port = 443, .granted = "b.test"),
	MSG(ASK_DONE, .via = ASK_VIA_HTTP, .port = 80, .code = 200, .ms = 9),
	MSG(ASK_RECENT, .nth = 3),
	MSG(ASK_LISTEN, .listeners = 0x3f, .nports = 2),
	MSG(ASK_NOTE, .note = ASK_NOTE_LIMIT), MSG(ASK_RESTART, .wstatus = 9),
	MSG(ASK_RESOLVE, .port = 0), MSG(ASK_WHY, .port = 443),
	MSG(ASK_PORT, .via = ASK_VIA_INSIDE, .port = 8080),
};
static const struct ask_shake shakes[] = {
	{ .magic = ASK_MAGIC, .id = 7, .kind = ASK_SHAKE, .port = 443,
	  .host = "a.test" },
	{ .magic = ASK_MAGIC, .id = 7, .kind = ASK_SHAKE, .proxy = 1,
	  .port = 443, .host = "a.test", .has_login = 1, .user = "u",
	  .password = "p" },
};
static const struct ask_answer answers[] = {
	ANSWER(ASK_OK), ANSWER(ASK_DENIED), ANSWER(ASK_NOHOST),
	ANSWER(ASK_REFUSED), ANSWER(ASK_FULL), ANSWER(ASK_SELF),
	ANSWER(ASK_PROXY_DENIED), ANSWER(ASK_PROXY_FAILED),
};

enum { NMSGS = sizeof msgs / sizeof msgs[0],
	NSHAKES = sizeof shakes / sizeof shakes[0],
	NANSWERS = sizeof answers / sizeof answers[0] };

/* Whatever kind or status the checks know of has a seed. */
static void
check_complete(void)
{
	static const uint16_t ways[] = { ASK_VIA_HTTP, ASK_VIA_LOCAL };
	struct ask_msg m = MSG(0, .port = 1, .note = ASK_NOTE_LIMIT,
	    .granted = "b.test"), copy;
	struct ask_answer a = ANSWER(0), b;
	size_t n;

	for (unsigned i = 0; i < 2 * 256; i++) {
		m.kind = (uint16_t)(i / 2);
		m.via = ways[i % 2];
		for (n = 0; n < NMSGS && msgs[n].kind != m.kind; n++)
			;
		if (n == NMSGS && ask_check_msg(&m, sizeof m, &copy) == 0)
			abort();
		a.status = m.kind;
		for (n = 0; n < NANSWERS && answers[n].status != a.status; n++)
			;
		if (n == NANSWERS && ask_check_answer(&a, sizeof a, &b) == 0)
			abort();
	}
}

static size_t
seed(const void *p, size_t len, uint8_t *out, size_t size)
{
	if (len > size)
		abort();
	memcpy(out, p, len);
	return len;
}

size_t
fuzz_seed(size_t n, uint8_t *out, size_t size)
{
	struct ask_msg m;
	struct ask_shake s;
	struct ask_answer a;

	/* One that is refused is no seed. */
	if (n < NMSGS) {
		if (ask_check_msg(&msgs[n], sizeof m, &m) != 0)
			abort();
		return seed(&msgs[n], sizeof m, out, size);
	}
	n -= NMSGS;
	if (n < NSHAKES) {
		if (ask_check_shake(&shakes[n], sizeof s, &s) != 0)
			abort();
		return seed(&shakes[n], sizeof s, out, size);
	}
	n -= NSHAKES;
	if (n >= NANSWERS) {
		check_complete();
		return 0;
	}
	if (ask_check_answer(&answers[n], sizeof a, &a) != 0)
		abort();
	return seed(&answers[n], sizeof a, out, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ask_msg m, again;
	struct ask_answer a;
	struct ask_shake s;

	if (ask_check_msg(data, len, &m) == 0) {
		if (strlen(m.name) != m.name_len ||
		    strnlen(m.granted, sizeof m.granted) == sizeof m.granted ||
		    strnlen(m.method, sizeof m.method) == sizeof m.method)
			abort();
		if (ask_check_msg(&m, sizeof m, &again) != 0 ||
		    memcmp(&m, &again, sizeof m) != 0)
			abort();
	}
	if (ask_check_shake(data, len, &s) == 0 &&
	    (s.port == 0 || s.host[0] == '\0' ||
	    strnlen(s.host, sizeof s.host) == sizeof s.host ||
	    strnlen(s.user, sizeof s.user) == sizeof s.user ||
	    strnlen(s.password, sizeof s.password) == sizeof s.password))
		abort();
	if (ask_check_answer(data, len, &a) == 0 &&
	    (a.naddrs > ASK_MAX_ADDRS ||
	    strnlen(a.name, sizeof a.name) == sizeof a.name ||
	    strnlen(a.rule, sizeof a.rule) == sizeof a.rule ||
	    strnlen(a.remedy, sizeof a.remedy) == sizeof a.remedy))
		abort();
	return 0;
}
