#include "launcher/cli/policyedit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/request.h"
#include "launcher/shadow/shadow_diff.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/fd.h"
#include "policy/find.h"
#include "policy/trust.h"

extern char **environ;

/* What holds without any file goes on holding. */
static const char new_text[] = "{\n  \"extends\": \"workspace-write\"\n}\n";

/* ---- which file ---- */

static int
pick_user(struct policyedit *p, struct err *e)
{
	const char *found, *canonical;

	if (find_user(p->arena, p->req.home, environ, &found, &canonical,
	    e) != 0)
		return -1;
	p->path = found != NULL ? found : canonical;
	p->is_new = found == NULL;
	return p->path != NULL ? 0 : err_set(e, ERR_POLICY,
	    "there is no home directory to have a policy in");
}

static int
pick(struct policyedit *p, const char *settings, bool for_user,
    struct err *e)
{
	struct resolved res;
	int rc = 0;

	if (settings != NULL) {
		p->path = settings;
		return 0;
	}
	if (policy_resolve(&p->req, &res, e) != 0)
		return -1;
	if (res.project != NULL && !res.is_trusted)
		p->untrusted = arena_strdup(p->arena, res.project);
	else if (res.project != NULL)
		p->base = arena_strdup(p->arena, res.project);
	if (p->base != NULL && !for_user)
		p->path = p->base;
	else
		rc = pick_user(p, e);
	resolved_release(&res);
	return rc;
}

/* Trusted as it lies there, with all it extends. */
static bool
is_trusted(struct policyedit *p)
{
	const char *store = trust_store(p->arena, p->req.home, environ);
	struct err ignored = { 0 };
	char hex[SHA256_HEX];
	const char *name;

	return policy_digest(&p->req, p->path, p->arena, &name, hex,
	    &ignored) == 0 && trust_knows(store, name, hex);
}

int
policyedit_open(struct policyedit *p, struct arena *a, const char *settings,
    bool for_user, struct err *e)
{
	struct run_options ro = { .settings = settings };
	bool is_file = false;

	*p = (struct policyedit){ .arena = a };
	buf_init(&p->before, POLICY_MAX_BYTES);
	buf_init(&p->after, POLICY_MAX_BYTES);
	if (request_make(a, &ro, environ, &p->req, e) != 0 ||
	    pick(p, settings, for_user, e) != 0)
		return -1;
	if (p->is_new)
		return 0;
	p->path = path_real_or_same(a, p->path);
	if (policy_read(p->path, false, &p->before, &is_file, e) != 0)
		return -1;
	if (policy_format_of(p->path) == POLICY_INI) {
		err_set(e, ERR_POLICY, "an INI file is not edited");
		err_where(e, p->path, 0, 0);
		err_hint(e, "add the lines to it by hand; fence-policy(5) "
		    "has the form");
		return -1;
	}
	p->is_trusted = is_trusted(p);
	return 0;
}

void
policyedit_release(struct policyedit *p)
{
	buf_release(&p->before);
	buf_release(&p->after);
}

/* ---- what it would be ---- */

static int
check(const struct policyedit *p, struct err *e)
{
	struct policy_env env = { .workspace = p->req.cwd,
	    .home = p->req.home, .other_home = p->req.other_home,
	    .environ = environ };
	struct policy *policy = NULL;
	int rc = policy_parse(p->after.data, p->after.len, p->path, &env,
	    &policy, e);

	if (rc == 0)
		policy_free(policy);
	return rc;
}

int
policyedit_make(struct policyedit *p, const struct suggest *s, struct err *e)
{
	const char *text = p->is_new ? new_text : p->before.data;

	buf_clear(&p->after);
	if (suggest_apply(p->arena, s, p->path, text, strlen(text), &p->after,
	    e) != 0)
		return -1;
	if (p->after.failed)
		return err_set(e, ERR_POLICY, "the policy would be too long");
	return check(p, e);
}

bool
policyedit_is_same(const struct policyedit *p)
{
	return !p->is_new && p->before.len == p->after.len &&
	    memcmp(p->before.data, p->after.data, p->after.len) == 0;
}

void
policyedit_put_diff(const struct policyedit *p, struct buf *b)
{
	buf_puts(b, "--- ");
	str_escape(b, p->is_new ? "/dev/null" : p->path,
	    strlen(p->is_new ? "/dev/null" : p->path), 0);
	buf_puts(b, "\n+++ ");
	str_escape(b, p->path, strlen(p->path), 0);
	buf_putc(b, '\n');
	diff_lines(b, p->before.data, p->before.len, p->after.data,
	    p->after.len);
}

/* ---- writing ---- */

static int
fail(const struct policyedit *p, struct err *e)
{
	int sys = errno;

	err_set(e, ERR_POLICY, "cannot write the policy");
	err_where(e, p->path, 0, 0);
	e->sys = sys;
	return -1;
}

static int
fail_changed(const struct policyedit *p, struct err *e)
{
	err_set(e, ERR_POLICY, "it was changed by somebody else meanwhile");
	err_where(e, p->path, 0, 0);
	return -1;
}

/* Is the file still what the user was shown? */
static int
check_same(struct policyedit *p, struct err *e)
{
	struct err ignored = { 0 };
	bool is_file, is_same;
	struct buf now;

	if (p->is_new) {
		is_same = access(p->path, F_OK) != 0;
	} else {
		buf_init(&now, POLICY_MAX_BYTES);
		is_same = policy_read(p->path, false, &now, &is_file,
		    &ignored) == 0 && now.len == p->before.len &&
		    memcmp(now.data, p->before.data, now.len) == 0;
		buf_release(&now);
	}
	return is_same && p->is_trusted == is_trusted(p) ? 0 :
	    fail_changed(p, e);
}

static int
put_text(int fd, const struct buf *b)
{
	size_t at = 0;

	while (at < b->len) {
		ssize_t n = pwrite(fd, b->data + at, b->len - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += (size_t)n;
	}
	return ftruncate(fd, (off_t)b->len) == 0 ? fsync(fd) : -1;
}

static bool
holds_text(int fd, const struct buf *want)
{
	struct buf now;
	bool ret;

	buf_init(&now, POLICY_MAX_BYTES);
	ret = buf_read(&now, fd) == 0 && now.len == want->len &&
	    memcmp(now.data, want->data, want->len) == 0;
	buf_release(&now);
	return ret;
}

/*
 * The file itself, not another by its name: for runs that last it is a mount
 * that shows the file and cannot be written, and after a rename the name would
 * be theirs to write until they noticed.  Room for all of it is taken first.
 */
static int
put_over(struct policyedit *p, struct err *e)
{
	auto_fd fd = open(p->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC |
	    O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int sys;

	if (fd < 0 || fstat(fd, &st) != 0)
		return fail(p, e);
	if (!S_ISREG(st.st_mode) || !holds_text(fd, &p->before))
		return fail_changed(p, e);
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)p->after.len) != 0 &&
	    errno != EOPNOTSUPP && errno != ENOSYS)
		return fail(p, e);
	if (put_text(fd, &p->after) == 0)
		return 0;
	sys = errno;
	(void)put_text(fd, &p->before);
	errno = sys;
	return fail(p, e);
}

/* Beside it, then under its name. */
static int
put_new(struct policyedit *p, struct err *e)
{
	char *aside = arena_printf(p->arena, "%s.fence-XXXXXX", p->path);
	auto_fd fd = -1;

	if (path_make_above(p->path, 0750) != 0 ||
	    (fd = mkostemp(aside, O_CLOEXEC)) < 0)
		return fail(p, e);
	if (io_write_all(fd, p->after.data, p->after.len) == 0 &&
	    fsync(fd) == 0 && rename(aside, p->path) == 0)
		return 0;
	fail(p, e);
	(void)unlink(aside);
	return -1;
}

static int
put_file(struct policyedit *p, struct err *e)
{
	return p->is_new ? put_new(p, e) : put_over(p, e);
}

/*
 * As `fence config trust`, for the bytes that the user was shown and the
 * extended files that were trusted with the old ones; not for what lies there
 * now: a jail may be able to write these files.
 */
static int
write_trusted(struct policyedit *p, struct err *e)
{
	const char *name, *store = trust_store(p->arena, p->req.home, environ);
	char before[SHA256_HEX], after[SHA256_HEX];

	if (policy_digest_edit(&p->req, p->path, &p->before, &p->after,
	    p->arena, &name, before, after, e) != 0)
		return -1;
	if (!trust_knows(store, name, before))
		return fail_changed(p, e);
	if (put_file(p, e) != 0 || trust_add(store, name, after, e) != 0)
		return -1;
	return is_trusted(p) ? 0 : fail_changed(p, e);
}

int
policyedit_write(struct policyedit *p, struct err *e)
{
	if (check_same(p, e) != 0)
		return -1;
	return p->is_trusted ? write_trusted(p, e) : put_file(p, e);
}

bool
policyedit_breaks_trust(struct policyedit *p)
{
	struct resolve_request req = p->req;
	struct err ignored = { 0 };
	struct resolved res;
	bool was = false;

	req.settings = NULL;
	if (p->base == NULL || strcmp(p->base, p->path) == 0 ||
	    policy_resolve(&req, &res, &ignored) != 0)
		return false;
	was = res.project == NULL || !res.is_trusted;
	resolved_release(&res);
	return was;
}
