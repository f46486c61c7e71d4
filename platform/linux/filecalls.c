#include "platform/linux/filecalls.h"

#include <fcntl.h>
#include <linux/filter.h>

enum { NONE = -1, WRITES = O_ACCMODE | O_CREAT | O_TRUNC };

/* Arguments by their places; NONE: there is no such argument. */
static const struct row {
	int		nr[2];
	enum held_file	file;
	signed char	dir, path;	/* the name; dir NONE: the cwd */
	signed char	dir2, path2;	/* a second one */
	signed char	flags;
	bool		is_last_link;	/* the name's own symlink is meant */
} rows[] = {
#if defined __x86_64__
#define ROW(x86, i386, arm64, arm, file, ...) \
	{ { x86, i386 }, file, __VA_ARGS__ }
#else
#define ROW(x86, i386, arm64, arm, file, ...) \
	{ { arm64, arm }, file, __VA_ARGS__ }
#endif
#define ONE(dir, path)		dir, path, NONE, NONE
#define OWN(path)		NONE, path, NONE, NONE
	ROW(257, 295, 56, 322, FILE_OPEN, ONE(0, 1), 2, false),
	ROW(2, 5, NONE, 5, FILE_OPEN, OWN(0), 1, false),
	ROW(437, 437, 437, 437, FILE_OPEN2, ONE(0, 1), 2, false),
	ROW(85, 8, NONE, 8, FILE_CREAT, OWN(0), NONE, false),
	ROW(87, 10, NONE, 10, FILE_UNLINK, OWN(0), NONE, true),
	ROW(263, 301, 35, 328, FILE_UNLINK, ONE(0, 1), 2, true),
	ROW(84, 40, NONE, 40, FILE_RMDIR, OWN(0), NONE, true),
	ROW(82, 38, NONE, 38, FILE_RENAME, NONE, 0, NONE, 1, NONE, true),
	ROW(264, 302, 38, 329, FILE_RENAME, 0, 1, 2, 3, NONE, true),
	ROW(316, 353, 276, 382, FILE_RENAME, 0, 1, 2, 3, 4, true),
	ROW(83, 39, NONE, 39, FILE_MAKE, OWN(0), NONE, true),
	ROW(258, 296, 34, 323, FILE_MAKE, ONE(0, 1), NONE, true),
	ROW(133, 14, NONE, 14, FILE_MAKE, OWN(0), NONE, true),
	ROW(259, 297, 33, 324, FILE_MAKE, ONE(0, 1), NONE, true),
	ROW(88, 83, NONE, 83, FILE_MAKE, OWN(1), NONE, true),
	ROW(266, 304, 36, 331, FILE_MAKE, ONE(1, 2), NONE, true),
	ROW(86, 9, NONE, 9, FILE_LINK, NONE, 0, NONE, 1, NONE, true),
	ROW(265, 303, 37, 330, FILE_LINK, 0, 1, 2, 3, 4, true),
	ROW(76, 92, 45, 92, FILE_TRUNCATE, OWN(0), NONE, false),
	ROW(NONE, 193, NONE, 193, FILE_TRUNCATE, OWN(0), NONE, false),
	ROW(90, 15, NONE, 15, FILE_CHANGE, OWN(0), NONE, false),
	ROW(268, 306, 53, 333, FILE_CHANGE, ONE(0, 1), NONE, false),
	ROW(452, 452, 452, 452, FILE_CHANGE, ONE(0, 1), 3, false),
	ROW(92, 182, NONE, 182, FILE_CHANGE, OWN(0), NONE, false),
	ROW(94, 16, NONE, 16, FILE_CHANGE, OWN(0), NONE, true),
	ROW(NONE, 212, NONE, 212, FILE_CHANGE, OWN(0), NONE, false),
	ROW(NONE, 198, NONE, 198, FILE_CHANGE, OWN(0), NONE, true),
	ROW(260, 298, 54, 325, FILE_CHANGE, ONE(0, 1), 4, false),
	ROW(132, 30, NONE, NONE, FILE_TIMES, OWN(0), NONE, false),
	ROW(235, 271, NONE, 269, FILE_TIMES, OWN(0), NONE, false),
	ROW(261, 299, NONE, 326, FILE_TIMES, ONE(0, 1), NONE, false),
	ROW(280, 320, 88, 348, FILE_TIMES, ONE(0, 1), 3, false),
	ROW(NONE, 412, NONE, 412, FILE_TIMES, ONE(0, 1), 3, false),
	ROW(188, 226, 5, 226, FILE_ATTRIBUTE, OWN(0), NONE, false),
	ROW(189, 227, 6, 227, FILE_ATTRIBUTE, OWN(0), NONE, true),
	ROW(197, 235, 14, 235, FILE_ATTRIBUTE, OWN(0), NONE, false),
	ROW(198, 236, 15, 236, FILE_ATTRIBUTE, OWN(0), NONE, true),
	ROW(463, 463, 463, 463, FILE_ATTRIBUTE, ONE(0, 1), 2, false),
	ROW(466, 466, 466, 466, FILE_ATTRIBUTE, ONE(0, 1), 2, false),
	/* Its name is an address, with its length behind it. */
	ROW(49, 361, 200, 282, FILE_BIND, OWN(1), 2, true),
};

enum { NROWS = sizeof rows / sizeof rows[0] };

/* What the kernel calls by these numbers on both sides, for the record. */
static const struct { int other, native; } renamed[] = {
#if defined __x86_64__
	{ 193, 76 }, { 212, 92 }, { 198, 94 }, { 412, 280 },
#else
	{ 193, 45 }, { 212, 54 }, { 198, 54 }, { 412, 88 },
#endif
};

size_t
filecalls_place(struct code *c, unsigned entry, size_t place, size_t pass,
    size_t hold)
{
	for (size_t i = NROWS; i-- > 0;) {
		const struct row *r = &rows[i];
		size_t at = hold;

		if (r->nr[entry] == NONE)
			continue;
		if (r->file == FILE_OPEN)
			at = code_load(c, offsetof(struct seccomp_data, args) +
			    (size_t)r->flags * sizeof(uint64_t),
			    code_and(c, WRITES, code_if(c, BPF_JEQ, 0, pass,
			    hold)));
		place = code_if(c, BPF_JEQ, (uint32_t)r->nr[entry], at, place);
	}
	return place;
}

static unsigned
native_number(const struct row *r, unsigned entry)
{
	if (entry == 0 || r->nr[0] != NONE)
		return (unsigned)r->nr[0];
	for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
		if (renamed[i].other == r->nr[entry])
			return (unsigned)renamed[i].native;
	return 0;
}

static void
read_name(const struct seccomp_data *d, signed char dir, signed char path,
    bool is_narrow, struct held_name_at *ret)
{
	ret->dir_fd = dir == NONE ? AT_FDCWD : (int)d->args[dir];
	ret->path = is_narrow ? (uint32_t)d->args[path] : d->args[path];
}

bool
filecalls_read(const struct seccomp_data *d, unsigned entry,
    struct held_file_at *ret)
{
	const struct row *r = NULL;
	bool is_narrow = entry != 0;

	for (size_t i = 0; i < NROWS && r == NULL; i++)
		if (rows[i].nr[entry] == d->nr)
			r = &rows[i];
	if (r == NULL)
		return false;
	*ret = (struct held_file_at){ .file = r->file,
	    .nr = native_number(r, entry), .is_narrow = is_narrow,
	    .is_last_link = r->is_last_link };
	read_name(d, r->dir, r->path, is_narrow, &ret->name[0]);
	if (r->path2 != NONE)
		read_name(d, r->dir2, r->path2, is_narrow, &ret->name[1]);
	if (r->flags != NONE)
		ret->flags = is_narrow ? (uint32_t)d->args[r->flags] :
		    d->args[r->flags];
	if (r->file == FILE_UNLINK && (ret->flags & AT_REMOVEDIR) != 0)
		ret->file = FILE_RMDIR;
	/* AT_SYMLINK_NOFOLLOW; linkat() follows only where it is told to. */
	if (r->file == FILE_LINK)
		ret->is_last_link = (ret->flags & AT_SYMLINK_FOLLOW) == 0;
	else if (r->file != FILE_OPEN && r->file != FILE_OPEN2 &&
	    r->file != FILE_BIND && r->file != FILE_RENAME &&
	    (ret->flags & AT_SYMLINK_NOFOLLOW) != 0)
		ret->is_last_link = true;
	return true;
}
