/*
 * tree_text: files as words, for a room (room.h).  Entries stand between blanks
 * or line ends: "a/b" a file, "a/b:TEXT" one with this text (";" for a blank),
 * "a/b/" a folder, "a/b>TEXT" a symlink, "a/b=" a unix socket that listens,
 * "a/b!" a folder that nobody may enter.  "@/" is the room, there and in
 * policies.
 */
#ifndef FENCE_TESTS_TREE_TEXT_H
#define FENCE_TESTS_TREE_TEXT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "platform/base/buf.h"
#include "tests/unit/room.h"

/* The room for the "@" of each "@/"; the caller frees it. */
static inline char *
room_expand(const struct room *r, const char *text)
{
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	for (; *text != '\0'; text++)
		if (strncmp(text, "@/", 2) == 0)
			buf_puts(&b, r->dir);
		else
			buf_putc(&b, *text);
	ret = strdup(b.data);
	assert_non_null(ret);
	buf_release(&b);
	return ret;
}

/* The reverse. */
static inline char *
room_shorten(const struct room *r, const char *text)
{
	size_t n = strlen(r->dir);
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	for (; *text != '\0'; text++)
		if (strncmp(text, r->dir, n) == 0) {
			buf_putc(&b, '@');
			text += n - 1;
		} else {
			buf_putc(&b, *text);
		}
	ret = strdup(b.data);
	assert_non_null(ret);
	buf_release(&b);
	return ret;
}

/* A notice of other programs' sockets, which come and go on this machine. */
static inline bool
is_of_machine(const char *notice)
{
	return strstr(notice, " of the host cannot be located, ") != NULL;
}

/* Returns the descriptor, which the caller closes. */
static inline int
tree_socket(struct room *r, const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	room_put(r, name, "");
	room_remove(r, name);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", room_path(r, name));
	assert_int_equal(bind(fd, (void *)&un, sizeof un), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* The descriptor of the last socket, or -1. */
static inline int
tree_make(struct room *r, const char *words)
{
	char *text = room_expand(r, words), *save = NULL;
	int fd = -1;

	for (char *w = strtok_r(text, " \n", &save); w != NULL;
	    w = strtok_r(NULL, " \n", &save)) {
		char *to = strpbrk(w, ">:"), *end = w + strlen(w) - 1;

		for (char *c = w; (c = strchr(c, ';')) != NULL; )
			*c = ' ';
		if (to != NULL && *to == ':') {
			*to = '\0';
			room_put(r, w, to + 1);
		} else if (to != NULL) {
			*to = '\0';
			room_put(r, w, "");
			room_remove(r, w);
			assert_int_equal(symlink(to + 1, room_path(r, w)), 0);
		} else if (*end == '=') {
			*end = '\0';
			if (fd >= 0)
				close(fd);
			fd = tree_socket(r, w);
		} else if (*end == '!') {
			*end = '/';
			room_put(r, w, "");
			assert_int_equal(chmod(room_path(r, w), 0), 0);
		} else {
			room_put(r, w, w);
		}
	}
	free(text);
	return fd;
}

#endif
