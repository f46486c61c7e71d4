#include "platform/base/io.h"

#include <errno.h>
#include <unistd.h>

int
io_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t
io_read_all(int fd, void *data, size_t size)
{
	char *p = data;
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, p + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}
