#include "platform/linux/unixlist.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/xalloc.h"
#include "platform/fd.h"

/* The seven columns before the path; NULL: this is no line of a socket. */
static char *
skip_columns(char *p, uint64_t *ret_socket)
{
	for (int i = 0; i < 7; i++) {
		size_t n = 0;

		while (*p == ' ')
			p++;
		while (isxdigit((unsigned char)p[n]))
			n++;
		if (n == 0)
			return NULL;
		if (i == 6)
			*ret_socket = strtoull(p, NULL, 10);
		p += n;
		if (i == 0 && *p++ != ':')
			return NULL;
		if (*p != ' ' && (i < 6 || *p != '\0'))
			return NULL;
	}
	return p;
}

/*
 * A newline in a path is printed as it is, so a line that is none of a
 * socket's means that the path before it was cut: told of neither.
 */
void
unixlist_parse(char *text, size_t len, unixlist_fn *fn, void *arg)
{
	char *end = text + len, *line = text, *nl, *p;
	struct unixlist_entry held = { .path = NULL };
	uint64_t socket = 0;

	while ((nl = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		*nl = '\0';
		p = skip_columns(line, &socket);
		if (p != NULL && held.path != NULL)
			fn(&held, arg);
		held.path = p != NULL && p[0] == ' ' && p[1] != '@' &&
		    p[1] != '\0' && strlen(p) == (size_t)(nl - p) ? p + 1 : NULL;
		held.socket = socket;
		line = nl + 1;
	}
	if (held.path != NULL)
		fn(&held, arg);
}

static int
read_text(unixlist_fn *fn, void *arg)
{
	static const size_t sizes[] = { 1 << 20, 16 << 20 };
	char *text = NULL;
	ssize_t n = -1;

	for (size_t i = 0; n < 0 && i < 2; i++) {
		text = xrealloc(text, sizes[i], 1);
		n = fd_read_file(AT_FDCWD, "/proc/net/unix", text, sizes[i]);
		if (n < 0 && errno != EFBIG)
			break;
	}
	if (n > 0)
		unixlist_parse(text, (size_t)n, fn, arg);
	free(text);
	return n < 0 ? -1 : 0;
}

/* What a conversation that broke off told comes again. */
int
unixlist_read(unixlist_fn *fn, void *arg)
{
	return unixdiag_read(fn, arg) == 0 ? 0 : read_text(fn, arg);
}
