/* doctor_facts: the parts of a jail that doctor looks at, one call each. */
#ifndef FENCE_LAUNCHER_DOCTOR_FACTS_H
#define FENCE_LAUNCHER_DOCTOR_FACTS_H

#include "launcher/doctor.h"

/* Fills status, detail and cure of the item. */
typedef void	 doctor_fact_fn(struct doctor *, struct doctor_item *);

/* Those of the host's side (doctor_host.c); the others try the kernel. */
doctor_fact_fn	 doctor_fact_bwrap;
doctor_fact_fn	 doctor_fact_inotify;
doctor_fact_fn	 doctor_fact_cgroup;
doctor_fact_fn	 doctor_fact_apparmor;
doctor_fact_fn	 doctor_fact_parts;
doctor_fact_fn	 doctor_fact_shim;
doctor_fact_fn	 doctor_fact_state;

void	 doctor_set(struct doctor_item *, enum doctor_status,
	    const char *detail, const char *cure);
const char *doctor_errno(struct doctor *, int sys);	/* "EPERM" */

#endif
