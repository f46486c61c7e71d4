#include "platform/pause.h"

#ifdef FENCE_TEST_HOOKS
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
say(const char *s)
{
	(void)!write(STDERR_FILENO, s, strlen(s));
}

void
pause_at(const char *point)
{
	const char *want = getenv("FENCE_PAUSE_AT");
	const char *until = getenv("FENCE_PAUSE_UNTIL");

	if (want == NULL || strcmp(want, point) != 0)
		return;
	say("fence: paused at ");
	say(point);
	say("\n");
	while (until == NULL || access(until, F_OK) != 0)
		poll(NULL, 0, until == NULL ? -1 : 1);
}

/* Behind the feature's name in FENCE_PRETEND, or NULL. */
static const char *
find(const char *feature)
{
	const char *p = getenv("FENCE_PRETEND");
	size_t n = strlen(feature);

	while (p != NULL && *p != '\0') {
		if (strncmp(p, feature, n) == 0 &&
		    strchr(",=", p[n]) != NULL)
			return p + n;
		p = strchr(p, ',');
		if (p != NULL)
			p++;
	}
	return NULL;
}

bool
pretend_lacks(const char *feature)
{
	const char *p = find(feature);

	return p != NULL && *p != '=';
}

int
pretend_number(const char *feature, int real)
{
	const char *p = find(feature);

	return p != NULL && *p == '=' ? atoi(p + 1) : real;
}

const char *
pretend_text(const char *variable, const char *real)
{
	const char *value = getenv(variable);

	return value != NULL ? value : real;
}
#else
/* ISO C wants a declaration in every translation unit. */
extern int pause_is_empty;
#endif
