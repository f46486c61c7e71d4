/* Datagrams and gate events in; lines, counts and the closing line out. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/record/witness.h"
#include "launcher/writer.h"
#include "shim/wire.h"
#include "tests/unit/verdict_words.h"

static const char policy_text[] =
"{ \"network\": { \"allowedDomains\": [\"allowed.test\", \"192.0.2.1\"] },\n"
"  \"filesystem\": { \"allowWrite\": [\".\"],\n"
"    \"denyWrite\": [\"./.git\", \"./d/x\", \"./d/y\"],\n"
"    \"denyRead\": [\"./secret\", \"~/.ssh\"] } }\n";

struct fixture {
	char		 dir[64];	/* the workspace */
	struct policy	*policy;
	struct witness	*w;
	int		 trace_fd, text_fd;
	char		*trace, *text;	/* what was written */
};

static void
start(struct fixture *f, int trace_fd, int text_fd)
{
	struct witness_config c = { .policy = f->policy,
	    .run = { .id = "0123456789abcdef", .hostname = "box",
	    .version = "0.1.0", .policy_name = "fence.jsonc" },
	    .trace_fd = trace_fd, .text_fd = text_fd,
	    .stop_pid = getppid() };

	f->w = witness_new(&c);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct policy_env env = { .home = "/home/nobody-here" };
	FILE *trace = tmpfile(), *text = tmpfile();
	struct err e = { 0 };

	strcpy(f->dir, "/var/tmp/test_witness.XXXXXX");
	if (mkdtemp(f->dir) == NULL || trace == NULL || text == NULL)
		return -1;
	env.workspace = f->dir;
	if (policy_parse(policy_text, strlen(policy_text), "fence.jsonc",
	    &env, &f->policy, &e) != 0) {
		err_print(&e, stderr);
		return -1;
	}
	f->trace_fd = dup(fileno(trace));
	f->text_fd = dup(fileno(text));
	(void)fclose(trace);
	(void)fclose(text);
	start(f, f->trace_fd, f->text_fd);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	char cmd[128];

	witness_free(f->w);
	policy_free(f->policy);
	(void)snprintf(cmd, sizeof cmd, "rm -rf -- %s", f->dir);
	(void)!system(cmd);
	(void)close(f->trace_fd);
	(void)close(f->text_fd);
	free(f->trace);
	free(f->text);
	free(f);
	return 0;
}

static char *
slurp(int fd)
{
	struct stat st;
	char *s;

	assert_int_equal(fstat(fd, &st), 0);
	s = calloc(1, (size_t)st.st_size + 1);
	assert_int_equal(pread(fd, s, (size_t)st.st_size, 0), st.st_size);
	return s;
}

static void
read_back(struct fixture *f)
{
	free(f->trace);
	free(f->text);
	f->trace = slurp(f->trace_fd);
	f->text = slurp(f->text_fd);
}

static unsigned
lines(const char *s)
{
	unsigned n = 0;

	for (; *s != '\0'; s++)
		n += *s == '\n';
	return n;
}

static size_t
report(struct wire_report *r, enum wire_call call, const char *path,
    uint32_t flags, int err)
{
	*r = (struct wire_report){ .magic = WIRE_MAGIC,
	    .call = (uint16_t)call, .err = err, .flags = flags,
	    .path_len = (uint16_t)strlen(path), .comm = "claimed" };
	memcpy(r->path, path, strlen(path));
	return WIRE_HEADER_BYTES + r->path_len;
}

static void
tell_open(struct fixture *f, const char *path, uint32_t flags, int err)
{
	struct wire_report r;
	size_t len = report(&r, WIRE_OPEN, path, flags, err);

	witness_shim(f->w, &r, len, getpid());
}

/* A path in the workspace: one static buffer for each call in a row. */
static const char *
in(const struct fixture *f, const char *rest)
{
	static char path[8][256];
	static unsigned n;

	n = (n + 1) % 8;
	(void)snprintf(path[n], sizeof path[n], "%s/%s", f->dir, rest);
	return path[n];
}

/* The schema is law: what was written must pass, if python3 is here. */
static void
validate(struct fixture *f)
{
	const char *src = getenv("srcdir") != NULL ? getenv("srcdir") : ".";
	char cmd[1024];

	(void)snprintf(cmd, sizeof cmd, "cd '%s' && "
	    "test -x tests/validate-events && "
	    "command -v python3 >/dev/null || exit 0; "
	    "tests/validate-events launcher/record/event.schema.json /dev/fd/%d",
	    src, f->trace_fd);
	(void)lseek(f->trace_fd, 0, SEEK_SET);
	assert_int_equal(system(cmd), 0);
}

/* "told" is the rule the record names; NULL: no record, not our doing. */
static void
test_shim_open(void **state)
{
	struct fixture *f = *state;
	const struct {
		const char	*path;
		uint32_t	 flags;
		int		 err;
		const char	*told, *enforcer;
	} rows[] = {
		{ "/off/x", O_WRONLY | O_CREAT, EROFS,
		  "filesystem.allowWrite", "mount" },
		{ "/off/x", O_RDWR, EACCES, "filesystem.allowWrite",
		  "landlock" },
		{ "/off/x", O_TRUNC, EACCES, "filesystem.allowWrite",
		  "landlock" },
		{ "/off/x", O_RDONLY, EACCES, NULL, NULL },
		{ "/tmp/x", O_WRONLY, EACCES, NULL, NULL },
		{ in(f, "secret/a"), O_RDONLY, EACCES,
		  "filesystem.denyRead[0]", "mount" },
		{ in(f, "b/../secret//./a"), O_RDONLY, EACCES,
		  "filesystem.denyRead[0]", "mount" },
		{ in(f, ".git/config"), O_WRONLY, EROFS,
		  "filesystem.denyWrite[0]", "mount" },
		{ in(f, "fine"), O_WRONLY, EACCES, NULL, NULL },
		{ in(f, "late"), O_WRONLY | O_CREAT, EROFS,
		  "filesystem.allowWrite[0]", "mount" },
	};
	unsigned told = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char want[128];
		const char *last;

		tell_open(f, rows[i].path, rows[i].flags, rows[i].err);
		read_back(f);
		told += rows[i].told != NULL;
		assert_int_equal(lines(f->text), told);
		assert_int_equal(lines(f->trace), told);
		if (rows[i].told == NULL)
			continue;
		(void)snprintf(want, sizeof want, "rule %s ", rows[i].told);
		last = f->text;
		for (unsigned k = 1; k < told; k++)
			last = strchr(last, '\n') + 1;
		assert_non_null(strstr(last, want));
		assert_non_null(strstr(last, "test_witness["));
		last = f->trace;
		for (unsigned k = 1; k < told; k++)
			last = strchr(last, '\n') + 1;
		(void)snprintf(want, sizeof want, "\"enforcer\":\"%s\"",
		    rows[i].enforcer);
		assert_non_null(strstr(last, want));
	}
	assert_int_equal(witness_counts(f->w).not_fence, 3);
	validate(f);
}

/* Three links to a denied place: final, in the middle, and before "..". */
static void
test_shim_links(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir(in(f, "secret"), 0700), 0);
	assert_int_equal(mkdir(in(f, "secret/deep"), 0700), 0);
	assert_int_equal(symlink("secret/a", in(f, "final")), 0);
	assert_int_equal(symlink("secret", in(f, "mid")), 0);
	assert_int_equal(symlink("secret/deep", in(f, "up")), 0);
	assert_int_equal(close(creat(in(f, "secret/a"), 0600)), 0);
	tell_open(f, in(f, "final"), O_RDONLY, EACCES);
	tell_open(f, in(f, "mid/none/b"), O_RDONLY, EACCES);
	tell_open(f, in(f, "up/../a"), O_RDONLY, EACCES);
	tell_open(f, in(f, "elsewhere"), O_RDONLY, EACCES);
	read_back(f);
	assert_int_equal(lines(f->text), 3);
	assert_non_null(strstr(f->text, "/mid/none/b\", read)"));
	assert_int_equal(witness_counts(f->w).not_fence, 1);
}

static void
test_shim_other(void **state)
{
	struct fixture *f = *state;
	struct wire_report r;
	size_t len;

	len = report(&r, WIRE_EXEC, in(f, "secret/tool"), 0, EACCES);
	witness_shim(f->w, &r, len, getpid());
	len = report(&r, WIRE_CONNECT, "", 0, ENETUNREACH);
	r.family = AF_INET;
	r.port = 443;
	memcpy(r.addr, "\xc6\x33\x64\x07", 4);		/* 198.51.100.7 */
	witness_shim(f->w, &r, len, getpid());
	memcpy(r.addr, "\xc0\x00\x02\x01", 4);		/* allowed */
	witness_shim(f->w, &r, len, getpid());
	r.err = ECONNREFUSED;				/* an answer */
	memcpy(r.addr, "\x7f\x00\x00\x01", 4);
	witness_shim(f->w, &r, len, getpid());
	len = report(&r, WIRE_CONNECT, in(f, "secret/s"), 0, EACCES);
	r.family = AF_UNIX;
	witness_shim(f->w, &r, len, getpid());
	len = report(&r, WIRE_CONNECT, "/run/s", 0, EACCES);
	r.family = AF_UNIX;
	witness_shim(f->w, &r, len, getpid());
	read_back(f);
	assert_int_equal(lines(f->text), 3);
	assert_non_null(strstr(f->text, "[fence:exec] "));
	assert_non_null(strstr(f->text, "connect(198.51.100.7:443) ENETUNREACH"));
	assert_non_null(strstr(f->text, "/secret/s\") EACCES"));
	assert_non_null(strstr(f->trace, "\"enforcer\":\"route\""));
	validate(f);
}

/* What the listener saw: the kernel's word, and within limits of its own. */
static void
test_calls(void **state)
{
	struct fixture *f = *state;
	struct witness_call c = { .pid = getpid(), .addr = { 198, 51, 100, 7 },
	    .addr_len = 4, .port = 443 };

	witness_call(f->w, &c);
	assert_int_equal(witness_counts(f->w).records, 1);
	memcpy(c.addr, "\xc0\x00\x02\x01", 4);		/* allowed */
	witness_call(f->w, &c);
	assert_int_equal(witness_counts(f->w).records, 1);
	read_back(f);
	assert_non_null(strstr(f->text, "connect(198.51.100.7:443) EACCES"));
	assert_non_null(strstr(f->trace, "\"witness\":\"notify\","
	    "\"trust\":\"kernel\""));
	validate(f);
}

/* Calls that open nothing, by the shim's word and by the listener's. */
static void
test_ops(void **state)
{
	struct fixture *f = *state;
	static const struct {
		enum wire_call	 call;
		unsigned	 nr;
		const char	*path, *text, *json;
	} rows[] = {
		{ WIRE_MAKE, SYS_mkdirat, "/off/x", "mkdirat(\"/off/x\") EROFS",
		  "\"type_uid\":100101" },
		{ WIRE_REMOVE, SYS_unlinkat, "/off/x",
		  "unlinkat(\"/off/x\") EROFS", "\"type_uid\":100104" },
		{ WIRE_CHANGE, 0, "/off/x", "change(\"/off/x\") EROFS",
		  "\"type_uid\":100103" },
		{ WIRE_SYSTEM, SYS_mount, "", "mount() EROFS",
		  "\"system_call\":\"mount\"" },
		{ WIRE_SYSTEM, 0, "", NULL, NULL },
		{ WIRE_LOOK, SYS_statx, "/off/x", NULL, NULL },
	};
	unsigned told = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct wire_report r;
		size_t len = report(&r, rows[i].call, rows[i].path, 0, EROFS);
		const struct witness_held h = { .pid = getpid(),
		    .call = rows[i].call, .nr = rows[i].nr, .err = EROFS,
		    .path = rows[i].path[0] != '\0' ? rows[i].path : NULL };

		r.nr = (uint16_t)rows[i].nr;
		/* What the listener told, the shim's report tells no more;
		 * the next one is another call. */
		witness_held(f->w, &h);
		witness_shim(f->w, &r, len, getpid());
		witness_shim(f->w, &r, len, getpid());
		read_back(f);
		told += rows[i].text != NULL ? 2 : 0;
		assert_int_equal(lines(f->text), told);
		if (rows[i].text == NULL)
			continue;
		assert_non_null(strstr(f->text, rows[i].text));
		assert_non_null(strstr(f->trace, rows[i].json));
	}
	assert_non_null(strstr(f->trace, "\"witness\":\"notify\","
	    "\"trust\":\"kernel\""));
	validate(f);
}

/* Who asks is the kernel's word; without it, the claim with its pid. */
static void
test_shim_who(void **state)
{
	struct fixture *f = *state;
	struct wire_report r;
	size_t len = report(&r, WIRE_OPEN, "gone", O_WRONLY, EROFS);
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	(void)waitpid(pid, NULL, 0);
	memset(r.comm, 'c', sizeof r.comm);	/* no NUL */
	witness_shim(f->w, &r, len, pid);	/* relative, and no base */
	assert_int_equal(witness_counts(f->w).not_fence, 1);
	len = report(&r, WIRE_OPEN, "/off/gone", O_WRONLY, EROFS);
	memset(r.comm, 'c', sizeof r.comm);
	witness_shim(f->w, &r, len, pid);
	read_back(f);
	assert_non_null(strstr(f->text, "  cccccccccccccccc["));
	len = report(&r, WIRE_OPEN, "../../../../../../../../../../../../"
	    "../../../../../../off/x", O_WRONLY, EROFS);
	witness_shim(f->w, &r, len, getpid());
	read_back(f);
	assert_int_equal(lines(f->text), 2);
	assert_null(strstr(f->text, "claimed"));
	assert_non_null(strstr(f->text, "open(\"/off/x\", write)"));
	validate(f);
}

static void
test_malformed(void **state)
{
	struct fixture *f = *state;
	struct wire_report good, r;
	size_t len = report(&good, WIRE_OPEN, "/off/x", O_WRONLY, EROFS);
	char big[sizeof r + 8] = { 0 };
	uint64_t n = 0;

	for (size_t cut = 0; cut < len; cut++, n++)
		witness_shim(f->w, &good, cut, getpid());
	witness_shim(f->w, &good, len + 1, getpid());
	witness_shim(f->w, big, sizeof big, getpid());
	n += 2;
#define WITH(field, value) do {						\
	r = good;							\
	r.field = (value);						\
	witness_shim(f->w, &r, len, getpid());				\
	n++;								\
} while (0)
	WITH(magic, 1);
	WITH(call, 0);
	WITH(call, WIRE_NEST);		/* of a path */
	WITH(call, WIRE_SYSTEM);	/* of a path */
	WITH(call, WIRE_LOST);
	WITH(call, WIRE_CALL_END);
	WITH(call, WIRE_CONNECT);	/* of no family */
	WITH(path_len, 5);
	WITH(path_len, 7);
	WITH(path_len, WIRE_PATH_MAX + 1);
	WITH(err, 0);
	WITH(err, -13);
	WITH(err, 4096);
	WITH(path[2], '\0');
	r = good;
	r.path_len = 0;
	witness_shim(f->w, &r, WIRE_HEADER_BYTES, getpid());
	n++;
	assert_int_equal(witness_counts(f->w).malformed, n);
	assert_int_equal(witness_counts(f->w).records, 0);
	memset(&r.path, 'x', sizeof r.path);	/* the longest is fine */
	r.path[0] = '/';
	r.path_len = WIRE_PATH_MAX;
	witness_shim(f->w, &r, sizeof r, getpid());
	assert_int_equal(witness_counts(f->w).malformed, n);
	witness_shim(f->w, &good, len, getpid());
	assert_int_equal(witness_counts(f->w).records, 1);
}

static void
tell_dns(struct fixture *f, pid_t pid, const char *name, const char *type)
{
	struct event e = { .kind = EVENT_DNS, .witness = WITNESS_GATE,
	    .enforcer = ENFORCER_DNS, .host = name, .qtype = type,
	    .nprocess = pid != 0 };

	e.process[0].pid = pid;
	strcpy(e.process[0].comm, "getent");
	e.verdict.action = ACTION_DENY;
	e.verdict.rule = rule_from("network.allowedDomains", NULL, NULL, 0, 0);
	remedy_from(&e.verdict.remedy, REMEDY_ADD, "network.allowedDomains",
	    name);
	e.verdict.remedy.has_flag = true;
	witness_gate(f->w, &e);
}

/* No refusal, but the gate's may be of nobody else's. */
static void
test_gate_call(void **state)
{
	struct fixture *f = *state;
	struct witness_call c = { .pid = getpid(), .port = 8, .from = 4711,
	    .addr = { 198, 51, 100, 30 }, .addr_len = 4 };
	struct callers_place p;
	struct event e = { .nprocess = 0 };

	callers_place(&p, c.addr, 4, c.port);
	assert_false(witness_caller(f->w, &p, 4711, &e));
	witness_gate_call(f->w, &c);
	assert_int_equal(witness_counts(f->w).records, 0);
	assert_false(witness_caller(f->w, &p, 4712, &e));
	assert_true(witness_caller(f->w, &p, 4711, &e));
	assert_int_equal(e.process[0].pid, getpid());
}

static void
test_dns_fold(void **state)
{
	struct fixture *f = *state;
	static const struct {
		pid_t		 pid;
		const char	*name, *type;
		unsigned	 records;	/* so far */
	} rows[] = {
		{ 7, "a.test", "A", 1 }, { 7, "a.test", "AAAA", 1 },
		{ 7, "A.test", "HTTPS", 1 },
		{ 7, "a.test", "A", 2 },	/* a second look-up */
		{ 7, "a.test", "AAAA", 2 },
		{ 8, "a.test", "AAAA", 3 }, { 8, "a.test", "A", 3 },
		{ 7, "b.test", "A", 4 }, { 7, "a.test", "AAAA", 5 },
		/* Who asked is gone: it is the same look-up, if there is one. */
		{ 9, "c.test", "A", 6 }, { 0, "c.test", "AAAA", 6 },
		{ 0, "c.test", "AAAA", 7 }, { 0, "d.test", "A", 8 },
		{ 9, "c.test", "HTTPS", 8 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		tell_dns(f, rows[i].pid, rows[i].name, rows[i].type);
		assert_int_equal(witness_counts(f->w).records,
		    rows[i].records);
	}
	read_back(f);
	assert_int_equal(lines(f->trace), 8);
	assert_non_null(strstr(f->text, "query(a.test, A) NXDOMAIN"));
	validate(f);
}

static void
test_run(void **state)
{
	struct fixture *f = *state;

	witness_run_start(f->w, "make all", NULL);
	tell_open(f, "/off/x", O_WRONLY, EROFS);
	witness_lost(f->w, 5);
	witness_run_end(f->w, 2);
	read_back(f);
	assert_int_equal(lines(f->trace), 4);
	assert_int_equal(lines(f->text), 2);
	assert_non_null(strstr(f->text, "[fence] at least 5 records were "
	    "dropped\n"));
	assert_non_null(strstr(f->trace, "\"dropped\":5"));
	assert_non_null(strstr(f->trace, "\"exit_status\":2"));
	validate(f);
}

static void
tell_open_of(struct fixture *f, pid_t pid, const char *where, int number)
{
	struct wire_report r;
	char path[64];
	size_t len;

	(void)snprintf(path, sizeof path, "%s/%d", where, number);
	len = report(&r, WIRE_OPEN, path, O_WRONLY, EROFS);
	witness_shim(f->w, &r, len, pid);
}

static uint64_t
sum_of(const char *text, const char *member)
{
	uint64_t n = 0;

	for (; (text = strstr(text, member)) != NULL; text++)
		n += strtoull(text + strlen(member), NULL, 10);
	return n;
}

/* A flood makes a bounded number of lines, and the rest is accounted for. */
static void
test_flood(void **state)
{
	struct fixture *f = *state;
	struct timespec begin, end;
	struct witness_counts n;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 3000; i++)
		tell_open_of(f, getpid(), "/off", i);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	witness_run_end(f->w, 0);
	read_back(f);
	n = witness_counts(f->w);
	assert_int_equal(n.records + n.dropped, 3000);
	/* A thousand, and a few for each second, however slow the machine. */
	assert_true(n.records >= 1000);
	assert_true(n.records <=
	    1000 + 20 * (uint64_t)(end.tv_sec - begin.tv_sec + 1));
	assert_int_equal(sum_of(f->trace, "\"dropped\":"), n.dropped);
	validate(f);
}

/* The same again and again is a record, and one more with the number. */
static void
test_folds(void **state)
{
	struct fixture *f = *state;
	struct witness_counts n;
	struct buf b;

	for (int i = 0; i < 300000; i++)
		tell_open(f, "/off/x", O_WRONLY, EROFS);
	witness_run_end(f->w, 0);
	read_back(f);
	n = witness_counts(f->w);
	assert_int_equal(n.records, 300000);
	assert_int_equal(n.dropped, 0);
	assert_int_equal(sum_of(f->trace, "\"count\":"), 300000);
	assert_non_null(strstr(f->trace, "\"start_time\":"));
	assert_non_null(strstr(f->text, " times)"));
	assert_true(lines(f->trace) < 300);
	buf_init(&b, 0);
	witness_summary(f->w, &b);
	assert_non_null(strstr(b.data, "300000 refusals"));
	buf_release(&b);
	validate(f);
}

/* Neither one that floods nor its many children silence another process. */
static void
test_flood_of_one(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20000; i++)
		tell_open_of(f, 40000, "/flood", i);
	tell_open(f, "/off/first", O_WRONLY, EROFS);
	for (int i = 0; i < 20000; i++)
		tell_open_of(f, 50000 + i / 100, "/many", i);
	tell_open(f, "/off/second", O_WRONLY, EROFS);
	witness_run_end(f->w, 0);
	read_back(f);
	assert_non_null(strstr(f->trace, "\"/off/first\""));
	assert_non_null(strstr(f->trace, "\"/off/second\""));
	validate(f);
}

/* What the shim could not send counts, and is the least that there is. */
static void
test_lost(void **state)
{
	struct fixture *f = *state;
	struct wire_report r;
	struct buf b;
	size_t len = report(&r, WIRE_LOST, "", 700, EAGAIN);

	tell_open(f, "/off/x", O_WRONLY, EROFS);
	witness_shim(f->w, &r, len, getpid());
	witness_run_end(f->w, 0);
	read_back(f);
	assert_int_equal(sum_of(f->trace, "\"dropped\":"), 700);
	assert_non_null(strstr(f->trace, "\"dropped_is\":\"least\""));
	assert_non_null(strstr(f->text, "at least 700 records were dropped"));
	buf_init(&b, 0);
	witness_summary(f->w, &b);
	assert_non_null(strstr(b.data, "; at least 700 more reports were "
	    "dropped; more: run again with -m"));
	buf_release(&b);
	validate(f);
}

/* What the jail claims does not crowd out what the gate and the guard saw. */
static void
test_flood_hides_nothing(void **state)
{
	struct fixture *f = *state;
	struct event gate = { .kind = EVENT_CONNECT, .count = 1,
	    .witness = WITNESS_GATE, .enforcer = ENFORCER_GATE,
	    .host = "exfil.test", .port = 443,
	    .verdict = { .action = ACTION_DENY,
	    .rule = rule_from("network.allowedDomains", NULL, NULL, 0, 0) } };
	struct guard_told told = { .path = "/ws/.envrc", .count = 1,
	    .deed = GUARD_MOVED, .to = "/q/.envrc" };

	for (int i = 0; i < 3000; i++)
		tell_open_of(f, getpid(), "/off", i);
	assert_true(witness_counts(f->w).dropped > 0);
	witness_gate(f->w, &gate);
	for (int i = 0; i < 3000; i++)
		witness_gate(f->w, &gate);
	witness_guard(f->w, &told);
	witness_run_end(f->w, 0);
	read_back(f);
	assert_non_null(strstr(f->trace, "exfil.test"));
	assert_non_null(strstr(f->trace, "/ws/.envrc"));
	validate(f);
}

/* Nobody reads: the run goes on, lines stay whole, the loss is told. */
static void
test_stuck_reader(void **state)
{
	struct fixture *f = *state;
	char bytes[65536], path[4000], *end;
	int fds[2], out = f->trace_fd;
	uint64_t lost;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	witness_free(f->w);
	start(f, fds[1], -1);
	/* Room for two pages and lines of three: one stays half written. */
	assert_int_equal(fcntl(fds[1], F_SETPIPE_SZ, 8192), 8192);
	for (int i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof path, "/off/%03900d", i);
		tell_open(f, path, O_WRONLY, EROFS);
	}
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 65536) >= 65536);
	witness_run_end(f->w, 0);
	witness_free(f->w);
	f->w = NULL;
	(void)close(fds[1]);
	while ((n = read(fds[0], bytes, sizeof bytes)) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	(void)close(fds[0]);
	read_back(f);
	end = strstr(f->trace, "\"dropped\":");
	assert_non_null(end);
	lost = strtoull(end + 10, NULL, 10);
	assert_int_equal(lines(f->trace), 200 - lost + 2);
	validate(f);
}

/* A terminal that nobody reads, as one whose window hangs. */
static void
test_stuck_terminal(void **state)
{
	struct fixture *f = *state;
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	witness_free(f->w);
	start(f, -1, slave);
	(void)alarm(20);
	for (int i = 0; i < 900; i++)
		tell_open(f, "/off/x", O_WRONLY, EROFS);
	witness_run_end(f->w, 0);
	witness_free(f->w);
	(void)alarm(0);
	f->w = NULL;
	(void)close(slave);
	(void)close(master);
}

/* Counting costs nothing to those who want no lines. */
static void
test_summary(void **state)
{
	struct fixture *f = *state;
	struct buf b;

	buf_init(&b, 0);
	witness_free(f->w);
	start(f, -1, -1);
	witness_summary(f->w, &b);
	assert_string_equal(b.data, "");
	tell_dns(f, 7, "denied.test", "A");
	witness_summary(f->w, &b);
	assert_string_equal(b.data, "fence: 1 refusal (1 name denied.test: "
	    "-a denied.test); more: run again with -m");
	buf_clear(&b);
	tell_open(f, "/home/nobody-here/.cache/a/x", O_WRONLY, EROFS);
	tell_open(f, "/home/nobody-here/.cache/b", O_WRONLY, EROFS);
	witness_summary(f->w, &b);
	assert_string_equal(b.data, "fence: 3 refusals (2 writes below "
	    "~/.cache: -w ~/.cache, 1 name denied.test); "
	    "all of them: run again with -m");
	buf_clear(&b);
	tell_open(f, "/home/nobody-here/.ssh/a", O_RDONLY, EACCES);
	tell_open(f, "/home/nobody-here/.ssh/b", O_RDONLY, EACCES);
	tell_open(f, "/home/nobody-here/.ssh/b", O_RDONLY, EACCES);
	tell_open(f, "/off/passwd", O_WRONLY, EROFS);
	witness_run_end(f->w, 1);	/* repeats are told by then */
	witness_summary(f->w, &b);
	assert_string_equal(b.data, "fence: 7 refusals (3 reads below ~/.ssh, "
	    "2 writes below ~/.cache, 1 name denied.test, 1 more); "
	    "all of them: run again with -m");
	buf_release(&b);
}

/* A reader that went away costs records, not the run. */
static void
test_gone_reader(void **state)
{
	struct fixture *f = *state;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	(void)close(fds[0]);
	witness_free(f->w);
	start(f, fds[1], fds[1]);
	tell_open(f, "/off/x", O_WRONLY, EROFS);
	witness_run_end(f->w, 0);
	assert_int_equal(witness_counts(f->w).records, 1);
	witness_free(f->w);
	f->w = NULL;
	(void)close(fds[1]);
}

/* Two instructions do not make one line that helps. */
static void
test_summary_instructions(void **state)
{
	struct fixture *f = *state;
	struct buf b;

	buf_init(&b, 0);
	tell_open(f, in(f, "d/x"), O_WRONLY, EROFS);
	tell_open(f, in(f, "d/y"), O_WRONLY, EROFS);
	witness_summary(f->w, &b);
	assert_non_null(strstr(b.data, "/d); all of them: "));
	buf_release(&b);
}

/* More groups than there is room for are still counted. */
static void
test_summary_bound(void **state)
{
	struct fixture *f = *state;
	char path[5000];
	struct buf b;

	for (int i = 0; i < 100; i++) {
		(void)snprintf(path, sizeof path, "/d\x1b%d/%0*d", i, 3000,
		    1);
		tell_open(f, path, O_WRONLY, EROFS);
	}
	buf_init(&b, 0);
	witness_summary(f->w, &b);
	assert_non_null(strstr(b.data, "fence: 100 refusals (1 write to /d"));
	assert_non_null(strstr(b.data, ", 97 more); all of them: "));
	assert_null(strchr(b.data, 0x1b));
	assert_true(b.len < 600);
	buf_release(&b);
}

#define CASE(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_shim_open), CASE(test_shim_links),
		CASE(test_shim_other), CASE(test_shim_who), CASE(test_ops),
		CASE(test_calls),
		CASE(test_malformed), CASE(test_gate_call), CASE(test_dns_fold), CASE(test_run),
		CASE(test_flood), CASE(test_folds),
		CASE(test_flood_of_one), CASE(test_lost), CASE(test_flood_hides_nothing),
		CASE(test_stuck_reader),
		CASE(test_stuck_terminal),
		CASE(test_gone_reader), CASE(test_summary),
		CASE(test_summary_instructions), CASE(test_summary_bound),
	};

	writer_set_mode(WRITER_WATCHES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
