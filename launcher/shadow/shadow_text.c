/* What the shadow did, in a line. */
#include <errno.h>
#include <string.h>

#include "launcher/guard/guard_text.h"
#include "launcher/shadow/shadow.h"
#include "platform/base/str.h"

static const char *
why_refused(int sys)
{
	switch (sys) {
	case ELOOP:
		return "it has a symlink that could lead elsewhere";
	case EMLINK:
		return "it has a file of several names";
	case ENOBUFS:
		return "one end carries no more than 4 GiB";
	case EFBIG:
		return "it is too big, too deep or too many";
	case EACCES:
		return "it may not be read";
	case EXDEV:
		return "another file system is mounted there";
	case EPERM:
		return "the host's belongs to another user";
	default:
		return "it is neither a file nor a folder";
	}
}

/* "~/x" for what lies in the home. */
static void
put_path(struct buf *b, const char *path, const char *home)
{
	size_t n = home != NULL ? strlen(home) : 0;

	if (n > 1 && str_path_below(path, home)) {
		buf_putc(b, '~');
		path += n;
	}
	str_escape(b, path, strlen(path), 0);
}

static void
put_place(struct buf *b, const struct shadow_told *t, const char *before)
{
	if (t->to == NULL)
		return;
	buf_puts(b, before);
	guard_text_word(b, t->to);
}

void
shadow_text(struct buf *b, const struct shadow_told *t, const char *home)
{
	put_path(b, t->path, home);
	switch (t->deed) {
	case SHADOW_CHANGED:
		buf_puts(b, " changed inside (kept in the shadow): "
		    "fence shadow diff");
		break;
	case SHADOW_WAS_CARRIED:
		buf_puts(b, " was carried to the host");
		break;
	case SHADOW_SET_ASIDE:
		buf_puts(b, t->sys == EBADMSG ? " does not parse any more: "
		    "the host's stays, the jail's version" :
		    t->sys == ENODATA ? " was emptied inside: the host's "
		    "stays, the jail's version" : " changed "
		    "inside, too: the host's holds, the jail's version");
		put_place(b, t, " is at ");
		break;
	case SHADOW_HOST_ASIDE:
		buf_puts(b, " was replaced or removed by the jail's version; "
		    "the host's");
		put_place(b, t, " is at ");
		break;
	case SHADOW_HELD:
		buf_puts(b, " changed inside in what it executes (kept in the "
		    "shadow): fence shadow diff");
		break;
	case SHADOW_REFUSED:
		buf_printf(b, " was not carried to the host, for %s",
		    why_refused(t->sys));
		put_place(b, t, "; it is at ");
		break;
	case SHADOW_LEFT_OUT:
		buf_printf(b, " is missing inside, for %s",
		    why_refused(t->sys));
		break;
	case SHADOW_FAILED:
		buf_printf(b, " could not be carried to the host: %s; the "
		    "next run tries again", strerror(t->sys));
		break;
	}
}
