#include "launcher/record/tally.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/record/outside.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "policy/keys.h"

enum { GROUPS = 32, GROUP_NAME = 512, SHOWN_GROUPS = 3, SHOWN_CHARS = 64 };

enum deed { DEED_WRITE, DEED_READ, DEED_EXEC, DEED_CONNECT, DEED_NAME, DEED_CALL };

/* One refusal, several of one object, several below one directory. */
static const struct {
	const char	*one, *same, *below;
} deed_words[] = {
	[DEED_WRITE] = { "write to", "writes to", "writes below" },
	[DEED_READ] = { "read of", "reads of", "reads below" },
	[DEED_EXEC] = { "execution of", "executions of", "executions below" },
	[DEED_CONNECT] = { "connection to", "connections to",
	    "connections below" },
	[DEED_NAME] = { "name", "requests for", "requests below" },
	[DEED_CALL] = { "call of", "calls of", "calls of" },
};

/* Bytes that mean themselves to every shell ('~' is wanted as it is). */
#define SHELL_SAFE	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"0123456789_./~:@%+,=-"

struct group {
	enum deed	 deed;
	uint64_t	 count;
	bool		 is_path;	/* common is a path */
	bool		 is_one_object;	/* each refusal was of `first` */
	bool		 is_one_remedy;	/* each has the first's remedy */
	bool		 is_one_key;	/* each adds to the same key */
	char		 common[GROUP_NAME];	/* top directory, or host */
	char		 first[GROUP_NAME];	/* the first object */
	char		 wide[GROUP_NAME];	/* what all values are below */
	struct remedy	 remedy;	/* the first one's */
};

struct tally {
	char		*home, *workspace;
	struct group	 group[GROUPS];
	unsigned	 ngroups;
	uint64_t	 total;
	uint64_t	 dropped;
	bool		 is_least;	/* ... or more */
};

struct tally *
tally_new(const char *home, const char *workspace)
{
	struct tally *t = xcalloc(1, sizeof *t);

	t->home = home != NULL ? xstrdup(home) : NULL;
	t->workspace = workspace != NULL ? xstrdup(workspace) : NULL;
	return t;
}

void
tally_free(struct tally *t)
{
	if (t == NULL)
		return;
	free(t->home);
	free(t->workspace);
	free(t);
}

void
tally_dropped(struct tally *t, uint64_t n, bool is_least)
{
	t->dropped += n;
	t->is_least = t->is_least || is_least;
}

static enum deed
deed_of(const struct event *e)
{
	switch (e->kind) {
	case EVENT_EXEC:
		return DEED_EXEC;
	case EVENT_CONNECT:
		return DEED_CONNECT;
	case EVENT_CALL:
		return DEED_CALL;
	case EVENT_OPEN:
		if (e->op == OP_MAKE || e->op == OP_REMOVE ||
		    e->op == OP_CHANGE)
			return DEED_WRITE;
		return (e->open_flags & O_ACCMODE) != O_RDONLY ||
		    (e->open_flags & (O_CREAT | O_TRUNC)) != 0 ?
		    DEED_WRITE : DEED_READ;
	default:
		return DEED_NAME;
	}
}

/* Length of path's first n components after `from` bytes. */
static size_t
components(const char *path, size_t from, unsigned n)
{
	while (n-- > 0 && path[from] == '/')
		from += 1 + strcspn(path + from + 1, "/");
	return from;
}

/*
 * The directory that one line of policy would name: the first component
 * below the workspace or the home directory, else the first two below /.
 */
static size_t
top_of(const struct tally *t, const char *path)
{
	const char *const bases[] = { t->workspace, t->home };

	for (unsigned i = 0; i < 2; i++)
		if (bases[i] != NULL && strcmp(bases[i], "/") != 0 &&
		    str_path_below(path, bases[i]))
			return components(path, strlen(bases[i]), 1);
	return components(path, 0, 2);
}

static void
copy(char *ret, size_t size, const char *s, size_t len)
{
	if (len > size - 1)
		len = size - 1;
	memcpy(ret, s, len);
	ret[len] = '\0';
}

static struct group *
find_group(struct tally *t, enum deed deed, const char *common)
{
	struct group *g;

	for (unsigned i = 0; i < t->ngroups; i++)
		if (t->group[i].deed == deed &&
		    strcmp(t->group[i].common, common) == 0)
			return &t->group[i];
	if (t->ngroups == GROUPS)
		return NULL;
	g = &t->group[t->ngroups++];
	g->deed = deed;
	copy(g->common, sizeof g->common, common, strlen(common));
	return g;
}

/* What both paths are below: whole names alone. */
static void
widen(char *wide, const char *value)
{
	size_t n = 0, end = 0;

	while (wide[n] != '\0' && wide[n] == value[n])
		if (wide[++n] == '/' && value[n] == '/')
			end = n;
	if ((wide[n] == '\0' && (value[n] == '/' || value[n] == '\0')) ||
	    (value[n] == '\0' && wide[n] == '/'))
		end = n;
	wide[end] = '\0';
}

static void
group_add(struct group *g, const char *object, const struct verdict *v,
    uint64_t count)
{
	bool is_first = g->count == 0;

	g->count += count;
	if (is_first) {
		copy(g->first, sizeof g->first, object, strlen(object));
		g->remedy = v->remedy;
		g->is_one_object = true;
		/* One that is too long to be read is no advice. */
		g->is_one_remedy = strlen(v->remedy.value) < GROUP_NAME;
		/* An instruction is for its own object: it does not widen. */
		g->is_one_key = v->remedy.kind == REMEDY_ADD;
		copy(g->wide, sizeof g->wide, v->remedy.value,
		    strlen(v->remedy.value));
		return;
	}
	if (strcmp(g->first, object) != 0)
		g->is_one_object = false;
	if (!remedy_same(&g->remedy, &v->remedy))
		g->is_one_remedy = false;
	if (g->remedy.key != v->remedy.key || v->remedy.kind != REMEDY_ADD)
		g->is_one_key = false;
	widen(g->wide, v->remedy.value);
}

/*
 * What a program tries of itself and goes on without: Java its
 * /proc/self/coredump_filter.  It is told, and no reason that a command failed.
 */
static bool
is_habit(const struct event *e)
{
	return e->kind == EVENT_OPEN && e->path != NULL &&
	    e->verdict.remedy.kind == REMEDY_NONE &&
	    outside_is_of_process(e->path);
}

void
tally_add(struct tally *t, const struct event *e)
{
	const char *object = e->path != NULL ? e->path :
	    e->host != NULL ? e->host : e->ip != NULL ? e->ip :
	    e->call != NULL ? e->call : "?";
	uint64_t count = e->count > 0 ? e->count : 1;
	char common[GROUP_NAME];
	struct group *g;

	if (e->kind >= EVENT_RUN_START || e->verdict.action != ACTION_DENY ||
	    is_habit(e))
		return;
	t->total += count;
	copy(common, sizeof common, object, e->path != NULL ?
	    top_of(t, object) : strlen(object));
	g = find_group(t, deed_of(e), common);
	if (g == NULL)
		return;
	g->is_path = e->path != NULL;
	group_add(g, object, &e->verdict, count);
}

/* Escaped, with "~" for home; `cut` for what is only looked at. */
static void
put_object(const struct tally *t, const char *s, bool is_path, bool cut,
    struct buf *b)
{
	struct buf escaped;

	buf_init(&escaped, 0);
	if (is_path && t->home != NULL && strcmp(t->home, "/") != 0 &&
	    str_path_below(s, t->home)) {
		buf_putc(&escaped, '~');
		s += strlen(t->home);
	}
	str_escape(&escaped, s, strlen(s), '"');
	if (cut)
		event_cut(b, escaped.data, SHOWN_CHARS / 2,
		    SHOWN_CHARS / 2 - 1);
	else
		buf_puts(b, escaped.data);
	buf_release(&escaped);
}

/* "/a/b" or "~/a": not the home, and nothing at the root. */
static bool
is_deep(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash != NULL && slash[1] != '\0' &&
	    (path[0] == '~' || strchr(slash + 1, '/') != NULL);
}

/*
 * One line that would allow the whole group, if there is such a line.  Only
 * writes are widened to their directory: for reads that would be advice to
 * lay open more than was asked for.
 */
static void
put_remedy(const struct tally *t, const struct group *g, struct buf *b)
{
	bool may_widen = g->deed == DEED_WRITE && g->is_one_key &&
	    strlen(g->wide) < sizeof g->wide - 1 &&
	    is_deep(g->wide) && strpbrk(g->wide, "\\*?[$") == NULL;
	const char *value = g->is_one_remedy ? g->remedy.value : g->wide;
	const char *flag = remedy_flag(&g->remedy);

	if (g->remedy.kind == REMEDY_NONE ||
	    (!g->is_one_remedy && !may_widen))
		return;
	buf_puts(b, ": ");
	if (g->remedy.kind != REMEDY_ADD) {
		remedy_put(b, &g->remedy);
		return;
	}
	/* What can be pasted into a shell is the shorter advice. */
	if (flag[0] != '\0' && value[strspn(value, SHELL_SAFE)] == '\0') {
		buf_printf(b, "%s ", flag);
		put_object(t, value, g->is_path, false, b);
		return;
	}
	buf_printf(b, "%s += \"", keys_name(g->remedy.key));
	put_object(t, value, g->is_path, false, b);
	buf_putc(b, '"');
}

static void
put_group(const struct tally *t, const struct group *g, struct buf *b)
{
	buf_printf(b, "%llu %s ", (unsigned long long)g->count,
	    g->count == 1 ? deed_words[g->deed].one :
	    g->is_one_object ? deed_words[g->deed].same :
	    deed_words[g->deed].below);
	put_object(t, g->is_one_object ? g->first : g->common, g->is_path,
	    true, b);
}

/* The largest group not yet shown; of equals, the first that appeared. */
static const struct group *
largest(const struct tally *t, const bool *shown)
{
	const struct group *best = NULL;

	for (unsigned i = 0; i < t->ngroups; i++)
		if (!shown[i] &&
		    (best == NULL || t->group[i].count > best->count))
			best = &t->group[i];
	return best;
}

void
tally_text(const struct tally *t, bool is_kept, struct buf *b)
{
	bool shown[GROUPS] = { false };
	uint64_t told = 0;

	if (t->total == 0)
		return;
	buf_printf(b, "fence: %s%llu refusal%s (",
	    t->is_least && t->dropped == 0 ? "at least " : "",
	    (unsigned long long)t->total,
	    t->total == 1 ? "" : "s");
	for (unsigned i = 0; i < SHOWN_GROUPS; i++) {
		const struct group *g = largest(t, shown);

		if (g == NULL)
			break;
		if (i > 0)
			buf_puts(b, ", ");
		put_group(t, g, b);
		if (i == 0)
			put_remedy(t, g, b);
		shown[g - t->group] = true;
		told += g->count;
	}
	if (told < t->total)
		buf_printf(b, ", %llu more",
		    (unsigned long long)(t->total - told));
	buf_puts(b, ")");
	if (t->dropped > 0)
		buf_printf(b, "; %s%llu more report%s dropped",
		    t->is_least ? "at least " : "",
		    (unsigned long long)t->dropped,
		    t->dropped == 1 ? " was" : "s were");
	buf_printf(b, "; %s: %s", t->dropped > 0 || t->total == 1 ? "more" :
	    "all of them", is_kept ? "fence trace" : "run again with -m");
}
