/* kept: which runs leave a file, what is in it, and which files go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "launcher/record/kept.h"
#include "platform/fd.h"
#include "tests/unit/room.h"

static const struct event_run run_a = { .id =
    "0123456789abcdef0123456789abcdef", .hostname = "box", .version = "0",
    .policy_name = "p.json", .workspace = "/w", .policy_file = "/w/p.json" };
static const struct event_run run_b = { .id =
    "ffffffffffffffffffffffffffffffff", .hostname = "box", .version = "0",
    .policy_name = "p.json" };

static const struct event_run run_c = { .id =
    "00000000000000000000000000000000", .hostname = "box", .version = "0",
    .policy_name = "p.json" };

static int
folder(struct room *r)
{
	int fd = kept_folder(room_path(r, "state"), NULL, true);

	assert_true(fd >= 0);
	return fd;
}

static void
tell(struct kept *k, enum event_kind kind, enum action action)
{
	static const char *const words[] = { "make", "all", NULL };
	struct event e = { .kind = kind, .count = 1, .host = "a.test",
	    .qtype = "A", .witness = WITNESS_MONITOR, .detail = "make",
	    .enforcer = ENFORCER_DNS, .verdict.action = action };

	if (kind == EVENT_RUN_START) {
		e.argv = words;
		e.argc = 2;
	}
	kept_event(k, &e);
}

static struct kept *
begin(int fd, const struct event_run *run, unsigned keep)
{
	struct kept *k = kept_new(fd, run, keep);

	kept_open(k);
	tell(k, EVENT_RUN_START, ACTION_ALLOW);
	return k;
}

static void
end(struct kept *k)
{
	tell(k, EVENT_RUN_END, ACTION_ALLOW);
	kept_free(k);
}

/* How many names there begin so; the last of them, if it is wanted. */
static unsigned
count(int fd, const char *head, char *ret)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *e;
	unsigned n = 0;
	DIR *d;

	assert_non_null(d = fdopendir(own));
	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, head, strlen(head)) == 0 &&
		    e->d_name[0] != '.') {
			n++;
			if (ret != NULL)
				strcpy(ret, e->d_name);
		}
	closedir(d);
	return n;
}

static void
slurp(int fd, const char *name, char *text, size_t size)
{
	assert_true(fd_read_file(fd, name, text, size) >= 0);
}

static unsigned
lines(const char *text)
{
	unsigned n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* The empty file is the next run's; what refuses nothing does not name it. */
static void
test_spare(void **state)
{
	int fd = folder(*state);
	struct kept *k;

	for (unsigned i = 0; i < 3; i++) {
		k = begin(fd, &run_a, 20);
		tell(k, EVENT_DNS, ACTION_ALLOW);
		assert_false(kept_has_file(k));
		end(k);
		assert_int_equal(count(fd, "", NULL), 1);
		assert_int_equal(count(fd, "spare0", NULL), 1);
	}
	kept_free(kept_new(fd, &run_a, 0));
	assert_null(kept_new(fd, &run_a, 0));
	assert_null(kept_new(-1, &run_a, 20));
	kept_event(NULL, NULL);
	close(fd);
}

static void
test_record(void **state)
{
	int fd = folder(*state);
	struct kept *k = begin(fd, &run_a, 20);
	char name[256], text[16384];
	struct stat st;

	tell(k, EVENT_DNS, ACTION_DENY);
	assert_true(kept_has_file(k));
	assert_int_equal(count(fd, "spare", NULL), 0);
	assert_int_equal(count(fd, "2", name), 1);
	assert_true(kept_is_name(name));
	slurp(fd, name, text, sizeof text);	/* as kill -9 would leave it */
	assert_int_equal(lines(text), 2);
	assert_non_null(strstr(text, "\"command\":\"make all\""));
	assert_non_null(strstr(text, "\"policy_file\":\"/w/p.json\""));
	kept_lost(k, 7);
	end(k);
	slurp(fd, name, text, sizeof text);
	assert_int_equal(lines(text), 4);
	assert_non_null(strstr(text, "\"dropped\":7"));
	assert_int_equal(fstatat(fd, name, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	close(fd);
}

static void
test_two_at_once(void **state)
{
	int fd = folder(*state);
	struct kept *a = begin(fd, &run_a, 20), *b = begin(fd, &run_b, 20);

	assert_int_equal(count(fd, "spare", NULL), 2);
	tell(b, EVENT_DNS, ACTION_DENY);
	tell(a, EVENT_DNS, ACTION_DENY);
	end(a);
	end(b);
	assert_int_equal(count(fd, "2", NULL), 2);
	/* A spare that says something is nobody's. */
	assert_int_equal(count(fd, "spare", NULL), 0);
	room_put(*state, "state/records/spare0", "x");
	a = begin(fd, &run_c, 20);
	tell(a, EVENT_DNS, ACTION_DENY);
	end(a);
	assert_int_equal(count(fd, "2", NULL), 3);
	assert_int_equal(count(fd, "spare", NULL), 1);
	close(fd);
}

static void
old_record(struct room *r, unsigned n, off_t size)
{
	char name[128], path[512];

	snprintf(name, sizeof name, "state/records/19990101T0000%02u.000Z-"
	    "0000000000000000000000000000%04u.jsonl", n, n);
	room_put(r, name, "{}\n");
	snprintf(path, sizeof path, "%s", room_path(r, name));
	assert_int_equal(truncate(path, size), 0);
}

static void
test_bounds(void **state)
{
	struct room *r = *state;
	int fd = folder(r), locked;
	struct kept *k;

	for (unsigned i = 0; i < 30; i++)
		old_record(r, i, 10);
	room_put(r, "state/records/notes", "mine");
	locked = openat(fd, "19990101T000000.000Z-"
	    "00000000000000000000000000000000.jsonl", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
	k = begin(fd, &run_a, 20);
	end(k);				/* nothing refused, nothing removed */
	assert_int_equal(count(fd, "19", NULL), 30);
	k = begin(fd, &run_a, 20);
	tell(k, EVENT_DNS, ACTION_DENY);
	assert_int_equal(count(fd, "19", NULL), 30);
	end(k);
	/* 20 with its own, and the one of a run that lasts. */
	assert_int_equal(count(fd, "19", NULL), 20);
	assert_int_equal(count(fd, "19990101T000000", NULL), 1);
	assert_int_equal(count(fd, "19990101T000029", NULL), 1);
	assert_int_equal(count(fd, "notes", NULL), 1);
	close(locked);
	for (unsigned i = 40; i < 50; i++)
		old_record(r, i, 4 << 20);
	k = begin(fd, &run_b, 20);
	tell(k, EVENT_DNS, ACTION_DENY);
	end(k);
	assert_int_equal(count(fd, "19", NULL), 3);
	assert_int_equal(count(fd, "2", NULL), 2);
	close(fd);
}

/* Whole lines alone, and the run goes on; so with a run's own bound. */
static void
test_full(void **state)
{
	int fd = folder(*state);
	struct kept *k = begin(fd, &run_a, 20);
	struct rlimit lim = { 2500, RLIM_INFINITY }, was;
	char name[256], text[16384];

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	tell(k, EVENT_DNS, ACTION_DENY);
	lim.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	for (unsigned i = 0; i < 10; i++)
		tell(k, EVENT_DNS, ACTION_DENY);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	end(k);
	assert_int_equal(count(fd, "2", name), 1);
	slurp(fd, name, text, sizeof text);
	assert_non_null(strstr(text, "\"dropped\":"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	for (const char *p = text; *p != '\0'; p = strchr(p, '\n') + 1)
		assert_int_equal(p[0], '{');
	close(fd);
}

static void
test_run_bound(void **state)
{
	int fd = folder(*state);
	struct kept *k = begin(fd, &run_a, 20);
	char name[256];
	struct stat st;

	for (unsigned i = 0; i < 8000; i++)
		tell(k, EVENT_DNS, ACTION_DENY);
	end(k);
	assert_int_equal(count(fd, "2", name), 1);
	assert_int_equal(fstatat(fd, name, &st, 0), 0);
	assert_in_range(st.st_size, KEPT_RUN_BYTES / 2, KEPT_RUN_BYTES);
	close(fd);
}

static void
test_folder(void **state)
{
	struct room *r = *state;
	char home[512], state_dir[512], runs[512];

	snprintf(home, sizeof home, "%s", room_path(r, "gone"));
	snprintf(state_dir, sizeof state_dir, "%s",
	    room_path(r, "gone/.local/state/fence"));
	assert_int_equal(kept_folder(NULL, NULL, true), -1);
	assert_int_equal(kept_folder(state_dir, home, true), -1);
	assert_int_not_equal(access(home, F_OK), 0);
	/* XDG_STATE_HOME elsewhere. */
	assert_int_equal(kept_folder(room_path(r, "xdg/fence"),
	    room_path(r, "home"), true), -1);
	assert_int_not_equal(access(room_path(r, "xdg"), F_OK), 0);
	assert_int_equal(kept_folder(room_path(r, "state"), NULL, false), -1);
	close(folder(r));
	snprintf(runs, sizeof runs, "%s", room_path(r, "state/records"));
	assert_int_equal(chmod(runs, 0755), 0);
	assert_int_equal(kept_folder(room_path(r, "state"), NULL, true), -1);
	assert_int_equal(rmdir(runs), 0);
	room_put(r, "else/", "");
	assert_int_equal(symlink(room_path(r, "else"), runs), 0);
	assert_int_equal(kept_folder(room_path(r, "state"), NULL, true), -1);
}

/* Folders of root's would shut the owner of a home out. */
static void
test_others_home(void **state)
{
	struct room *r = *state;
	char home[512], state_dir[512];
	int fd;

	if (geteuid() != 0)
		skip();
	room_put(r, "home/", "");
	snprintf(home, sizeof home, "%s", room_path(r, "home"));
	snprintf(state_dir, sizeof state_dir, "%s",
	    room_path(r, "home/.local/state/fence"));
	assert_int_equal(chown(home, 1, 1), 0);
	assert_int_equal(kept_folder(state_dir, home, true), -1);
	assert_int_equal(kept_folder(room_path(r, "home/fence"), NULL, true),
	    -1);
	assert_int_equal(rmdir(room_path(r, "home/.local")), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(chown(home, 0, 0), 0);
	fd = kept_folder(state_dir, home, true);
	assert_true(fd >= 0);
	close(fd);
}

static void
test_names(void **state)
{
	static const struct { const char *name; bool is; } t[] = {
		{ "20261120T004106.123Z-0123456789abcdef0123456789abcdef.jsonl",
		  true },
		{ "20261120T004106.123Z-0123456789abcdeg0123456789abcdef.jsonl",
		  false },
		{ "20261120T004106.123Z-0123456789abcdef0123456789abcdef.json",
		  false },
		{ "20261120T00410x.123Z-0123456789abcdef0123456789abcdef.jsonl",
		  false },
		{ "spare0", false }, { "", false }, { "..", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		assert_int_equal(kept_is_name(t[i].name), t[i].is);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name)	cmocka_unit_test_setup_teardown(name, room_enter, room_leave)
		T(test_spare), T(test_record), T(test_two_at_once),
		T(test_bounds), T(test_full), T(test_run_bound),
		T(test_folder), T(test_others_home), T(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
