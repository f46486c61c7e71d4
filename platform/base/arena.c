#include "platform/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/xalloc.h"

enum { ARENA_BLOCK = 16 * 1024, ARENA_ALIGN = 16 };

struct block {
	struct block	*next;
	size_t		 used;
	size_t		 size;
	_Alignas(16) unsigned char data[];
};

struct arena {
	struct block	*first;
};

struct arena *
arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void
arena_free(struct arena *a)
{
	struct block *b, *next;

	if (a == NULL)
		return;
	for (b = a->first; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

int
arena_has(const struct arena *a, const void *p)
{
	uintptr_t at = (uintptr_t)p;

	for (const struct block *b = a->first; b != NULL; b = b->next)
		if (at >= (uintptr_t)b->data &&
		    at - (uintptr_t)b->data < b->used)
			return 1;
	return 0;
}

/* Not zeroed: of a block that is never used up the kernel gives no pages. */
static void *
take(struct arena *a, size_t n)
{
	struct block *b = a->first;
	size_t size;
	void *p;

	if (n > SIZE_MAX / 2)
		xalloc_die();
	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (b == NULL || b->size - b->used < n) {
		size = n > ARENA_BLOCK / 4 ? n : ARENA_BLOCK;
		b = xrealloc(NULL, 1, sizeof *b + size);
		*b = (struct block){ .size = size };
		/* A large lone block goes second: the open one stays open. */
		if (size == n && a->first != NULL) {
			b->next = a->first->next;
			a->first->next = b;
		} else {
			b->next = a->first;
			a->first = b;
		}
	}
	p = b->data + b->used;
	b->used += n;
	return p;
}

void *
arena_alloc(struct arena *a, size_t n)
{
	return memset(take(a, n), 0, n);
}

char *
arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = take(a, n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *
arena_join(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir), len = strlen(name);
	char *p = take(a, n + len + 2);

	memcpy(p, dir, n);
	p[n] = '/';
	memcpy(p + n + 1, name, len + 1);
	return p;
}

/* Written into the room of the open block; once more where that is too small. */
char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	struct block *b = a->first;
	size_t room = b != NULL ? b->size - b->used : 0;
	char *there = room > 0 ? (char *)b->data + b->used : NULL;
	va_list ap, again;
	char *p;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(there, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		xalloc_die();
	p = take(a, (size_t)n + 1);
	if (p != there)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}
