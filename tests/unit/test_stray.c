/* stray: sockets whose name does not lead to them are found by their file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "launcher/plan/stray.h"
#include "platform/base/vec.h"
#include "tests/unit/room.h"

static void
test_is_named(void **state)
{
	static const struct { const char *name; bool is; } t[] = {
		{ "s", true }, { "./a/s", true }, { "/proc/self/fd/3/s", true },
		{ "/dev/fd/3/s", true }, { "/run/s", false },
		{ "/process/s", false }, { "/dev/fdx", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		if (stray_is_named(t[i].name) != t[i].is)
			fail_msg("%s", t[i].name);
}

struct scene {
	struct room	*r;
	struct strays	 s;
	char		 name[64];	/* it was bound as */
	char		 found[512];
	bool		 is_listed;
	int		 fd;
};

static void
on_found(const char *path, void *arg)
{
	struct scene *c = arg;

	snprintf(c->found, sizeof c->found, "%s", path);
}

static void
on_listed(const struct unixlist_entry *e, void *arg)
{
	struct scene *c = arg;

	if (strcmp(e->path, c->name) != 0)
		return;
	c->is_listed = true;
	strays_add(&c->s, e);
}

/* Relative to the folder where we stand: proj. */
static void
bind_here(struct scene *c)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	snprintf(c->name, sizeof c->name, "stray-%d", (int)getpid());
	snprintf(un.sun_path, sizeof un.sun_path, "%s", c->name);
	assert_int_equal(chdir(room_path(c->r, "proj")), 0);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(c->fd, (void *)&un, sizeof un), 0);
	assert_int_equal(listen(c->fd, 1), 0);
	assert_int_equal(unixlist_read(on_listed, c), 0);
}

static void
scene_open(struct scene *c, struct room *r)
{
	memset(c, 0, sizeof *c);
	c->r = r;
	c->s.arena = arena_new();
	c->s.found = on_found;
	c->s.arg = c;
	bind_here(c);
}

static void
scene_close(struct scene *c)
{
	close(c->fd);		/* first: others look for it, too, by our cwd */
	assert_int_equal(chdir("/"), 0);
	strays_release(&c->s);
	arena_free(c->s.arena);
}

/* By the folder of the process that holds it: this one. */
static void
test_search(void **state)
{
	struct scene c;
	struct buf b;

	scene_open(&c, *state);
	assert_true(c.is_listed);
	assert_int_equal(c.s.n, 1);
	assert_true(c.s.v[0].is_named);
	strays_search(&c.s);
	assert_string_equal(c.found + strlen(room_path(c.r, "proj")) + 1,
	    c.name);
	assert_int_equal(strncmp(c.found, room_path(c.r, "proj"),
	    strlen(room_path(c.r, "proj"))), 0);
	buf_init(&b, 0);
	assert_int_equal(strays_lost(&c.s, &b), 0);
	buf_release(&b);
	scene_close(&c);
}

/* Moved since, and met on a walk; other files are not it. */
static void
test_try(void **state)
{
	struct scene c;

	scene_open(&c, *state);
	room_put(c.r, "proj/file", "");
	assert_int_equal(rename(c.name, "moved"), 0);
	strays_try(&c.s, room_path(c.r, "proj/file"));
	strays_try(&c.s, room_path(c.r, "proj/none"));
	assert_string_equal(c.found, "");
	if (c.s.v[0].e.has_file) {	/* the kernel says which file */
		strays_try(&c.s, room_path(c.r, "proj/moved"));
		assert_string_equal(c.found, room_path(c.r, "proj/moved"));
		assert_true(c.s.v[0].is_found);
	}
	scene_close(&c);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_named),
		IN_ROOM(test_search),
		IN_ROOM(test_try),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
