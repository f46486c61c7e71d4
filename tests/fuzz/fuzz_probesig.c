/* A signature of trace.calls: what is taken is within its bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/probesig.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char text[2048];
	struct probesig s;
	struct err e = { 0 };
	size_t bytes;

	if (len >= sizeof text || memchr(data, '\0', len) != NULL)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	if (probesig_parse(text, &s, &e) != 0) {
		if (e.msg[0] == '\0' || e.hint[0] == '\0')
			abort();
		return 0;
	}
	if (s.name[0] == '\0' || strlen(s.name) > PROBESIG_NAME_MAX ||
	    s.nargs > PROBESIG_ARGS_MAX)
		abort();
	bytes = s.result.max;
	for (size_t i = 0; i < s.nargs; i++)
		bytes += s.arg[i].max;
	if (bytes > PROBESIG_DATA_MAX)
		abort();
	return 0;
}
