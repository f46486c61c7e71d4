/*
 * opens FILE: opens it for writing, and exits with what errno says of it, or
 * with 99 where the hook left something behind.  What surrounds the call is
 * chosen when it is compiled: SMALL_THREAD, BIG_TLS, or CONSTRUCTOR for a
 * library that has done it before main (of the file that $HYGIENE names).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef BIG_TLS
static __thread char big[300 << 10] = { 1 };
#endif

/* The lowest free descriptor; it is the same before and after. */
static int
next_fd(void)
{
	int fd = dup(0);

	if (fd >= 0)
		close(fd);
	return fd;
}

static int
refused(const char *path)
{
	struct stat st;
	int first = next_fd(), err = 0, fd;

	free(malloc(100000));
	if (stat("/", &st) < 0)
		return 98;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		err = errno;
	else
		close(fd);
	free(malloc(100000));
	return next_fd() == first ? err : 99;
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("HYGIENE");

	if (path != NULL && refused(path) != EROFS)
		_exit(97);
}
#else
static void *
in_thread(void *path)
{
#ifdef BIG_TLS
	memset(big, 7, sizeof big);
	if (refused(path) != EROFS)
		return (void *)96L;
	for (size_t i = 0; i < sizeof big; i++)
		if (big[i] != 7)
			return (void *)95L;
	return (void *)(long)EROFS;
#else
	return (void *)(long)refused(path);
#endif
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 94;
#if defined(SMALL_THREAD) || defined(BIG_TLS)
	pthread_attr_t attr;
	pthread_t th;
	void *rv;

	pthread_attr_init(&attr);
#ifdef SMALL_THREAD
	pthread_attr_setstacksize(&attr, 16384);
#endif
	if (pthread_create(&th, &attr, in_thread, argv[1]) != 0)
		return 93;
	pthread_join(th, &rv);
	return (int)(long)rv;
#else
	return (int)(long)in_thread(argv[1]);
#endif
}
#endif
