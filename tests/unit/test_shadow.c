/* shadow: an agent's folder as the jail's own, over a temporary tree. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/shadow/shadow.h"
#include "tests/unit/room.h"

/* ---- a run over home/.agent ---- */

static const struct shadow_item usual[] = {
	{ "settings.json", SHADOW_KEPT, false },
	{ "plugins", SHADOW_KEPT, true },
	{ "projects", SHADOW_BOUND, true },
	{ "history", SHADOW_CARRIED, false },
	{ "auth.json", SHADOW_CREDENTIAL, false },
	{ "config.toml", SHADOW_SIFTED, false },
	{ "db", SHADOW_CARRIED, false }, { "db-wal", SHADOW_CARRIED, false },
};

enum { NUSUAL = sizeof usual / sizeof *usual };

/* What was told: "CHANGED:settings.json ". */
struct heard {
	char	text[2048];
	char	to[PATH_MAX];	/* the last one */
};

static void
hear(const struct shadow_told *t, void *arg)
{
	static const char *const deeds[] = { "CHANGED", "CARRIED", "ASIDE",
	    "HOST-ASIDE", "HELD", "REFUSED", "LEFT-OUT", "FAILED" };
	struct heard *h = arg;
	size_t n = strlen(h->text);

	snprintf(h->text + n, sizeof h->text - n, "%s:%s ", deeds[t->deed],
	    strrchr(t->path, '/') + 1);
	if (t->to != NULL)
		snprintf(h->to, sizeof h->to, "%s", t->to);
}

/* Lines that begin with "run" stay the host's. */
static int
sift(const char *path, const char *host, size_t host_len, const char *jail,
    size_t jail_len, struct buf *ret, bool *ret_is_held, void *arg)
{
	(void)path;
	(void)jail_len;
	(void)arg;
	if (strncmp(jail, "broken", 6) == 0)
		return -1;
	for (const char *p = jail; *p != '\0'; p += strcspn(p, "\n") + 1) {
		size_t n = strcspn(p, "\n") + 1;

		if (strncmp(p, "run", 3) == 0 && (host == NULL ||
		    memmem(host, host_len, p, n) == NULL))
			*ret_is_held = true;
		else
			buf_add(ret, p, n);
	}
	return 0;
}

struct scene {
	struct room	*r;
	char		 path[256], state[256];
	struct shadow_folder folder;
	struct heard	 h;
	unsigned	 nruns;
};

static void
scene_init(struct scene *s, struct room *r)
{
	*s = (struct scene){ .r = r };
	room_put(r, "home/.agent/", "");
	snprintf(s->path, sizeof s->path, "%s", room_path(r, "home/.agent"));
	snprintf(s->state, sizeof s->state, "%s",
	    room_path(r, "home/.local/state/fence"));
	s->folder = (struct shadow_folder){ s->path, usual, NUSUAL, true };
}

static struct shadow *
try_begin(struct scene *s, struct err *e)
{
	char id[32];
	struct shadow_config c = { .state = s->state, .run_id = id,
	    .folders = &s->folder, .nfolders = 1, .sift = sift,
	    .told = hear, .told_arg = &s->h };

	snprintf(id, sizeof id, "run%u", s->nruns++);
	s->h = (struct heard){ .text = "" };
	return shadow_begin(&c, e);
}

static struct shadow *
begin(struct scene *s)
{
	struct err e = { 0 };
	struct shadow *run = try_begin(s, &e);

	if (run == NULL)
		print_error("%s: %s\n", e.msg, e.sys ? strerror(e.sys) : "");
	assert_non_null(run);
	return run;
}

/* Free, and what was told meanwhile. */
static const char *
end(struct scene *s, struct shadow *run)
{
	s->h = (struct heard){ .text = "" };
	shadow_end(run, hear, &s->h);
	shadow_free(run);
	return s->h.text;
}

/* A path in the jail's folder; good for eight more calls, as room_path(). */
static const char *
inside(struct scene *s, const char *name)
{
	struct arena *a = arena_new();
	const char *source = shadow_source(a, s->state, s->path);
	char part[300];

	snprintf(part, sizeof part, "%s/%s", source + strlen(s->r->dir) + 1,
	    name);
	arena_free(a);
	return room_path(s->r, part);
}

static void
write_inside(struct scene *s, const char *name, const char *text)
{
	room_put(s->r, inside(s, name) + strlen(s->r->dir) + 1, text);
}

/* By a new file that takes the name. */
static void
save_inside(struct scene *s, const char *name, const char *text)
{
	write_inside(s, ".tmp", text);
	assert_int_equal(rename(inside(s, ".tmp"), inside(s, name)), 0);
}

/* "" if it is missing. */
static const char *
text_of(const char *path)
{
	static char texts[4][256];
	static size_t turn;
	char *text = texts[turn++ % 4];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof texts[0] - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static const char *
host_text(struct scene *s, const char *name)
{
	char part[300];

	snprintf(part, sizeof part, "home/.agent/%s", name);
	return text_of(room_path(s->r, part));
}

static void
write_host(struct scene *s, const char *name, const char *text)
{
	char part[300];

	snprintf(part, sizeof part, "home/.agent/%s", name);
	room_put(s->r, part, text);
}

static bool
is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* ---- kept ---- */

static void
test_kept(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "settings.json", "host");
	write_host(&s, "plugins/a/x.js", "plugin");
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "host");
	assert_string_equal(text_of(inside(&s, "plugins/a/x.js")), "plugin");
	save_inside(&s, "settings.json", "jail");
	write_inside(&s, "plugins/evil.js", "x");
	assert_string_equal(end(&s, run),
	    "CHANGED:settings.json CHANGED:plugins ");
	assert_string_equal(host_text(&s, "settings.json"), "host");
	assert_string_equal(host_text(&s, "plugins/evil.js"), "");
	/* The next run sees it, and says nothing of what it did not change. */
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "jail");
	assert_string_equal(text_of(inside(&s, "plugins/evil.js")), "x");
	assert_string_equal(end(&s, run), "");
}

/* Each run's own, and of nobody else. */
static void
test_fresh(void **state)
{
	static const struct shadow_item items[] = {
		{ "snapshots", SHADOW_FRESH, false },
	};
	struct shadow *run, *second;
	struct scene s;

	scene_init(&s, *state);
	s.folder.items = items;
	s.folder.nitems = 1;
	write_host(&s, "snapshots/host.sh", "host");
	run = begin(&s);
	assert_false(is_there(inside(&s, "snapshots")));
	write_inside(&s, "snapshots/jail.sh", "jail");
	second = begin(&s);
	assert_string_equal(text_of(inside(&s, "snapshots/jail.sh")), "jail");
	assert_string_equal(end(&s, run), "");
	assert_string_equal(text_of(inside(&s, "snapshots/jail.sh")), "jail");
	assert_string_equal(end(&s, second), "");
	assert_false(is_there(inside(&s, "snapshots")));
	assert_string_equal(host_text(&s, "snapshots/host.sh"), "host");
	assert_string_equal(host_text(&s, "snapshots/jail.sh"), "");
	/* Another thing of that name, and of a run that was killed. */
	run = begin(&s);
	assert_int_equal(symlink("/etc", inside(&s, "snapshots")), 0);
	shadow_free(run);
	run = begin(&s);
	assert_false(is_there(inside(&s, "snapshots")));
	assert_string_equal(end(&s, run), "");
}

/* A name that policy/guard.c knows by a star is in no list, and is kept. */
static void
test_pattern(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	room_put(s.r, "home/.codex/", "");
	snprintf(s.path, sizeof s.path, "%s", room_path(s.r, "home/.codex"));
	s.folder.nitems = 0;
	run = begin(&s);
	write_inside(&s, "work.config.toml", "jail");
	write_inside(&s, "work.toml", "jail");
	end(&s, run);
	assert_non_null(strstr(s.h.text, "CARRIED:work.toml "));
	assert_non_null(strstr(s.h.text, "CHANGED:work.config.toml "));
	assert_false(is_there(room_path(s.r, "home/.codex/work.config.toml")));
	assert_true(is_there(room_path(s.r, "home/.codex/work.toml")));
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "work.config.toml")), "jail");
	assert_string_equal(end(&s, run), "");
}

static void
test_kept_removed(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "plugins/a", "plugin");
	run = begin(&s);
	assert_int_equal(unlink(inside(&s, "plugins/a")), 0);
	assert_int_equal(rmdir(inside(&s, "plugins")), 0);
	assert_string_equal(end(&s, run), "CHANGED:plugins ");
	run = begin(&s);
	assert_false(is_there(inside(&s, "plugins")));
	assert_string_equal(host_text(&s, "plugins/a"), "plugin");
	assert_string_equal(end(&s, run), "");
}

/* The host's original changes between two runs. */
static void
test_host_changed(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "settings.json", "one");
	assert_string_equal(end(&s, begin(&s)), "");
	write_host(&s, "settings.json", "two");
	run = begin(&s);
	assert_string_equal(s.h.text, "");
	assert_string_equal(text_of(inside(&s, "settings.json")), "two");
	save_inside(&s, "settings.json", "jail");
	end(&s, run);
	write_host(&s, "settings.json", "three");
	run = begin(&s);
	assert_string_equal(s.h.text, "ASIDE:settings.json ");
	assert_string_equal(text_of(s.h.to), "jail");
	assert_string_equal(text_of(inside(&s, "settings.json")), "three");
	end(&s, run);
	run = begin(&s);	/* once */
	assert_string_equal(s.h.text, "");
	end(&s, run);
}

/* Touched, with the same content: the jail's change stays. */
static void
test_host_touched(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "settings.json", "one");
	run = begin(&s);
	save_inside(&s, "settings.json", "jail");
	end(&s, run);
	write_host(&s, "settings.json", "one");
	run = begin(&s);
	assert_string_equal(s.h.text, "");
	assert_string_equal(text_of(inside(&s, "settings.json")), "jail");
	end(&s, run);
}

/* ---- carried ---- */

static void
test_carried(void **state)
{
	struct shadow *run;
	struct stat st;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "history", "1\n");
	assert_int_equal(chmod(room_path(s.r, "home/.agent/history"), 0640),
	    0);
	run = begin(&s);
	save_inside(&s, "history", "1\n2\n");
	assert_int_equal(chmod(inside(&s, "history"), 06755), 0);
	write_inside(&s, "new.log", "new");
	write_inside(&s, "sub/deep/file", "deep");
	end(&s, run);
	assert_non_null(strstr(s.h.text, "CARRIED:history "));
	assert_non_null(strstr(s.h.text, "CARRIED:new.log "));
	assert_non_null(strstr(s.h.text, "CARRIED:sub "));
	assert_null(strstr(s.h.text, "ASIDE"));
	assert_string_equal(host_text(&s, "history"), "1\n2\n");
	assert_string_equal(host_text(&s, "new.log"), "new");
	assert_string_equal(host_text(&s, "sub/deep/file"), "deep");
	assert_int_equal(stat(room_path(s.r, "home/.agent/history"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	/* Nothing of it stays in the store. */
	assert_false(is_there(inside(&s, "history")));
	assert_false(is_there(inside(&s, "new.log")));
	assert_false(is_there(inside(&s, "sub")));
}

static void
test_carried_conflict(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "history", "1");
	run = begin(&s);
	save_inside(&s, "history", "jail");
	write_host(&s, "history", "host");
	assert_string_equal(end(&s, run), "ASIDE:history ");
	assert_string_equal(text_of(s.h.to), "jail");
	assert_string_equal(host_text(&s, "history"), "host");
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "history")), "host");
	/* Removed inside: the host's is gone, and not lost. */
	assert_int_equal(unlink(inside(&s, "history")), 0);
	assert_string_equal(end(&s, run), "HOST-ASIDE:history ");
	assert_string_equal(text_of(s.h.to), "host");
	assert_false(is_there(room_path(s.r, "home/.agent/history")));
}

/* A credential: while the run lasts, the later one, and never removed. */
static void
test_credential(void **state)
{
	struct shadow *run;
	struct stat st;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "auth.json", "old");
	run = begin(&s);
	assert_true(shadow_watch(run) >= 0);
	save_inside(&s, "auth.json", "new");
	shadow_ready(run, hear, &s.h);
	assert_string_equal(s.h.text, "CARRIED:auth.json ");
	assert_string_equal(host_text(&s, "auth.json"), "new");
	write_inside(&s, "auth.json", "newer");		/* in place */
	write_host(&s, "auth.json", "newest");		/* outside, later */
	shadow_ready(run, hear, &s.h);
	assert_string_equal(host_text(&s, "auth.json"), "newest");
	save_inside(&s, "auth.json", "last");
	assert_string_equal(end(&s, run),
	    "HOST-ASIDE:auth.json CARRIED:auth.json ");
	assert_string_equal(text_of(s.h.to), "newest");
	assert_string_equal(host_text(&s, "auth.json"), "last");
	run = begin(&s);
	assert_int_equal(unlink(inside(&s, "auth.json")), 0);
	assert_string_equal(end(&s, run), "");
	assert_string_equal(host_text(&s, "auth.json"), "last");
	/* A first login. */
	assert_int_equal(unlink(room_path(s.r, "home/.agent/auth.json")), 0);
	run = begin(&s);
	write_inside(&s, "auth.json", "first");
	assert_int_equal(chmod(inside(&s, "auth.json"), 0644), 0);
	end(&s, run);
	assert_string_equal(host_text(&s, "auth.json"), "first");
	assert_int_equal(stat(room_path(s.r, "home/.agent/auth.json"), &st),
	    0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* What an agent, or who breaks it, leaves of a login. */
static const struct {
	const char	*name, *host, *jail;
	bool		 is_carried;
} logins[] = {
	{ "auth.json", "{\"t\":1}", "", false },
	{ "auth.json", "{\"t\":1}", " \n", false },
	{ "auth.json", "{\"t\":1}", "{}\n", false },
	{ "auth.json", "{\"t\":1}", "[]", false },
	{ "auth.json", "{\"t\":1}", "null", false },
	{ "auth.json", "{\"t\":1}", "{\"t\":", false },
	{ "auth.json", "{\"t\":1}", "{\"t\":2}{", false },
	{ "auth.json", "{\"t\":1}", "{\"t\":2}", true },
	{ "auth.json", "{\"t\":", "{\"u\":", true },
	{ "auth.json", "{}", "", true },
	{ "auth.json", "{}", "{\"t\":2}", true },
	{ "auth.json", NULL, "{", true },
	{ "token", "abc", "", false },
	{ "token", "abc", "a{", true },
};

static void
test_lost_login(void **state)
{
	static const struct shadow_item items[] = {
		{ "auth.json", SHADOW_CREDENTIAL, false },
		{ "token", SHADOW_CREDENTIAL, false },
	};

	for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
		const char *name = logins[i].name;
		struct shadow *run;
		struct scene s;

		print_message("row %zu\n", i);
		scene_init(&s, *state);
		s.folder.items = items;
		s.folder.nitems = 2;
		s.nruns = (unsigned)i * 10;
		(void)unlink(room_path(s.r, "home/.agent/auth.json"));
		(void)unlink(room_path(s.r, "home/.agent/token"));
		if (logins[i].host != NULL)
			write_host(&s, name, logins[i].host);
		run = begin(&s);
		assert_true(shadow_watch(run) >= 0);
		write_inside(&s, name, logins[i].jail);
		shadow_ready(run, hear, &s.h);
		assert_string_equal(host_text(&s, name), logins[i].is_carried ?
		    logins[i].jail : logins[i].host);
		end(&s, run);
		assert_string_equal(host_text(&s, name), logins[i].is_carried ?
		    logins[i].jail : logins[i].host);
		if (logins[i].is_carried)
			continue;
		assert_non_null(strstr(s.h.text, "ASIDE:"));
		assert_null(strstr(s.h.text, "HOST-ASIDE:"));
		assert_string_equal(text_of(s.h.to), logins[i].jail);
		/* The next run is logged in. */
		run = begin(&s);
		assert_string_equal(text_of(inside(&s, name)),
		    logins[i].host);
		assert_string_equal(end(&s, run), "");
	}
}

static void
make_long(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	close(fd);
}

static off_t
size_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_size : -1;
}

/* A login that is no login by its size. */
static void
test_long_login(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "auth.json", "{\"t\":1}");
	run = begin(&s);
	assert_true(shadow_watch(run) >= 0);
	make_long(inside(&s, "auth.json"), (16 << 20) + 1);
	shadow_ready(run, hear, &s.h);
	assert_string_equal(end(&s, run), "REFUSED:auth.json ");
	assert_int_equal(size_of(s.h.to), (16 << 20) + 1);
	assert_string_equal(host_text(&s, "auth.json"), "{\"t\":1}");
}

/* Holes: the third is beyond what one end carries. */
static void
test_sum(void **state)
{
	static const char *const names[] = { "a", "b", "c", "dir/d", "e" };
	struct shadow *run;
	struct scene s;
	unsigned n = 0;

	scene_init(&s, *state);
	run = begin(&s);
	write_inside(&s, "dir/x", "");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		make_long(inside(&s, names[i]), strlen(names[i]) == 1 ?
		    (off_t)3 << 29 : (off_t)3 << 28);
	end(&s, run);
	for (const char *p = s.h.text; (p = strstr(p, "REFUSED:")) != NULL;
	    p++)
		n++;
	/* 1.5 GiB each, and 0.75 in the folder. */
	assert_in_range(n, 2, 3);
	assert_int_equal(is_there(room_path(s.r, "home/.agent/a")) +
	    is_there(room_path(s.r, "home/.agent/b")) +
	    is_there(room_path(s.r, "home/.agent/c")) +
	    is_there(room_path(s.r, "home/.agent/e")), 2);
	/* The next end carries again. */
	run = begin(&s);
	make_long(inside(&s, "f"), (off_t)3 << 29);
	assert_string_equal(end(&s, run), "CARRIED:f ");
}

static void
test_sifted(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "config.toml", "run a\ntheme 1\n");
	run = begin(&s);
	save_inside(&s, "config.toml", "run a\ntheme 2\n");
	assert_string_equal(end(&s, run), "");
	assert_string_equal(host_text(&s, "config.toml"), "run a\ntheme 2\n");
	run = begin(&s);
	save_inside(&s, "config.toml", "run evil\ntheme 3\n");
	assert_string_equal(end(&s, run), "HELD:config.toml ");
	assert_string_equal(host_text(&s, "config.toml"), "theme 3\n");
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "config.toml")),
	    "run evil\ntheme 3\n");
	save_inside(&s, "config.toml", "broken");
	assert_string_equal(end(&s, run), "ASIDE:config.toml ");
	assert_string_equal(host_text(&s, "config.toml"), "theme 3\n");
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "config.toml")), "theme 3\n");
	end(&s, run);
}

/* The tables of agents' files: what executes stays the host's. */
static void
test_sift_agent(void **state)
{
	static const char host[] = "model = \"a\"\n";
	static const char jail[] = "model = \"b\"\nnotify = [\"evil\"]\n";
	bool is_held = false;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(shadow_sift_agent("/h/.codex/config.toml", host,
	    strlen(host), jail, strlen(jail), &b, &is_held, "/h"), 0);
	assert_null(strstr(b.data, "evil"));
	assert_true(is_held);
	buf_clear(&b);
	assert_int_equal(shadow_sift_agent("/h/.codex/config.toml", host,
	    strlen(host), "= [", 3, &b, &is_held, "/h"), -1);
	assert_int_equal(shadow_sift_agent("/h/.codex/other", host,
	    strlen(host), jail, strlen(jail), &b, &is_held, "/h"), -1);
	assert_int_equal(shadow_sift_agent("/x/.codex/config.toml", host,
	    strlen(host), jail, strlen(jail), &b, &is_held, "/h"), -1);
	buf_release(&b);
}

/* A database and its log are one thing. */
static void
test_database(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "db", "pages");
	write_host(&s, "db-wal", "log");
	write_host(&s, "db-shm", "memory");
	run = begin(&s);
	save_inside(&s, "db", "pages, jail");
	assert_int_equal(unlink(inside(&s, "db-wal")), 0);
	write_inside(&s, "db-shm", "jail");
	end(&s, run);
	assert_string_equal(host_text(&s, "db"), "pages, jail");
	assert_string_equal(host_text(&s, "db-wal"), "");
	assert_string_equal(host_text(&s, "db-shm"), "memory");
	run = begin(&s);
	write_inside(&s, "db-wal", "log, jail");
	write_host(&s, "db", "pages, host");
	end(&s, run);
	assert_string_equal(host_text(&s, "db"), "pages, host");
	assert_false(is_there(room_path(s.r, "home/.agent/db-wal")));
}

/* ---- hostile content ---- */

static void
test_hostile(void **state)
{
	struct shadow *run;
	struct stat st;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "history", "h");
	room_put(s.r, "secret", "secret");
	run = begin(&s);
	/* A symlink in the place of a file, and in a folder's. */
	assert_int_equal(unlink(inside(&s, "history")), 0);
	assert_int_equal(symlink(room_path(s.r, "secret"),
	    inside(&s, "history")), 0);
	assert_int_equal(rmdir(inside(&s, "projects")), 0);
	assert_int_equal(symlink(room_path(s.r, ""), inside(&s, "projects")),
	    0);
	/* What is no file, and a file of two names. */
	assert_int_equal(mkfifo(inside(&s, "fifo"), 0600), 0);
	write_inside(&s, "one", "x");
	assert_int_equal(link(inside(&s, "one"), inside(&s, "two")), 0);
	/* In a new folder: links out, links that stay, and setuid bits. */
	write_inside(&s, ".fence-carry/x", "x");
	write_inside(&s, "new/tool", "#!");
	assert_int_equal(chmod(inside(&s, "new/tool"), 06777), 0);
	write_inside(&s, "new/sub/x", "x");
	assert_int_equal(symlink("../tool", inside(&s, "new/sub/in")), 0);
	assert_int_equal(symlink("../../out", inside(&s, "new/sub/up")), 0);
	assert_int_equal(symlink("sub/../..", inside(&s, "new/down-up")), 0);
	assert_int_equal(symlink("/etc", inside(&s, "new/abs")), 0);
	assert_int_equal(mkfifo(inside(&s, "new/fifo"), 0600), 0);
	/* Nobody may look into it. */
	write_inside(&s, "closed/x", "x");
	assert_int_equal(chmod(inside(&s, "closed/x"), 0), 0);
	assert_int_equal(chmod(inside(&s, "closed"), 0), 0);
	end(&s, run);
	assert_non_null(strstr(s.h.text, "REFUSED:history "));
	assert_non_null(strstr(s.h.text, "ASIDE:projects "));
	assert_non_null(strstr(s.h.text, "REFUSED:one "));
	assert_non_null(strstr(s.h.text, "REFUSED:new "));
	assert_null(strstr(s.h.text, "FAILED"));
	assert_string_equal(host_text(&s, "history"), "h");
	assert_string_equal(text_of(room_path(s.r, "secret")), "secret");
	assert_false(is_there(room_path(s.r, "home/.agent/fifo")));
	assert_false(is_there(room_path(s.r, "home/.agent/.fence-carry")));
	assert_false(is_there(room_path(s.r, "home/.agent/one")));
	assert_string_equal(host_text(&s, "new/tool"), "#!");
	assert_int_equal(stat(room_path(s.r, "home/.agent/new/tool"), &st),
	    0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_true(is_there(room_path(s.r, "home/.agent/new/sub/in")));
	assert_false(is_there(room_path(s.r, "home/.agent/new/sub/up")));
	assert_false(is_there(room_path(s.r, "home/.agent/new/down-up")));
	assert_false(is_there(room_path(s.r, "home/.agent/new/abs")));
	assert_false(is_there(room_path(s.r, "home/.agent/new/fifo")));
	assert_string_equal(host_text(&s, "closed/x"), "x");
}

/* The jail closes its own folder: later runs are kept out by nobody. */
static void
test_closed(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	run = begin(&s);
	write_inside(&s, "settings.json", "jail");
	assert_int_equal(chmod(inside(&s, ""), 0), 0);
	assert_string_equal(end(&s, run), "CHANGED:settings.json ");
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "jail");
	end(&s, run);
}

/* Deeper than anything may be: it stays, and the end comes. */
static void
test_deep(void **state)
{
	struct shadow *run;
	struct scene s;
	int fd, next;

	scene_init(&s, *state);
	run = begin(&s);
	write_inside(&s, "deep/", "");
	fd = open(inside(&s, "deep"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	close(fd);
	assert_string_equal(end(&s, run), "REFUSED:deep ");
	assert_false(is_there(room_path(s.r, "home/.agent/deep")));
}

/* Symlinks of the host's: in their place, and not through them. */
static void
test_host_link(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	room_put(s.r, "dotfiles/settings.json", "dot");
	room_put(s.r, "dotfiles/history", "dot");
	assert_int_equal(symlink("../../dotfiles/settings.json",
	    room_path(s.r, "home/.agent/settings.json")), 0);
	assert_int_equal(symlink("../../dotfiles/history",
	    room_path(s.r, "home/.agent/history")), 0);
	run = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "");
	assert_true(is_there(inside(&s, "settings.json")));
	save_inside(&s, "history", "jail");
	end(&s, run);
	assert_string_equal(text_of(room_path(s.r, "dotfiles/history")),
	    "dot");
	assert_string_equal(host_text(&s, "history"), "jail");
}

/* A merge does not go through what lies on the host, either. */
static void
test_new_folder_twice(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	room_put(s.r, "elsewhere/", "");
	run = begin(&s);
	write_inside(&s, "new/a", "jail");
	write_inside(&s, "new/link/b", "jail");
	write_host(&s, "new/a", "host");
	assert_int_equal(symlink("../../../elsewhere",
	    room_path(s.r, "home/.agent/new/link")), 0);
	assert_string_equal(end(&s, run), "CARRIED:new ASIDE:new ");
	assert_string_equal(host_text(&s, "new/a"), "host");
	assert_false(is_there(room_path(s.r, "elsewhere/b")));
}

/* ---- two runs, and those that were killed ---- */

static void
test_two_runs(void **state)
{
	struct shadow *a, *b;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "settings.json", "one");
	write_host(&s, "history", "1");
	a = begin(&s);
	save_inside(&s, "history", "2");
	write_host(&s, "settings.json", "two");
	b = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "one");
	assert_string_equal(text_of(inside(&s, "history")), "2");
	assert_string_equal(end(&s, a), "CARRIED:history ");
	assert_string_equal(text_of(inside(&s, "history")), "2");
	save_inside(&s, "history", "3");
	write_inside(&s, "new/x", "x");
	end(&s, b);
	assert_string_equal(host_text(&s, "history"), "3");
	assert_string_equal(host_text(&s, "new/x"), "x");
	a = begin(&s);
	assert_string_equal(text_of(inside(&s, "settings.json")), "two");
	end(&s, a);
}

/* What one run keeps another may not carry. */
static void
test_two_policies(void **state)
{
	static const struct shadow_item other[] = {
		{ "history", SHADOW_KEPT, false },
	};
	struct shadow *a;
	struct scene s;
	struct err e = { 0 };

	scene_init(&s, *state);
	write_host(&s, "history", "1");
	a = begin(&s);
	s.folder.items = other;
	s.folder.nitems = 1;
	assert_null(try_begin(&s, &e));
	assert_int_equal(e.code, ERR_JAIL);
	/* Also of a name that nobody has, and of those of no list. */
	s.folder.items = usual + 3;
	s.folder.nitems = NUSUAL - 3;
	assert_null(try_begin(&s, &e));
	s.folder.items = usual;
	s.folder.nitems = NUSUAL;
	s.folder.is_rest_carried = false;
	assert_null(try_begin(&s, &e));
	s.folder.is_rest_carried = true;
	end(&s, begin(&s));
	end(&s, a);
	s.folder.items = other;
	s.folder.nitems = 1;
	a = begin(&s);
	save_inside(&s, "history", "kept");
	assert_string_equal(end(&s, a), "CHANGED:history ");
	/* Opened by a later policy: what was kept is not carried by that. */
	s.folder.items = usual;
	s.folder.nitems = NUSUAL;
	a = begin(&s);
	assert_string_equal(s.h.text, "ASIDE:history ");
	assert_string_equal(end(&s, a), "");
	assert_string_equal(host_text(&s, "history"), "1");
}

/* Nobody is left of the run: memory and lock are gone, its file is not. */
static void
test_swept(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "auth.json", "old");
	run = begin(&s);
	save_inside(&s, "auth.json", "new");
	write_inside(&s, "settings.json", "jail");
	shadow_sweep(s.state, sift, NULL, hear, &s.h);
	assert_string_equal(s.h.text, "");	/* it lives */
	shadow_free(run);
	write_host(&s, ".fence-carry", "of one that was killed");
	shadow_sweep(s.state, sift, NULL, hear, &s.h);
	assert_string_equal(s.h.text,
	    "CHANGED:settings.json CARRIED:auth.json ");
	assert_string_equal(host_text(&s, "auth.json"), "new");
	assert_false(is_there(room_path(s.r, "home/.agent/.fence-carry")));
	s.h = (struct heard){ .text = "" };
	shadow_sweep(s.state, sift, NULL, hear, &s.h);
	assert_string_equal(s.h.text, "");
	/* And by the next start itself. */
	run = begin(&s);
	save_inside(&s, "auth.json", "newer");
	shadow_free(run);
	run = begin(&s);
	assert_string_equal(s.h.text, "CARRIED:auth.json ");
	end(&s, run);
}

/* The host's cannot be written: nothing is lost, and it is tried again. */
static void
test_cannot_carry(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	write_host(&s, "auth.json", "old");
	run = begin(&s);
	save_inside(&s, "auth.json", "new");
	assert_int_equal(rename(s.path, room_path(s.r, "home/away")), 0);
	room_put(s.r, "home/.agent", "a file, in which root writes no other");
	assert_string_equal(end(&s, run), "FAILED:auth.json ");
	run = begin(&s);
	assert_string_equal(s.h.text, "FAILED:auth.json ");
	assert_string_equal(text_of(inside(&s, "auth.json")), "new");
	assert_int_equal(rename(room_path(s.r, "home/.agent"),
	    room_path(s.r, "home/file")), 0);
	assert_int_equal(rename(room_path(s.r, "home/away"), s.path), 0);
	assert_string_equal(end(&s, run), "CARRIED:auth.json ");
	assert_string_equal(host_text(&s, "auth.json"), "new");
}

/* The host's folder went away, or was never there. */
static void
test_no_folder(void **state)
{
	struct shadow *run;
	struct scene s;

	scene_init(&s, *state);
	assert_int_equal(rmdir(s.path), 0);
	run = begin(&s);
	write_inside(&s, "settings.json", "jail");
	assert_string_equal(end(&s, run), "CHANGED:settings.json ");
	assert_false(is_there(s.path));
	run = begin(&s);
	write_inside(&s, "auth.json", "new");
	assert_string_equal(end(&s, run), "CARRIED:auth.json ");
	assert_string_equal(host_text(&s, "auth.json"), "new");
}

/* ---- while somebody changes it ---- */

/* Names become something else, again and again, until we are ended. */
static void
change_for_ever(const char *jail, const char *secret, const char *outside)
{
	static const char *const names[] = { "history", "auth.json", "new",
	    "settings.json", "projects", "new/sub/x", "new/sub" };
	unsigned seed = 7;

	if (chdir(jail) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(1);
	for (;;) {
		const char *name;
		int fd;

		seed = seed * 1103515245 + 12345;
		name = names[(seed >> 16) % (sizeof names / sizeof *names)];
		(void)!rename(name, "moved");
		(void)!mkdir("new", 0700);
		(void)!mkdir("new/sub", 0700);
		switch ((seed >> 24) % 6) {
		case 0:
			(void)!symlink(secret, name);
			break;
		case 1:
			(void)!symlink(outside, name);
			break;
		case 2:
			(void)!mkfifo(name, 0600);
			break;
		case 3:
			(void)!link("moved", name);
			break;
		default:
			fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW |
			    O_NONBLOCK | O_CLOEXEC, 0600);
			(void)!write(fd, "jail", 4);
			close(fd);
		}
		(void)!unlink("moved");
		(void)!rmdir("moved");
	}
}

/* Nothing of elsewhere on the host, and no way there. */
static int
check_host(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)ftw;
	assert_true(flag != FTW_SL && flag != FTW_SLN);
	assert_true(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
	if (S_ISREG(st->st_mode))
		assert_string_not_equal(text_of(path), "secret");
	return 0;
}

static void
test_changing(void **state)
{
	char jail[300], secret[300], outside[300];
	struct scene s;
	pid_t pid;

	scene_init(&s, *state);
	write_host(&s, "auth.json", "host");
	room_put(s.r, "secret", "secret");
	room_put(s.r, "outside/leak", "secret");
	end(&s, begin(&s));
	snprintf(jail, sizeof jail, "%s", inside(&s, ""));
	snprintf(secret, sizeof secret, "%s", room_path(s.r, "secret"));
	snprintf(outside, sizeof outside, "%s", room_path(s.r, "outside"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		change_for_ever(jail, secret, outside);
	for (int i = 0; i < 30; i++) {
		struct err e = { 0 };
		struct shadow *run = try_begin(&s, &e);

		if (run == NULL)	/* it took the name of a mount point */
			continue;
		(void)shadow_watch(run);
		shadow_ready(run, hear, &s.h);
		end(&s, run);
		assert_int_equal(nftw(s.path, check_host, 16, FTW_PHYS), 0);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_string_equal(text_of(secret), "secret");
	assert_string_equal(text_of(room_path(s.r, "outside/leak")),
	    "secret");
	assert_true(is_there(room_path(s.r, "home/.agent/auth.json")));
}

static void
test_version(void **state)
{
	struct scene s;
	struct err e = { 0 };
	const char *path;

	scene_init(&s, *state);
	path = "home/.local/state/fence/shadow/version";
	room_put(s.r, path, "fence shadow 2\n");
	assert_int_equal(chmod(room_path(s.r,
	    "home/.local/state/fence/shadow"), 0700), 0);
	assert_null(try_begin(&s, &e));
	assert_int_equal(e.code, ERR_JAIL);
	assert_non_null(strstr(e.msg, "shadow/version"));
	assert_non_null(strstr(e.hint, "fence shadow reset"));
	room_put(s.r, path, "fence shadow 1\n");
	end(&s, begin(&s));
}

static void
test_may(void **state)
{
	struct scene s;

	scene_init(&s, *state);
	assert_true(shadow_may(s.state, s.path));
	assert_true(shadow_may(s.state, room_path(s.r, "home/.none/x")));
	assert_false(shadow_may(NULL, s.path));
	if (geteuid() != 0)
		assert_false(shadow_may(s.state, "/etc"));
	else if (chown(s.path, 12345, 12345) == 0)
		assert_false(shadow_may(s.state, s.path));
}

static void
test_text(void **state)
{
	const struct shadow_told t = { .deed = SHADOW_CHANGED,
	    .path = "/home/u/.claude/a\033b" };
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	shadow_text(&b, &t, "/home/u");
	assert_string_equal(b.data, "~/.claude/a\\x1bb changed inside (kept "
	    "in the shadow): fence shadow diff");
	buf_release(&b);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		T(test_kept), T(test_fresh), T(test_pattern),
		T(test_kept_removed), T(test_host_changed),
		T(test_host_touched), T(test_carried),
		T(test_carried_conflict), T(test_credential),
		T(test_lost_login), T(test_long_login), T(test_sum),
		T(test_sifted), T(test_sift_agent),
		T(test_database), T(test_hostile), T(test_closed), T(test_deep),
		T(test_host_link), T(test_new_folder_twice), T(test_two_runs),
		T(test_two_policies), T(test_swept), T(test_cannot_carry),
		T(test_no_folder), T(test_changing), T(test_version),
		T(test_may), T(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
