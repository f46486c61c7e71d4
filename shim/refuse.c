#include "shim/hook.h"

#include "shim/refuse.h"
#include "shim/report.h"

bool
refuse_look(const struct table *t, unsigned nr, int dir_fd, const char *path)
{
	struct dir_id id;
	struct leaf leaf;
	struct name n;
	bool is_known = false;
	uint32_t i;

	if (path == NULL || !leaf_of(path, &leaf))
		return false;
	for (i = table_bucket(t, &leaf); i != 0; i = t->v[i].next) {
		if (!table_is(t, i, &leaf))
			continue;
		if (!is_known && !leaf_dir(dir_fd, path, &leaf, &id))
			return false;
		is_known = true;
		table_at(t, i, &n);
		if (!name_is_in(&n, &id))
			continue;
		report_path((struct told){ WIRE_MAKE, nr, 0, EACCES },
		    AT_FDCWD, n.path);
		errno = EACCES;
		return true;
	}
	return false;
}

bool
refuse_is_bound(int dir_fd, const char *path)
{
	const struct table *t = table_get();
	struct dir_id id;
	struct leaf leaf;
	struct name n;
	uint32_t i;

	if (t->first_bound == 0 || path == NULL || !leaf_of(path, &leaf) ||
	    !leaf_dir(dir_fd, path, &leaf, &id))
		return false;
	for (i = t->first_bound; i != 0; i = t->v[i].next) {
		if (!table_is(t, i, &leaf))
			continue;
		table_at(t, i, &n);
		if (name_is_in(&n, &id))
			return true;
	}
	return false;
}
