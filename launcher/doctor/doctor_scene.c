#include "launcher/doctor/doctor_scene.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/plan/env.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/fd.h"

enum { DEPTH_MAX = 16, SWEEPS = 500, SWEEP_US = 20000, HIGH_FD = 60 };

/* ---- the sweeper ---- */

static void
empty(int dir_fd, unsigned depth)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	while (d != NULL && (ent = readdir(d)) != NULL) {
		int sub;

		if (strcmp(ent->d_name, ".") == 0 ||
		    strcmp(ent->d_name, "..") == 0 ||
		    unlinkat(dir_fd, ent->d_name, 0) == 0)
			continue;
		sub = openat(dir_fd, ent->d_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0 && depth < DEPTH_MAX)
			empty(sub, depth + 1);
		if (sub >= 0)
			close(sub);
		unlinkat(dir_fd, ent->d_name, AT_REMOVEDIR);
	}
	if (d != NULL)
		closedir(d);
}

/* A jail that is being killed may still make a file: look again. */
static void
sweep(const char *base)
{
	for (int i = 0; i < SWEEPS; i++) {
		int fd = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);

		if (fd < 0)
			return;
		empty(fd, 0);
		close(fd);
		if (rmdir(base) == 0 || errno == ENOENT)
			return;
		usleep(SWEEP_US);
	}
}

/* A byte says that the folder is ours; the end of file that it may go. */
static _Noreturn void
sweeper_main(const char *base, int fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool is_ours = false;
	char byte;
	ssize_t n;

	setsid();
	for (int i = 0; i <= STDERR_FILENO; i++)
		/* Not close-on-exec: nothing is executed here. */
		dup2(null_fd, i);
	while ((n = read(fd, &byte, 1)) > 0 || (n < 0 && errno == EINTR))
		is_ours = is_ours || n == 1;
	if (is_ours)
		sweep(base);
	else
		rmdir(base);
	_exit(0);
}

static int
start_sweeper(struct doctor_scene *s)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	s->sweeper = fork();
	if (s->sweeper == 0) {
		close(fds[1]);
		sweeper_main(s->base, fds[0]);
	}
	close(fds[0]);
	s->sweeper_fd = fds[1];
	return s->sweeper < 0 ? -1 : 0;
}

static void
end_sweeper(struct doctor_scene *s)
{
	fd_close(&s->sweeper_fd);
	if (s->sweeper > 0)
		(void)!waitpid(s->sweeper, NULL, 0);
	s->sweeper = 0;
}

/* ---- the folder ---- */

static int
make_base(struct doctor *d, struct doctor_scene *s)
{
	static const char *const places[] = { "/var/tmp", "/tmp" };
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof random, 0);
	for (size_t i = 0; i < 2; i++) {
		s->base = arena_printf(d->arena, "%s/fence-doctor.%016" PRIx64,
		    places[i], random);
		if (start_sweeper(s) != 0)
			return -1;
		if (mkdir(s->base, 0700) == 0) {
			(void)!write(s->sweeper_fd, "", 1);
			return 0;
		}
		end_sweeper(s);
	}
	return -1;
}

static int
put_file(struct doctor *d, const char *dir, const char *name,
    const char *text)
{
	auto_fd fd = open(arena_printf(d->arena, "%s/%s", dir, name),
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : io_write_all(fd, text, strlen(text));
}

static const char *
put_dir(struct doctor *d, const char *dir, const char *name)
{
	const char *path = arena_printf(d->arena, "%s/%s", dir, name);

	return mkdir(path, 0700) == 0 ? path : NULL;
}

static bool
has_entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *ent;
	bool found = false;

	while (d != NULL && !found && (ent = readdir(d)) != NULL)
		found = ent->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return found;
}

/* The user's own ~/.ssh, or one that stands in for it. */
static int
make_home(struct doctor *d, struct doctor_scene *s)
{
	const char *home = env_get(d->env, "HOME"), *ssh;
	bool is_real = home != NULL && home[0] == '/' &&
	    access(home, W_OK) == 0;

	s->home = home;
	ssh = is_real ? arena_printf(d->arena, "%s/.ssh", home) : "";
	if (!is_real || !has_entries(ssh)) {
		s->home = put_dir(d, s->base, "home");
		ssh = s->home == NULL ? NULL : put_dir(d, s->home, ".ssh");
		if (ssh == NULL || put_file(d, ssh, "id_ed25519",
		    "no key\n") != 0)
			return -1;
		d->stand_in = ssh;
	}
	s->scene.ssh = ssh;
	s->scene.home = is_real ? home : s->home;
	return 0;
}

static int
make_folders(struct doctor *d, struct doctor_scene *s)
{
	const char *git;

	s->work = put_dir(d, s->base, "work");
	s->scene.work = s->work;
	s->scene.outside = put_dir(d, s->base, "outside");
	git = s->work == NULL ? NULL : put_dir(d, s->work, ".git");
	if (git == NULL || s->scene.outside == NULL ||
	    put_file(d, git, "config", "[core]\n") != 0 ||
	    put_file(d, git, "HEAD", "ref: refs/heads/main\n") != 0)
		return -1;
	return make_home(d, s);
}

/* ---- sockets, descriptors, processes ---- */

static int
listen_unix(const char *name, bool is_abstract)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t n = strlen(name);
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || n + 1 >= sizeof sun.sun_path)
		return -1;
	memcpy(sun.sun_path + is_abstract, name, n);
	if (bind(fd, (struct sockaddr *)&sun, (socklen_t)(offsetof(
	    struct sockaddr_un, sun_path) + n + is_abstract)) != 0 ||
	    listen(fd, 8) != 0)
		return -1;
	return fd_take(&fd);
}

/* On the loopback, any port; its number comes back as text. */
static int
listen_tcp(struct doctor *d, int family, const char **ret_port)
{
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	} u = { .in6 = { .sin6_family = (sa_family_t)family } };
	socklen_t len = family == AF_INET ? sizeof u.in : sizeof u.in6;
	auto_fd fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret_port = "";
	if (family == AF_INET)
		u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		u.in6.sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, &u.sa, len) != 0 || listen(fd, 8) != 0 ||
	    getsockname(fd, &u.sa, &len) != 0)
		return -1;
	*ret_port = arena_printf(d->arena, "%u", ntohs(family == AF_INET ?
	    u.in.sin_port : u.in6.sin6_port));
	return fd_take(&fd);
}

static void
make_listeners(struct doctor *d, struct doctor_scene *s)
{
	struct scene *sc = &s->scene;

	sc->daemon = arena_printf(d->arena, "%s/daemon.sock", s->base);
	sc->abstract = path_name(s->base);
	s->listen_fd[0] = listen_unix(sc->daemon, false);
	s->listen_fd[1] = listen_unix(sc->abstract, true);
	if (s->listen_fd[0] < 0)
		sc->daemon = "";
	if (s->listen_fd[1] < 0)
		sc->abstract = "";
	s->listen_fd[2] = listen_tcp(d, AF_INET, &sc->port4);
	s->listen_fd[3] = listen_tcp(d, AF_INET6, &sc->port6);
}

static int
start_victim(struct doctor *d, struct doctor_scene *s)
{
	pid_t parent = getpid();

	s->victim = fork();
	if (s->victim == 0) {
		close(s->sweeper_fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	s->scene.victim = arena_printf(d->arena, "%ld", (long)s->victim);
	return s->victim < 0 ? -1 : 0;
}

static const char *
find_setuid(void)
{
	static const char *const paths[] = { "/usr/bin/su", "/bin/su",
	    "/usr/bin/newgrp", "/usr/bin/passwd", "/usr/bin/mount",
	    "/bin/mount", "/usr/bin/chsh" };
	struct stat st;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (stat(paths[i], &st) == 0 && st.st_uid == 0 &&
		    (st.st_mode & S_ISUID) != 0 &&
		    access(paths[i], X_OK) == 0)
			return paths[i];
	return "";
}

static void
note_namespaces(struct doctor *d, struct doctor_scene *s)
{
	static const char *const names[TRY_NNS] = TRY_NAMESPACES;
	struct stat st;

	for (size_t i = 0; i < TRY_NNS; i++) {
		char path[32];

		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		s->scene.ns[i] = stat(path, &st) != 0 ? "" : arena_printf(
		    d->arena, "%llu", (unsigned long long)st.st_ino);
	}
}

int
doctor_scene_make(struct doctor *d, struct doctor_scene *s, struct err *e)
{
	auto_fd null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	*s = (struct doctor_scene){ .sweeper_fd = -1, .left_fd = -1 };
	for (size_t i = 0; i < 4; i++)
		s->listen_fd[i] = -1;
	if (make_base(d, s) != 0)
		return err_sys(e, errno, "cannot make a folder in /var/tmp or "
		    "/tmp");
	if (make_folders(d, s) != 0 || start_victim(d, s) != 0) {
		err_sys(e, errno, "cannot fill '%s'", s->base);
		doctor_scene_end(s);
		return -1;
	}
	make_listeners(d, s);
	note_namespaces(d, s);
	s->scene.setuid = find_setuid();
	/* A high number, which nobody inside has by chance. */
	s->left_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, HIGH_FD);
	s->scene.fd = s->left_fd < 0 ? "" : arena_printf(d->arena, "%d",
	    s->left_fd);
	return 0;
}

void
doctor_scene_end(struct doctor_scene *s)
{
	if (s->victim > 0) {
		kill(s->victim, SIGKILL);
		(void)!waitpid(s->victim, NULL, 0);
	}
	for (size_t i = 0; i < 4; i++)
		fd_close(&s->listen_fd[i]);
	fd_close(&s->left_fd);
	end_sweeper(s);
}
