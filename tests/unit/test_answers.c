/* answers: what does not fit into the socket waits, in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/gate/answers.h"
#include "platform/fd.h"

struct pair {
	struct answers	a;
	int		fds[2];
};

static void
pair_open(struct pair *p)
{
	const int small = 1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0, p->fds), 0);
	assert_int_equal(setsockopt(p->fds[0], SOL_SOCKET, SO_SNDBUF, &small,
	    sizeof small), 0);
	answers_init(&p->a, p->fds[0]);
}

static void
pair_close(struct pair *p)
{
	answers_drop(&p->a);
	assert_int_equal(p->a.n, 0);
	fd_close(&p->fds[0]);
	fd_close(&p->fds[1]);
}

static void
send_id(struct pair *p, uint32_t id, int fd)
{
	const struct ask_answer a = { .magic = ASK_MAGIC, .id = id,
	    .status = ASK_OK };

	answers_send(&p->a, &a, fd);
}

/* The id of the next one, 0 if there is none; and whether a fd came. */
static uint32_t
recv_id(struct pair *p, bool *ret_has_fd)
{
	struct ask_answer a;
	size_t nfds = 0;
	int fd = -1;
	ssize_t n = fd_recv(p->fds[1], &a, sizeof a, &fd, 1, &nfds, 0);

	*ret_has_fd = nfds > 0;
	if (nfds > 0)
		fd_close(&fd);
	return n == sizeof a ? a.id : 0;
}

/* All of them, each third with a descriptor. */
static void
test_order(void **state)
{
	enum { N = 500 };
	struct pair p;
	bool has_fd;

	(void)state;
	pair_open(&p);
	for (uint32_t i = 1; i <= N; i++)
		send_id(&p, i, i % 3 == 0 ?
		    open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
	assert_true(p.a.n > 0 && p.a.n < N);
	for (uint32_t i = 1; i <= N; i++) {
		uint32_t id = recv_id(&p, &has_fd);

		if (id == 0) {
			answers_flush(&p.a);
			id = recv_id(&p, &has_fd);
		}
		assert_int_equal(id, i);
		assert_int_equal(has_fd, i % 3 == 0);
	}
	assert_int_equal(p.a.n, 0);
	pair_close(&p);
}

/* At the ceiling the next is lost, and its descriptor closed. */
static void
test_ceiling(void **state)
{
	struct pair p;
	int fd, pipe_fds[2];
	unsigned before;
	char c;

	(void)state;
	pair_open(&p);
	for (uint32_t i = 1; p.a.n < 4096 && i < 10000; i++)
		send_id(&p, i, -1);
	before = p.a.n;
	assert_int_equal(before, 4096);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	fd = pipe_fds[1];
	send_id(&p, 77777, fd);
	assert_int_equal(p.a.n, before);
	assert_int_equal(read(pipe_fds[0], &c, 1), 0);
	fd_close(&pipe_fds[0]);
	pair_close(&p);
}

/* Dropped: nobody gets them, and what comes next goes out at once. */
static void
test_drop(void **state)
{
	struct pair p;
	bool has_fd;
	uint32_t id, last = 0;

	(void)state;
	pair_open(&p);
	for (uint32_t i = 1; i <= 100; i++)
		send_id(&p, i, -1);
	answers_drop(&p.a);
	while ((id = recv_id(&p, &has_fd)) != 0)
		last = id;
	assert_true(last > 0 && last < 100);
	send_id(&p, 101, -1);
	assert_int_equal(recv_id(&p, &has_fd), 101);
	pair_close(&p);
}

/* fence-net is gone: nothing waits for it. */
static void
test_gone(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	fd_close(&p.fds[1]);
	send_id(&p, 1, open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_int_equal(p.a.n, 0);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
