#include "platform/linux/early.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/io.h"

int
early_write(const char *path, int flags, mode_t mode, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, mode);
	int rc = fd < 0 ? -1 : io_write_all(fd, p, n);

	if (fd >= 0)
		close(fd);
	return rc;
}

int
early_join(char out[PATH_MAX], const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);

	if (na + nb >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(out, a, na);
	memcpy(out + na, b, nb + 1);
	return 0;
}

void
early_number(char *out, uint64_t v)
{
	char digits[24];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	while (n > 0)
		*out++ = digits[--n];
	*out = '\0';
}
