/*
 * decide: what a decision costs with few and with many rules, and what it
 * costs to load them.  Prints one table; exit 1 if a bar of DESIGN.md is
 * missed (2 us a decision, 50 ms to load).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/base/buf.h"
#include "policy/decide.h"

enum { QUESTIONS = 64, ROUNDS = 200, REPEATS = 9 };
enum { BAR_NS = 2000, BAR_LOAD_US = 50000 };

enum kind { DOMAINS, WILDCARDS, RANGES, PREFIXES, NAMES, MIXED, GLOBS };

static const char *const kind_names[] = { "domains", "wildcards", "ranges",
    "path prefixes", "**/NAME", "prefixes and **/NAME", "free globs" };

static double
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int
is_net(enum kind kind)
{
	return kind == DOMAINS || kind == WILDCARDS || kind == RANGES;
}

/* The i-th rule of a kind, and a subject that it, or nothing, matches. */
static void
put_rule(struct buf *b, enum kind kind, unsigned i)
{
	switch (kind) {
	case DOMAINS:
		buf_printf(b, "host%u.example%u.com", i, i % 97);
		break;
	case WILDCARDS:
		buf_printf(b, "*.sub%u.example%u.com", i, i % 97);
		break;
	case RANGES:
		buf_printf(b, "%u.%u.%u.0/24", 20 + i % 60, i / 60 % 250,
		    i / 15000);
		break;
	case MIXED:
		put_rule(b, i % 2 == 0 ? PREFIXES : NAMES, i);
		break;
	case PREFIXES:
		buf_printf(b, "/srv/data%u/project%u/src", i % 100, i);
		break;
	case NAMES:
		buf_printf(b, "/srv/**/name%u.lock", i);
		break;
	case GLOBS:
		buf_printf(b, "/srv/data*/**/*.ext%u", i);
		break;
	}
}

static void
put_subject(struct buf *b, enum kind kind, unsigned i, int is_hit)
{
	static const char *const absent[] = { "nobody.example5.org",
	    "a.nobody.example5.org", "200.1.2.3", "/home/u/a/b/c/d/file.c",
	    "/srv/x/y/z/main.c", "/home/u/a/b/c/d/file.c",
	    "/srv/data7/a/b/main.c" };

	if (!is_hit) {
		buf_puts(b, absent[kind]);
		return;
	}
	switch (kind) {
	case DOMAINS:
		put_rule(b, kind, i);
		break;
	case WILDCARDS:
		buf_printf(b, "a.b.sub%u.example%u.com", i, i % 97);
		break;
	case RANGES:
		buf_printf(b, "%u.%u.%u.7", 20 + i % 60, i / 60 % 250,
		    i / 15000);
		break;
	case MIXED:
		put_subject(b, i % 2 == 0 ? PREFIXES : NAMES, i, 1);
		break;
	case PREFIXES:
		buf_printf(b, "/srv/data%u/project%u/src/lib/util/a.c",
		    i % 100, i);
		break;
	case NAMES:
		buf_printf(b, "/srv/a/b/c/name%u.lock", i);
		break;
	case GLOBS:
		buf_printf(b, "/srv/data7/a/b/x.ext%u", i);
		break;
	}
}

static struct policy *
load(enum kind kind, unsigned n, double *ret_us)
{
	struct policy_env env = { .workspace = "/ws", .home = "/home/u" };
	struct policy *p = NULL;
	struct err e;
	struct buf b;
	double start;

	buf_init(&b, 0);
	buf_printf(&b, "{\"%s\":{\"%s\":[", is_net(kind) ? "network" :
	    "filesystem", is_net(kind) ? "allowedDomains" : "allowWrite");
	for (unsigned i = 0; i < n; i++) {
		buf_puts(&b, i != 0 ? ",\n\"" : "\"");
		put_rule(&b, kind, i);
		buf_putc(&b, '"');
	}
	buf_puts(&b, "]}}");
	start = now_ns();
	if (policy_parse(b.data, b.len, "bench", &env, &p, &e) != 0) {
		err_print(&e, stderr);
		exit(2);
	}
	*ret_us = (now_ns() - start) / 1000;
	buf_release(&b);
	return p;
}

struct question {
	char		text[128];
	struct host	host;
	int		is_hit;
};

static void
ask(const struct policy *p, enum kind kind, const struct question *q,
    struct verdict *v)
{
	if (is_net(kind))
		decide_net(p, &q->host, 443, v);
	else
		decide_fs(p, FS_WRITE, q->text, v);
}

static void
prepare(enum kind kind, unsigned n, struct question *qs)
{
	struct buf b;

	buf_init(&b, 0);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		buf_clear(&b);
		qs[i].is_hit = i % 4 != 0;
		put_subject(&b, kind, i * 7919 % n, qs[i].is_hit);
		snprintf(qs[i].text, sizeof qs[i].text, "%s", b.data);
		if (is_net(kind) && host_canon(b.data, b.len, &qs[i].host))
			exit(2);
	}
	buf_release(&b);
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of some rounds, in nanoseconds a decision. */
static double
measure(const struct policy *p, enum kind kind, const struct question *qs)
{
	static struct verdict v;
	double times[REPEATS];

	for (unsigned r = 0; r < REPEATS; r++) {
		double start = now_ns();

		for (unsigned k = 0; k < ROUNDS; k++)
			for (unsigned i = 0; i < QUESTIONS; i++) {
				ask(p, kind, &qs[i], &v);
				if ((v.action == ACTION_ALLOW) !=
				    qs[i].is_hit) {
					fprintf(stderr, "%s: wrong\n",
					    qs[i].text);
					exit(2);
				}
			}
		times[r] = (now_ns() - start) / (ROUNDS * QUESTIONS);
	}
	qsort(times, REPEATS, sizeof *times, by_size);
	return times[REPEATS / 2];
}

int
main(void)
{
	static struct question qs[QUESTIONS];
	int missed = 0;

	printf("%-22s %6s %12s %10s\n", "rules", "n", "ns/decision",
	    "load us");
	for (unsigned kind = DOMAINS; kind <= GLOBS; kind++)
		for (unsigned n = 10; n <= (kind == GLOBS ? 100 : 10000);
		    n *= 10) {
			double load_us, ns;
			struct policy *p = load(kind, n, &load_us);

			prepare(kind, n, qs);
			ns = measure(p, kind, qs);
			printf("%-22s %6u %12.0f %10.0f%s\n",
			    kind_names[kind], n, ns, load_us,
			    ns > BAR_NS || load_us > BAR_LOAD_US ?
			    "  MISSED" : "");
			missed |= ns > BAR_NS || load_us > BAR_LOAD_US;
			policy_free(p);
		}
	return missed;
}
