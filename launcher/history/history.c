#include "launcher/history/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/history/lines.h"
#include "launcher/record/kept.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum { LAST_ID = 4 };		/* characters that name a run */

/* ---- one trace ---- */

/* Strings that are kept are copied; the line's own arena is freed. */
static void
keep_record(struct history *h, const struct record *from)
{
	struct record *r = vec_push(h);
	const char **const texts[] = { &r->run, &r->prev, &r->message,
	    &r->object, &r->process, &r->program, &r->rule, &r->rule_text,
	    &r->place, &r->key, &r->value, &r->command, &r->workspace,
	    &r->policy_file };

	*r = *from;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		*texts[i] = (*texts[i])[0] == '\0' ? "" :
		    arena_strdup(h->arena, *texts[i]);
}

static void
add_line(struct history *h, const struct lines *l)
{
	struct arena *a = arena_new();
	struct err ignored = { 0 };
	struct record r;

	if (record_parse(a, l->line, l->len, &r, &ignored) != 0) {
		if (h->bad++ == 0)
			h->first_bad = l->number;
	} else {
		h->refusals += r.kind == RECORD_REFUSAL ? r.count : 0;
		h->dropped += r.dropped;
		if (h->n < HISTORY_RECORDS)
			keep_record(h, &r);
		else
			h->left_out++;
	}
	arena_free(a);
}

int
history_read(struct history *h, int fd, const char *shown, struct err *e)
{
	enum line_kind kind;
	struct lines l;

	*h = (struct history){ .arena = arena_new(), .shown = shown };
	lines_init(&l, fd);
	while ((kind = lines_next(&l)) == LINE_WHOLE || kind == LINE_LONG) {
		if (kind == LINE_WHOLE)
			add_line(h, &l);
		else if (h->bad++ == 0)
			h->first_bad = l.number;
	}
	h->is_cut = kind == LINE_CUT;
	lines_release(&l);
	for (size_t i = 0; i < h->n; i++) {
		if (h->v[i].kind == RECORD_START && h->start == NULL)
			h->start = &h->v[i];
		if (h->v[i].kind == RECORD_END)
			h->end = &h->v[i];
	}
	if (kind != LINE_ERROR)
		return 0;
	err_sys(e, errno, "cannot read the records");
	err_where(e, shown, 0, 0);
	return -1;
}

void
history_release(struct history *h)
{
	vec_release(h);
	arena_free(h->arena);
	h->arena = NULL;
}

/* ---- runs ---- */

static int
newest_first(const void *a, const void *b)
{
	const struct history_run *x = a, *y = b;

	return strcmp(y->path, x->path);
}

static int
list_names(struct arena *a, int folder_fd, const char *state,
    struct history_runs *runs)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (d == NULL) {
		fd_close(&fd);
		return -1;
	}
	while ((entry = readdir(d)) != NULL)
		if (kept_is_name(entry->d_name))
			*vec_push(runs) = (struct history_run){
			    .path = arena_printf(a, "%s/" KEPT_FOLDER "/%s",
			    state, entry->d_name), .command = "",
			    .id = arena_strndup(a, entry->d_name +
			    KEPT_TIME + 1, KEPT_ID) };
	closedir(d);
	if (runs->n > 0)
		qsort(runs->v, runs->n, sizeof *runs->v, newest_first);
	return 0;
}

static int
open_record(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	(void)fd_nonblock(fd, 0);
	return fd_take(&fd);
}

static void
look(struct arena *a, struct history_run *run)
{
	auto_fd fd = open_record(run->path);
	struct err ignored = { 0 };
	struct history h;

	if (fd < 0)
		return;
	/* The run that writes it holds its lock. */
	run->state = flock(fd, LOCK_SH | LOCK_NB) == 0 ? HISTORY_KILLED :
	    HISTORY_LASTS;
	if (history_read(&h, fd, run->path, &ignored) == 0) {
		run->refusals = h.refusals;
		run->time_ms = h.n > 0 ? h.v[0].time_ms : 0;
		if (h.start != NULL)
			run->command = arena_strdup(a, h.start->command);
		if (h.end != NULL) {
			run->state = HISTORY_ENDED;
			run->exit_status = h.end->exit_status;
		}
	}
	history_release(&h);
}

/* The names alone; 1: there is no folder. */
static int
find_runs(struct arena *a, const char *state, struct history_runs *runs,
    struct err *e)
{
	auto_fd fd = kept_folder(state, NULL, false);

	*runs = (struct history_runs){ 0 };
	if (fd < 0 && (errno == ENOENT || state == NULL))
		return 0;
	if (fd >= 0 && list_names(a, fd, state, runs) == 0)
		return 0;
	err_sys(e, errno, "cannot read the folder of records");
	err_where(e, arena_printf(a, "%s/" KEPT_FOLDER, state), 0, 0);
	if (errno == EPERM)
		err_hint(e, "it has to be its user's alone: chmod 700");
	e->code = ERR_POLICY;
	return -1;
}

int
history_runs(struct arena *a, const char *state, struct history_runs *runs,
    struct err *e)
{
	if (find_runs(a, state, runs, e) != 0)
		return -1;
	for (size_t i = 0; i < runs->n; i++)
		look(a, &runs->v[i]);
	return 0;
}

int
history_lasting(struct arena *a, const char *state, const char **ret,
    struct err *e)
{
	struct history_runs runs;

	*ret = NULL;
	if (find_runs(a, state, &runs, e) != 0)
		return -1;
	for (size_t i = 0; i < runs.n && *ret == NULL; i++) {
		auto_fd fd = open_record(runs.v[i].path);

		if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0)
			*ret = runs.v[i].path;
	}
	vec_release(&runs);
	return 0;
}

/* The run that is meant; NULL: none is, or more than one (*ret_n). */
static const char *
pick_run(const struct history_runs *runs, const char *word, size_t *ret_n)
{
	size_t len = strlen(word);
	const char *path = NULL;

	*ret_n = 0;
	if (strcmp(word, "last") == 0) {
		*ret_n = runs->n > 0;
		return runs->n > 0 ? runs->v[0].path : NULL;
	}
	if (len < LAST_ID || strspn(word, "0123456789abcdef") != len)
		return NULL;
	for (size_t i = 0; i < runs->n; i++)
		if (strncmp(runs->v[i].id, word, len) == 0) {
			path = runs->v[i].path;
			++*ret_n;
		}
	return *ret_n == 1 ? path : NULL;
}

static int
open_named(const char *path, int *ret_fd, struct err *e)
{
	*ret_fd = open_record(path);
	if (*ret_fd >= 0)
		return 0;
	err_sys(e, errno, "cannot open the records");
	err_where(e, path, 0, 0);
	e->code = ERR_POLICY;
	if (errno == ENOENT && strchr(path, '/') == NULL)
		err_hint(e, "there is no run of that name, either: 'fence "
		    "trace --list' names those that were kept");
	return -1;
}

int
history_open(struct arena *a, const char *state, const char *word,
    int *ret_fd, const char **ret_shown, struct err *e)
{
	struct history_runs runs;
	const char *path;
	size_t n;

	*ret_shown = word;
	if (strcmp(word, "-") == 0) {
		*ret_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		return *ret_fd >= 0 ? 0 : err_sys(e, errno, "stdin");
	}
	if (find_runs(a, state, &runs, e) != 0)
		return -1;
	path = pick_run(&runs, word, &n);
	vec_release(&runs);
	if (path != NULL) {
		*ret_shown = path;
		return open_named(path, ret_fd, e);
	}
	if (n > 1)
		return err_set(e, ERR_USAGE, "%zu runs begin with '%.40s'", n,
		    word);
	if (strcmp(word, "last") != 0)
		return open_named(word, ret_fd, e);
	err_set(e, ERR_POLICY, "no run is kept yet");
	err_hint(e, "a run that is refused something is, unless its policy "
	    "says record.keep: 0");
	return -1;
}
