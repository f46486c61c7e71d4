/*
 * plan: a policy and a tree in, the whole description of the jail out.  The
 * cases are the files of tests/golden/plan.  First lines of words:
 *
 *	tree A B/ C>D		what lies in the room (tree_text.h)
 *	args -p 8080		options of fence-run
 *	env NAME=VALUE ...	the host's, besides HOME
 *	user			not for root
 *	landlock		of a version that knows signals
 *
 * Then the policy, and behind the line "--- plan" what comes out of it
 * (put_plan()).  With FENCE_GOLDEN_WRITE set this part is written anew and not
 * compared.
 *
 * fence's parts are looked for beside the running program, so this program runs
 * a copy of itself, in a room with such parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include "launcher/cli/opt.h"
#include "launcher/plan/plan.h"
#include "platform/base/path.h"
#include "platform/fd.h"
#include "tests/unit/tree_text.h"

static const char mark[] = "--- plan\n";

enum { WORDS_MAX = 32 };

struct scene {
	struct room	*r;
	char		*text;		/* of the case, cut to pieces */
	char		*tree, *policy;
	bool		 is_skipped;
	int		 socket_fd;	/* of the tree, or -1 */
	char		*argv[WORDS_MAX + 2], *env[WORDS_MAX + 2];
	int		 argc, nenv;
	struct run_options ro;
	struct plan	 plan;
	struct err	 e;
	int		 rc;
};

/* ---- a case ---- */

static char *
slurp(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	if (fd < 0 || buf_read(&b, fd) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	ret = strdup(b.data);
	buf_release(&b);
	return ret;
}

static int
split(char *words, char **v)
{
	char *save = NULL;
	int n = 0;

	for (char *w = strtok_r(words, " ", &save); w != NULL && n < WORDS_MAX;
	    w = strtok_r(NULL, " ", &save))
		v[n++] = w;
	return n;
}

static bool
has_signals(void)
{
	struct jail_walls walls;

	jail_walls(&walls);
	return walls.has_signals;
}

static void
read_head(struct scene *s, char *line)
{
	if (strncmp(line, "tree ", 5) == 0)
		s->tree = line + 5;
	else if (strncmp(line, "args ", 5) == 0)
		s->argc = 1 + split(line + 5, &s->argv[1]);
	else if (strncmp(line, "env ", 4) == 0)
		s->nenv += split(line + 4, &s->env[s->nenv]);
	else if (strcmp(line, "user") == 0)
		s->is_skipped |= getuid() == 0;
	else if (strcmp(line, "landlock") == 0)
		s->is_skipped |= !has_signals();
	else
		fail_msg("no word of a case: %s", line);
}

/* Without what is behind the mark. */
static void
read_case(struct scene *s, const char *text)
{
	const char *end = strstr(text, mark);
	char *line, *next;

	s->text = room_expand(s->r, text);
	if (end != NULL)
		*strstr(s->text, mark) = '\0';
	s->argv[0] = (char *)"fence-run";
	s->argc = 1;
	for (line = s->text; *line != '{'; line = next) {
		next = strchr(line, '\n');
		if (next == NULL)
			fail_msg("a case without a policy");
		*next++ = '\0';
		read_head(s, line);
	}
	s->policy = line;
}

static void
make_room(struct scene *s)
{
	static char home[128];

	room_put(s->r, "proj/tool", "#!/bin/sh\n");
	assert_int_equal(chmod(room_path(s->r, "proj/tool"), 0755), 0);
	room_put(s->r, "p.json", s->policy);
	s->socket_fd = tree_make(s->r, s->tree != NULL ? s->tree : "");
	assert_int_equal(chdir(room_path(s->r, "proj")), 0);
	snprintf(home, sizeof home, "HOME=%s/home", s->r->dir);
	s->env[s->nenv++] = home;
}

static void
make_plan(struct scene *s)
{
	static char *argv[] = { (char *)"./tool", NULL };
	char settings[128];
	int rest;

	snprintf(settings, sizeof settings, "%s", room_path(s->r, "p.json"));
	s->rc = opt_parse(s->argc, s->argv, &s->ro, &rest, &s->e);
	if (s->rc != 0)
		return;
	s->ro.settings = settings;
	s->ro.engine = "native";
	s->ro.dry_run = true;
	/* Something of another program's may vanish meanwhile. */
	do
		s->rc = plan_make(&s->ro, argv, s->env, &s->plan, &s->e);
	while (s->rc != 0 && s->plan.is_outdated);
	s->ro.settings = NULL;
}

/* ---- what came of it ---- */

/*
 * Every machine and every user has the same of these: below the room, or of the
 * first mounts.  A kernel without signals in its Landlock starts a session.
 */
static bool
is_same_everywhere(const struct scene *s, const char *line, size_t n)
{
	static const char *const machines[] = { "session ", "file  /etc/ssh/" };
	char text[600];

	snprintf(text, sizeof text, "%.*s", (int)n, line);
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (strncmp(text, machines[i], strlen(machines[i])) == 0)
			return false;
	if (strncmp(text, "mount ", 6) != 0)
		return true;
	return strstr(text, s->r->dir) != NULL ||
	    strstr(text, "  (private)") != NULL || strstr(text, " /  (") ||
	    strstr(text, " /etc  (") != NULL;
}

static void
put_lines(const struct scene *s, const char *text, struct buf *b)
{
	for (const char *l = text; *l != '\0'; ) {
		size_t n = strcspn(l, "\n");

		if (strncmp(l, "shim ", 5) == 0)
			buf_printf(b, "shim  %s\n", path_name(
			    s->plan.spec.shim));
		else if (is_same_everywhere(s, l, n))
			buf_printf(b, "%.*s\n", (int)n, l);
		l += n + (l[n] == '\n');
	}
}

static void
put_range(struct buf *b, const struct jail_range *r)
{
	char text[INET6_ADDRSTRLEN];

	assert_non_null(inet_ntop(r->family, r->addr, text, sizeof text));
	buf_printf(b, "range %s/%u\n", text, r->bits);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
put_env(struct buf *b, char **env)
{
	size_t n = 0;

	while (env[n] != NULL)
		n++;
	qsort(env, n, sizeof *env, by_text);
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "env   %s\n", env[i]);
}

/* What --dry-run prints, and what it does not. */
static void
put_plan(const struct scene *s, struct buf *b)
{
	const struct plan *p = &s->plan;
	struct buf all;

	buf_init(&all, 0);
	plan_print(p, &all);
	put_lines(s, all.data, b);
	buf_release(&all);
	for (size_t i = 0; i < p->spec.nwrite_roots; i++)
		if (strstr(p->spec.write_roots[i], s->r->dir) != NULL)
			buf_printf(b, "root  %s\n", p->spec.write_roots[i]);
	for (size_t i = 0; i < p->spec.nranges; i++)
		put_range(b, &p->spec.ranges[i]);
	buf_printf(b, "ports %u %u\n", p->spec.http_port, p->spec.socks_port);
	buf_printf(b, "names %s\n", p->wants_names ? "yes" : "no");
	put_env(b, (char **)p->spec.envp);
	for (size_t i = 0; i < p->nnotices; i++)
		if (strncmp(p->notices[i], "this kernel ", 12) != 0 &&
		    !is_of_machine(p->notices[i]))
			buf_printf(b, "says  %s\n", p->notices[i]);
}

static char *
golden_text(const struct scene *s)
{
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	if (s->rc == 0)
		put_plan(s, &b);
	else
		buf_printf(&b, "error %s: %s: %s\nhint  %s\n", s->e.where,
		    s->e.key, s->e.msg, s->e.hint);
	ret = room_shorten(s->r, b.data);
	buf_release(&b);
	return ret;
}

static void
write_golden(const char *path, const char *text, const char *got)
{
	const char *end = strstr(text, mark);
	FILE *fp = fopen(path, "we");

	assert_non_null(fp);
	fprintf(fp, "%.*s%s%s", end != NULL ? (int)(end - text) :
	    (int)strlen(text), text, mark, got);
	assert_int_equal(fclose(fp), 0);
}

/* ---- all cases ---- */

static void
check_case(const char *path)
{
	struct scene s = { .rc = -1, .socket_fd = -1 };
	void *room = NULL;
	char *text = slurp(path), *got;
	const char *want = strstr(text, mark);

	assert_int_equal(room_enter(&room), 0);
	s.r = room;
	read_case(&s, text);
	if (!s.is_skipped) {
		make_room(&s);
		make_plan(&s);
		got = golden_text(&s);
		if (getenv("FENCE_GOLDEN_WRITE") != NULL)
			write_golden(path, text, got);
		else if (want == NULL ||
		    strcmp(got, want + sizeof mark - 1) != 0)
			fail_msg("%s: the plan is\n%s", path, got);
		free(got);
		opt_release(&s.ro);
		if (s.rc == 0)
			plan_release(&s.plan);
	}
	assert_int_equal(chdir("/"), 0);
	fd_close(&s.socket_fd);
	room_leave(&room);
	free(s.text);
	free(text);
}

static char cases_dir[PATH_MAX];

static void
test_cases(void **state)
{
	char pattern[PATH_MAX + 8];
	glob_t g;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/*", cases_dir);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		check_case(g.gl_pathv[i]);
	globfree(&g);
}

/* ---- the copy ---- */

static void
copy_self(struct room *r)
{
	auto_fd from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	auto_fd to = -1;
	ssize_t n;

	room_put(r, "bin/test_plan", "");
	to = open(room_path(r, "bin/test_plan"), O_WRONLY | O_CLOEXEC);
	assert_true(from >= 0 && to >= 0);
	while ((n = sendfile(to, from, NULL, 1 << 20)) > 0)
		continue;
	assert_int_equal(n, 0);
	assert_int_equal(fchmod(to, 0755), 0);
	room_put(r, "libexec/fence/fence-init", "");
	room_put(r, "libexec/fence/libfence-shim.so", "");
}

static int
run_copy(void)
{
	const char *top = getenv("srcdir");
	char dir[PATH_MAX], exe[PATH_MAX];
	void *room = NULL;
	int status = 0;
	pid_t pid;

	snprintf(cases_dir, sizeof cases_dir, "%s/tests/golden/plan",
	    top != NULL ? top : ".");
	if (realpath(cases_dir, dir) == NULL || room_enter(&room) != 0) {
		perror(cases_dir);
		return 1;
	}
	copy_self(room);
	snprintf(exe, sizeof exe, "%s", room_path(room, "bin/test_plan"));
	pid = fork();
	if (pid == 0) {
		execl(exe, "test_plan", dir, (char *)NULL);
		perror(exe);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	room_leave(&room);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	if (argc < 2)
		return run_copy();
	snprintf(cases_dir, sizeof cases_dir, "%s", argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
