#include "launcher/run/prepare.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher/guard/agentend.h"
#include "launcher/guard/gitjournal.h"
#include "launcher/guard/guard_text.h"
#include "launcher/log.h"
#include "launcher/plan/request.h"
#include "launcher/record/kept.h"
#include "launcher/run/granted_dirs.h"
#include "launcher/run/shading.h"
#include "platform/base/arena.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/pause.h"
#include "policy/trust.h"

struct prepared {
	struct arena		*arena;
	struct granted_dirs	*dirs;	/* NULL: no journal can be kept */
	int			 kept_fd;	/* or -1 */
	struct { const char **v; size_t n, cap; } lines;
};

/* The end of a run that was killed. */
static void
swept(const struct guard_told *t, void *arg)
{
	struct prepared *p = arg;
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "an earlier run was killed: ");
	guard_text_git(&b, t);
	*vec_push(&p->lines) = arena_strdup(p->arena, b.data);
	buf_release(&b);
}

static void
swept_shadow(const char *line, void *arg)
{
	struct prepared *p = arg;

	*vec_push(&p->lines) = arena_printf(p->arena,
	    "an earlier run was killed: %s", line);
}

struct prepared *
prepare_new(char *const *env)
{
	struct prepared *p = xcalloc(1, sizeof *p);
	const char *store, *state, *home;

	p->arena = arena_new();
	home = request_home(p->arena, env);
	store = trust_store(p->arena, home, env);
	state = store != NULL ? path_dir(p->arena, store) : NULL;
	agentend_sweep(state, swept, p);
	/* What is carried may hold git directories. */
	if (state != NULL)
		shading_sweep(state, home, swept_shadow, p);
	gitjournal_sweep(state, swept, p);
	p->dirs = granted_dirs_open(state);
	/* The plan hides it, so it has to be there. */
	p->kept_fd = kept_folder(state, home, true);
	return p;
}

void
prepare_tell(struct prepared *p)
{
	for (size_t i = 0; i < p->lines.n; i++)
		log_say("%s", p->lines.v[i]);
	p->lines.n = 0;
}

int
prepare_make(struct prepared *p, const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->nmissing; i++) {
		const struct missing_dir *m = &plan->missing[i];
		struct err ignored = { 0 };

		if (m->is_file && p->dirs != NULL)
			(void)granted_dirs_make_file(p->dirs, m->path,
			    &ignored);
		else if (m->what == NULL && p->dirs != NULL)
			(void)granted_dirs_make(p->dirs, m->path, &ignored);
		else if (m->what != NULL &&
		    granted_dirs_make_lasting(m->path) != 0)
			return err_sys(e, errno, "cannot make '%s' (%s), "
			    "which the command must not make", m->path,
			    m->what);
	}
	pause_at("after-missing");
	return 0;
}

int
prepare_fd(const struct prepared *p)
{
	return p != NULL ? granted_dirs_fd(p->dirs) : -1;
}

int
prepare_kept_fd(const struct prepared *p)
{
	return p != NULL ? p->kept_fd : -1;
}

void
prepare_free(struct prepared *p)
{
	if (p == NULL)
		return;
	granted_dirs_close(p->dirs);
	fd_close(&p->kept_fd);
	vec_release(&p->lines);
	arena_free(p->arena);
	free(p);
}
