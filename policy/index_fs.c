#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "policy/glob.h"
#include "policy/index.h"
#include "policy/pattern.h"

enum { NONE = -1 };

/* A path that entries name, and the first entry of each list that does. */
struct path_slot {
	const char	*text;		/* NULL: free */
	uint32_t	 hash, len;
	int32_t		 entry[FS_NLISTS];
};

/* A glob with what can be seen at a glance. */
struct leaf {
	const struct pattern	*pattern;
	enum fs_list		 list;
	int32_t			 entry;
	uint32_t		 root_len;	/* literal part, to its slash */
	int32_t			 next;		/* with the same NAME */
	/* Two bytes the last name must end, and begin with; 0: any. */
	uint16_t		 tail, head;
};

struct name_slot {
	const char	*name;		/* NULL: free */
	uint32_t	 hash, len;
	int32_t		 first;		/* a leaf */
};

struct fs_index {
	struct path_slot	*paths;
	struct name_slot	*names;
	uint32_t		 path_mask, name_mask;
	bool			 has_names;
	struct leaf		*leaves;	/* the first nfree are free */
	size_t			 nfree;
};

const struct strlist *
fs_list_of(const struct policy *p, enum fs_list list)
{
	switch (list) {
	case FS_ALLOW_READ:
		return &p->fs.allow_read;
	case FS_ALLOW_EXECUTE:
		return &p->fs.allow_execute;
	case FS_ALLOW_WRITE:
		return &p->fs.allow_write;
	case FS_DENY_WRITE:
		return &p->fs.deny_write;
	default:
		return &p->fs.deny_read;
	}
}

static struct path_slot *
find_path(const struct fs_index *ix, const char *text, size_t len,
    uint32_t hash)
{
	for (uint32_t i = hash ^ hash >> 15;; i++) {
		struct path_slot *s = &ix->paths[i & ix->path_mask];

		if (s->text == NULL || (s->hash == hash && s->len == len &&
		    memcmp(s->text, text, len) == 0))
			return s;
	}
}

static struct name_slot *
find_name(const struct fs_index *ix, const char *name, size_t len,
    uint32_t hash)
{
	for (uint32_t i = hash ^ hash >> 15;; i++) {
		struct name_slot *s = &ix->names[i & ix->name_mask];

		if (s->name == NULL || (s->hash == hash && s->len == len &&
		    memcmp(s->name, name, len) == 0))
			return s;
	}
}

static void
add_path(struct fs_index *ix, const char *text, enum fs_list list, size_t i)
{
	size_t len = strlen(text);
	uint32_t hash = str_hash(text, len);
	struct path_slot *s = find_path(ix, text, len, hash);

	if (s->text == NULL) {
		s->text = text;
		s->hash = hash;
		s->len = (uint32_t)len;
		for (size_t k = 0; k < FS_NLISTS; k++)
			s->entry[k] = NONE;
	}
	if (s->entry[list] == NONE)
		s->entry[list] = (int32_t)i;
}

static uint16_t
pair(const char *p)
{
	return (uint16_t)((unsigned char)p[0] << 8 | (unsigned char)p[1]);
}

/* DIR and two stars and NAME without a wildcard: NAME, or NULL. */
static const char *
plain_name(const struct leaf *leaf)
{
	const char *rest = leaf->pattern->text + leaf->root_len;

	if (strncmp(rest, "/**/", 4) != 0 ||
	    rest[4 + strcspn(rest + 4, "/*?[\\")] != '\0')
		return NULL;
	return rest + 4;
}

static void
look_at(struct leaf *leaf)
{
	const char *text = leaf->pattern->text;
	const char *last = path_name(text);
	size_t len = strlen(last);
	size_t root = strcspn(text, "*?[\\");

	while (root > 0 && text[root] != '/')
		root--;
	leaf->root_len = (uint32_t)root;
	if (strchr(last, '\\') != NULL || strchr(last, '[') != NULL || len < 2)
		return;
	if (strcspn(last, "*?") >= 2)
		leaf->head = pair(last);
	if (strpbrk(last + len - 2, "*?") == NULL)
		leaf->tail = pair(last + len - 2);
}

static void
chain_name(struct fs_index *ix, int32_t i)
{
	struct leaf *leaf = &ix->leaves[i];
	const char *name = plain_name(leaf);
	size_t len = strlen(name);
	uint32_t hash = str_hash(name, len);
	struct name_slot *s = find_name(ix, name, len, hash);

	leaf->next = s->name != NULL ? s->first : NONE;
	s->name = name;
	s->hash = hash;
	s->len = (uint32_t)len;
	s->first = i;
}

struct leaves { struct leaf *v; size_t n, cap; };

struct builder {
	struct fs_index		*ix;
	struct leaves		 free, named;
	bool			 counts;	/* first pass: how many paths */
	size_t			 npaths;
};

static void
add_leaf(struct builder *b, const struct pattern *p, enum fs_list list,
    size_t i)
{
	struct leaf leaf = { .pattern = p, .list = list,
	    .entry = (int32_t)i, .next = NONE };

	for (size_t k = 0; k < p->nalts; k++)
		add_leaf(b, p->alts[k], list, i);
	if (p->nalts != 0)
		return;
	if (p->kind == PATTERN_PATH) {
		b->npaths++;
		if (!b->counts)
			add_path(b->ix, p->text, list, i);
	} else if (b->counts) {
		look_at(&leaf);
		if (plain_name(&leaf) != NULL)
			*vec_push(&b->named) = leaf;
		else
			*vec_push(&b->free) = leaf;
	}
}

static void
add_lists(struct builder *b, const struct policy *p)
{
	for (unsigned list = 0; list < FS_NLISTS; list++) {
		const struct strlist *l = fs_list_of(p, list);

		for (size_t i = 0; i < l->n; i++)
			add_leaf(b, l->v[i].pattern, list, i);
	}
}

static uint32_t
table_size(size_t n)
{
	uint32_t size = 4;

	while (size < n * 2)
		size *= 2;
	return size;
}

const struct fs_index *
fs_index_new(struct arena *a, const struct policy *p)
{
	struct fs_index *ix = arena_alloc(a, sizeof *ix);
	struct builder b = { .ix = ix, .counts = true };
	size_t n;

	add_lists(&b, p);
	ix->path_mask = table_size(b.npaths) - 1;
	ix->paths = arena_alloc(a, (ix->path_mask + 1) * sizeof *ix->paths);
	ix->name_mask = table_size(b.named.n) - 1;
	ix->names = arena_alloc(a, (ix->name_mask + 1) * sizeof *ix->names);
	ix->has_names = b.named.n != 0;
	ix->nfree = b.free.n;
	n = b.free.n + b.named.n;
	ix->leaves = arena_alloc(a, n * sizeof *ix->leaves);
	if (b.free.n != 0)
		memcpy(ix->leaves, b.free.v, b.free.n * sizeof *ix->leaves);
	if (b.named.n != 0)
		memcpy(ix->leaves + b.free.n, b.named.v,
		    b.named.n * sizeof *ix->leaves);
	for (size_t i = ix->nfree; i < n; i++)
		chain_name(ix, (int32_t)i);
	b.counts = false;
	add_lists(&b, p);
	vec_release(&b.free);
	vec_release(&b.named);
	return ix;
}

/* Longer wins; of two as long in one list the first. */
static void
take(struct fs_match *m, size_t len, int32_t entry)
{
	if (len > m->len || (len == m->len && (size_t)entry < m->entry)) {
		m->len = len;
		m->entry = (size_t)entry;
	}
}

static void
take_path(const struct path_slot *s, size_t len, unsigned want,
    struct fs_match *ret)
{
	if (s->text == NULL)
		return;
	for (unsigned list = 0; list < FS_NLISTS; list++)
		if ((want & 1u << list) != 0 && s->entry[list] != NONE)
			take(&ret[list], len, s->entry[list]);
}

static bool
is_below_root(const struct leaf *leaf, const char *path, size_t parent_len)
{
	return leaf->root_len <= parent_len &&
	    memcmp(path, leaf->pattern->text, leaf->root_len) == 0 &&
	    path[leaf->root_len] == '/';
}

/*
 * Folders that tools fill and empty as a whole: a denial to write that looks
 * at any depth does not mean what lies in them.
 */
static bool
is_tools(const struct leaf *leaf, const char *path, size_t end)
{
	static const char *const names[] = { "/node_modules/",
	    "/site-packages/" };

	if (leaf->list != FS_DENY_WRITE ||
	    strstr(leaf->pattern->text, "**") == NULL)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const char *p = strstr(path + leaf->root_len, names[i]);

		if (p != NULL && p + strlen(names[i]) <= path + end)
			return true;
	}
	return false;
}

static void
take_name(const struct fs_index *ix, const char *path, size_t parent_len,
    size_t end, uint32_t hash, unsigned want, struct fs_match *ret)
{
	const struct name_slot *s = find_name(ix, path + parent_len + 1,
	    end - parent_len - 1, hash);

	if (s->name == NULL)
		return;
	for (int32_t i = s->first; i != NONE; i = ix->leaves[i].next) {
		const struct leaf *leaf = &ix->leaves[i];

		if ((want & 1u << leaf->list) != 0 &&
		    is_below_root(leaf, path, parent_len) &&
		    !is_tools(leaf, path, end))
			take(&ret[leaf->list], end, leaf->entry);
	}
}

/* Pairs of bytes that names of the path begin and end with. */
struct glance {
	uint64_t	head[16], tail[16];
};

static void
note(uint64_t *set, uint16_t two)
{
	unsigned bit = (unsigned)(two * 40503u >> 4) & 1023;

	set[bit / 64] |= 1ULL << bit % 64;
}

static bool
is_noted(const uint64_t *set, uint16_t two)
{
	unsigned bit = (unsigned)(two * 40503u >> 4) & 1023;

	return two == 0 || (set[bit / 64] >> bit % 64 & 1) != 0;
}

static void
take_free(const struct fs_index *ix, const char *path, size_t path_len,
    const struct glance *seen, unsigned want, struct fs_match *ret)
{
	for (size_t i = 0; i < ix->nfree; i++) {
		const struct leaf *leaf = &ix->leaves[i];
		size_t len;

		if ((want & 1u << leaf->list) == 0 ||
		    !is_noted(seen->tail, leaf->tail) ||
		    !is_noted(seen->head, leaf->head) ||
		    leaf->root_len >= path_len ||
		    !is_below_root(leaf, path, path_len))
			continue;
		len = glob_match(leaf->pattern->text, path);
		if (len != 0 && !is_tools(leaf, path, len))
			take(&ret[leaf->list], len, leaf->entry);
	}
}

void
fs_index_find(const struct policy *p, const char *path, unsigned want,
    struct fs_match ret[FS_NLISTS])
{
	const struct fs_index *ix = p->fs_index;
	struct glance seen = { { 0 }, { 0 } };
	uint32_t hash = STR_HASH_START;
	size_t i = 0;

	memset(ret, 0, FS_NLISTS * sizeof *ret);
	take_path(find_path(ix, "/", 1, str_hash_add(hash, '/')), 1, want, ret);
	while (path[i] == '/' && path[i + 1] != '\0') {
		uint32_t name_hash = STR_HASH_START;
		size_t parent = i;

		hash = str_hash_add(hash, '/');
		for (i++; path[i] != '/' && path[i] != '\0'; i++) {
			hash = str_hash_add(hash, (unsigned char)path[i]);
			name_hash = str_hash_add(name_hash, (unsigned char)path[i]);
		}
		take_path(find_path(ix, path, i, hash), i, want, ret);
		if (ix->has_names)
			take_name(ix, path, parent, i, name_hash, want, ret);
		if (i - parent > 2) {
			note(seen.head, pair(path + parent + 1));
			note(seen.tail, pair(path + i - 2));
		}
	}
	take_free(ix, path, i, &seen, want, ret);
}
