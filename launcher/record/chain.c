#include "launcher/record/chain.h"

#include <string.h>

void
chain_init(struct chain *c)
{
	memset(c->prev, '0', SHA256_HEX - 1);
	c->prev[SHA256_HEX - 1] = '\0';
}

void
chain_add(struct chain *c, const char *line, size_t len)
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, line, len);
	sha256_end_hex(&s, c->prev);
}
