/*
 * looker: judges reports about paths (judge.h) in a process of its own.  To
 * judge, the host's disk is asked what lies where the jail says.  A mount that
 * answers nobody, of a dead FUSE or NFS server, would hold up the monitor with
 * the gate, signals and limits, and nothing could end that call.
 *
 * The process is forked at the first report, so a run without a refusal has
 * none.  It shares what the monitor had in memory then, the policy above all,
 * and holds no descriptor but its socket.  What it does not answer in time is
 * judged by the path's text alone; then it is left to its mount, and another
 * one is forked, a few of them in a run at most.
 */
#ifndef FENCE_LAUNCHER_LOOKER_H
#define FENCE_LAUNCHER_LOOKER_H

#include "launcher/record/judge.h"

struct looker;

/* The judge is borrowed; its policy, and that policy's text, never change. */
struct looker	*looker_new(const struct judge *);
void		 looker_free(struct looker *);	/* NULL is fine */
/*
 * As judge_report().  It takes LOOKER_MS at most, or longer where the machine
 * has no time for the process.
 */
enum { LOOKER_MS = 400, LOOKER_STARVED_MS = 5000, LOOKER_LOST_MAX = 8 };
enum judged	 looker_report(struct looker *, struct arena *,
		    const struct wire_report *, const char *path,
		    struct event *);

#endif
