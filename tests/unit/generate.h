/* generate: policies and questions by chance, the same for the same seed. */
#ifndef FENCE_TESTS_GENERATE_H
#define FENCE_TESTS_GENERATE_H

#include <stdint.h>

#include "platform/base/buf.h"
#include "policy/decide.h"

static uint64_t gen_state;

static inline unsigned
gen(unsigned below)
{
	gen_state ^= gen_state << 13;
	gen_state ^= gen_state >> 7;
	gen_state ^= gen_state << 17;
	return (unsigned)((gen_state >> 11) % below);
}

static const char *const gen_domains[] = {
	"a.test", "b.test", "x.a.test", "*.b.test", "*.a.test", "*",
	"1.2.3.4", "10.0.0.0/8", "10.1.2.3", "a.test:80", "*.a.test:443",
	"2001:db8::1", "localhost", "host",
};
static const char *const gen_paths[] = {
	".", "..", "./in", "/w", "/w/a", "/w/a/b", "/", "~", "~/x", "/opt",
	"~/x/y",
	/* A ceiling takes the ones above alone. */
	"/w/**/k", "/w/*.c", "*.c", "**/k", "/w/[ab]", "/w/{a,q}/k",
};
enum { GEN_PLAIN_PATHS = 11 };

#define GEN_COUNT(a)	(sizeof(a) / sizeof *(a))

static inline void
gen_list(struct buf *b, const char *key, const char *const *pool,
    unsigned npool, unsigned most)
{
	unsigned n = gen(most + 1);

	buf_printf(b, "\"%s\":[", key);
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s\"%s\"", i > 0 ? "," : "",
		    pool[gen(npool)]);
	buf_puts(b, "]");
}

/* head: more members of the policy, with their comma; or "". */
static inline void
gen_policy(struct buf *b, const char *head, bool with_globs)
{
	unsigned npaths = with_globs ? (unsigned)GEN_COUNT(gen_paths) :
	    GEN_PLAIN_PATHS;

	buf_clear(b);
	buf_printf(b, "{%s\"network\":{", head);
	gen_list(b, "allowedDomains", gen_domains, GEN_COUNT(gen_domains), 4);
	buf_putc(b, ',');
	gen_list(b, "deniedDomains", gen_domains, GEN_COUNT(gen_domains), 2);
	if (gen(6) == 0)
		buf_puts(b, ",\"upstreamProxy\":\"http://up.test:8080\"");
	buf_puts(b, "},\"filesystem\":{");
	if (gen(3) == 0)
		buf_puts(b, "\"defaultDenyRead\":true,");
	if (gen(8) == 0)
		buf_puts(b, "\"strictDenyRead\":true,");
	gen_list(b, "allowRead", gen_paths, npaths, 3);
	buf_putc(b, ',');
	gen_list(b, "allowExecute", gen_paths, npaths, 1);
	buf_putc(b, ',');
	gen_list(b, "allowWrite", gen_paths, npaths, 4);
	buf_putc(b, ',');
	gen_list(b, "denyWrite", gen_paths, npaths, 2);
	buf_putc(b, ',');
	gen_list(b, "denyRead", gen_paths, npaths, 2);
	buf_puts(b, "}}");
}

struct gen_question {
	bool		is_net;
	struct host	host;
	uint16_t	port;
	struct fs_question fs;
	char		path[512];
};

static inline void
gen_question(struct gen_question *q, const char *room)
{
	static const char *const hosts[] = {
		"a.test", "b.test", "x.a.test", "y.x.a.test", "x.b.test",
		"1.2.3.4", "10.1.2.3", "10.9.9.9", "11.0.0.1",
		"2001:db8::1", "2001:db8::2", "localhost", "host", "c.org",
	};
	static const char *const paths[] = {	/* '@': the room */
		"/", "/w", "/wx", "/w/a", "/w/a/b/c", "/w/x.c", "/w/q/k",
		"/w/a/k", "/opt/z", "/etc/passwd", "/usr/bin/env",
		"@/home", "@/home/x", "@/home/x/y/z", "@/proj", "@/proj/f",
		"@/proj/x.c", "@/proj/in/k", "@/proj/sub", "@/proj/sub/f",
		"@/proj/sub/x.c", "@/proj/sub/in/k", "@/proj/.git/hooks/x",
		"@/proj/sub/.vscode/x", "/tmp/f", "/dev/null",
	};
	const char *p;

	q->is_net = gen(2) == 0;
	p = hosts[gen(GEN_COUNT(hosts))];
	host_canon(p, strlen(p), &q->host);
	q->port = gen(2) == 0 ? 443 : 80;
	p = paths[gen(GEN_COUNT(paths))];
	snprintf(q->path, sizeof q->path, "%s%s", p[0] == '@' ? room : "",
	    p + (p[0] == '@'));
	q->fs = (struct fs_question){ .op = (enum fs_op)gen(3),
	    .path = q->path, .is_guarded = gen(2) == 0 };
}

static inline void
gen_ask(const struct policy *p, const struct gen_question *q,
    struct verdict *v)
{
	if (q->is_net)
		decide_net(p, &q->host, q->port, v);
	else
		decide_fs_ask(p, &q->fs, v);
}

static inline const char *
gen_name(const struct gen_question *q)
{
	return q->is_net ? q->host.text : q->path;
}

#endif
