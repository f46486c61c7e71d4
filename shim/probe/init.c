/*
 * When the library looks for slots: at the start of the program, and of each
 * object that is loaded later (patch.c).
 */
#include "shim/probe/probe.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>

#include "shim/sys.h"

struct probe_set probe_set;

static bool is_begun;

int
probe_find(const char *name)
{
	for (uint32_t i = 0; i < probe_set.n; i++)
		if (strcmp(probe_set.v[i].name, name) == 0)
			return i;
	return -1;
}

static void
map_table(void)
{
	struct stat st;
	long fd = SYS(openat, AT_FDCWD, PROBE_TABLE,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	long mem;

	if (fd < 0)
		return;
	if (SYS(fstat, fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0 &&
	    (size_t)st.st_size % sizeof(struct probe_sig) == 0 &&
	    (size_t)st.st_size / sizeof(struct probe_sig) <= PROBE_SIGS_MAX) {
		mem = SYS(mmap, NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd,
		    0);
		if (!sys_failed(mem) && capture_init()) {
			probe_set.v = (const struct probe_sig *)mem;
			probe_set.n = st.st_size / sizeof(struct probe_sig);
		}
	}
	SYS(close, fd);
}

__attribute__((constructor)) static void
look(void)
{
	int saved = errno;

	if (!is_begun) {
		is_begun = true;
		map_table();
	}
	if (probe_set.n > 0)
		patch_objects();
	errno = saved;
}

__attribute__((destructor)) static void
finish(void)
{
	int saved = errno;

	if (probe_set.n > 0)
		capture_finish();
	errno = saved;
}

/* The first object to be initialized calls it, and each one after. */
__attribute__((visibility("default"))) void __gmon_start__(void);

void
__gmon_start__(void)
{
	look();
}
