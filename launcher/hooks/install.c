#include "launcher/hooks/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/hooks/entry.h"
#include "launcher/hooks/install_parts.h"
#include "launcher/plan/env.h"
#include "platform/base/io.h"
#include "platform/base/jsonedit.h"
#include "platform/base/path.h"
#include "platform/base/sha256.h"
#include "policy/trust.h"

/* ---- where ---- */

const char *
install_home(const struct install *in)
{
	const char *home = env_get(in->env, "HOME");

	return home != NULL && home[0] == '/' ? home : NULL;
}

const char *
install_path(const struct install *in)
{
	const char *path = in->agent->path, *home = install_home(in);
	const char *folder = in->agent->folder_env != NULL ?
	    env_get(in->env, in->agent->folder_env) : NULL;

	if (in->file != NULL)
		return in->file;
	if (folder != NULL && folder[0] == '/')
		return arena_printf(in->arena, "%s%s", folder,
		    strchr(path, '/'));
	return home != NULL ? arena_printf(in->arena, "%s/%s", home, path) :
	    NULL;
}

const char *
install_beside(const struct install *in, const char *name)
{
	const char *path = install_path(in);

	return path == NULL ? NULL : arena_printf(in->arena, "%.*s/%s",
	    (int)path_dir_len(path), path, name);
}

void
install_call(const struct install *in, struct entry_call *ret)
{
	const char **v = arena_alloc(in->arena, 8 * sizeof *v);
	size_t n = 0;

	v[n++] = "hook";
	v[n++] = in->agent->name;
	if (in->opts.wrap)
		v[n++] = "--wrap";
	if (in->opts.no_wrap)
		v[n++] = "--no-wrap";
	if (in->opts.run.settings != NULL) {
		v[n++] = "--settings";
		v[n++] = in->opts.run.settings;
	}
	if (in->opts.run.template_name != NULL) {
		v[n++] = "--template";
		v[n++] = in->opts.run.template_name;
	}
	ret->program = hook_program(in->arena, "fence");
	ret->args = v;
}

/* ---- files ---- */

static int
fail(struct err *e, const char *what, const char *path)
{
	int sys = errno;

	err_set(e, ERR_POLICY, "cannot %s '%.200s'", what, path);
	e->sys = sys;
	return -1;
}

int
install_read(const char *path, struct buf *b, bool *ret_exists,
    struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int rc;

	*ret_exists = fd >= 0;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 :
		    fail(e, "read", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ERR_POLICY, "'%.200s' is no regular file",
		    path);
	}
	rc = buf_read(b, fd);
	if (rc != 0)
		fail(e, "read", path);
	close(fd);
	if (rc == 0 && strlen(b->data) != b->len)
		return err_set(e, ERR_POLICY, "'%.200s' has NUL bytes", path);
	return rc;
}

/* Where it really lies: a symlink is followed to a file, or to none yet. */
static int
real_path(struct arena *a, const char *path, const char **ret, struct err *e)
{
	struct stat st;

	*ret = path_real(a, path);
	if (*ret != NULL)
		return 0;
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(e, ERR_POLICY, "'%.200s' is a symlink that "
		    "leads nowhere", path);
	*ret = path;
	return 0;
}

/* Beside the old one, with its mode and owner, then in its place. */
static int
replace_file(struct arena *a, const char *path, const char *text,
    size_t len, struct err *e)
{
	char *tmp = arena_printf(a, "%s.fence-XXXXXX", path);
	bool had = false;
	struct stat st;
	int fd;

	if (path_make_above(path, 0750) != 0 ||
	    (fd = mkostemp(tmp, O_CLOEXEC)) < 0)
		return fail(e, "write beside", path);
	had = stat(path, &st) == 0;
	if ((had && (st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(fd, st.st_uid, st.st_gid) != 0) ||
	    fchmod(fd, had ? st.st_mode & 07777 : 0600) != 0 ||
	    io_write_all(fd, text, len) != 0 || fsync(fd) != 0 ||
	    rename(tmp, path) != 0) {
		fail(e, "replace", path);
		unlink(tmp);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

/* ---- what was there before ---- */

/*
 * STATE/fence/hooks/DIGEST-OF-THE-PATH: "DIGEST 0|1\n" and the bytes before:
 * the digest of what install made of them, and whether there was a file.
 */
struct memory {
	const char	*store;
	bool		 is_known;	/* it is of the text as it is now */
	bool		 existed;
	const char	*before;
	size_t		 before_len;
};

static void
digest_of(const void *p, size_t len, char ret[SHA256_HEX])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, p, len);
	sha256_end_hex(&s, ret);
}

static const char *
store_of(const struct install *in, const char *real)
{
	const char *trust = trust_store(in->arena, install_home(in), in->env);
	char hex[SHA256_HEX];

	digest_of(real, strlen(real), hex);
	return trust == NULL ? NULL : arena_printf(in->arena, "%.*s/hooks/%s",
	    (int)path_dir_len(trust), trust, hex);
}

static void
recall(const struct install *in, const char *real, const struct buf *text,
    struct memory *ret)
{
	struct buf b;
	char hex[SHA256_HEX];
	struct err e;
	bool exists;

	*ret = (struct memory){ .store = store_of(in, real) };
	buf_init(&b, JSONEDIT_MAX);
	digest_of(text->data, text->len, hex);
	if (ret->store != NULL && install_read(ret->store, &b, &exists,
	    &e) == 0 && b.len > SHA256_HEX + 1 &&
	    memcmp(b.data, hex, SHA256_HEX - 1) == 0 &&
	    b.data[SHA256_HEX + 1] == '\n') {
		ret->is_known = true;
		ret->existed = b.data[SHA256_HEX] == '1';
		ret->before_len = b.len - SHA256_HEX - 2;
		ret->before = arena_strndup(in->arena,
		    b.data + SHA256_HEX + 2, ret->before_len);
	}
	buf_release(&b);
}

/* Without a memory uninstall takes our entries out, so it is no error. */
static void
remember(const struct install *in, const struct memory *m,
    const char *text, size_t len)
{
	char hex[SHA256_HEX];
	struct buf b;
	struct err e;

	if (m->store == NULL)
		return;
	digest_of(text, len, hex);
	buf_init(&b, 0);
	buf_printf(&b, "%s %d\n", hex, m->existed);
	buf_add(&b, m->before, m->before_len);
	(void)replace_file(in->arena, m->store, b.data, b.len, &e);
	buf_release(&b);
}

/* ---- the Go program's plugin of OpenCode ---- */

/* Takes "@fencesandbox/opencode-fence" out of OpenCode's list of plugins. */
static int
remove_package(const struct install *in, const char *path, struct err *e)
{
	static const char package[] = "@fencesandbox/opencode-fence";
	const struct jnode *list, *n = NULL;
	struct jsonedit j;
	const char *real;
	struct buf b;
	bool exists;
	int rc = 0;

	buf_init(&b, JSONEDIT_MAX);
	if (install_read(path, &b, &exists, e) != 0 || !exists ||
	    strstr(b.data, package) == NULL) {
		buf_release(&b);
		return 0;	/* what we cannot read we leave alone */
	}
	if (jsonedit_init(&j, in->arena, path, b.data, b.len, e) == 0)
		for (;;) {
			list = jsontree_get(j.root, "plugin");
			for (n = list != NULL ? list->child : NULL; n != NULL;
			    n = n->next)
				if (n->kind == JSON_STRING && strncmp(n->text,
				    package, sizeof package - 1) == 0)
					break;
			if (n == NULL || (rc = jsonedit_cut(&j, n, e)) != 0)
				break;
		}
	else
		rc = -1;
	if (rc == 0 && strcmp(j.text, b.data) != 0 &&
	    (rc = real_path(in->arena, path, &real, e)) == 0)
		rc = replace_file(in->arena, real, j.text, j.len, e);
	buf_release(&b);
	return rc;
}

static int
remove_old_plugin(const struct install *in, struct err *e)
{
	static const char *const names[] = { "../opencode.jsonc",
	    "../opencode.json" };

	if (in->agent->dialect != DIALECT_OPENCODE)
		return 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (remove_package(in, install_beside(in, names[i]),
		    e) != 0)
			return -1;
	return 0;
}

/* ---- the calls ---- */

int
install_print(const struct install *in, struct buf *ret, struct err *e)
{
	struct entry_call call;

	install_call(in, &call);
	return entry_add(in->arena, in->agent, &call, in->agent->path, "", 0,
	    ret, e);
}

/* Reads the file; *real is where it lies. */
static int
look(const struct install *in, const char **path, const char **real,
    struct buf *text, bool *exists, struct err *e)
{
	*path = install_path(in);
	if (*path == NULL) {
		err_set(e, ERR_POLICY, "HOME is not set");
		err_hint(e, "-f FILE names the agent's file");
		return -1;
	}
	return real_path(in->arena, *path, real, e) != 0 ? -1 :
	    install_read(*real, text, exists, e);
}

static int
put(const struct install *in, const char *path, const char *real,
    const struct buf *text, bool exists, enum install_done *ret,
    struct err *e)
{
	struct entry_found found;
	struct entry_call call;
	struct memory m;
	struct buf b;
	int rc;

	install_call(in, &call);
	if (entry_find(in->arena, in->agent, &call, path, text->data,
	    text->len, &found, e) != 0)
		return -1;
	*ret = INSTALL_NOTHING;
	if (found.is_as_wanted)
		return 0;
	recall(in, real, text, &m);
	buf_init(&b, JSONEDIT_MAX);
	rc = entry_add(in->arena, in->agent, &call, path, text->data,
	    text->len, &b, e);
	if (rc == 0 && in->agent->file == AGENT_OWN && exists && found.n == 0)
		rc = err_set(e, ERR_POLICY, "'%.200s' is there and not ours",
		    path);
	if (rc == 0)
		rc = replace_file(in->arena, real, b.data, b.len, e);
	if (rc == 0 && found.n == 0)
		m = (struct memory){ m.store, true, exists, text->data,
		    text->len };
	if (rc == 0 && m.is_known)
		remember(in, &m, b.data, b.len);
	else if (rc == 0 && m.store != NULL)
		unlink(m.store);
	if (rc == 0)
		*ret = INSTALL_DONE;
	buf_release(&b);
	return rc;
}


/* The bytes from before, or no file where there was none. */
static int
restore(const struct install *in, const char *real, const struct memory *m,
    struct err *e)
{
	if (m->existed) {
		if (replace_file(in->arena, real, m->before, m->before_len,
		    e) != 0)
			return -1;
	} else if (unlink(real) != 0) {
		return fail(e, "remove", real);
	}
	unlink(m->store);
	return 0;
}

static int
take_out(const struct install *in, const char *path, const char *real,
    const struct buf *text, enum install_done *ret, struct err *e)
{
	struct entry_found found;
	struct memory m;
	struct buf b;
	int rc = 0;

	*ret = INSTALL_NOTHING;
	if (entry_find(in->arena, in->agent, NULL, path, text->data,
	    text->len, &found, e) != 0)
		return -1;
	if (found.n == 0)
		return 0;
	recall(in, real, text, &m);
	if (m.is_known) {
		*ret = INSTALL_RESTORED;
		return restore(in, real, &m, e);
	}
	*ret = INSTALL_DONE;
	if (in->agent->file == AGENT_OWN)
		return unlink(real) == 0 ? 0 : fail(e, "remove", real);
	buf_init(&b, JSONEDIT_MAX);
	rc = entry_remove(in->arena, in->agent, path, text->data, text->len,
	    &b, e);
	if (rc == 0)
		rc = replace_file(in->arena, real, b.data, b.len, e);
	if (rc == 0 && m.store != NULL)
		unlink(m.store);
	buf_release(&b);
	return rc;
}

static int
change(const struct install *in, bool is_put, const char **ret_path,
    enum install_done *ret, struct err *e)
{
	const char *real = NULL;
	struct buf text;
	bool exists;
	int rc;

	buf_init(&text, JSONEDIT_MAX);
	rc = look(in, ret_path, &real, &text, &exists, e);
	if (rc == 0)
		rc = is_put ? put(in, *ret_path, real, &text, exists, ret, e) :
		    take_out(in, *ret_path, real, &text, ret, e);
	if (rc == 0)
		rc = remove_old_plugin(in, e);
	buf_release(&text);
	return rc;
}

int
install_put(const struct install *in, const char **ret_path,
    enum install_done *ret, struct err *e)
{
	return change(in, true, ret_path, ret, e);
}

int
install_remove(const struct install *in, const char **ret_path,
    enum install_done *ret, struct err *e)
{
	return change(in, false, ret_path, ret, e);
}
