/* /proc/net/unix: it ends, and what it tells are paths of one line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/unixlist.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const char *path, void *arg)
{
	size_t *left = arg, n = strlen(path);

	if (path[0] == '@' || n == 0 || strchr(path, '\n') != NULL || n >= *left)
		abort();
	*left -= n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len != 0 ? len : 1);
	size_t left = len;

	if (text == NULL)
		return 0;
	memcpy(text, data, len);
	unixlist_parse(text, len, check, &left);
	free(text);
	return 0;
}
