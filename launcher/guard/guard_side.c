/* Other work of the guard's process: its lines on the way to the launcher. */
#include "launcher/guard/guard_parts.h"

/* It was made of names that the jail chose. */
bool
guard_side_is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static void
say(const char *line, void *arg)
{
	struct guard *g = arg;
	struct guard_told t = { .deed = GUARD_SAID, .kind = GUARD_GIT,
	    .what = line, .count = 1 };

	if (g->tell != NULL && guard_side_is_line(line))
		(void)g->tell(g, &t, NULL, 0);
}

void
guard_side_ready(struct guard *g)
{
	if (g->is_side_due)
		g->side.ready(g->side.arg, say, g);
}

void
guard_side_watch(struct guard *g)
{
	if (!g->is_side_due)
		return;
	g->side_fd = g->side.watch(g->side.arg);
	guard_side_ready(g);	/* for what happened before */
}

/*
 * Not in the launcher, which may write no file by now: the next start does what
 * a process that died has left.
 */
void
guard_side_last(struct guard *g)
{
	if (!g->is_side_due || !g->is_process)
		return;
	g->is_side_due = false;
	g->side.end(g->side.arg, say, g);
}
