/*
 * Agents' files: of any two texts the answer ends; what the host is to have can
 * be read, and when it is sifted once more nothing in it is left to put back.
 * The first byte is the row ('A' is the first), then comes the host's text,
 * a line of "%" or a zero byte, and the jail's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/agentconf.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const struct agentconf_file *f, const char *before, size_t before_len,
    const char *after, size_t after_len)
{
	struct arena *a = arena_new();
	struct agentconf_answer w, again;

	agentconf_sift(a, f, before, before_len, after, after_len, &w);
	if (w.nkeys > AGENTCONF_KEYS_MAX || (w.verdict != AGENTCONF_SIFTED &&
	    w.nkeys > 0))
		abort();
	if ((w.verdict == AGENTCONF_UNREADABLE) != (w.why != NULL))
		abort();
	if (w.verdict == AGENTCONF_CARRIED && (w.text != after ||
	    w.len != after_len))
		abort();
	if (w.verdict == AGENTCONF_SIFTED || w.verdict == AGENTCONF_CARRIED) {
		agentconf_sift(a, f, before, before_len, w.text, w.len,
		    &again);
		if (again.verdict != AGENTCONF_CARRIED &&
		    again.verdict != AGENTCONF_SAME)
			abort();
	}
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char line[] = "\n%\n";
	const char *text = (const char *)data;
	const char *mid = len > 1 ? memmem(text + 1, len - 1, line,
	    sizeof line - 1) : NULL;
	size_t skip = sizeof line - 1, nfiles = 0;
	const struct agentconf_file *f;

	if (len < 2)
		return 0;
	if (mid == NULL && (mid = memchr(text + 1, '\0', len - 1)) != NULL)
		skip = 1;
	while (agentconf_files[nfiles].name != NULL)
		nfiles++;
	f = &agentconf_files[(unsigned char)(data[0] - 'A') % nfiles];
	if (mid == NULL)
		check(f, NULL, 0, text + 1, len - 1);
	else
		check(f, text + 1, (size_t)(mid - text) - 1, mid + skip,
		    len - (size_t)(mid - text) - skip);
	return 0;
}
