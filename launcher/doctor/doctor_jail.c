/* The second half of doctor: a real jail, and what holds in it. */
#include "launcher/doctor/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/doctor/doctor_run.h"
#include "launcher/doctor/doctor_scene.h"
#include "platform/base/str.h"
#include "platform/jail.h"
#include "platform/paths.h"
#include "platform/pause.h"

enum { JAIL_MS = 120000, OUT_MAX = 65536, ERR_MAX = 4096, ENV_OURS = 2 };

static const struct {
	const char	*id, *what;
} rows[TRY_NROWS] = {
#define ROW(id, fn, what)	{ id, what },
	TRY_ROWS(ROW)
#undef ROW
};

static void
all_tries(struct doctor *d, enum try_result result, const char *text)
{
	for (size_t i = 0; i < TRY_NROWS; i++) {
		struct doctor_try *t = &d->tries[i];

		t->id = rows[i].id;
		t->what = rows[i].what;
		t->answer.result = result;
		t->answer.error = 0;
		snprintf(t->answer.text, sizeof t->answer.text, "%s", text);
	}
}

/* ---- starting it ---- */

/* The binary that runs is fence-run under another name. */
static const char *
fence_run(struct doctor *d)
{
	const char *exe = paths_self(d->arena);

	return arena_strdup(d->arena, pretend_text("FENCE_DOCTOR_RUN",
	    exe != NULL ? exe : ""));
}

/* The caller's, but HOME as the scene has it and no state left behind. */
static char **
make_env(struct doctor *d, const struct doctor_scene *s)
{
	size_t n = 0, k = 0;
	char **env;

	while (d->env[n] != NULL)
		n++;
	env = arena_alloc(d->arena, (n + ENV_OURS + 1) * sizeof *env);
	for (size_t i = 0; i < n; i++)
		if (strncmp(d->env[i], "HOME=", 5) != 0 &&
		    strncmp(d->env[i], "XDG_STATE_HOME=", 15) != 0)
			env[k++] = d->env[i];
	env[k++] = arena_printf(d->arena, "HOME=%s", s->home);
	env[k++] = arena_printf(d->arena, "XDG_STATE_HOME=%s/state", s->base);
	return env;
}

static char **
make_argv(struct doctor *d, const struct scene *sc, const char *try)
{
	static const char *const ns[TRY_NNS] = TRY_NAMESPACES;
	const struct {
		const char *name, *value;
	} args[] = {
		{ "self", try }, { "work", sc->work },
		{ "outside", sc->outside }, { "home", sc->home },
		{ "ssh", sc->ssh }, { "daemon", sc->daemon },
		{ "abstract", sc->abstract }, { "setuid", sc->setuid },
		{ "port4", sc->port4 }, { "port6", sc->port6 },
		{ "victim", sc->victim }, { "fd", sc->fd },
		{ ns[0], sc->ns[0] }, { ns[1], sc->ns[1] },
		{ ns[2], sc->ns[2] }, { ns[3], sc->ns[3] },
		{ ns[4], sc->ns[4] }, { ns[5], sc->ns[5] },
	};
	const size_t n = sizeof args / sizeof *args;
	char **argv = arena_alloc(d->arena, (n + 6) * sizeof *argv);
	size_t k = 0;

	argv[k++] = arena_strdup(d->arena, "fence-run");
	argv[k++] = arena_strdup(d->arena, "--template=workspace-write");
	argv[k++] = arena_printf(d->arena, "--engine=%s", d->engine);
	argv[k++] = arena_strdup(d->arena, "--");
	argv[k++] = arena_strdup(d->arena, try);
	for (size_t i = 0; i < n; i++)
		argv[k++] = arena_printf(d->arena, "%s=%s", args[i].name,
		    args[i].value);
	return argv;
}

/* ---- reading what it says ---- */

static struct str
next_word(struct str *line)
{
	struct str word = { line->p, 0 };

	while (word.len < line->len && line->p[word.len] != ' ')
		word.len++;
	line->p += word.len + (word.len < line->len);
	line->len -= word.len + (word.len < line->len);
	return word;
}

static void
take_line(struct doctor *d, struct str line)
{
	struct str id = next_word(&line), result = next_word(&line);
	struct str error = next_word(&line);
	uint64_t sys = 0;

	for (size_t i = 0; i < TRY_NROWS; i++) {
		struct try_answer *a = &d->tries[i].answer;

		if (!str_eq(id, d->tries[i].id))
			continue;
		for (int r = 0; r < TRY_NRESULTS; r++)
			if (str_eq(result, doctor_result_word(r)))
				a->result = (enum try_result)r;
		(void)!str_to_u64(error, 4095, &sys);
		a->error = (int)sys;
		snprintf(a->text, sizeof a->text, "%.*s", (int)line.len,
		    line.p);
	}
	d->is_started = true;
}

static void
take_lines(struct doctor *d, const struct buf *out)
{
	const char *p = out->data, *end;

	for (; (end = strchr(p, '\n')) != NULL; p = end + 1)
		take_line(d, (struct str){ p, (size_t)(end - p) });
}

/* What fence-run said, on one line. */
static const char *
first_words(struct doctor *d, struct buf *err)
{
	const char *p = err->data;

	if (strncmp(p, "fence: ", 7) == 0)
		p += 7;
	return arena_strndup(d->arena, p, strcspn(p, "\n"));
}

static void
judge_run(struct doctor *d, struct doctor_run *r)
{
	take_lines(d, &r->out);
	if (r->is_late)
		d->jail_error = "it did not end in time";
	else if (r->status != 0 && r->err.len > 0)
		d->jail_error = first_words(d, &r->err);
	else if (r->status != 0)
		d->jail_error = arena_printf(d->arena, "fence-run ended with "
		    "status %d", r->status);
	if (!d->is_started)
		all_tries(d, TRY_UNTRIED, "there is no jail");
}

static void
run_in_scene(struct doctor *d, const struct doctor_scene *s, const char *try)
{
	struct doctor_run r = { .cwd = s->work, .left_fd = s->left_fd,
	    .limit_ms = pretend_number("jail-ms", JAIL_MS) };

	r.path = fence_run(d);
	r.env = make_env(d, s);
	r.argv = make_argv(d, &s->scene, try);
	buf_init(&r.out, OUT_MAX);
	buf_init(&r.err, ERR_MAX);
	all_tries(d, TRY_BROKEN, "no answer");
	if (doctor_run(&r) != 0)
		d->jail_error = "cannot start fence-run";
	judge_run(d, &r);
	buf_release(&r.out);
	buf_release(&r.err);
}

void
doctor_jail(struct doctor *d)
{
	struct doctor_scene s;
	struct err e = { 0 };
	const char *dir;

	all_tries(d, TRY_UNTRIED, "there is no jail");
	/* A run in a run only takes away: its walls are the outer one's. */
	if (jail_is_inside()) {
		d->jail_error = "this is inside a jail of fence: ask doctor "
		    "outside of it";
		return;
	}
	if (paths_libexec(d->arena, &dir, &e) != 0 ||
	    doctor_scene_make(d, &s, &e) != 0) {
		d->jail_error = arena_strdup(d->arena, e.msg);
		return;
	}
	run_in_scene(d, &s, arena_printf(d->arena, "%s/fence-try", dir));
	doctor_scene_end(&s);
}
