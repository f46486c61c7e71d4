#include "launcher/run/shading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/log.h"
#include "launcher/shadow/shadow.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "platform/tree.h"

enum { LINES_MAX = 10 };

struct shading {
	struct shadow		*shadow;
	struct guard_side	 side;
	struct jail_mount	*mounts;
	const char		*home;
	/* Lines of one end. */
	void			(*say)(const char *line, void *);
	void			*say_arg;
	unsigned		 nlines;
	unsigned		 nchanged;
	char			*changed;	/* the first one */
};

/* ---- telling ---- */

static void
say_line(struct shading *s, const char *line)
{
	if (s->say == NULL || s->nlines > LINES_MAX)
		return;
	s->say(s->nlines++ < LINES_MAX ? line : "more of this: fence shadow "
	    "list", s->say_arg);
}

/* What changed is one line, however much it is. */
static void
told(const struct shadow_told *t, void *arg)
{
	struct shading *s = arg;
	struct buf b;

	if (t->deed == SHADOW_WAS_CARRIED)
		return;
	if (t->deed == SHADOW_CHANGED) {
		if (s->nchanged++ == 0)
			s->changed = xstrdup(t->path);
		return;
	}
	buf_init(&b, 0);
	shadow_text(&b, t, s->home);
	say_line(s, b.data);
	buf_release(&b);
}

static void
say_changed(struct shading *s)
{
	struct buf b;
	size_t n = s->home != NULL ? strlen(s->home) : 0;
	const char *path = s->changed;

	if (s->nchanged == 0)
		return;
	buf_init(&b, 0);
	if (n > 1 && str_path_below(path, s->home)) {
		buf_putc(&b, '~');
		path += n;
	}
	str_escape(&b, path, strlen(path), 0);
	if (s->nchanged > 1)
		buf_printf(&b, " and %u more", s->nchanged - 1);
	buf_puts(&b, " changed inside (kept in the shadow): "
	    "fence shadow diff");
	say_line(s, b.data);
	buf_release(&b);
	free(s->changed);
	s->changed = NULL;
	s->nchanged = 0;
}

static void
say_to(struct shading *s, void (*say)(const char *, void *), void *arg)
{
	s->say = say;
	s->say_arg = arg;
}

static void
say_here(const char *line, void *arg)
{
	(void)arg;
	log_say("%s", line);
}

/* ---- in the process of the guard ---- */

static size_t
side_fds(void *arg, int *v, size_t max)
{
	const struct shading *s = arg;

	return shadow_fds(s->shadow, v, max);
}

static int
side_watch(void *arg)
{
	struct shading *s = arg;

	return shadow_watch(s->shadow);
}

static void
side_ready(void *arg, void (*say)(const char *, void *), void *say_arg)
{
	struct shading *s = arg;

	say_to(s, say, say_arg);
	shadow_ready(s->shadow, told, s);
}

static void
side_end(void *arg, void (*say)(const char *, void *), void *say_arg)
{
	struct shading *s = arg;

	say_to(s, say, say_arg);
	shadow_end(s->shadow, told, s);
	say_changed(s);
}

const struct guard_side *
shading_side(struct shading *s)
{
	return s != NULL ? &s->side : NULL;
}

/* ---- in the launcher ---- */

/* The folders are there now: what is mounted is what lies there. */
static int
fill_mounts(struct shading *s, struct jail_spec *spec, struct err *e)
{
	s->mounts = xcalloc(spec->nmounts + 1, sizeof *s->mounts);
	memcpy(s->mounts, spec->mounts, spec->nmounts * sizeof *s->mounts);
	for (size_t i = 0; i < spec->nmounts; i++) {
		struct jail_mount *m = &s->mounts[i];

		if (m->kind == MOUNT_OTHER && tree_look_plain(m->source,
		    &m->source_dev, &m->source_ino) != 0)
			return errno == ESTALE ? tree_changed(m->source, e) :
			    err_sys(e, errno, "cannot look at '%s'",
			    m->source);
	}
	spec->mounts = s->mounts;
	return 0;
}

int
shading_begin(const struct plan *p, const char *run_id,
    struct jail_spec *spec, struct shading **ret, struct err *e)
{
	struct shadow_config c = { .state = p->state, .run_id = run_id,
	    .folders = p->shadows, .nfolders = p->nshadows, .told = told };
	struct shading *s;

	*ret = NULL;
	if (p->nshadows == 0)
		return 0;
	s = xcalloc(1, sizeof *s);
	s->home = p->policy->home;
	s->side = (struct guard_side){ .fds = side_fds, .watch = side_watch,
	    .ready = side_ready, .end = side_end, .arg = s };
	c.told_arg = s;
	c.sift = shadow_sift_agent;
	c.sift_arg = (void *)s->home;
	say_to(s, say_here, NULL);
	s->shadow = shadow_begin(&c, e);
	if (s->shadow != NULL && fill_mounts(s, spec, e) == 0) {
		*ret = s;
		return 0;
	}
	if (s->shadow != NULL)
		shading_end(s);
	shading_free(s);
	return -1;
}

void
shading_end(struct shading *s)
{
	if (s == NULL || s->shadow == NULL)
		return;
	say_to(s, say_here, NULL);
	shadow_end(s->shadow, told, s);
}

void
shading_free(struct shading *s)
{
	if (s == NULL)
		return;
	shadow_free(s->shadow);
	free(s->changed);
	free(s->mounts);
	free(s);
}

void
shading_sweep(const char *state, const char *home,
    void (*say)(const char *, void *), void *arg)
{
	struct shading s = { .home = home, .say = say, .say_arg = arg };

	shadow_sweep(state, shadow_sift_agent, (void *)home, told, &s);
	say_changed(&s);
}
