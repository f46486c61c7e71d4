/* writer: a reader that reads nothing costs what writer.h says, no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/writer.h"

enum { MUCH = 1 << 20 };

static char text[MUCH];

/* Blocking ends, as a shell hands them on; nobody reads. */
static void
make_ends(int is_socket, int fds[2])
{
	assert_int_equal(is_socket ? socketpair(AF_UNIX,
	    SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : pipe2(fds, O_CLOEXEC), 0);
}

/* All of it is taken of a reader that reads, and of a file. */
static void
test_whole(void **state)
{
	FILE *f = tmpfile();
	struct writer w;

	(void)state;
	writer_set_mode(WRITER_WATCHES);
	writer_init(&w, fileno(f));
	assert_int_equal(writer_put(&w, text, sizeof text), sizeof text);
	assert_false(w.is_gone);
	writer_release(&w);
	fclose(f);
}

/* While watching: one wait, then none until the reader takes something. */
static void
test_watches(void **state)
{
	(void)state;
	writer_set_mode(WRITER_WATCHES);
	for (int is_socket = 0; is_socket < 2; is_socket++) {
		struct writer w;
		static char back[MUCH];
		size_t n, more;
		int fds[2];

		make_ends(is_socket, fds);
		writer_init(&w, fds[1]);
		n = writer_put(&w, text, sizeof text);
		assert_true(n > 0 && n < sizeof text);
		assert_true(w.is_stuck && !w.is_gone);
		assert_int_equal(writer_put(&w, text, 1), 0);
		for (more = 0; more < n;)
			more += (size_t)read(fds[0], back, sizeof back);
		assert_int_equal(writer_put(&w, text, 1), 1);
		assert_false(w.is_stuck);
		close(fds[0]);
		assert_int_equal(writer_put(&w, text, 1), 0);
		assert_true(w.is_gone);
		writer_release(&w);
		close(fds[1]);
	}
}

/*
 * Another writer fills the pipe between the question and the write, time and
 * again: nobody waits in the write.
 */
static void
test_shared(void **state)
{
	struct writer w;
	int fds[2], extra;
	pid_t pid;

	(void)state;
	writer_set_mode(WRITER_WATCHES);
	make_ends(0, fds);
	pid = fork();
	if (pid == 0) {
		while (write(fds[1], text, 4096) > 0)
			continue;
		_exit(0);
	}
	writer_init(&w, fds[1]);
	for (int i = 0; i < 2000; i++) {
		extra = (int)read(fds[0], text, 4096);
		assert_true(extra > 0);
		assert_true(writer_put(&w, text, 4096) <= 4096);
	}
	kill(pid, SIGKILL);
	writer_release(&w);
	close(fds[0]);
	close(fds[1]);
}

/*
 * At the end: a second for all that is said, however many readers there are.
 * A second a line would meet main()'s alarm.
 */
static void
test_ends(void **state)
{
	struct writer w[4];
	int fds[4][2];

	(void)state;
	writer_set_mode(WRITER_ENDS);
	for (int i = 0; i < 4; i++) {
		make_ends(i % 2, fds[i]);
		writer_init(&w[i], fds[i][1]);
		for (int k = 0; k < 50; k++)
			(void)writer_put(&w[i], text, sizeof text);
		assert_true(w[i].is_stuck);
	}
	/* Who reads gets its lines all the same. */
	assert_true(read(fds[0][0], text, 65536) > 0);
	assert_int_equal(writer_put(&w[0], text, 100), 100);
	for (int i = 0; i < 4; i++) {
		writer_release(&w[i]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_watches),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_ends),
	};

	signal(SIGPIPE, SIG_IGN);
	alarm(120);			/* a writer that blocks fails */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
