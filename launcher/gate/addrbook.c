#include "launcher/gate/addrbook.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/str.h"

enum {
	BASE = 0xc6120000,		/* 198.18.0.0 */
	SPAN = 1 << 17,			/* /15 */
	OWN = 256,			/* 198.18.0.0/24 */
	SLOTS = SPAN - OWN,
	SHARED = SLOTS / 2,		/* keeps probing short */
	MOST = SLOTS - 1,		/* lets it end */
};

/* A slot's number is its address: finding either from the other is a step. */
struct addrbook {
	unsigned	 used, shared;
	char		*name[SLOTS];
};

struct addrbook *
addrbook_new(void)
{
	return calloc(1, sizeof(struct addrbook));
}

void
addrbook_free(struct addrbook *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; b->used > 0 && i < SLOTS; i++)
		if (b->name[i] != NULL) {
			free(b->name[i]);
			b->used--;
		}
	free(b);
}

/* The same name gets the same address in every run, so that what a program
 * wrote to a cache yesterday leads to the same name today. */
static uint32_t
hash(const char *s)
{
	return str_hash(s, strlen(s));
}

static bool
has_room(const struct addrbook *b, bool is_reserved)
{
	return b->used < MOST && (is_reserved || b->shared < SHARED);
}

int
addrbook_get(struct addrbook *b, const char *name, bool is_reserved,
    uint32_t *ret_addr)
{
	uint32_t slot = hash(name) % SLOTS;

	while (b->name[slot] != NULL && strcmp(b->name[slot], name) != 0)
		slot = (slot + 1) % SLOTS;
	if (b->name[slot] == NULL) {
		if (!has_room(b, is_reserved) ||
		    (b->name[slot] = strdup(name)) == NULL)
			return -1;
		b->used++;
		b->shared += !is_reserved;
	}
	*ret_addr = (uint32_t)BASE + OWN + slot;
	return 0;
}

bool
addrbook_is_fake(uint32_t addr)
{
	return addr - (uint32_t)BASE < SPAN;
}

const char *
addrbook_name(const struct addrbook *b, uint32_t addr)
{
	uint32_t off = addr - (uint32_t)BASE;

	if (off < OWN || off >= SPAN)
		return NULL;
	return b->name[off - OWN];
}
