#include "launcher/shadow/shadow_diff.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "launcher/shadow/shadow_tree.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum {
	FILE_MAX = 4 << 20,	/* of more it is said that they differ */
	LINES_MAX = 50000,
	EDITS_MAX = 1500,	/* then: all lines out, all lines in */
	CONTEXT = 3,
	DEPTH_MAX = SHADOW_DEPTH,
};

/* ---- lines ---- */

struct lines {
	struct str	*v;
	size_t		 n, cap;
};

static bool
split(struct lines *l, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && l->n < LINES_MAX) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl != NULL ? nl + 1 : end) - text);

		*vec_push(l) = (struct str){ text, n };
		text += n;
	}
	return text == end;
}

static bool
is_same_line(struct str a, struct str b)
{
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* Controls are escaped; a tab and a backslash are themselves. */
static void
put_line(struct buf *b, char sign, struct str line)
{
	const char *p = line.p, *end = line.p + line.len;
	bool has_newline = line.len > 0 && end[-1] == '\n';

	if (has_newline)
		end--;
	buf_putc(b, sign);
	while (p < end) {
		const char *q = p;

		while (q < end && *q != '\t' && *q != '\\')
			q++;
		str_escape(b, p, (size_t)(q - p), 0);
		if (q < end)
			buf_putc(b, *q++);
		p = q;
	}
	buf_putc(b, '\n');
	if (!has_newline)
		buf_puts(b, "\\ No newline at end of file\n");
}

/* ---- the shortest way from a to b (Myers) ---- */

/* ' ' both, '-' a's alone, '+' b's alone; in the order of the text. */
struct edits {
	char	*v;
	size_t	 n, cap;
};

/* Walks back over the rows of `trace`, one a step, to the edits. */
static void
trace_back(struct edits *edits, int **trace, int d, int x, int y)
{
	for (; d >= 0; d--) {
		int *v = trace[d] + d + 1;
		int k = x - y;
		int from = k == -d || (k != d && v[k - 1] < v[k + 1]) ?
		    k + 1 : k - 1;
		int from_x = d == 0 ? 0 : v[from];
		int from_y = d == 0 ? 0 : from_x - from;

		while (x > from_x && y > from_y) {
			*vec_push(edits) = ' ';
			x--;
			y--;
		}
		if (d > 0)
			*vec_push(edits) = x == from_x ? '+' : '-';
		x = from_x;
		y = from_y;
	}
	for (size_t i = 0, k = edits->n; i + 1 < k; i++) {
		char c = edits->v[i];

		edits->v[i] = edits->v[--k];
		edits->v[k] = c;
	}
}

/* False: too many edits. */
static bool
find_edits(struct edits *edits, const struct lines *a, const struct lines *b)
{
	int **trace = xcalloc(EDITS_MAX + 1, sizeof *trace);
	int n = (int)a->n, m = (int)b->n;
	bool found = false;
	int d = 0;

	for (; d <= EDITS_MAX && !found; d++) {
		/* Of step d: what step d - 1 reached, for k of -d-1 to d+1. */
		int *v = d > 0 ? trace[d] : xcalloc(3, sizeof *v);
		int *next = xcalloc((size_t)d * 2 + 5, sizeof *next);

		trace[d] = v;
		for (int k = -d; k <= d && !found; k += 2) {
			const int *at = v + d + 1;
			int x = d == 0 ? 0 : k == -d || (k != d &&
			    at[k - 1] < at[k + 1]) ? at[k + 1] :
			    at[k - 1] + 1;
			int y = x - k;

			while (x < n && y < m && is_same_line(a->v[x],
			    b->v[y])) {
				x++;
				y++;
			}
			next[k + d + 2] = x;
			found = x >= n && y >= m;
		}
		if (d < EDITS_MAX)
			trace[d + 1] = next;
		else
			free(next);
	}
	if (found)
		trace_back(edits, trace, d - 1, n, m);
	for (int i = 0; i <= EDITS_MAX; i++)
		free(trace[i]);
	free(trace);
	return found;
}

/* ---- hunks ---- */

static void
put_hunk(struct buf *b, const struct edits *e, size_t from, size_t to,
    const struct lines *la, const struct lines *lb, size_t ia, size_t ib)
{
	size_t na = 0, nb = 0;

	for (size_t i = from; i < to; i++) {
		na += e->v[i] != '+';
		nb += e->v[i] != '-';
	}
	buf_printf(b, "@@ -%zu,%zu +%zu,%zu @@\n", na > 0 ? ia + 1 : ia, na,
	    nb > 0 ? ib + 1 : ib, nb);
	for (size_t i = from; i < to; i++) {
		put_line(b, e->v[i], e->v[i] == '+' ? lb->v[ib] :
		    la->v[ia]);
		ia += e->v[i] != '+';
		ib += e->v[i] != '-';
	}
}

/* Where the edits that begin at i, and those near them, end. */
static size_t
hunk_end(const struct edits *e, size_t i)
{
	size_t last = i;

	for (; i < e->n && i <= last + 2 * CONTEXT; i++)
		if (e->v[i] != ' ')
			last = i;
	return last + 1 + CONTEXT < e->n ? last + 1 + CONTEXT : e->n;
}

static void
put_hunks(struct buf *b, const struct edits *e, const struct lines *la,
    const struct lines *lb)
{
	size_t ia = 0, ib = 0, i = 0;

	while (i < e->n) {
		size_t next = i, from, to;

		while (next < e->n && e->v[next] == ' ')
			next++;
		if (next == e->n)
			return;
		from = next - i > CONTEXT ? next - CONTEXT : i;
		ia += from - i;
		ib += from - i;
		to = hunk_end(e, next);
		put_hunk(b, e, from, to, la, lb, ia, ib);
		for (i = from; i < to; i++) {
			ia += e->v[i] != '+';
			ib += e->v[i] != '-';
		}
	}
}

void
diff_lines(struct buf *b, const char *a_text, size_t a_len,
    const char *b_text, size_t b_len)
{
	struct lines la = { 0 }, lb = { 0 };
	struct edits e = { 0 };

	if (a_len == b_len && memcmp(a_text, b_text, a_len) == 0)
		return;
	if (!split(&la, a_text, a_len) || !split(&lb, b_text, b_len)) {
		buf_puts(b, "(too long to compare)\n");
	} else {
		if (!find_edits(&e, &la, &lb)) {
			for (size_t i = 0; i < la.n; i++)
				*vec_push(&e) = '-';
			for (size_t i = 0; i < lb.n; i++)
				*vec_push(&e) = '+';
		}
		put_hunks(b, &e, &la, &lb);
	}
	vec_release(&la);
	vec_release(&lb);
	vec_release(&e);
}

/* ---- trees ---- */

struct thing {
	int		 dir;
	const char	*name;
	bool		 is_there;
	struct stat	 st;
};

static struct thing
look_at(int dir, const char *name)
{
	struct thing t = { .dir = dir, .name = name };

	t.is_there = dir >= 0 && fstatat(dir, name, &t.st,
	    AT_SYMLINK_NOFOLLOW) == 0;
	return t;
}

static void
put_head(struct buf *b, const struct thing *t, const char *sign,
    const char *shown, const char *note)
{
	buf_puts(b, sign);
	if (t->is_there)
		str_escape(b, shown, strlen(shown), 0);
	else
		buf_puts(b, "/dev/null");
	buf_puts(b, t->is_there ? note : "");
	buf_putc(b, '\n');
}

/* False: no file, too long, or no text. */
static bool
read_text(const struct thing *t, struct buf *b)
{
	struct wide w;
	auto_fd fd = -1;
	bool is_read;

	if (!t->is_there)
		return true;
	if (!S_ISREG(t->st.st_mode))
		return false;
	fd = wide_open_file(&w, t->dir, t->name);
	is_read = fd >= 0 && buf_read(b, fd) == 0;
	wide_back(&w);
	return is_read && memchr(b->data, '\0', b->len) == NULL;
}

static void
put_kind(struct buf *b, const struct thing *t)
{
	char target[PATH_MAX];
	ssize_t n;

	if (!t->is_there) {
		buf_puts(b, "nothing");
	} else if (S_ISLNK(t->st.st_mode)) {
		n = path_read_link(t->dir, t->name, target, sizeof target);
		buf_puts(b, "a symlink to '");
		str_escape(b, target, n > 0 ? (size_t)n : 0, '\'');
		buf_putc(b, '\'');
	} else {
		buf_printf(b, S_ISREG(t->st.st_mode) ? "a file of %lld bytes"
		    : S_ISDIR(t->st.st_mode) ? "a folder" :
		    "neither file nor folder", (long long)t->st.st_size);
	}
}

static void
diff_files(struct buf *b, const struct thing *t, const char *shown)
{
	struct buf ta, tb;

	buf_init(&ta, FILE_MAX);
	buf_init(&tb, FILE_MAX);
	put_head(b, &t[0], "--- ", shown, "");
	put_head(b, &t[1], "+++ ", shown, " (inside)");
	if (read_text(&t[0], &ta) && read_text(&t[1], &tb)) {
		diff_lines(b, ta.data, ta.len, tb.data, tb.len);
	} else {
		buf_puts(b, "outside ");
		put_kind(b, &t[0]);
		buf_puts(b, ", inside ");
		put_kind(b, &t[1]);
		buf_putc(b, '\n');
	}
	if (t[0].is_there && t[1].is_there &&
	    ((t[0].st.st_mode ^ t[1].st.st_mode) & 0100) != 0)
		buf_printf(b, "it may%s be executed inside\n",
		    (t[1].st.st_mode & 0100) != 0 ? "" : " not");
	buf_release(&ta);
	buf_release(&tb);
}

struct names {
	char	**v;
	size_t	  n, cap;
};

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
add_names(struct names *names, int fd)
{
	DIR *d = fd < 0 ? NULL : move_list(fd);
	const char *name;

	while (d != NULL && names->n < SHADOW_ENTRIES &&
	    (name = move_next(d)) != NULL)
		*vec_push(names) = xstrdup(name);
	if (d != NULL)
		closedir(d);
}

static void diff_any(struct buf *, const struct thing *, const char *shown,
    unsigned depth);

static void
diff_dirs(struct buf *b, const struct thing *t, const char *shown,
    unsigned depth)
{
	struct names names = { 0 };
	struct wide wa, wb;
	auto_fd fa = t[0].is_there ? wide_open_dir(&wa, t[0].dir, t[0].name) :
	    -1;
	auto_fd fb = t[1].is_there ? wide_open_dir(&wb, t[1].dir, t[1].name) :
	    -1;

	add_names(&names, fa);
	add_names(&names, fb);
	if (names.n > 0)
		qsort(names.v, names.n, sizeof *names.v, compare_names);
	for (size_t i = 0; i < names.n; i++) {
		char path[PATH_MAX];
		struct thing sub[] = { look_at(fa, names.v[i]),
		    look_at(fb, names.v[i]) };

		if ((i == 0 || strcmp(names.v[i - 1], names.v[i]) != 0) &&
		    snprintf(path, sizeof path, "%s/%s", shown,
		    names.v[i]) < (int)sizeof path)
			diff_any(b, sub, path, depth + 1);
	}
	for (size_t i = 0; i < names.n; i++)
		free(names.v[i]);
	vec_release(&names);
	if (t[0].is_there)
		wide_back(&wa);
	if (t[1].is_there)
		wide_back(&wb);
}

static void
diff_any(struct buf *b, const struct thing *t, const char *shown,
    unsigned depth)
{
	char da[SHA256_HEX], db[SHA256_HEX];
	bool is_dir_a = t[0].is_there && S_ISDIR(t[0].st.st_mode);
	bool is_dir_b = t[1].is_there && S_ISDIR(t[1].st.st_mode);

	if (depth > DEPTH_MAX || b->failed)
		return;
	if ((is_dir_a || !t[0].is_there) && (is_dir_b || !t[1].is_there)) {
		diff_dirs(b, t, shown, depth);
		return;
	}
	shadow_tree_content(t[0].dir, t[0].name, da);
	shadow_tree_content(t[1].dir, t[1].name, db);
	if (!shadow_tree_is_like(da, db))
		diff_files(b, t, shown);
}

void
diff_trees(struct buf *b, int a_dir, const char *a_name, int b_dir,
    const char *b_name, const char *shown)
{
	struct thing t[] = { look_at(a_dir, a_name),
	    look_at(b_dir, b_name) };

	diff_any(b, t, shown, 0);
}
