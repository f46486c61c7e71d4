#include "platform/base/str.h"

#include <string.h>

struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

bool
str_eq(struct str a, const char *b)
{
	return a.len == strlen(b) && memcmp(a.p, b, a.len) == 0;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
str_caseeq(struct str a, const char *b)
{
	if (a.len != strlen(b))
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (lower(a.p[i]) != lower(b[i]))
			return false;
	return true;
}

int
str_to_u64(struct str s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.len == 0 || (s.len > 1 && s.p[0] == '0'))
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

		if (digit > 9 || v > (max - digit) / 10 || digit > max)
			return -1;
		v = v * 10 + digit;
	}
	*ret = v;
	return 0;
}

size_t
str_utf8(const char *s, size_t len, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)s;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = len == 0 ? 0 : p[0] < 0x80 ? 1 : (p[0] & 0xe0) == 0xc0 ? 2 :
	    (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xf8) == 0xf0 ? 4 : 0;

	if (n == 0 || n > len)
		return 0;
	*cp = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (p[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff ||
	    (*cp >= 0xd800 && *cp <= 0xdfff))
		return 0;
	return n;
}

void
str_put_utf8(struct buf *b, uint32_t cp)
{
	if (cp < 0x80) {
		buf_putc(b, (char)cp);
		return;
	}
	if (cp < 0x800) {
		buf_putc(b, (char)(0xc0 | cp >> 6));
	} else {
		if (cp < 0x10000) {
			buf_putc(b, (char)(0xe0 | cp >> 12));
		} else {
			buf_putc(b, (char)(0xf0 | cp >> 18));
			buf_putc(b, (char)(0x80 | (cp >> 12 & 0x3f)));
		}
		buf_putc(b, (char)(0x80 | (cp >> 6 & 0x3f)));
	}
	buf_putc(b, (char)(0x80 | (cp & 0x3f)));
}

bool
str_is_deceptive(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad ||
	    cp == 0x61c || cp == 0x180e || (cp >= 0x200b && cp <= 0x200f) ||
	    (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) ||
	    cp == 0xfeff || (cp >= 0xfff9 && cp <= 0xfffb) ||
	    (cp >= 0xe0000 && cp <= 0xe0fff);
}

void
str_escape(struct buf *b, const char *s, size_t len, char quote)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp = 0;

	for (size_t i = 0; i < len;) {
		size_t n = str_utf8(s + i, len - i, &cp);

		if (n == 0 || str_is_deceptive(cp)) {
			n = n == 0 ? 1 : n;
			for (size_t k = 0; k < n; k++)
				buf_printf(b, "\\x%02x", p[i + k]);
		} else {
			if (cp == '\\' || (quote != 0 &&
			    cp == (unsigned char)quote))
				buf_putc(b, '\\');
			buf_add(b, s + i, n);
		}
		i += n;
	}
}

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

unsigned
str_distance(const char *a, const char *b)
{
	enum { MOST = 64 };
	unsigned row[3][MOST + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > MOST || nb > MOST)
		return MOST;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *cur = row[i % 3], *up = row[(i + 2) % 3],
		    *up2 = row[(i + 1) % 3];

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned cost = lower(a[i - 1]) != lower(b[j - 1]);

			cur[j] = min3(up[j] + 1, cur[j - 1] + 1,
			    up[j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < cur[j])
				cur[j] = up2[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

bool
str_path_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (n == 1 && root[0] == '/')
		return path[0] == '/';
	return strncmp(path, root, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/');
}

uint32_t
str_hash(const char *s, size_t n)
{
	uint32_t hash = STR_HASH_START;

	for (size_t i = 0; i < n; i++)
		hash = str_hash_add(hash, (unsigned char)s[i]);
	return hash;
}
