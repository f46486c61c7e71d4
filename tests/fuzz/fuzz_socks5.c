/* One client, whole and in pieces: what it hears and gets must agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/socks5.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct told {
	enum socks5_status	st;
	size_t			eaten, len;
	uint8_t			answer[2 + 2 + SOCKS5_MAX_ANSWER];
};

static void
feed(struct socks5 *s, const uint8_t *data, size_t len, size_t step,
    struct told *told)
{
	size_t n, used;

	socks5_init(s);
	memset(told, 0, sizeof *told);
	while (told->eaten < len && told->st == SOCKS5_MORE) {
		n = len - told->eaten < step ? len - told->eaten : step;
		told->st = socks5_feed(s, data + told->eaten, n, &used);
		if (used > n || (told->st == SOCKS5_MORE && used != n) ||
		    s->answer_len > sizeof told->answer - told->len)
			abort();
		memcpy(told->answer + told->len, s->answer, s->answer_len);
		told->len += s->answer_len;
		told->eaten += used;
	}
}

static void
check_request(const struct socks5 *s)
{
	size_t len = strlen(s->host);

	if (s->command != SOCKS5_CONNECT || s->port == 0 || len == 0 ||
	    len >= sizeof s->host || s->why != NULL)
		abort();
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)s->host[i] < ' ' || s->host[i] == 0x7f)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t steps[] = { 1, 7 };
	struct told whole, pieces;
	struct socks5 a, b;

	feed(&a, data, len, len, &whole);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		feed(&b, data, len, steps[i], &pieces);
		if (memcmp(&whole, &pieces, sizeof whole) != 0 ||
		    memcmp(a.host, b.host, sizeof a.host) != 0 ||
		    a.command != b.command || a.port != b.port ||
		    a.is_name != b.is_name || a.why != b.why)
			abort();
	}
	if (whole.eaten > SOCKS5_MAX_BYTES ||
	    (whole.st == SOCKS5_BAD) != (a.why != NULL))
		abort();
	if (whole.st == SOCKS5_DONE)
		check_request(&a);
	return 0;
}
