/*
 * cgroup_text: what the kernel says of cgroups, read.  Pure.
 */
#ifndef FENCE_LINUX_CGROUP_TEXT_H
#define FENCE_LINUX_CGROUP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { CGROUP_TEXT_PATH = 512 };

/*
 * Which group are we in?  text: /proc/self/cgroup.  controller NULL: version
 * 2.  -1 if there is none.
 */
int	 cgroup_own(const char *text, const char *controller,
	    char ret[CGROUP_TEXT_PATH]);
/*
 * The folder of the group `own`.  text: /proc/self/mountinfo.  -1 if no such
 * hierarchy is mounted, or not that part of it.
 */
int	 cgroup_folder(const char *text, const char *controller,
	    const char *own, char ret[CGROUP_TEXT_PATH]);
/* Is the word in this list of words? */
bool	 cgroup_has_word(const char *text, const char *word);
/* The number on the line that begins with this word; 0 if there is none. */
uint64_t cgroup_count(const char *text, const char *word);

#endif
