#include "launcher/guard/guard_text.h"

#include <string.h>

#include "platform/base/str.h"

void
guard_text_word(struct buf *b, const char *path)
{
	buf_putc(b, '\'');
	for (const char *p = path; *p != '\0';) {
		size_t n = strcspn(p, "'");

		str_escape(b, p, n, 0);
		p += n;
		if (*p == '\'') {
			buf_puts(b, "'\\''");
			p++;
		}
	}
	buf_putc(b, '\'');
}

static void
put_back(struct buf *b, const char *command, const struct guard_told *t)
{
	if (t->to == NULL)
		return;
	buf_printf(b, "; back with: %s ", command);
	guard_text_word(b, t->to);
	buf_putc(b, ' ');
	guard_text_word(b, t->path);
}

static void
put_keys(struct buf *b, const struct guard_told *t)
{
	buf_puts(b, " told git what to execute, or where to read that; "
	    "removed from it: ");
	str_escape(b, t->what, strlen(t->what), 0);
	put_back(b, "cp", t);
}

static void
put_gone(struct buf *b, const struct guard_told *t)
{
	buf_puts(b, " is what git executes or obeys, and this run made or "
	    "changed it: ");
	if (t->deed == GUARD_FAILED)
		buf_printf(b, "it could not be taken away: %s",
		    strerror(t->sys));
	else if (t->to == NULL)
		buf_puts(b, "it was removed");
	else
		buf_puts(b, "it lies in quarantine");
	put_back(b, "mv", t);
}

static void
put_state(struct buf *b, const struct guard_told *t)
{
	if (t->deed == GUARD_FAILED) {
		buf_printf(b, " holds what its agent executes, and this run "
		    "changed it: it could not be put back: %s",
		    strerror(t->sys));
		return;
	}
	if (t->deed == GUARD_CLEANED)
		buf_puts(b, " has keys that its agent executes or obeys; as "
		    "before this run are again: ");
	else if (t->deed == GUARD_PUT_BACK)
		buf_puts(b, " is as it was before this run, which left "
		    "something that cannot be compared: ");
	else
		buf_puts(b, " stood where an agent reads its settings, and "
		    "this run made it; it lies in quarantine");
	if (t->what != NULL)
		str_escape(b, t->what, strlen(t->what), 0);
	if (t->to != NULL && t->deed == GUARD_CLEANED) {
		buf_puts(b, "; see: diff ");
		guard_text_word(b, t->to);
		buf_putc(b, ' ');
		guard_text_word(b, t->path);
	}
	put_back(b, t->deed == GUARD_MOVED ? "mv" : "cp", t);
}

void
guard_text_git(struct buf *b, const struct guard_told *t)
{
	guard_text_word(b, t->path);
	if (t->kind == GUARD_STATE)
		put_state(b, t);
	else if (t->deed == GUARD_FOUND)
		buf_puts(b, " is a git directory that this run made inside "
		    "an older work tree");
	else if (t->deed == GUARD_CUT)
		buf_puts(b, " holds too much, or lies too deep: not all of it "
		    "was looked at for git directories that this run made");
	else if (t->what != NULL && t->deed != GUARD_FAILED)
		put_keys(b, t);
	else
		put_gone(b, t);
}
