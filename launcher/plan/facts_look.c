#include "launcher/plan/facts_look.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int
look_open(struct gather *g, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		gather_lack(g, errno, path);
	return fd;
}

static enum look
look_at(const struct folder *f, const char *name, struct stat *ret)
{
	if (fstatat(f->fd, name, ret, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == EACCES ? LOOK_CLOSED : LOOK_GONE;
	return S_ISLNK(ret->st_mode) ? LOOK_LINK : LOOK_PLAIN;
}

/* name: of the list (policy/guard.h), of which n bytes are the folder. */
static enum look
look_shared(struct folder *f, const char *name, size_t n)
{
	struct stat st;

	for (unsigned i = 0; i < f->n; i++)
		if (strncmp(f->shared[i].path, name, n) == 0 &&
		    f->shared[i].path[n] == '\0')
			return f->shared[i].is;
	assert(f->n < sizeof f->shared / sizeof f->shared[0] &&
	    n < sizeof f->shared[0].path);
	memcpy(f->shared[f->n].path, name, n);
	f->shared[f->n].path[n] = '\0';
	f->shared[f->n].is = look_at(f, f->shared[f->n].path, &st);
	return f->shared[f->n++].is;
}

enum look
look_name(struct folder *f, const char *name, struct stat *ret)
{
	static const char config[] = ".config/";

	if (f->names != NULL && name_filter_lacks(f->names, name))
		return LOOK_GONE;
	if (f->config != NULL && strncmp(name, config, strlen(config)) == 0 &&
	    name_filter_lacks(f->config, name + strlen(config)))
		return LOOK_GONE;
	for (const char *slash = strchr(name, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		enum look is = look_shared(f, name, (size_t)(slash - name));

		if (is != LOOK_PLAIN)
			return is;
	}
	return look_at(f, name, ret);
}
