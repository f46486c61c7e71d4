#include "launcher/gate/held_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/record/who.h"
#include "platform/fd.h"
#include "platform/looker.h"
#include "shim/wire.h"

struct held_files {
	struct held_files_config config;
	struct watch		*watch;
	struct looker_word	 word;
};

/* Which name is meant: the first, or the second. */
static enum wire_call
wire_of(enum held_file file, unsigned name)
{
	switch (file) {
	case FILE_OPEN:
	case FILE_OPEN2:
	case FILE_CREAT:
		return WIRE_OPEN;
	case FILE_UNLINK:
	case FILE_RMDIR:
		return WIRE_REMOVE;
	case FILE_RENAME:
		return name == 0 ? WIRE_REMOVE : WIRE_MAKE;
	case FILE_MAKE:
	case FILE_BIND:
		return WIRE_MAKE;
	case FILE_LINK:
		return name == 0 ? WIRE_CHANGE : WIRE_MAKE;
	case FILE_CONNECT:
		return WIRE_CONNECT;
	case FILE_TRUNCATE:
	case FILE_CHANGE:
	case FILE_TIMES:
	case FILE_ATTRIBUTE:
		break;
	}
	return WIRE_CHANGE;
}

static size_t
folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path);
}

bool
held_files_is_staged(const char *names, size_t len, const char *path)
{
	const char *end = names + len, *file;
	size_t n = folder_len(path);

	for (; names != NULL && names < end; names += strlen(names) + 1) {
		if (strncmp(names, "f ", 2) != 0)
			continue;
		file = strchr(names, '/');
		if (file != NULL && folder_len(file) == n &&
		    strncmp(file, path, n) == 0)
			return true;
	}
	return false;
}

static bool
is_staged(const struct held_files *h)
{
	const struct jail_spec *s = h->config.spec;
	const struct looker_word *w = &h->word;

	for (unsigned i = 0; i < 2; i++)
		if (w->is_told[i] && held_files_is_staged(s->names,
		    s->names_len, w->path[i]))
			return who_has_shim(w->call.tid);
	return false;
}

static void
tell_refusal(struct held_files *h)
{
	const struct looker_word *w = &h->word;

	for (unsigned i = 0; i < 2; i++) {
		enum wire_call call = wire_of(w->call.file.file, i);

		/* Every way to open is called open. */
		if (w->is_told[i])
			witness_held(h->config.witness, &(struct witness_held){
			    .pid = w->call.tid, .call = call,
			    .nr = call == WIRE_OPEN ? 0 : w->call.file.nr,
			    .path = w->path[i], .flags = w->open_flags,
			    .err = w->sys });
	}
}

/* A held_call_fn: the answer is the filter's errno. */
static void
take_refused(int calls_fd, const struct held_call *call, void *arg)
{
	struct held_files *h = arg;

	witness_held(h->config.witness, &(struct witness_held){
	    .pid = call->tid, .call = WIRE_SYSTEM, .nr = call->nr,
	    .flags = call->first, .err = call->sys });
	held_call_go(calls_fd, call);
}

/* A held_call_fn: of the tracer's calls. */
static void
take_file(int calls_fd, const struct held_call *call, void *arg)
{
	struct held_files *h = arg;

	if (h->watch == NULL || !h->config.is_asked ||
	    looker_ask(h->config.looker_fd, call) != 0)
		held_call_go(calls_fd, call);
}

static void
looker_ready(struct watch *watch, int what, void *arg)
{
	struct held_files *h = arg;
	int rc;

	(void)watch;
	(void)what;
	while ((rc = looker_next(h->config.looker_fd, &h->word)) > 0) {
		if (h->word.kind == LOOKER_CALL) {
			held_calls_give(h->config.calls, &h->word.call);
		} else if (h->word.kind == LOOKER_REFUSAL) {
			if (!is_staged(h))
				tell_refusal(h);
			held_calls_go(h->config.calls, &h->word.call);
		} else {
			h->config.blind(h->config.arg);
		}
	}
	if (rc == 0)
		return;
	watch_free(h->watch);
	h->watch = NULL;
	if (!h->config.is_asked)
		held_calls_resume(h->config.calls);
	h->config.lost(h->config.arg);
}

struct held_files *
held_files_new(const struct held_files_config *c)
{
	struct held_files *h = calloc(1, sizeof *h);

	if (h == NULL)
		return NULL;
	h->config = *c;
	h->watch = loop_fd(c->loop, c->looker_fd, LOOP_READ, looker_ready, h);
	if (h->watch == NULL) {
		free(h);
		return NULL;
	}
	held_calls_take(c->calls, HELD_REFUSED, take_refused, h);
	held_calls_take(c->calls, HELD_FILE, take_file, h);
	return h;
}

void
held_files_free(struct held_files *h)
{
	if (h == NULL)
		return;
	watch_free(h->watch);
	free(h);
}
