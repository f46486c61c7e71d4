/* One proxy's answer, whole and in pieces: both must lead to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/upstream.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { MAX_SAID = 3 * UPSTREAM_OUT_MAX };

struct told {
	enum upstream_status	st;
	enum upstream_why	why;
	int			code;
	size_t			eaten, len;
	uint8_t			said[MAX_SAID];
};

static void
hear(struct upstream *u, struct told *told)
{
	if (u->out_len > sizeof u->out || u->out_len > MAX_SAID - told->len)
		abort();
	memcpy(told->said + told->len, u->out, u->out_len);
	told->len += u->out_len;
	u->out_len = 0;
}

static void
feed(unsigned how, const uint8_t *data, size_t len, size_t step,
    struct told *told)
{
	const struct upstream_target t = { how & 4 ? "2001:db8::1" : "a.test",
	    443, how & 2 ? "user" : NULL, "password" };
	struct upstream u;
	size_t n, used;

	memset(told, 0, sizeof *told);
	if (upstream_init(&u, how & 1 ? UPSTREAM_SOCKS5 : UPSTREAM_HTTP,
	    &t) != 0)
		abort();
	hear(&u, told);
	while (told->eaten < len && told->st == UPSTREAM_MORE) {
		n = len - told->eaten < step ? len - told->eaten : step;
		told->st = upstream_feed(&u, data + told->eaten, n, &used);
		if (used > n || (told->st == UPSTREAM_MORE && used != n &&
		    u.out_len == 0))
			abort();
		told->eaten += used;
		hear(&u, told);
	}
	told->why = u.why;
	told->code = u.code;
}

/* The last byte that was eaten is the answer's last one. */
static void
check_end(unsigned how, const uint8_t *data, const struct told *t)
{
	if ((t->st == UPSTREAM_FAILED) != (t->why != UPSTREAM_OPEN))
		abort();
	if (t->eaten > UPSTREAM_HEAD_MAX + 1)
		abort();
	if (t->st == UPSTREAM_DONE && (how & 1) == 0 &&
	    (data[t->eaten - 1] != '\n' || t->code < 200 || t->code > 299))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t steps[] = { 1, 7 };
	static struct told whole, pieces;
	unsigned how;

	if (len == 0)
		return 0;
	how = *data++;
	len--;
	feed(how, data, len, len + 1, &whole);
	check_end(how, data, &whole);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		feed(how, data, len, steps[i], &pieces);
		if (memcmp(&whole, &pieces, sizeof whole) != 0)
			abort();
	}
	return 0;
}
