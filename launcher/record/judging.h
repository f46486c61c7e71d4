/*
 * judging: reports about paths are judged (judge.h) in a process of their own,
 * fence-judge.  To judge, the host's disk is asked what lies where the jail
 * says.  A mount that answers nobody, of a dead FUSE or NFS server, would hold
 * up the monitor with the gate, signals and limits, and nothing could end that
 * call.
 *
 * The process is forked at the first report, so a run without a refusal has
 * none.  It shares what the monitor had in memory then, the policy above all,
 * and holds no descriptor but its socket.  What it does not answer in time is
 * judged by the path's text alone; then it is left to its mount, and another
 * one is forked, a few of them in a run at most.
 */
#ifndef FENCE_LAUNCHER_JUDGING_H
#define FENCE_LAUNCHER_JUDGING_H

#include "launcher/record/judge.h"

struct judging;

/* The judge is borrowed; its policy, and that policy's text, never change. */
struct judging	*judging_new(const struct judge *);
void		 judging_free(struct judging *);	/* NULL is fine */
/*
 * As judge_report().  It takes JUDGING_MS at most, or longer where the machine
 * has no time for the process.
 */
enum { JUDGING_MS = 400, JUDGING_STARVED_MS = 5000, JUDGING_LOST_MAX = 8 };
enum judged	 judging_report(struct judging *, struct arena *,
		    const struct wire_report *, const char *path,
		    struct event *);

#endif
