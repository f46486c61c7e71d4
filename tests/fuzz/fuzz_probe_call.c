/*
 * Bytes from the probe library: a line of signatures, then the datagram.
 * What is taken is words without control characters.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/record/probe_call.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const char *words)
{
	if (words == NULL || words[0] == '\0')
		abort();
	for (; *words != '\0'; words++)
		if ((unsigned char)*words < ' ' || *words == 0x7f)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *newline = memchr(data, '\n', len);
	struct probesig sig[2];
	struct probe_call call;
	struct err e = { 0 };
	struct arena *a;
	char text[256];
	size_t n;

	if (newline == NULL || (size_t)(newline - data) >= sizeof text)
		return 0;
	n = (size_t)(newline - data);
	memcpy(text, data, n);
	text[n] = '\0';
	if (strlen(text) != n || probesig_parse(text, &sig[0], &e) != 0)
		return 0;
	sig[1] = sig[0];
	a = arena_new();
	if (probe_call_read(a, sig, 2, newline + 1, len - n - 1, &call) == 0) {
		if (call.nargs != sig[0].nargs || strlen(call.comm) > 16)
			abort();
		for (size_t i = 0; i < call.nargs; i++)
			check(call.arg[i]);
		if ((call.result == NULL) != (sig[0].result.type == 'v'))
			abort();
		if (call.result != NULL)
			check(call.result);
	}
	arena_free(a);
	return 0;
}
