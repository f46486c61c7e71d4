/*
 * shsplit: the simple commands of the text on standard input, a line each:
 * the offset, then the words in hexadecimal, "w" before whole ones, "x" before
 * those with an expansion.  Unseen: "! offset why".  -p: as a POSIX shell.
 * Several texts are separated by NUL; "." ends the answer to each.
 */
#include <stdio.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/shwords.h"

static void
put_word(const struct sh_word *w)
{
	printf(" %c", w->is_whole ? 'w' : 'x');
	for (size_t i = 0; i < w->len; i++)
		printf("%02x", (unsigned char)w->text[i]);
}

static void
split(const char *text, size_t len, enum sh_dialect dialect)
{
	struct arena *a = arena_new();
	struct sh_line line;

	shwords_parse(a, dialect, text, len, &line);
	for (size_t i = 0; i < line.n; i++) {
		if (line.v[i].nwords == 0)
			continue;
		printf("%zu", line.v[i].offset);
		for (size_t k = 0; k < line.v[i].nwords; k++)
			put_word(&line.v[i].words[k]);
		putchar('\n');
	}
	for (size_t i = 0; i < line.nunseen; i++)
		printf("! %zu %s\n", line.unseen[i].offset,
		    unseen_words(line.unseen[i].why));
	puts(".");
	arena_free(a);
}

int
main(int argc, char **argv)
{
	enum sh_dialect dialect = argc > 1 && strcmp(argv[1], "-p") == 0 ?
	    SH_POSIX : SH_BASH;
	struct buf b;

	buf_init(&b, 0);
	if (buf_read(&b, 0) != 0)
		return 1;
	for (size_t from = 0, n; from < b.len; from += n + 1) {
		n = strlen(b.data + from);
		split(b.data + from, n, dialect);
	}
	buf_release(&b);
	return 0;
}
