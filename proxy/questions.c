#include "proxy/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/fd.h"

enum {
	MAX_QUESTIONS = 4096,
	ANSWERS_A_TURN = 64,
	LAST_MS = 200,		/* to send the last questions */
};

/*
 * The id is the number of the slot and how often the slot was used, so that a
 * late answer finds no later question.
 */
struct question {
	struct questions *questions;
	answer_fn	*fn;
	void		*arg;
	struct question	*next, *prev;	/* in the queue of those not sent */
	bool		 is_queued;
	struct ask_msg	 msg;
};

struct slot {
	struct question	*question;
	uint16_t	 uses;
	uint16_t	 next_free;	/* slot number + 1, 0 for none */
};

struct questions {
	struct loop		*loop;
	int			 ask_fd;
	struct watch		*watch;
	struct slot		 slots[MAX_QUESTIONS];
	unsigned		 nslots;	/* used at least once */
	uint16_t		 free_first, free_last;
	struct question		*queue_first, *queue_last;
	struct watch		*last;		/* set: answers have ended */
	int64_t			 last_ms;
};

static void
slot_release(struct questions *qs, unsigned at)
{
	struct slot *s = &qs->slots[at];

	/* The slot that is free for the longest is reused first. */
	s->question = NULL;
	s->uses++;
	s->next_free = 0;
	if (qs->free_last != 0)
		qs->slots[qs->free_last - 1].next_free = (uint16_t)(at + 1);
	else
		qs->free_first = (uint16_t)(at + 1);
	qs->free_last = (uint16_t)(at + 1);
}

static int
slot_take(struct questions *qs, struct question *q)
{
	unsigned at;

	if (qs->free_first != 0) {
		at = qs->free_first - 1u;
		qs->free_first = qs->slots[at].next_free;
		if (qs->free_first == 0)
			qs->free_last = 0;
	} else if (qs->nslots < MAX_QUESTIONS)
		at = qs->nslots++;
	else
		return -1;
	qs->slots[at].question = q;
	q->msg.id = (uint32_t)qs->slots[at].uses << 16 | at;
	return 0;
}

static struct question *
slot_find(const struct questions *qs, uint32_t id)
{
	unsigned at = id & 0xffff;

	if (at >= qs->nslots || qs->slots[at].uses != id >> 16)
		return NULL;
	return qs->slots[at].question;
}

static void
queue_remove(struct question *q)
{
	struct questions *qs = q->questions;

	if (!q->is_queued)
		return;
	q->is_queued = false;
	if (q->prev != NULL)
		q->prev->next = q->next;
	else
		qs->queue_first = q->next;
	if (q->next != NULL)
		q->next->prev = q->prev;
	else
		qs->queue_last = q->prev;
}

static void
queue_add(struct question *q)
{
	struct questions *qs = q->questions;

	q->is_queued = true;
	q->prev = qs->queue_last;
	if (q->prev != NULL)
		q->prev->next = q;
	else
		qs->queue_first = q;
	qs->queue_last = q;
}

static bool
send_msg(struct questions *qs, const struct ask_msg *m)
{
	return fd_send(qs->ask_fd, m, sizeof *m, NULL, 0, MSG_DONTWAIT) >= 0;
}

/*
 * A message that cannot be sent stays in the queue; reading tells when the
 * monitor is gone.
 */
static void
queue_flush(struct questions *qs)
{
	struct question *q;

	while ((q = qs->queue_first) != NULL && send_msg(qs, &q->msg))
		queue_remove(q);
	(void)watch_events(qs->watch, (qs->last == NULL ? LOOP_READ : 0) |
	    (qs->queue_first != NULL ? LOOP_WRITE : 0));
}

struct question *
questions_ask(struct questions *qs, const struct ask_msg *m, answer_fn *fn,
    void *arg)
{
	struct question *q = malloc(sizeof *q);

	if (q == NULL)
		return NULL;
	*q = (struct question){ .questions = qs, .fn = fn, .arg = arg,
	    .msg = *m };
	q->msg.magic = ASK_MAGIC;
	if (slot_take(qs, q) != 0) {
		free(q);
		return NULL;
	}
	queue_add(q);
	queue_flush(qs);
	return q;
}

void
question_drop(struct question *q)
{
	if (q == NULL)
		return;
	queue_remove(q);
	slot_release(q->questions, q->msg.id & 0xffff);
	free(q);
}

bool
questions_tell(struct questions *qs, struct ask_msg *m)
{
	m->magic = ASK_MAGIC;
	return qs->queue_first == NULL && send_msg(qs, m);
}

bool
questions_note(struct questions *qs, enum ask_note note,
    const struct net_addr *source)
{
	struct ask_msg m = { .kind = ASK_NOTE, .note = (uint16_t)note };

	ask_fill_source(&m, source, false);
	return questions_tell(qs, &m);
}

void
ask_fill_source(struct ask_msg *m, const struct net_addr *a, bool is_udp)
{
	m->source.family = a->family;
	m->source.port = a->port;
	memcpy(m->source.addr, a->addr, sizeof m->source.addr);
	m->is_udp = is_udp;
}

void
ask_fill_name(struct ask_msg *m, const char *name, size_t len)
{
	if (len >= sizeof m->name)
		len = sizeof m->name - 1;
	memcpy(m->name, name, len);
	m->name_len = (uint16_t)len;
}

static void
ask_answered(struct questions *qs, const struct ask_answer *a, int *fd)
{
	struct question *q = slot_find(qs, a->id);
	answer_fn *fn;
	void *arg;

	if (q == NULL)
		return;
	fn = q->fn;
	arg = q->arg;
	question_drop(q);
	fn(arg, a, fd);
}

static void
ask_received(struct questions *qs, const void *data, size_t len,
    const int *fds, size_t nfds)
{
	struct ask_answer a;
	int fd = nfds > 0 ? *fds : -1;

	if (ask_check_answer(data, len, &a) == 0)
		ask_answered(qs, &a, &fd);
	fd_close(&fd);
}

/*
 * The monitor answers no more because the jail is empty, but it still reports
 * what it is asked.  So clients are served until nothing is ready.
 */
static void
hear_last(struct watch *w, int what, void *arg)
{
	struct questions *qs = arg;

	(void)what;
	if (loop_is_idle(qs->loop) || loop_now_ms(qs->loop) >= qs->last_ms)
		loop_stop(qs->loop, 0);
	else
		watch_after(w, 0);
}

static void
begin_last(struct questions *qs)
{
	qs->last = loop_after(qs->loop, 0, hear_last, qs);
	if (qs->last == NULL) {
		loop_stop(qs->loop, 0);
		return;
	}
	qs->last_ms = loop_now_ms(qs->loop) + LAST_MS;
	queue_flush(qs);
}

static void
ask_ready(struct watch *w, int what, void *arg)
{
	struct ask_answer data;
	struct questions *qs = arg;
	size_t nfds;
	ssize_t n;
	int fd;

	(void)w;
	if ((what & LOOP_WRITE) != 0)
		queue_flush(qs);
	if ((what & LOOP_READ) == 0)
		return;
	for (int i = 0; i < ANSWERS_A_TURN; i++) {
		n = fd_recv(qs->ask_fd, &data, sizeof data, &fd, 1, &nfds,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EMSGSIZE))
			return;
		if (n == 0 && (what & LOOP_HUP) == 0) {
			begin_last(qs);
			return;
		}
		if (n <= 0) {
			loop_stop(qs->loop, n == 0 ? 0 : 1);
			return;
		}
		ask_received(qs, &data, (size_t)n, &fd, nfds);
	}
}

struct questions *
questions_new(struct loop *l, int ask_fd)
{
	struct questions *qs = calloc(1, sizeof *qs);

	if (qs == NULL)
		return NULL;
	qs->loop = l;
	qs->ask_fd = ask_fd;
	qs->watch = loop_fd(l, ask_fd, LOOP_READ, ask_ready, qs);
	if (qs->watch == NULL) {
		free(qs);
		return NULL;
	}
	return qs;
}

void
questions_free(struct questions *qs)
{
	if (qs == NULL)
		return;
	watch_free(qs->watch);
	watch_free(qs->last);
	free(qs);
}
