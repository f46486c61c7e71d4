#include "platform/name_filter.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/fd.h"
#include "platform/listed.h"

enum {
	LIST_BYTES = 4 << 10,
	LISTS_MAX = 2,		/* some 250 names: more cost more than looks */
	NBITS = 8 * sizeof ((struct name_filter *)0)->bits,
};

/* Upper and lower case share a bit: some file systems hold them for equal. */
static uint32_t
bit_of(const char *name, size_t n)
{
	uint32_t hash = STR_HASH_START;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		hash = str_hash_add(hash, c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	return (hash ^ hash >> 16) % NBITS;
}

static bool
is_ascii(const char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name >= 0x80)
			return false;
	return true;
}

void
name_filter_add(struct name_filter *s, const char *name)
{
	uint32_t bit = bit_of(name, strlen(name));

	s->bits[bit / 64] |= UINT64_C(1) << bit % 64;
	s->has_other |= !is_ascii(name);
}

static void
add_names(struct name_filter *s, const char *list, long n)
{
	for (long at = 0; at < n;) {
		const struct listed *d = (const void *)(list + at);

		name_filter_add(s, d->name);
		at += d->size;
	}
}

void
name_filter_read(struct name_filter *s, const char *folder)
{
	_Alignas(8) char list[LIST_BYTES];
	auto_fd fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = fd < 0 ? -1 : 1;

	*s = (struct name_filter){ .is_whole = false };
	for (int i = 0; i <= LISTS_MAX && n > 0; i++) {
		n = syscall(SYS_getdents64, fd, list, sizeof list);
		add_names(s, list, n);
	}
	s->is_whole = n == 0;
}

bool
name_filter_lacks(const struct name_filter *s, const char *path)
{
	uint32_t bit = bit_of(path, strcspn(path, "/"));

	return s->is_whole && !s->has_other &&
	    (s->bits[bit / 64] >> bit % 64 & 1) == 0;
}
