/*
 * Planning: files of the jail's /etc that are not the host's own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/plan/plan_work.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum { ETC_FILE_MAX = 16 * 1024, ETC_FILES_MAX = 64 };

struct etc_files {
	struct jail_file	*v;
	size_t			 n, cap;
};

/* The gate's resolver, with the host's search list and options. */
static const char *
make_resolv_conf(struct arena *a)
{
	char text[ETC_FILE_MAX];
	ssize_t n = fd_read_file(AT_FDCWD, "/etc/resolv.conf", text,
	    sizeof text - 1);
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "nameserver 127.0.0.1\n");
	text[n > 0 ? n : 0] = '\0';
	for (char *line = text, *next; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (strncmp(line, "search", 6) == 0 ||
		    strncmp(line, "domain", 6) == 0 ||
		    strncmp(line, "options", 7) == 0)
			buf_printf(&b, "%s\n", line);
	}
	ret = arena_strdup(a, b.data);
	buf_release(&b);
	return ret;
}

/*
 * ssh refuses an included file whose owner is neither root nor the user, and
 * inside root's files belong to nobody: the jail gets copies that are ours.
 */
static void
copy_ssh_config(struct work *w, struct etc_files *files)
{
	static const char dir[] = "/etc/ssh/ssh_config.d";
	DIR *dp = getuid() != 0 ? opendir(dir) : NULL;
	char text[ETC_FILE_MAX];
	struct dirent *d;

	while (dp != NULL && files->n < ETC_FILES_MAX &&
	    (d = readdir(dp)) != NULL) {
		const char *dot = strrchr(d->d_name, '.');
		ssize_t n;

		if (dot == NULL || strcmp(dot, ".conf") != 0)
			continue;
		n = fd_read_file(AT_FDCWD, arena_printf(w->arena, "%s/%s",
		    dir, d->d_name), text, sizeof text);
		if (n < 0 || n == sizeof text)
			continue;
		text[n] = '\0';
		*vec_push(files) = (struct jail_file){
		    arena_printf(w->arena, "%s/%s", dir + strlen("/etc/"),
		    d->d_name), arena_strdup(w->arena, text) };
	}
	if (dp != NULL)
		closedir(dp);
}

/*
 * The host's own, where they would not be seen inside: resolv.conf is often a
 * link into /run, and a closed root has no /etc.
 */
static void
copy_names(struct work *w, struct etc_files *files)
{
	static const char *const names[] = { "resolv.conf", "hosts" };
	char text[ETC_FILE_MAX];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *path = arena_printf(w->arena, "/etc/%s",
		    names[i]);
		const char *real = path_real(w->arena, path);
		ssize_t n;

		if (real == NULL ||
		    (str_path_below(real, "/etc") &&
		    !w->plan->policy->fs.default_deny_read.value &&
		    !w->plan->policy->fs.strict_deny_read.value))
			continue;
		n = fd_read_file(AT_FDCWD, real, text, sizeof text);
		if (n >= 0)
			*vec_push(files) = (struct jail_file){ names[i],
			    arena_strdup(w->arena, text) };
	}
}

void
plan_etc(struct work *w)
{
	struct etc_files files = { 0 };
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	if (w->plan->spec.shares_net) {
		copy_names(w, &files);
	} else {
		*vec_push(&files) = (struct jail_file){ "resolv.conf",
		    make_resolv_conf(w->arena) };
		*vec_push(&files) = (struct jail_file){ "hosts",
		    arena_printf(w->arena, "127.0.0.1\tlocalhost%s%s\n"
		    "::1\tlocalhost ip6-localhost ip6-loopback\n",
		    host[0] != '\0' ? " " : "", host) };
	}
	copy_ssh_config(w, &files);
	w->plan->spec.etc = plan_keep(w->arena, files.v,
	    files.n * sizeof *files.v);
	w->plan->spec.netc = files.n;
	vec_release(&files);
}
