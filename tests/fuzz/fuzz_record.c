/* A trace of any bytes is read, grouped, verified and suggested from. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/history/history.h"
#include "launcher/history/suggest.h"
#include "platform/base/str.h"
#include "platform/fd.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* What goes to a terminal is text that means itself. */
static void
check_text(const struct buf *b)
{
	uint32_t cp;

	for (size_t i = 0, n; i < b->len; i += n) {
		n = str_utf8(b->data + i, b->len - i, &cp);
		if (n == 0 || (cp != '\n' && str_is_deceptive(cp)))
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = fd_memfd("trace", data, len);
	struct err e = { 0 };
	struct history h;
	struct buf b;

	if (fd < 0)
		return 0;
	buf_init(&b, 0);
	if (history_read(&h, fd, "F", &e) == 0) {
		history_put_head(&b, &h);
		history_put_times(&b, &h, true);
		history_put_times(&b, &h, false);
		for (int by = HISTORY_BY_RULE; by <= HISTORY_BY_OBJECT; by++) {
			history_put_groups(&b, &h, (enum history_by)by);
			history_put_groups_json(&b, &h, (enum history_by)by);
		}
		history_put_policy(&b, &h);
	}
	history_release(&h);
	if (lseek(fd, 0, SEEK_SET) == 0)
		(void)history_verify(&b, fd, "F", &e);
	check_text(&b);
	buf_release(&b);
	close(fd);
	return 0;
}
