/* Records while they are written: the file of a kept run, or any trace. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "launcher/history/history.h"
#include "launcher/history/lines.h"
#include "launcher/record/kept.h"
#include "platform/base/path.h"
#include "platform/fd.h"

/* The end of a killed run makes no event: its lock is asked for. */
enum { LOOK_MS = 500 };

static int
watch(const char *path, uint32_t mask, struct err *e)
{
	auto_fd fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0 || inotify_add_watch(fd, path, mask) < 0) {
		err_sys(e, errno, "cannot watch for records");
		err_where(e, path, 0, 0);
		return -1;
	}
	return fd_take(&fd);
}

/* Until something happens there, or LOOK_MS have passed. */
static void
wait_there(int watch_fd)
{
	struct pollfd p = { .fd = watch_fd, .events = POLLIN };
	char events[4096];

	if (poll(&p, 1, LOOK_MS) > 0)
		while (read(watch_fd, events, sizeof events) > 0)
			continue;
}

/* A run that writes a kept record holds its lock. */
static bool
is_over(int fd, const char *shown)
{
	if (!kept_is_name(path_name(shown)))
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return false;
	(void)flock(fd, LOCK_UN);
	return true;
}

int
history_follow(int fd, const char *shown,
    void (*line)(const char *, size_t, enum record_kind *, void *),
    void *arg, struct err *e)
{
	auto_fd watch_fd = watch(shown, IN_MODIFY, e);
	enum record_kind record = RECORD_OTHER;
	enum line_kind kind = LINE_NONE;
	bool was_over = false;
	struct lines l;

	if (watch_fd < 0)
		return -1;
	lines_init(&l, fd);
	while (record != RECORD_END && kind != LINE_ERROR) {
		kind = lines_next(&l);
		if (kind == LINE_WHOLE) {
			line(l.line, l.len, &record, arg);
		} else if (kind == LINE_NONE || kind == LINE_CUT) {
			/* What it wrote before it ended is read once more. */
			if (was_over)
				break;
			was_over = is_over(fd, shown);
			if (!was_over)
				wait_there(watch_fd);
		}
	}
	lines_release(&l);
	return kind != LINE_ERROR ? 0 : err_sys(e, errno,
	    "cannot read the records");
}

int
history_wait(struct arena *a, const char *state, int *ret_fd,
    const char **ret_shown, struct err *e)
{
	auto_fd folder_fd = kept_folder(state, NULL, true);
	auto_fd watch_fd = -1;
	const char *path = NULL;

	if (folder_fd < 0)
		return err_set(e, ERR_POLICY, "there is no folder of records "
		    "to wait for a run in");
	watch_fd = watch(arena_printf(a, "%s/" KEPT_FOLDER, state),
	    IN_MOVED_TO, e);
	if (watch_fd < 0)
		return -1;
	for (;;) {
		struct arena *once = arena_new();
		int rc = history_lasting(once, state, &path, e);

		if (rc == 0 && path != NULL)
			path = arena_strdup(a, path);
		arena_free(once);
		if (rc != 0)
			return -1;
		if (path != NULL)
			return history_open(a, state, path, ret_fd,
			    ret_shown, e);
		wait_there(watch_fd);
	}
}
