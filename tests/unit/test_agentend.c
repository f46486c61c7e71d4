/*
 * agentend: what an agent would execute is the host's again after a run, and
 * its state is the run's; also after one that was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launcher/guard/agentend.h"
#include "launcher/guard/gitjournal.h"
#include "platform/fd.h"
#include "tests/unit/room.h"

static const char host[] = "{\"n\":1,\"mcpServers\":{\"mine\":{}}}";

struct scene {
	struct room		*r;
	struct arena		*arena;
	char			 path[256], keep[256], journal[256];
	char			 told[1024];
	struct agentend_file	 files[1];
	struct agentend		 end;
	unsigned		 made;
	int			 fd;
};

static void
on_told(const struct guard_told *t, void *arg)
{
	static const char *const deeds[] = { [GUARD_MOVED] = "moved",
	    [GUARD_CLEANED] = "cleaned", [GUARD_PUT_BACK] = "put back",
	    [GUARD_FAILED] = "failed" };
	struct scene *s = arg;
	size_t n = strlen(s->told);

	assert_int_equal(t->kind, GUARD_STATE);
	snprintf(s->told + n, sizeof s->told - n, "%s:%s;", deeds[t->deed],
	    t->what != NULL ? t->what : "");
}

/* text: what the file holds, NULL for none; "@": a symlink; "/": a folder. */
static void
put(struct scene *s, const char *text)
{
	(void)unlink(s->path);
	(void)rmdir(s->path);
	if (text == NULL)
		return;
	if (strcmp(text, "@") == 0)
		assert_int_equal(symlink("/etc/passwd", s->path), 0);
	else if (strcmp(text, "/") == 0)
		assert_int_equal(mkdir(s->path, 0700), 0);
	else
		room_put(s->r, "home/.claude.json", text);
}

static int
try_begin(struct scene *s, struct room *r, const char *text, struct err *e)
{
	*s = (struct scene){ .r = r, .arena = arena_new(), .fd = -1 };
	room_put(r, "home/", "");
	room_put(r, "state/", "");
	snprintf(s->path, sizeof s->path, "%s",
	    room_path(r, "home/.claude.json"));
	snprintf(s->keep, sizeof s->keep, "%s",
	    room_path(r, "state/quarantine/run"));
	snprintf(s->journal, sizeof s->journal, "%s",
	    room_path(r, "state/runs/run.agents"));
	put(s, text);
	s->files[0] = (struct agentend_file){ .path = s->path,
	    .name = ".claude.json" };
	s->end = (struct agentend){ .files = s->files, .nfiles = 1,
	    .quarantine = s->keep, .told = on_told, .arg = s };
	return agentend_begin(&s->end, s->arena, s->journal, &s->made, &s->fd,
	    e);
}

static void
begin(struct scene *s, struct room *r, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(try_begin(s, r, text, &e), 0);
	assert_true(s->fd >= 0);
}

static void
finish(struct scene *s)
{
	if (s->fd >= 0)
		gitjournal_remove(s->journal, s->made);
	fd_close(&s->fd);
	arena_free(s->arena);
	put(s, NULL);
}

/* A line without blanks; "-": nothing is there; "@": no file. */
static const char *
text_of(struct scene *s)
{
	static char text[512];
	auto_fd fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	size_t k = 0;

	if (fd < 0 && errno == ENOENT)
		return "-";
	if (n < 0)
		return "@";
	for (ssize_t i = 0; i < n; i++)
		if (text[i] != ' ' && text[i] != '\n')
			text[k++] = text[i];
	text[k] = '\0';
	return text;
}

static const struct {
	const char	*before, *after;	/* NULL: none */
	const char	*end;		/* what the host has, as text_of() */
	const char	*told;		/* a part of it, or "" for nothing */
} rows[] = {
	/* State, alone. */
	{ host, host, host, "" },
	{ host, "{\"n\":2,\"mcpServers\":{\"mine\":{}}}",
	    "{\"n\":2,\"mcpServers\":{\"mine\":{}}}", "" },
	{ NULL, "{\"n\":2}", "{\"n\":2}", "" },
	{ "{}", "{\"n\":2}", "{\"n\":2}", "" },
	{ "{\"n\":1}", NULL, "-", "" },
	/* And what the agent executes. */
	{ host, "{\"n\":2,\"mcpServers\":{\"mine\":{},\"evil\":{}}}",
	    "{\"n\":2,\"mcpServers\":{\"mine\":{}}}",
	    "cleaned:mcpServers.evil" },
	{ host, "{\"n\":2}", "{\"n\":2,\"mcpServers\":{\"mine\":{}}}",
	    "cleaned:mcpServers" },
	{ NULL, "{\"n\":2,\"hooks\":{\"x\":1}}", "{\"n\":2}",
	    "cleaned:hooks" },
	{ "{}", "{\"n\":2,\"hooks\":{\"x\":1}}", "{\"n\":2}",
	    "cleaned:hooks" },
	{ host, NULL, "{\"mcpServers\":{\"mine\":{}}}",
	    "cleaned:mcpServers" },
	/* What nobody can compare. */
	{ host, "{", host, "put back:" }, { host, "", host, "put back:" },
	{ host, "{\"n\":1,\"n\":2}", host, "put back:" },
	{ host, "@", host, "put back:it is no file" },
	{ host, "/", host, "put back:it is no file" },
	{ NULL, "{", "-", "moved:" }, { NULL, "@", "-", "moved:" },
	/* A symlink from before is not looked at. */
	{ "@", "@", "@", "" },
};

static void
test_rows(void **state)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scene s;

		print_message("row %zu\n", i);
		begin(&s, *state, rows[i].before);
		if (rows[i].after != rows[i].before)
			put(&s, rows[i].after);
		agentend_run(&s.end);
		assert_string_equal(text_of(&s), rows[i].end);
		if (rows[i].told[0] == '\0')
			assert_string_equal(s.told, "");
		else if (strstr(s.told, rows[i].told) == NULL)
			fail_msg("told: %s", s.told);
		finish(&s);
	}
}

/* Looks at no contents where nothing may have changed. */
static void
test_needed(void **state)
{
	struct scene s;

	begin(&s, *state, host);
	s.end.since.tv_sec += 3600;	/* no change since then */
	assert_false(agentend_is_needed(&s.end));
	put(&s, "{}");			/* another inode may be enough */
	put(&s, NULL);
	assert_true(agentend_is_needed(&s.end));
	finish(&s);
}

static void
test_too_long(void **state)
{
	struct err e = { 0 };
	struct scene s;

	assert_int_equal(try_begin(&s, *state, "x", &e), 0);
	finish(&s);
	room_put(*state, "home/.claude.json", "");
	assert_int_equal(truncate(s.path, 17 << 20), 0);
	s.arena = arena_new();
	assert_int_equal(agentend_begin(&s.end, s.arena, NULL, &s.made, &s.fd,
	    &e), -1);
	assert_non_null(strstr(e.msg, "longer than"));
	finish(&s);
}

/* Nobody holds the journal any more; before, it is a run's that lives. */
static void
test_swept(void **state)
{
	struct scene s;

	begin(&s, *state, host);
	put(&s, "{\"n\":2,\"mcpServers\":{\"mine\":{},\"evil\":{}}}");
	agentend_sweep(room_path(s.r, "state"), on_told, &s);
	assert_string_equal(s.told, "");
	assert_non_null(strstr(text_of(&s), "evil"));
	fd_close(&s.fd);
	agentend_sweep(room_path(s.r, "state"), on_told, &s);
	assert_non_null(strstr(s.told, "cleaned:mcpServers.evil"));
	assert_string_equal(text_of(&s),
	    "{\"n\":2,\"mcpServers\":{\"mine\":{}}}");
	assert_int_equal(access(s.journal, F_OK), -1);
	finish(&s);
}

/* One that was cut short, or is something else, brings nothing about. */
static void
test_bad_journal(void **state)
{
	static const char *const texts[] = { "x", "Ffence agents 1",
	    "Ffence agents 2" };
	struct scene s;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		begin(&s, *state, host);
		fd_close(&s.fd);
		room_put(s.r, "state/runs/run.agents", texts[i]);
		put(&s, "{\"hooks\":{}}");
		agentend_sweep(room_path(s.r, "state"), on_told, &s);
		assert_string_equal(s.told, "");
		assert_string_equal(text_of(&s), "{\"hooks\":{}}");
		assert_int_equal(access(s.journal, F_OK), -1);
		finish(&s);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		T(test_rows), T(test_needed), T(test_too_long), T(test_swept),
		T(test_bad_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
