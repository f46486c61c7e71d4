#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "policy/index.h"
#include "policy/pattern.h"

/* As a port: the first entry of that host, whatever its port. */
enum { SOME_PORT = 0x10000 };

struct slot {
	uint32_t	hash;
	uint32_t	port;
	int32_t		entry;	/* INDEX_NONE: free */
};

struct net_index {
	const struct strlist	*list;
	struct slot		*slots;
	uint32_t		 mask;
	/* Which prefix lengths occur. */
	bool			 has_bits4[33], has_bits6[129];
};

/* What is looked for: a name, the tail of one, a range, or anyone. */
struct want {
	enum pattern_kind	 kind;	/* _CIDR for addresses, too */
	const char		*name;
	struct host		 net;
	unsigned		 bits;
	uint32_t		 hash;
};

static uint32_t
hash_name(const char *name)
{
	uint32_t hash = STR_HASH_START;

	/* From the end, so that a name passes the hashes of its tails. */
	for (size_t i = strlen(name); i-- > 0;)
		hash = str_hash_add(hash, (unsigned char)name[i]);
	return hash;
}

static uint32_t
hash_net(const struct host *net, unsigned bits)
{
	uint32_t hash = str_hash_add(STR_HASH_START, (unsigned char)bits);

	for (size_t i = 0; i < (net->kind == HOST_IPV4 ? 4 : 16); i++)
		hash = str_hash_add(hash, net->addr[i]);
	return hash;
}

static unsigned
full_bits(const struct host *h)
{
	return h->kind == HOST_IPV4 ? 32 : 128;
}

static struct want
want_of(const struct pattern *p)
{
	struct want w = { .kind = p->kind, .name = p->text };

	if (p->kind == PATTERN_CIDR ||
	    (p->kind == PATTERN_DOMAIN && p->host.kind != HOST_NAME)) {
		w.kind = PATTERN_CIDR;
		w.net = p->host;
		w.bits = p->kind == PATTERN_CIDR ? p->bits :
		    full_bits(&p->host);
		w.hash = hash_net(&w.net, w.bits);
	} else if (p->kind != PATTERN_ANY) {
		w.hash = hash_name(p->text);
	}
	return w;
}

static bool
is_wanted(const struct pattern *p, const struct want *w)
{
	if (w->kind != PATTERN_CIDR)
		return p->kind == w->kind && (w->kind == PATTERN_ANY ||
		    (!(p->kind == PATTERN_DOMAIN &&
		    p->host.kind != HOST_NAME) &&
		    strcmp(p->text, w->name) == 0));
	if (p->kind != PATTERN_CIDR && p->kind != PATTERN_DOMAIN)
		return false;
	return p->host.kind == w->net.kind && w->bits ==
	    (p->kind == PATTERN_CIDR ? p->bits : full_bits(&p->host)) &&
	    memcmp(p->host.addr, w->net.addr, sizeof w->net.addr) == 0;
}

static uint32_t
hash_of(const struct want *w, uint32_t port)
{
	uint32_t hash = str_hash_add(w->hash, (unsigned char)w->kind) ^ port;

	hash *= 2654435761u;
	return hash ^ hash >> 15;
}

/* Its slot, or the free one where it would be. */
static struct slot *
probe(const struct net_index *ix, const struct want *w, uint32_t port,
    uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		struct slot *s = &ix->slots[i & ix->mask];

		if (s->entry == INDEX_NONE || (s->hash == hash &&
		    s->port == port &&
		    is_wanted(ix->list->v[s->entry].pattern, w)))
			return s;
	}
}

static void
insert(struct net_index *ix, size_t i, const struct want *w, uint32_t port)
{
	uint32_t hash = hash_of(w, port);
	struct slot *s = probe(ix, w, port, hash);

	if (s->entry == INDEX_NONE)	/* else the first one speaks */
		*s = (struct slot){ hash, port, (int32_t)i };
}

const struct net_index *
net_index_new(struct arena *a, const struct strlist *list)
{
	struct net_index *ix = arena_alloc(a, sizeof *ix);
	uint32_t size = 8;

	while (size < list->n * 4)
		size *= 2;
	ix->list = list;
	ix->mask = size - 1;
	ix->slots = arena_alloc(a, size * sizeof *ix->slots);
	for (uint32_t i = 0; i < size; i++)
		ix->slots[i].entry = INDEX_NONE;
	for (size_t i = 0; i < list->n; i++) {
		const struct pattern *p = list->v[i].pattern;
		struct want w = want_of(p);

		if (w.kind == PATTERN_CIDR && w.net.kind == HOST_IPV4)
			ix->has_bits4[w.bits] = true;
		else if (w.kind == PATTERN_CIDR)
			ix->has_bits6[w.bits] = true;
		insert(ix, i, &w, p->port);
		insert(ix, i, &w, SOME_PORT);
	}
	return ix;
}

struct search {
	const struct net_index	*ix;
	uint32_t		 port;
	bool			 is_some_port;
	long			 first;
};

static void
look(struct search *s, const struct want *w)
{
	uint32_t ports[2] = { s->port, 0 };
	size_t n = s->port != 0 ? 2 : 1;

	if (s->port == 0 && s->is_some_port)
		ports[0] = SOME_PORT;
	for (size_t i = 0; i < n; i++) {
		long entry = probe(s->ix, w, ports[i],
		    hash_of(w, ports[i]))->entry;

		if (entry != INDEX_NONE &&
		    (s->first == INDEX_NONE || entry < s->first))
			s->first = entry;
	}
}

static void
look_for_name(struct search *s, const char *name)
{
	struct want w = { .hash = STR_HASH_START };

	for (size_t i = strlen(name); i-- > 0;) {
		if (name[i] == '.') {
			w.kind = PATTERN_SUFFIX;
			w.name = name + i + 1;
			look(s, &w);
		}
		w.hash = str_hash_add(w.hash, (unsigned char)name[i]);
	}
	w.kind = PATTERN_DOMAIN;
	w.name = name;
	look(s, &w);
}

static void
look_for_address(struct search *s, const struct host *h)
{
	const bool *has_bits = h->kind == HOST_IPV4 ? s->ix->has_bits4 :
	    s->ix->has_bits6;
	struct want w = { .kind = PATTERN_CIDR, .net = *h };

	for (unsigned bits = full_bits(h);; bits--) {
		if (bits < full_bits(h))
			w.net.addr[bits / 8] &= (uint8_t)(0xff00 >> bits % 8);
		if (has_bits[bits]) {
			w.bits = bits;
			w.hash = hash_net(&w.net, bits);
			look(s, &w);
		}
		if (bits == 0)
			break;
	}
}

long
net_index_find(const struct net_index *ix, const struct host *h,
    uint16_t port, bool is_some_port, bool literal_only)
{
	struct search s = { ix, port, is_some_port, INDEX_NONE };
	struct want any = { .kind = PATTERN_ANY };

	if (ix->list->n == 0)
		return INDEX_NONE;
	if (h->kind == HOST_NAME)
		look_for_name(&s, h->text);
	else
		look_for_address(&s, h);
	if (!literal_only)
		look(&s, &any);
	return s.first;
}

bool
net_index_has_name(const struct net_index *ix, const char *name)
{
	struct want w = { .kind = PATTERN_DOMAIN, .name = name,
	    .hash = hash_name(name) };

	return probe(ix, &w, SOME_PORT, hash_of(&w, SOME_PORT))->entry !=
	    INDEX_NONE;
}
