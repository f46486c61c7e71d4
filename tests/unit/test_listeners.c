/* listeners: the host's ports, and all that travels to fence-net. */
#include "tests/unit/gate_world.h"

#include "launcher/run/listeners.h"
#include "proxy/proxy.h"

static struct port_in
port_at(uint16_t port, uint16_t inside)
{
	struct port_in in = { .at = { .family = AF_INET, .port = port },
	    .inside = inside };

	memcpy(in.at.addr, "\x7f\0\0\1", 4);
	return in;
}

/* A port that was free a moment ago; another program may take it first. */
static void
open_free(struct ports *p, struct port_in *in, int **ret_fds)
{
	struct err e = { 0 };
	int rc = -1;

	p->in = in;
	p->nin = 1;
	for (int i = 0; i < 100 && rc != 0; i++) {
		uint16_t port;
		int fd = gate_bind(&port, false);

		fd_close(&fd);
		in[0] = port_at(port, 80);
		rc = listeners_open(p, ret_fds, &e);
	}
	assert_int_equal(rc, 0);
}

static void
test_open(void **state)
{
	struct port_in in[2];
	struct ports p = { .nin = 0 };
	struct sockaddr_in to = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct err e = { 0 };
	int *fds = NULL, *more = NULL, fd;

	(void)state;
	open_free(&p, in, &fds);
	in[1] = port_at(in[0].at.port, 81);
	to.sin_port = htons(in[0].at.port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (void *)&to, sizeof to), 0);
	fd_close(&fd);
	/* One that cannot be had is an error, and nothing is left open. */
	p.nin = 2;
	assert_int_equal(listeners_open(&p, &more, &e), -1);
	assert_null(more);
	assert_int_equal(e.sys, EADDRINUSE);
	assert_non_null(strstr(e.msg, "--port: cannot listen on 127.0.0.1:"));
	assert_non_null(strstr(e.hint, "PORT:INSIDE"));
	p.nin = 1;
	listeners_close(&p, fds);
	/* None that leads in. */
	p.nin = 0;
	assert_int_equal(listeners_open(&p, &fds, &e), 0);
	assert_null(fds);
	listeners_close(&p, fds);
}

/* The next message at fence-net's end, and how many descriptors came. */
static size_t
next(int fd, struct ask_msg *ret)
{
	struct ask_msg raw;
	int fds[PROXY_NLISTENERS];
	size_t n = 0;

	assert_int_equal(fd_recv(fd, &raw, sizeof raw, fds, PROXY_NLISTENERS,
	    &n, 0), sizeof raw);
	assert_int_equal(ask_check_msg(&raw, sizeof raw, ret), 0);
	for (size_t i = 0; i < n; i++)
		fd_close(&fds[i]);
	return n;
}

static void
jail_open(struct jail *j, int *local)
{
	j->local_fd = local;
	j->nlocal_fds = 4;
	for (int i = 0; i < JAIL_NLISTENERS; i++)
		j->listen_fd[i] = i == JAIL_LISTEN_TRANSPARENT6 ? -1 :
		    dup(STDERR_FILENO);
	for (int i = 0; i < 4; i++)
		local[i] = i == 1 ? -1 : dup(STDERR_FILENO);
}

/* The bits say which of the gate's ends are there; then each port. */
static void
test_hand(void **state)
{
	static const struct { enum ask_via via; uint16_t port; } want[] = {
		{ ASK_VIA_INSIDE, 80 }, { ASK_VIA_LOCAL, 5432 },
		{ ASK_VIA_LOCAL, 6379 }, { ASK_VIA_LOCAL, 6379 },
	};
	const uint16_t out[] = { 5432, 6379 };
	struct port_in in;
	struct ports p = { .out = out, .nout = 2 };
	struct jail j = { .pid = 0 };
	int sv[2], local[4], *fds;
	struct err e = { 0 };
	struct ask_msg m;

	(void)state;
	gate_pair(sv);
	jail_open(&j, local);
	open_free(&p, &in, &fds);
	assert_int_equal(listeners_hand(sv[0], &p, fds, &j, &e), 0);
	assert_int_equal(next(sv[1], &m), JAIL_NLISTENERS - 1);
	assert_int_equal(m.kind, ASK_LISTEN);
	assert_int_equal(m.nports, 4);
	assert_int_equal(m.listeners, ((1u << JAIL_NLISTENERS) - 1) &
	    ~(1u << JAIL_LISTEN_TRANSPARENT6));
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_int_equal(next(sv[1], &m), 1);
		assert_int_equal(m.kind, ASK_PORT);
		assert_int_equal(m.via, want[i].via);
		assert_int_equal(m.port, want[i].port);
	}
	/* None is kept. */
	assert_int_equal(fds[0], -1);
	for (int i = 0; i < JAIL_NLISTENERS; i++)
		assert_int_equal(j.listen_fd[i], -1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(local[i], -1);
	listeners_close(&p, fds);
	fd_close(&sv[0]);
	fd_close(&sv[1]);
}

static void
test_gone(void **state)
{
	struct ports p = { .nin = 0 };
	struct jail j = { .pid = 0 };
	struct err e = { 0 };
	int sv[2], local[4];

	(void)state;
	gate_pair(sv);
	fd_close(&sv[1]);
	jail_open(&j, local);
	assert_int_equal(listeners_hand(sv[0], &p, NULL, &j, &e), -1);
	assert_non_null(strstr(e.msg, "fence-net does not answer"));
	for (int i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&j.listen_fd[i]);
	for (int i = 0; i < 4; i++)
		fd_close(&local[i]);
	fd_close(&sv[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_hand),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
