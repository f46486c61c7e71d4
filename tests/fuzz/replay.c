/*
 * replay: feeds files to a fuzz target where there is no fuzzer: the corpus
 * as a plain test.  Each file is also fed cut short at every length up to
 * 512 bytes, so that the ends of buffers are met.  A directory stands for
 * the files in it.
 *
 * A target whose input is our own structs has fuzz_seed() instead of files,
 * which every change of a struct would make useless without a word.  Each seed
 * is also fed with each of its bytes changed.  `--seeds DIR` writes them down
 * for a fuzzer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20, CUTS = 512 };

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);
/* The n-th, or 0 if there are no more. */
size_t	 fuzz_seed(size_t n, uint8_t *out, size_t size)
	    __attribute__((weak));

/* In memory of exactly that size: a sanitizer sees a read past the end. */
static void
feed(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static int
replay_file(const char *path)
{
	static uint8_t data[MAX_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || (n = read(fd, data, sizeof data)) < 0) {
		perror(path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	feed(data, (size_t)n);
	for (size_t cut = 0; cut < (size_t)n && cut < CUTS; cut++)
		feed(data, cut);
	return 0;
}

static int
replay_dir(const char *path, unsigned *count)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	char file[4096];
	int rv = 0;

	if (dir == NULL) {
		perror(path);
		return -1;
	}
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(file, sizeof file, "%s/%s", path, d->d_name);
		rv |= replay_file(file);
		++*count;
	}
	closedir(dir);
	return rv;
}

static unsigned
replay_seeds(void)
{
	static const uint8_t changes[] = { 1, 0x80, 0xff };
	static uint8_t data[MAX_BYTES];
	unsigned n = 0;
	size_t len;

	for (; (len = fuzz_seed(n, data, sizeof data)) > 0; n++) {
		feed(data, len);
		feed(data, len - 1);
		for (size_t i = 0; i < len * sizeof changes; i++) {
			uint8_t *byte = &data[i / sizeof changes];

			*byte ^= changes[i % sizeof changes];
			feed(data, len);
			*byte ^= changes[i % sizeof changes];
		}
	}
	return n;
}

static int
write_seeds(const char *dir)
{
	static uint8_t data[MAX_BYTES];
	char file[4096];
	size_t len;
	int fd;

	for (unsigned n = 0; (len = fuzz_seed(n, data, sizeof data)) > 0; n++) {
		snprintf(file, sizeof file, "%s/seed%u", dir, n);
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0666);
		if (fd < 0 || write(fd, data, len) != (ssize_t)len) {
			perror(file);
			return 1;
		}
		close(fd);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned count = 0;
	struct stat st;
	int rv = 0;

	if (argc == 3 && strcmp(argv[1], "--seeds") == 0 && fuzz_seed != NULL)
		return write_seeds(argv[2]);
	if (fuzz_seed != NULL)
		count = replay_seeds();
	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			rv |= replay_dir(argv[i], &count);
		} else {
			rv |= replay_file(argv[i]);
			count++;
		}
	}
	printf("%u inputs replayed\n", count);
	/* A corpus that is not there proves nothing. */
	return rv == 0 && count > 0 ? 0 : 1;
}
