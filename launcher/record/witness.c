#include "launcher/record/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/record/digest.h"
#include "launcher/record/fold.h"
#include "launcher/record/judge.h"
#include "launcher/record/kept.h"
#include "launcher/record/judging.h"
#include "launcher/record/probe_call.h"
#include "launcher/record/quota.h"
#include "launcher/record/sink.h"
#include "launcher/record/tally.h"
#include "launcher/record/twice.h"
#include "launcher/record/who.h"
#include "platform/base/arena.h"
#include "platform/base/clock.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "policy/decide.h"
#include "shim/wire.h"

enum {
	RECORDS_PER_SECOND = 1000,
	LOOKS_PER_SECOND = 4000,	/* asking costs, whatever the answer */
	LOOKUPS = 64,			/* names remembered for folding */
	LOOKUP_MS = 2000,
	PROGRAMS_MAX = 32,		/* look_for_shim() */
};

/* One name that a process asked for; types are separated by blanks. */
struct lookup {
	pid_t	pid;
	int64_t	start_ms;
	char	name[256];
	char	types[64];
};

struct budget {
	int64_t		second;		/* the current one */
	unsigned	looks, records;	/* in it */
};

/* Of reports whose sender the kernel names. */
static const struct quota_rule look_rule = { .each = 20000,
    .each_per_second = 1000, .all = 40000, .all_per_second = 4000,
    .least_per_second = 16 };
static const struct quota_rule record_rule = { .each = 1000,
    .each_per_second = 20, .all = 5000, .all_per_second = 200,
    .least_per_second = 4 };

struct channel {
	struct quota	 looks, records;
	struct fold	*fold;
};

struct witness {
	struct witness_config	 config;
	struct judge		 judge;
	struct judging		*judging;
	struct sink		*trace, *text;
	struct kept		*kept;		/* or NULL */
	struct tally		*tally;
	struct digest		*digest;	/* NULL: nobody reads it */
	struct recent		 recent;
	struct witness_counts	 counts;
	/* Each its own: what the jail claims crowds out nobody else. */
	struct channel		 shim, held;
	struct budget		 gate, guard, exec, probe;
	bool			 is_least;	/* reports were lost unseen */
	struct twice		 twice;
	char			 looked[PROGRAMS_MAX][EVENT_COMM];
	unsigned		 nlooked;
	/* The functions whose calls are told, in the arena; NULL: none. */
	struct arena		*probe_arena;
	const struct probesig	*probes;
	size_t			 nprobes;
	struct callers		*callers;	/* NULL: nobody called yet */
	struct lookup		 lookup[LOOKUPS];
	unsigned		 next_lookup;
	char			 nest[256];	/* see witness_nest() */
	bool			 is_unseen;	/* witness_unseen() was told */
};

static void	 emit(struct witness *, struct event *);

static void
repeats(struct event *e, void *arg)
{
	emit(arg, e);
}

static void
channel_init(struct channel *c, struct witness *w)
{
	quota_init(&c->looks, &look_rule);
	quota_init(&c->records, &record_rule);
	c->fold = fold_new(repeats, w);
}

struct witness *
witness_new(const struct witness_config *config)
{
	struct witness *w = xcalloc(1, sizeof *w);

	w->config = *config;
	w->judge = (struct judge){ .policy = config->policy,
	    .net = config->policy, .has_masks = config->has_masks };
	channel_init(&w->shim, w);
	channel_init(&w->held, w);
	w->judging = judging_new(&w->judge);
	w->trace = sink_new(config->trace_fd, &w->config.run, 0);
	w->text = sink_new(config->text_fd, NULL, config->text_is_tty);
	w->kept = kept_new(config->kept_fd, &w->config.run, config->keep);
	if (!config->is_quiet)
		w->digest = digest_new(config->policy->home);
	w->tally = tally_new(config->policy->home, config->policy->workspace);
	if (config->policy->trace.calls.n > 0) {
		w->probe_arena = arena_new();
		w->probes = probe_call_sigs(w->probe_arena, config->policy,
		    &w->nprobes);
	}
	return w;
}

void
witness_free(struct witness *w)
{
	if (w == NULL)
		return;
	sink_free(w->trace);
	sink_free(w->text);
	kept_free(w->kept);
	judging_free(w->judging);
	fold_free(w->shim.fold);
	fold_free(w->held.fold);
	tally_free(w->tally);
	digest_free(w->digest);
	callers_free(w->callers);
	if (w->probe_arena != NULL)
		arena_free(w->probe_arena);
	free(w);
}

void
witness_set_net(struct witness *w, const struct policy *policy)
{
	w->judge.net = policy;
}

void
witness_set_stop(struct witness *w, pid_t stop_pid)
{
	w->config.stop_pid = stop_pid;
}

static void
dropped(struct witness *w, uint64_t n)
{
	w->counts.dropped += n;
	tally_dropped(w->tally, n, w->is_least);
	if (w->digest != NULL)
		digest_lost(w->digest, n, w->is_least);
	sink_lost(w->trace, n, w->is_least);
	kept_lost(w->kept, n);
	if (!w->config.is_quiet)
		sink_lost(w->text, n, w->is_least);
}

/* Who tells of some may have had no time to tell of more. */
void
witness_lost(struct witness *w, uint64_t n)
{
	w->is_least = true;
	dropped(w, n);
}

static bool
is_shown(const struct witness *w, const struct event *e)
{
	if (e->kind == EVENT_BLIND)	/* the last lines name them all */
		return w->config.is_debug;
	if (w->config.is_quiet)
		return e->kind == EVENT_EXEC &&
		    e->verdict.action == ACTION_DENY &&
		    (e->enforcer == ENFORCER_EXEC ||
		    e->verdict.rule.key == KEY_OF(command.deny));
	return w->config.is_debug || e->kind == EVENT_PROBE ||
	    event_is_trouble(e);
}

static void
emit(struct witness *w, struct event *e)
{
	e->time_ms = clock_ms(CLOCK_REALTIME);
	if (e->count == 0)
		e->count = 1;
	if (e->kind < EVENT_RUN_START && e->verdict.action == ACTION_DENY)
		w->counts.records += e->count;
	tally_add(w->tally, e);
	if (w->digest != NULL)
		digest_add(w->digest, e);
	recent_add(&w->recent, e);
	if (is_shown(w, e))
		sink_event(w->text, e);
	sink_event(w->trace, e);
	kept_event(w->kept, e);
}

void
witness_keep(struct witness *w)
{
	kept_open(w->kept);
}

bool
witness_is_kept(const struct witness *w)
{
	return kept_has_file(w->kept);
}

void
witness_run_start(struct witness *w, const char *command, char *const *argv)
{
	struct event e = { .kind = EVENT_RUN_START,
	    .witness = WITNESS_MONITOR, .enforcer = ENFORCER_NONE,
	    .detail = command, .argv = (const char *const *)argv };

	while (argv != NULL && argv[e.argc] != NULL)
		e.argc++;
	emit(w, &e);
}

void
witness_run_end(struct witness *w, int exit_status)
{
	struct event e = { .kind = EVENT_RUN_END, .witness = WITNESS_MONITOR,
	    .enforcer = ENFORCER_NONE, .status = exit_status };

	fold_flush(w->shim.fold, true, 0);
	fold_flush(w->held.fold, true, 0);
	sink_flush(w->trace);
	sink_flush(w->text);
	emit(w, &e);
}

/* Is this type already among those the look-up asked for? */
static bool
has_type(const char *types, const char *type)
{
	size_t n = strlen(type);

	for (const char *p = types; (p = strstr(p, type)) != NULL; p += n)
		if ((p == types || p[-1] == ' ') &&
		    (p[n] == '\0' || p[n] == ' '))
			return true;
	return false;
}

static struct lookup *
find_lookup(struct witness *w, const char *name, pid_t pid)
{
	for (unsigned i = 0; i < LOOKUPS; i++)
		if (w->lookup[i].types[0] != '\0' &&
		    (w->lookup[i].pid == pid || pid == 0) &&
		    strcasecmp(w->lookup[i].name, name) == 0)
			return &w->lookup[i];
	return NULL;
}

/*
 * True for another type of a look-up whose record has been written.  A client
 * that has one answer may be gone before we look who asks the next: a query of
 * nobody's belongs to whoever asked for the name a moment ago.
 */
static bool
is_folded(struct witness *w, const struct event *e)
{
	const char *type = e->qtype != NULL ? e->qtype : "?";
	pid_t pid = e->nprocess > 0 ? e->process[0].pid : 0;
	int64_t now = clock_ms(CLOCK_MONOTONIC);
	struct lookup *l = find_lookup(w, e->host, pid);
	size_t used;

	if (l != NULL && now - l->start_ms < LOOKUP_MS &&
	    !has_type(l->types, type)) {
		used = strlen(l->types);
		(void)snprintf(l->types + used, sizeof l->types - used, " %s",
		    type);
		return true;
	}
	if (l == NULL || l->pid != pid)
		l = &w->lookup[w->next_lookup++ % LOOKUPS];
	l->pid = pid;
	l->start_ms = now;
	(void)snprintf(l->name, sizeof l->name, "%s", e->host);
	(void)snprintf(l->types, sizeof l->types, "%s", type);
	return false;
}

/* May one more be looked at, may it become one more record? */
static bool
is_over_limit(struct budget *b)
{
	int64_t second = clock_ms(CLOCK_MONOTONIC) / 1000;

	if (second != b->second)
		*b = (struct budget){ .second = second };
	return b->looks++ >= LOOKS_PER_SECOND ||
	    b->records >= RECORDS_PER_SECOND;
}

void
witness_gate(struct witness *w, struct event *e)
{
	if (e->kind == EVENT_DNS && e->host != NULL && is_folded(w, e)) {
		w->counts.folded++;
		return;
	}
	/* What a worker says of itself counts as well: it may be conquered. */
	if (is_over_limit(&w->gate)) {
		dropped(w, 1);
		return;
	}
	w->gate.records++;
	emit(w, e);
}

/* The only place that believes the shim's bytes; path gets its NUL here. */
static int
check_report(const void *datagram, size_t len, struct wire_report *ret,
    char path[WIRE_PATH_MAX + 1])
{
	if (len < WIRE_HEADER_BYTES || len > sizeof *ret)
		return -1;
	memcpy(ret, datagram, len);
	if (ret->magic != WIRE_MAGIC || ret->path_len > WIRE_PATH_MAX ||
	    len != WIRE_HEADER_BYTES + ret->path_len ||
	    ret->err <= 0 || ret->err > 4095)
		return -1;
	memcpy(path, ret->path, ret->path_len);
	path[ret->path_len] = '\0';
	if (strlen(path) != ret->path_len)
		return -1;
	switch (ret->call) {
	case WIRE_OPEN:
	case WIRE_EXEC:
	case WIRE_MAKE:
	case WIRE_REMOVE:
	case WIRE_CHANGE:
	case WIRE_LOOK:
		return path[0] != '\0' ? 0 : -1;
	case WIRE_NEST:
		return strcmp(path, "/") == 0 ? 0 : -1;
	case WIRE_SYSTEM:
	case WIRE_LOST:
		return ret->path_len == 0 ? 0 : -1;
	case WIRE_CONNECT:
		if (ret->family == AF_UNIX)
			return path[0] != '\0' ? 0 : -1;
		return ret->path_len == 0 && (ret->family == AF_INET ||
		    ret->family == AF_INET6) ? 0 : -1;
	}
	return -1;
}

/* The kernel's word where it can be had; else the claim's, with its pid. */
static void
fill_who(struct witness *w, const char comm[16], pid_t pid,
    struct event *e)
{
	struct event_process *p = &e->process[0];

	if (who_pid(pid, w->config.stop_pid, e) == 0) {
		*p = (struct event_process){ .pid = pid > 0 ? pid : 0 };
		e->nprocess = 1;
	}
	/* It may also die between two of its files: then it has ancestors
	 * and no name. */
	if (p->comm[0] == '\0') {
		memcpy(p->comm, comm, 16);
		p->comm[16] = '\0';
	}
}

/* Has the listener told of it, by the name of the call? */
static bool
is_nest_told(struct witness *w, pid_t pid)
{
	static const char *const calls[] = { "clone", "unshare" };
	int64_t now = clock_ms(CLOCK_MONOTONIC);

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (twice_was_told(&w->twice, pid, &(struct event){
		    .kind = EVENT_CALL, .call = calls[i] }, now))
			return true;
	return false;
}

/* One is enough: an agent's sandbox is tried for each of its commands. */
static void
tell_nest(struct witness *w, const struct wire_report *r, pid_t pid)
{
	struct event e = { .kind = EVENT_NEST, .witness = WITNESS_SHIM,
	    .enforcer = ENFORCER_SECCOMP, .sys = r->err, .detail = w->nest };

	if (w->nest[0] != '\0' || w->config.policy->allow_nested_sandbox.value)
		return;
	fill_who(w, r->comm, pid, &e);
	snprintf(w->nest, sizeof w->nest, "%s was refused a user namespace: "
	    "allowNestedSandbox in a policy lets programs bring a sandbox of "
	    "their own", e.nprocess > 0 && e.process[0].comm[0] != '\0' ?
	    e.process[0].comm : "a program");
	/* That record offers the key to users alone (judge_call.c). */
	if (is_nest_told(w, pid) && geteuid() != 0)
		w->counts.folded++;
	else
		emit(w, &e);
}

void
witness_gate_call(struct witness *w, const struct witness_call *c)
{
	struct callers_note n = { .stop_pid = w->config.stop_pid,
	    .from = c->from };

	if (c->from == 0)
		return;
	if (w->callers == NULL)
		w->callers = callers_new();
	if (w->callers == NULL)
		return;
	n.pid = who_thread(c->pid);
	callers_place(&n.place, c->addr, c->addr_len, c->port);
	callers_note(w->callers, &n, clock_ms(CLOCK_MONOTONIC));
}

bool
witness_caller(struct witness *w, const struct callers_place *p,
    uint16_t from, struct event *e)
{
	return w->callers != NULL && callers_find(w->callers, p, from,
	    clock_ms(CLOCK_MONOTONIC), e);
}

const char *
witness_nest(const struct witness *w)
{
	return w->nest[0] != '\0' ? w->nest : NULL;
}

/*
 * A refusal that is not fence's makes no record.  -d says so in its text, for
 * whoever wonders what else stood in the way.
 */
static void
tell_other(struct witness *w, enum judged said, struct event *e)
{
	w->counts.not_fence++;
	/* Else the command could tell a hidden file by its permissions. */
	if (said == JUDGED_HOST && e->is_hidden)
		recent_add(&w->recent, e);
	if (said != JUDGED_HOST || !w->config.is_debug || e->path == NULL)
		return;
	e->verdict = (struct verdict){ .action = ACTION_ALLOW,
	    .reason = "file permissions, not fence" };
	e->time_ms = clock_ms(CLOCK_REALTIME);
	e->count = 1;
	sink_event(w->text, e);
}

/* A call of a function of trace.calls: no refusal, and asked for. */
static void
tell_probe(struct witness *w, const void *datagram, size_t len, pid_t pid)
{
	struct event e = { .kind = EVENT_PROBE, .witness = WITNESS_PROBE,
	    .enforcer = ENFORCER_NONE };
	struct arena *arena;
	struct probe_call call;

	if (is_over_limit(&w->probe)) {
		dropped(w, 1 + probe_call_dropped(datagram, len));
		return;
	}
	arena = arena_new();
	if (probe_call_read(arena, w->probes, w->nprobes, datagram, len,
	    &call) != 0) {
		w->counts.malformed++;
	} else {
		dropped(w, call.dropped);
		fill_who(w, call.comm, pid, &e);
		e.probe = &call;
		w->probe.records++;
		emit(w, &e);
	}
	arena_free(arena);
}

/* ---- reports whose sender is known ---- */

static const struct event *
find_repeat(struct channel *c, pid_t pid, const void *key, size_t len)
{
	int64_t now = clock_ms(CLOCK_MONOTONIC);

	fold_flush(c->fold, false, now);
	return fold_repeat(c->fold, pid, key, len, now);
}

static void
note(struct channel *c, pid_t pid, const void *key, size_t len,
    const struct event *e)
{
	fold_note(c->fold, pid, key, len, e, clock_ms(CLOCK_MONOTONIC));
}

static bool
may_look(struct witness *w, struct channel *c, pid_t pid)
{
	if (quota_take(&c->looks, pid, clock_ms(CLOCK_MONOTONIC)))
		return true;
	dropped(w, 1);
	return false;
}

static bool
tell(struct witness *w, struct channel *c, pid_t pid, struct event *e)
{
	if (!quota_take(&c->records, pid, clock_ms(CLOCK_MONOTONIC))) {
		dropped(w, 1);
		return false;
	}
	emit(w, e);
	return true;
}

void
witness_shim(struct witness *w, const void *datagram, size_t len, pid_t pid)
{
	struct wire_report r;
	char path[WIRE_PATH_MAX + 1];
	struct event e = { .witness = WITNESS_SHIM };
	struct arena *arena;
	enum judged said;
	bool is_whole;

	if (w->nprobes > 0 && probe_call_is(datagram, len)) {
		tell_probe(w, datagram, len, pid);
		return;
	}
	if (check_report(datagram, len, &r, path) != 0) {
		w->counts.malformed++;
		return;
	}
	if (r.call == WIRE_NEST) {
		tell_nest(w, &r, pid);
		return;
	}
	if (r.call == WIRE_LOST) {
		witness_lost(w, r.flags);
		return;
	}
	/* What a relative path names may have changed. */
	is_whole = path[0] == '/' || path[0] == '\0';
	if ((is_whole && find_repeat(&w->shim, pid, datagram, len)) ||
	    !may_look(w, &w->shim, pid))
		return;
	arena = arena_new();
	e.sys = r.err;
	if (judge_needs_who(&r, path))
		fill_who(w, r.comm, pid, &e);
	e.has_own_filter = r.call == WIRE_SYSTEM && who_is_filtered(&e);
	said = judging_report(w->judging, arena, &r, path, &e);
	if (said != JUDGED_NOTHING && e.nprocess == 0)
		fill_who(w, r.comm, pid, &e);
	if (said == JUDGED_FENCE && twice_was_told(&w->twice, pid, &e,
	    clock_ms(CLOCK_MONOTONIC))) {
		w->counts.folded++;
	} else if (said == JUDGED_FENCE) {
		if (tell(w, &w->shim, pid, &e) && is_whole)
			note(&w->shim, pid, datagram, len, &e);
	} else {
		tell_other(w, said, &e);
	}
	arena_free(arena);
}

/*
 * Of a program without the preloaded library only what the listener holds is
 * seen.  The process waits meanwhile; a program is looked at once.
 */
static void
look_for_shim(struct witness *w, const struct event *e)
{
	const struct event_process *p = &e->process[0];
	struct event blind = { .kind = EVENT_BLIND,
	    .witness = WITNESS_NOTIFY, .enforcer = ENFORCER_NONE,
	    .nprocess = e->nprocess };
	char text[EVENT_COMM + 96];

	if (e->nprocess == 0 || p->comm[0] == '\0' ||
	    w->nlooked == PROGRAMS_MAX)
		return;
	for (unsigned i = 0; i < w->nlooked; i++)
		if (strcmp(w->looked[i], p->comm) == 0)
			return;
	(void)snprintf(w->looked[w->nlooked++], sizeof w->looked[0], "%s",
	    p->comm);
	if (who_has_shim(p->pid))
		return;
	memcpy(blind.process, e->process, sizeof blind.process);
	(void)snprintf(text, sizeof text, "%s did not load the preloaded "
	    "library: its refused reads are not told", p->comm);
	blind.detail = text;
	emit(w, &blind);
}

void
witness_call(struct witness *w, const struct witness_call *c)
{
	struct event e = { .witness = WITNESS_NOTIFY, .sys = EACCES,
	    .is_datagram = c->is_datagram };
	pid_t pid = who_thread(c->pid);
	struct { uint16_t port, is_datagram; uint8_t addr[16]; } key;
	struct host host;

	host_from_addr(c->addr, c->addr_len, &host);
	key.port = c->port;
	key.is_datagram = c->is_datagram;
	memcpy(key.addr, c->addr, sizeof key.addr);
	if (find_repeat(&w->held, pid, &key, sizeof key) ||
	    !may_look(w, &w->held, pid) ||
	    !judge_address(&w->judge, &host, c->port, &e))
		return;
	(void)who_pid(pid, w->config.stop_pid, &e);
	if (tell(w, &w->held, pid, &e))
		note(&w->held, pid, &key, sizeof key, &e);
	look_for_shim(w, &e);
}

void
witness_exec(struct witness *w, pid_t pid, struct event *e)
{
	if (is_over_limit(&w->exec)) {
		dropped(w, 1);
		return;
	}
	e->kind = EVENT_EXEC;
	e->witness = WITNESS_NOTIFY;
	e->enforcer = ENFORCER_EXEC;
	(void)who_pid(who_thread(pid), w->config.stop_pid, e);
	w->exec.records++;
	emit(w, e);
}

void
witness_held(struct witness *w, const struct witness_held *h)
{
	struct wire_report r = { .magic = WIRE_MAGIC,
	    .call = h->path != NULL ? h->call : WIRE_SYSTEM,
	    .err = h->err, .flags = h->flags, .nr = h->nr };
	struct event e = { .witness = WITNESS_NOTIFY, .sys = h->err };
	const char *path = h->path != NULL ? h->path : "";
	pid_t pid = who_thread(h->pid);
	size_t len = strlen(path);
	const struct event *again;
	struct arena *arena;
	enum judged said;

	if (len <= WIRE_PATH_MAX) {
		memcpy(r.path, path, len);
		r.path_len = (uint16_t)len;
	}
	if (h->call == WIRE_CONNECT)
		r.family = AF_UNIX;
	len = WIRE_HEADER_BYTES + r.path_len;
	again = find_repeat(&w->held, pid, &r, len);
	if (again != NULL)
		twice_told(&w->twice, pid, again, clock_ms(CLOCK_MONOTONIC));
	if (again != NULL || !may_look(w, &w->held, pid))
		return;
	(void)who_pid(pid, w->config.stop_pid, &e);
	e.has_own_filter = r.call == WIRE_SYSTEM && who_is_filtered(&e);
	arena = arena_new();
	said = judging_report(w->judging, arena, &r, path, &e);
	if (said == JUDGED_FENCE) {
		twice_told(&w->twice, pid, &e, clock_ms(CLOCK_MONOTONIC));
		if (tell(w, &w->held, pid, &e))
			note(&w->held, pid, &r, len, &e);
		look_for_shim(w, &e);
	} else {
		tell_other(w, said, &e);
	}
	arena_free(arena);
}

static const char *
name_of(const struct event *e)
{
	return e->nprocess > 0 && e->process[0].comm[0] != '\0' ?
	    e->process[0].comm : "a program";
}

void
witness_unseen(struct witness *w, pid_t pid, const char *why)
{
	struct event e = { .kind = EVENT_UNSEEN, .witness = WITNESS_NOTIFY,
	    .enforcer = ENFORCER_NONE };
	char text[256];

	if (w->is_unseen)
		return;
	w->is_unseen = true;
	(void)who_pid(who_thread(pid), w->config.stop_pid, &e);
	snprintf(text, sizeof text, "%s: %s, so what it executes is judged "
	    "before the call alone", name_of(&e), why);
	e.detail = text;
	emit(w, &e);
}

/* An agent's sandbox may try for each of its commands: told once. */
void
witness_listener(struct witness *w, pid_t pid)
{
	struct event e = { .kind = EVENT_NEST, .witness = WITNESS_NOTIFY,
	    .enforcer = ENFORCER_SECCOMP, .sys = EBUSY, .detail = w->nest };

	if (w->nest[0] != '\0')
		return;
	(void)who_pid(who_thread(pid), w->config.stop_pid, &e);
	snprintf(w->nest, sizeof w->nest, "%s was refused a seccomp listener "
	    "of its own (EBUSY): the kernel has one for a tree of processes, "
	    "and fence needs it here for command rules, env.loader or "
	    "-m", name_of(&e));
	emit(w, &e);
}

void
witness_guard(struct witness *w, const struct guard_told *told)
{
	struct fs_question q = { .op = FS_WRITE, .path = told->path,
	    .is_guarded = true };
	struct event e = { .kind = EVENT_OPEN, .witness = WITNESS_GUARD,
	    .enforcer = ENFORCER_GUARD, .path = told->path,
	    .open_flags = O_WRONLY | O_CREAT, .sys = told->sys,
	    .moved_to = told->to, .count = told->count };

	if (told->deed == GUARD_REMASKED || told->deed == GUARD_FOUND ||
	    told->deed == GUARD_CUT)
		return;
	if (is_over_limit(&w->guard)) {
		dropped(w, 1);
		return;
	}
	/* Where a run makes a repository no policy knows beforehand. */
	if (told->kind >= GUARD_GIT)
		q.guarded_len = strlen(told->path);
	decide_fs_ask(w->config.policy, &q, &e.verdict);
	e.verdict.action = ACTION_DENY;
	w->guard.records++;
	emit(w, &e);
}

void
witness_summary(struct witness *w, struct buf *b)
{
	tally_text(w->tally, kept_has_file(w->kept), b);
}

void
witness_digest(struct witness *w, struct buf *b)
{
	if (w->digest != NULL)
		digest_text(w->digest, b);
}

const struct recent *
witness_recent(const struct witness *w)
{
	return &w->recent;
}

struct witness_counts
witness_counts(const struct witness *w)
{
	return w->counts;
}
