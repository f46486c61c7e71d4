/*
 * /proc/net/unix: it ends, and what it tells are paths of one line.  The same
 * bytes as an answer of sock_diag's: it ends, with names that fit.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/unixlist.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const struct unixlist_entry *e, void *arg)
{
	const char *path = e->path;
	size_t *left = arg, n = strlen(path);

	if (path[0] == '@' || n == 0 || strchr(path, '\n') != NULL || n >= *left)
		abort();
	*left -= n;
}

static void
check_name(const struct unixlist_entry *e, void *arg)
{
	size_t n = strlen(e->path);

	if (n == 0 || n >= UNIXLIST_NAME_MAX || arg != NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len != 0 ? len : 1);
	size_t left = len;

	if (text == NULL)
		return 0;
	memcpy(text, data, len);
	(void)unixdiag_parse(text, len, check_name, NULL);
	unixlist_parse(text, len, check, &left);
	free(text);
	return 0;
}
