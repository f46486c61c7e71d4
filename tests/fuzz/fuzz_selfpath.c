/* The path and query of a page of http://fence.internal/: "PATH?QUERY". */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/selfpath.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *p = (const char *)data, *why = NULL;
	const char *mark = len > 0 ? memchr(p, '?', len) : NULL;
	size_t n = mark != NULL ? (size_t)(mark - p) : len;
	struct selfpath s;
	int code = selfpath_parse((struct str){ p, n },
	    (struct str){ p + n, len - n }, &s, &why);

	if (code != 0) {
		if ((code != 400 && code != 404) || why == NULL)
			abort();
		return 0;
	}
	if (strnlen(s.host, sizeof s.host) == sizeof s.host ||
	    (s.page == SELFPATH_WHY) != (s.host[0] != '\0') ||
	    (s.page == SELFPATH_WHY && s.port == 0))
		abort();
	return 0;
}
