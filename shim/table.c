#include "shim/hook.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "shim/table.h"
#include "shim/sys.h"
#include "shim/wire.h"

static const uint32_t no_bucket[1];
static const struct table empty_table = { .buckets = no_bucket };

const struct table *the_table;

bool
leaf_of(const char *path, struct leaf *ret)
{
	size_t n = strnlen(path, PATH_MAX);
	const char *slash;

	if (n == PATH_MAX)
		return false;
	while (n > 0 && path[n - 1] == '/')
		n--;
	slash = memrchr(path, '/', n);
	ret->dir_len = slash == NULL ? 0 : slash + 1 - path;
	ret->name = path + ret->dir_len;
	ret->len = n - ret->dir_len;
	if (ret->name[0] == '.' &&
	    (ret->len == 1 || (ret->len == 2 && ret->name[1] == '.')))
		return false;
	return ret->len > 0;
}

static bool
dir_stat(int dir_fd, const char *dir, struct dir_id *ret)
{
	struct stat st;

	if (SYS(newfstatat, dir_fd, dir, &st, 0) < 0)
		return false;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return true;
}

/* The same of a path's first bytes, which are off the stack again then. */
static __attribute__((noinline)) bool
dir_stat_n(int dir_fd, const char *path, size_t len, struct dir_id *ret)
{
	char *dir = __builtin_alloca(len + 1);

	memcpy(dir, path, len);
	dir[len] = '\0';
	return dir_stat(dir_fd, dir, ret);
}

bool
leaf_dir(int dir_fd, const char *path, const struct leaf *leaf,
    struct dir_id *ret)
{
	if (leaf->dir_len == 0)
		return dir_stat(dir_fd, ".", ret);
	return dir_stat_n(dir_fd, path, leaf->dir_len, ret);
}

bool
name_is_in(const struct name *n, const struct dir_id *id)
{
	struct dir_id now = { n->dev, n->ino };

	if (n->dev == 0 && n->ino == 0 &&
	    !dir_stat_n(AT_FDCWD, n->path, n->dir_len, &now))
		return false;
	return now.dev == id->dev && now.ino == id->ino;
}

/* Three bytes and the length tell the usual names apart, at a fixed price. */
static uint32_t
table_hash(const char *s, size_t len)
{
	uint32_t h = (unsigned char)s[0] | (unsigned char)s[len / 2] << 8 |
	    (unsigned char)s[len - 1] << 16;

	return ((h ^ (uint32_t)len << 24) * 0x9e3779b1u) >> 12;
}

uint32_t
table_bucket(const struct table *t, const struct leaf *leaf)
{
	return t->buckets[table_hash(leaf->name, leaf->len) & t->mask];
}

bool
table_is(const struct table *t, uint32_t i, const struct leaf *leaf)
{
	const char *name = t->text + t->v[i].name;

	return strncmp(name, leaf->name, leaf->len) == 0 &&
	    name[leaf->len] == '\0';
}

/* A decimal number and the blank behind it; NULL if there is none. */
static const char *
take_number(const char *s, uint64_t *ret)
{
	const char *p;
	uint64_t n = 0;

	for (p = s; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, *p - '0', &n))
			return NULL;
	*ret = n;
	return p > s && *p == ' ' ? p + 1 : NULL;
}

static bool
take_name(const char *s, struct name *ret)
{
	struct leaf leaf;
	const char *p;

	if ((s[0] != NAME_GUARDED && s[0] != NAME_FILE &&
	    s[0] != NAME_BOUND) || s[1] != ' ' ||
	    (p = take_number(s + 2, &ret->dev)) == NULL ||
	    (p = take_number(p, &ret->ino)) == NULL || p[0] != '/' ||
	    !leaf_of(p, &leaf) || leaf.len > TABLE_LEAF_MAX ||
	    leaf.name[leaf.len] != '\0')
		return false;
	ret->kind = s[0];
	ret->path = p;
	ret->dir_len = leaf.dir_len;
	return true;
}

void
table_at(const struct table *t, uint32_t i, struct name *ret)
{
	(void)take_name(t->text + t->v[i].at, ret);	/* it was good before */
}

static uint32_t
count_records(const char *text, size_t len)
{
	const char *s = text, *stop = text + len;
	uint32_t n = 0;

	while ((s = memchr(s, '\0', stop - s)) != NULL) {
		n++;
		s++;
	}
	return n;
}

/* At least twice as many as there are names. */
static uint32_t
bucket_count(uint32_t names)
{
	uint32_t n = 4;

	while (n < 2 * names)
		n *= 2;
	return n;
}

size_t
table_room(const char *text, size_t len)
{
	uint32_t n = count_records(text, len);

	return sizeof(struct table) + (n + 1) * sizeof(struct table_entry) +
	    bucket_count(n) * sizeof(uint32_t);
}

/* Names are kept in a list for each bucket, other kinds in one of their own. */
static void
fill_buckets(struct table *t, struct table_entry *v, uint32_t n,
    uint32_t *buckets)
{
	const char *name;
	uint32_t i, *list;

	t->mask = bucket_count(t->nguards) - 1;
	t->buckets = buckets;
	for (i = 1; i <= n; i++) {
		name = t->text + v[i].name;
		list = t->text[v[i].at] == NAME_FILE ? &t->first_file :
		    t->text[v[i].at] == NAME_BOUND ? &t->first_bound :
		    &buckets[table_hash(name, strlen(name)) & t->mask];
		v[i].next = *list;
		*list = i;
	}
}

struct table *
table_build(void *mem, const char *text, size_t len)
{
	struct table *t = mem;
	struct table_entry *v = (struct table_entry *)(t + 1);
	const char *s, *end, *stop = text + len;
	struct name one;
	uint32_t n = 0;

	t->text = text;
	t->text_len = len;
	for (s = text; (end = memchr(s, '\0', stop - s)) != NULL;
	    s = end + 1) {
		if (s[0] == 'D' && s[1] == '\0')
			t->needs_grant = true;
		if (s[0] == 'L' && (s[1] == '\0' || s[1] == ' '))
			t->listened = s + 1;
		if (!take_name(s, &one))
			continue;
		v[++n].at = s - text;
		v[n].name = one.path + one.dir_len - text;
		if (one.kind == NAME_GUARDED)
			t->nguards++;
	}
	t->v = v;
	fill_buckets(t, v, n, (uint32_t *)(v + n + 1));
	return t;
}

static long
map(size_t len, int prot, int flags, int fd)
{
	return SYS(mmap, NULL, len, prot, MAP_PRIVATE | flags, fd, 0);
}

/* The table of an open file: NULL if it cannot be had at the moment. */
static const struct table *
load_fd(int fd)
{
	struct stat st;
	long text, mem;

	if (SYS(fstat, fd, &st) < 0)
		return NULL;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > TABLE_BYTES_MAX)
		return &empty_table;
	text = map(st.st_size, PROT_READ, 0, fd);
	if (sys_failed(text))
		return NULL;
	mem = map(table_room((char *)text, st.st_size),
	    PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	if (sys_failed(mem)) {
		SYS(munmap, text, st.st_size);
		return NULL;
	}
	return table_build((void *)mem, (char *)text, st.st_size);
}

static void
unload(const struct table *t)
{
	size_t room;

	if (t == &empty_table)
		return;
	room = table_room(t->text, t->text_len);
	SYS(munmap, t->text, t->text_len);
	SYS(munmap, t, room);
}

const struct table *
table_load(void)
{
	const struct table *mine, *theirs = NULL;
	int fd = SYS(openat, AT_FDCWD, WIRE_TABLE,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	/* Want of descriptors or memory may pass, want of a file will not. */
	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -EINTR)
		return &empty_table;
	mine = fd < 0 ? &empty_table : load_fd(fd);
	if (fd >= 0)
		SYS(close, fd);
	if (mine == NULL)
		return &empty_table;
	if (__atomic_compare_exchange_n(&the_table, &theirs, mine, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	unload(mine);
	return theirs;
}
