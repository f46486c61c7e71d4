/*
 * heldfiles WAY ARGS…: calls on files by bare system calls, as programs make
 * them that load no library of fence's.
 *
 *	random SEED N DIR	N calls on names in the working directory and
 *				in DIR, which is read-only.  A line each: the
 *				call, its errno, its paths.  The same seed makes
 *				the same calls.
 *	one CALL PATH		one call, and its errno
 *	flip N GOOD BAD		mkdir() of a path that another thread changes
 *				from GOOD to BAD and back, as fast as it can
 *	unlinks N		makes and removes N files
 *	opens N			opens N files for writing
 *	asked			mount() and mkdir("asked"), for each line of stdin
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NNAMES = 6 };

static uint64_t
next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int
call(long nr, const void *a, const void *b, const void *c, long d)
{
	return syscall(nr, a, b, c, d, 0) < 0 ? errno : 0;
}

static int
at(long nr, const char *path, long b, long c)
{
	int fd = (int)syscall(nr, AT_FDCWD, path, b, c, 0);

	if (fd < 0)
		return errno;
	if (nr == SYS_openat)
		close(fd);
	return 0;
}

static const char *const kinds[] = {
	"open", "make", "excl", "trunc", "openread", "mkdir", "mkfifo",
	"symlink", "unlink", "rmdir", "rename", "exchange", "link",
	"truncate", "chmod", "utimes", "setxattr", "openat2", "bad",
};

enum { NKINDS = sizeof kinds / sizeof kinds[0] };

static int
do_one(const char *kind, const char *p, const char *q)
{
	uint64_t how[3] = { O_WRONLY | O_CREAT, 0600, 0 };

	switch (kind[0] == 'o' ? kind[4] : 0) {
	case '\0':
		if (kind[0] == 'o')
			return at(SYS_openat, p, O_WRONLY, 0);
		break;
	case 'r':
		return at(SYS_openat, p, O_RDONLY, 0);
	case 'a':
		return call(SYS_openat2, (void *)(long)AT_FDCWD, p, how,
		    sizeof how);
	}
	if (strcmp(kind, "make") == 0)
		return at(SYS_openat, p, O_RDWR | O_CREAT, 0600);
	if (strcmp(kind, "excl") == 0)
		return at(SYS_openat, p, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (strcmp(kind, "trunc") == 0)
		return at(SYS_openat, p, O_RDONLY | O_TRUNC, 0);
	if (strcmp(kind, "mkdir") == 0)
		return at(SYS_mkdirat, p, 0700, 0);
	if (strcmp(kind, "mkfifo") == 0)
		return at(SYS_mknodat, p, S_IFREG | 0600, 0);
	if (strcmp(kind, "symlink") == 0)
		return call(SYS_symlinkat, q, (void *)(long)AT_FDCWD, p, 0);
	if (strcmp(kind, "unlink") == 0)
		return at(SYS_unlinkat, p, 0, 0);
	if (strcmp(kind, "rmdir") == 0)
		return at(SYS_unlinkat, p, AT_REMOVEDIR, 0);
	if (strcmp(kind, "rename") == 0 || strcmp(kind, "exchange") == 0)
		return syscall(SYS_renameat2, AT_FDCWD, p, AT_FDCWD, q,
		    kind[0] == 'e' ? 2 : 0) < 0 ? errno : 0;
	if (strcmp(kind, "link") == 0)
		return syscall(SYS_linkat, AT_FDCWD, p, AT_FDCWD, q, 0) < 0 ?
		    errno : 0;
	if (strcmp(kind, "truncate") == 0)
		return call(SYS_truncate, p, NULL, NULL, 0);
	if (strcmp(kind, "chmod") == 0)
		return at(SYS_fchmodat, p, 0700, 0);
	if (strcmp(kind, "utimes") == 0)
		return at(SYS_utimensat, p, 0, 0);
	if (strcmp(kind, "setxattr") == 0)
		return call(SYS_setxattr, p, "user.t", "1", 1);
	if (strcmp(kind, "mount") == 0)
		return call(SYS_mount, "none", p, "tmpfs", 0);
	/* Memory that is not there. */
	return at(SYS_mkdirat, (const char *)8, 0700, 0);
}

/* Six names, by ways that go round. */
static void
pick(uint64_t *seed, const char *dir, char ret[4096])
{
	static const char *const ways[] = { "", "./", "sub/../", "sub/",
	    "none/", "n0/" };
	uint64_t x = next(seed);
	const char *way = ways[(x >> 8) % 6];

	if ((x & 1) != 0)
		snprintf(ret, 4096, "%s%s%s%sn%d", (x & 2) != 0 ? "" : "sub/../",
		    (x & 2) != 0 ? dir : "ro", "/", way,
		    (int)((x >> 16) % NNAMES));
	else
		snprintf(ret, 4096, "%sn%d%s", way, (int)((x >> 16) % NNAMES),
		    (x >> 24) % 8 == 0 ? "/" : "");
}

static void
random_calls(uint64_t seed, long n, const char *dir)
{
	char p[4096], q[4096];

	for (int i = 0; i < 8; i++)
		(void)next(&seed);
	while (n-- > 0) {
		const char *kind = kinds[next(&seed) % NKINDS];
		int sys;

		pick(&seed, dir, p);
		pick(&seed, dir, q);
		sys = do_one(kind, p, q);
		printf("%s %d %s %s\n", kind, sys, p, q);
	}
}

struct flip {
	char	*path;
	const char *good, *bad;
	int	 is_over;
};

static void *
flip(void *arg)
{
	struct flip *f = arg;
	size_t n = strlen(f->good) + 1;

	while (!__atomic_load_n(&f->is_over, __ATOMIC_RELAXED)) {
		memcpy(f->path, f->bad, n);
		memcpy(f->path, f->good, n);
	}
	return NULL;
}

/* Both are equally long. */
static int
flip_calls(long n, const char *good, const char *bad)
{
	struct flip f = { strdup(good), good, bad, 0 };
	long made = 0;
	pthread_t t;

	if (strlen(good) != strlen(bad) ||
	    pthread_create(&t, NULL, flip, &f) != 0)
		return 1;
	while (n-- > 0)
		if (at(SYS_mkdirat, f.path, 0700, 0) == 0) {
			made++;
			(void)rmdir(good);
		}
	__atomic_store_n(&f.is_over, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	printf("made %s\n", made > 0 ? "some" : "none");
	return 0;
}

static int
in_loop(const char *way, long n)
{
	struct timespec a, b;
	char name[32];
	bool is_unlink = strcmp(way, "unlinks") == 0;

	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof name, "f%ld", i);
		if (close(open(name, O_WRONLY | O_CREAT, 0600)) != 0)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof name, "f%ld", i);
		if ((is_unlink ? unlink(name) :
		    close(open(name, O_WRONLY))) != 0)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.3f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 +
	    (double)(b.tv_nsec - a.tv_nsec)) / (double)n / 1e3);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && strcmp(way, "random") == 0) {
		random_calls(strtoull(argv[2], NULL, 10), atol(argv[3]),
		    argv[4]);
	} else if (argc == 4 && strcmp(way, "one") == 0) {
		printf("%d\n", do_one(argv[2], argv[3], "other"));
	} else if (argc == 5 && strcmp(way, "flip") == 0) {
		return flip_calls(atol(argv[2]), argv[3], argv[4]);
	} else if (argc == 3) {
		return in_loop(way, atol(argv[2]));
	} else if (strcmp(way, "asked") == 0) {
		while (fgets(line, sizeof line, stdin) != NULL) {
			int sys = do_one("mount", "/tmp", NULL);

			printf("%d %d\n", sys, do_one("mkdir", "asked", NULL));
			(void)rmdir("asked");
		}
	} else {
		return 2;
	}
	return 0;
}
