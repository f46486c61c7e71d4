#include "launcher/record/judging.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/base/xalloc.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "policy/pattern.h"

/* After the Nth loss nobody looks for 2^N times as long. */
enum { REST_MS = 500, STRINGS = 16 * 1024 };

struct judging {
	const struct judge	*judge;
	int			 fd;		/* -1: no process */
	pid_t			 pid;
	uint32_t		 asked;		/* number of the last question */
	pid_t			 lost[JUDGING_LOST_MAX];
	unsigned		 nlost;
	int64_t			 rest_until_ms;
};

struct question {
	uint32_t		 number;
	struct event		 event;
	struct wire_report	 report;	/* path_len bytes of its path */
};

/*
 * Both processes have the policy at the same place in memory, so what points
 * there is sent as it is.  What the judge made follows as text.
 */
struct answer {
	uint32_t	 number;
	enum judged	 said;
	struct event	 event;
	char		 strings[STRINGS];
};

/* What a judge may make for an event, in the order of their texts. */
static const size_t strings[] = {
	offsetof(struct event, path), offsetof(struct event, host),
	offsetof(struct event, ip), offsetof(struct event, detail),
	offsetof(struct event, verdict.rule.text),
};
enum { NSTRINGS = sizeof strings / sizeof strings[0] };
static const char follows[] = "";	/* stands for such a text */

static const char **
string_of(struct event *e, size_t i)
{
	return (const char **)(void *)((char *)e + strings[i]);
}

/* ---- the process ---- */

/* Length of the texts; an event that is too much of one is refused none. */
static size_t
put_strings(struct answer *a, struct arena *arena)
{
	size_t at = 0, n;

	for (size_t i = 0; i < NSTRINGS; i++) {
		const char **s = string_of(&a->event, i);

		if (!arena_has(arena, *s))
			continue;
		n = strlen(*s) + 1;
		if (n > sizeof a->strings - at) {
			a->said = JUDGED_NOTHING;
			return 0;
		}
		memcpy(a->strings + at, *s, n);
		at += n;
		*s = follows;
	}
	return at;
}

static void
answer_one(const struct judge *judge, int sock, const struct question *q)
{
	static struct answer a;
	char path[WIRE_PATH_MAX + 1];
	struct arena *arena = arena_new();
	size_t len;

	memcpy(path, q->report.path, q->report.path_len);
	path[q->report.path_len] = '\0';
	a.number = q->number;
	a.event = q->event;
	a.said = judge_report(judge, arena, &q->report, path, &a.event);
	len = offsetof(struct answer, strings) + put_strings(&a, arena);
	arena_free(arena);
	(void)fd_send(sock, &a, len, NULL, 0, 0);
}

static _Noreturn void
judging_main(const struct judge *judge, int sock, pid_t parent)
{
	static struct question q;
	struct err e;

	(void)prctl(PR_SET_NAME, "fence-judge", 0, 0, 0);
	(void)setpgid(0, 0);		/* terminal signals are not for it */
	if (fd_close_others(sock) != 0 || confine_child(SIGKILL, &e) != 0 ||
	    getppid() != parent || chdir("/") != 0)
		_exit(1);
	while (fd_recv(sock, &q, sizeof q, NULL, 0, NULL, 0) > 0)
		answer_one(judge, sock, &q);
	_exit(0);
}

/* ---- in the monitor ---- */

struct judging *
judging_new(const struct judge *judge)
{
	struct judging *l = xcalloc(1, sizeof *l);

	l->judge = judge;
	l->fd = -1;
	return l;
}

static void
start(struct judging *l)
{
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return;
	pid = fork();
	if (pid == 0)
		judging_main(l->judge, pair[1], parent);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return;
	}
	l->fd = pair[0];
	l->pid = pid;
}

/* A process that waits for its mount ends when that does, and not before. */
static void
let_go(struct judging *l)
{
	fd_close(&l->fd);
	kill(l->pid, SIGKILL);
	l->lost[l->nlost++] = l->pid;
	l->rest_until_ms = clock_ms(CLOCK_MONOTONIC) +
	    ((int64_t)REST_MS << l->nlost);
}

void
judging_free(struct judging *l)
{
	if (l == NULL)
		return;
	if (l->fd >= 0) {
		fd_close(&l->fd);
		kill(l->pid, SIGKILL);
		/* It has answered all, so it waits for nothing. */
		waitpid(l->pid, NULL, 0);
	}
	for (unsigned i = 0; i < l->nlost; i++)
		waitpid(l->lost[i], NULL, WNOHANG);
	free(l);
}

/* Is it ready to run, and has it merely not had its turn? */
static bool
is_starved(pid_t pid)
{
	char path[64], stat[512];
	const char *p;

	(void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	if (fd_read_file(AT_FDCWD, path, stat, sizeof stat) < 0 &&
	    errno != EFBIG)
		return false;
	p = strrchr(stat, ')');
	return p != NULL && p[1] == ' ' && p[2] == 'R';
}

static bool
is_answered(const struct judging *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };

	for (int ms = 0; ms < JUDGING_STARVED_MS; ms += JUDGING_MS) {
		if (poll(&p, 1, JUDGING_MS) > 0)
			return true;
		if (!is_starved(l->pid))
			return false;
	}
	return false;
}

static bool
take_strings(struct answer *a, size_t len, struct arena *arena)
{
	const char *at = a->strings;
	const char *end = (const char *)a + len;

	for (size_t i = 0; i < NSTRINGS; i++) {
		const char **s = string_of(&a->event, i);
		size_t n;

		if (*s != follows)
			continue;
		n = strnlen(at, (size_t)(end - at));
		if (at + n == end)
			return false;
		*s = arena_strndup(arena, at, n);
		at += n + 1;
	}
	return true;
}

/* -1: nobody looked. */
static int
ask(struct judging *l, struct arena *arena, const struct wire_report *r,
    const char *path, struct event *e)
{
	static struct question q;
	static struct answer a;
	size_t len = strlen(path);
	ssize_t n;

	if (l->fd < 0 && l->nlost < JUDGING_LOST_MAX &&
	    clock_ms(CLOCK_MONOTONIC) >= l->rest_until_ms)
		start(l);
	if (l->fd < 0 || len > WIRE_PATH_MAX)
		return -1;
	q.number = ++l->asked;
	q.event = *e;
	memcpy(&q.report, r, WIRE_HEADER_BYTES);
	memcpy(q.report.path, path, len);
	q.report.path_len = (uint16_t)len;
	len += offsetof(struct question, report.path);
	if (fd_send(l->fd, &q, len, NULL, 0, 0) < 0 || !is_answered(l)) {
		let_go(l);
		return -1;
	}
	n = fd_recv(l->fd, &a, sizeof a, NULL, 0, NULL, 0);
	if (n < (ssize_t)offsetof(struct answer, strings) ||
	    a.number != q.number || !take_strings(&a, (size_t)n, arena)) {
		let_go(l);
		return -1;
	}
	*e = a.event;
	return (int)a.said;
}

/* What the policy says of the name, wherever it leads; no advice then. */
static enum judged
judge_text(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	bool is_write = r->call == WIRE_MAKE || r->call == WIRE_REMOVE ||
	    r->call == WIRE_CHANGE || (r->call == WIRE_OPEN &&
	    (r->flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0);
	struct fs_question q = { .op = r->call == WIRE_EXEC ? FS_EXEC :
	    is_write ? FS_WRITE : FS_READ, .is_guarded = true };

	if (r->err == ENOENT || path[0] == '@' || (path[0] != '/' &&
	    e->process[0].cwd[0] != '/'))
		return JUDGED_NOTHING;
	q.path = e->path = pattern_clean_path(arena, path[0] == '/' ? "/" :
	    e->process[0].cwd, path);
	if (e->path == NULL)
		return JUDGED_NOTHING;
	e->kind = r->call == WIRE_EXEC ? EVENT_EXEC :
	    r->call == WIRE_CONNECT ? EVENT_CONNECT : EVENT_OPEN;
	e->enforcer = ENFORCER_MOUNT;
	e->op = r->call == WIRE_MAKE ? OP_MAKE : r->call == WIRE_REMOVE ?
	    OP_REMOVE : r->call == WIRE_CHANGE ? OP_CHANGE :
	    r->call == WIRE_LOOK ? OP_LOOK : OP_OPEN;
	e->open_flags = r->call == WIRE_OPEN ? r->flags : 0;
	decide_fs_ask(j->policy, &q, &e->verdict);
	e->verdict.remedy.kind = REMEDY_NONE;
	return e->verdict.action == ACTION_DENY ? JUDGED_FENCE :
	    JUDGED_NOTHING;
}

enum judged
judging_report(struct judging *l, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	int answer;

	if (path[0] == '\0' || path[0] == '@')	/* there is nothing to see */
		return judge_report(l->judge, arena, r, path, e);
	answer = ask(l, arena, r, path, e);
	return answer >= 0 ? (enum judged)answer : judge_text(l->judge, arena, r, path, e);
}
