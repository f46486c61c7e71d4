/*
 * The page of a trace: whatever the lines are, the page is printable ASCII but
 * for its own parts, its script elements are its own, and each of its blocks
 * is JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/page/page.h"
#include "platform/base/buf.h"
#include "platform/base/jsontree.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define OPEN	"<script type=\"application/json\""
#define CLOSE	"</script>"

static void
read_page(const uint8_t *data, size_t len, struct buf *page)
{
	int in_fd = memfd_create("in", MFD_CLOEXEC);
	int out_fd = memfd_create("out", MFD_CLOEXEC);
	struct err e = { 0 };

	if (in_fd < 0 || out_fd < 0 ||
	    write(in_fd, data, len) != (ssize_t)len ||
	    lseek(in_fd, 0, SEEK_SET) != 0 ||
	    page_write(in_fd, out_fd, &e) != 0 ||
	    lseek(out_fd, 0, SEEK_SET) != 0 || buf_read(page, out_fd) != 0)
		abort();
	close(in_fd);
	close(out_fd);
}

/* One data element: JSON, and nothing that the browser would look at. */
static const char *
check_block(const char *text)
{
	const char *end = strstr(text, CLOSE);
	struct arena *a = arena_new();
	struct jnode *root = NULL;
	struct err e = { 0 };

	if (end == NULL)
		abort();
	for (const char *p = text; p < end; p++)
		if (*p == '<' || *p == '>' || *p == '&' ||
		    (unsigned char)*p > 0x7e || (*p < ' ' && *p != '\n'))
			abort();
	if (jsontree_parse(a, "page", text, (size_t)(end - text), 1 << 30,
	    &root, &e) != 0 || root == NULL)
		abort();
	arena_free(a);
	return end + strlen(CLOSE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static size_t parts;	/* bytes before the first record */
	struct buf page;
	const char *p;

	buf_init(&page, 0);
	if (parts == 0) {
		read_page(NULL, 0, &page);
		parts = (size_t)(strstr(page.data, OPEN " id=") - page.data);
		buf_clear(&page);
	}
	read_page(data, len, &page);
	p = page.data + parts;
	while (strncmp(p, OPEN, strlen(OPEN)) == 0) {
		p = check_block(strchr(p, '>') + 1);
		if (*p++ != '\n')
			abort();
	}
	if (strcmp(p, "</body>\n</html>\n") != 0 || strlen(page.data) !=
	    page.len)
		abort();
	buf_release(&page);
	return 0;
}
