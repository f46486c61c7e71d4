/* Agents' files of state and settings, before a run and when it is over. */
#include <string.h>

#include "launcher/guard/gitjournal.h"
#include "launcher/guard/guard_parts.h"
#include "platform/fd.h"

void
guard_agents_init(struct guard *g, const struct guard_config *c)
{
	struct agentend_file *files = arena_alloc(g->arena,
	    (c->nagent_files + 1) * sizeof *files);

	g->agents.files = files;
	for (size_t i = 0; i < c->nagent_files; i++)
		files[i] = (struct agentend_file){
		    .path = arena_strdup(g->arena, c->agent_files[i].path),
		    .name = arena_strdup(g->arena, c->agent_files[i].name) };
	g->agents.nfiles = c->nagent_files;
	if (c->quarantine != NULL)
		g->agents.quarantine = arena_strdup(g->arena, c->quarantine);
	if (c->journal != NULL && c->nagent_files > 0)
		g->agents_journal = arena_printf(g->arena, "%s.agents",
		    c->journal);
}

int
guard_agents_start(struct guard *g, struct err *e)
{
	if (g->agents.nfiles == 0)
		return 0;
	if (agentend_begin(&g->agents, g->arena, g->agents_journal,
	    &g->agents_made, &g->agents_fd, e) != 0)
		return -1;
	g->is_agents_due = true;
	return 0;
}

void
guard_agents_unjournal(struct guard *g)
{
	if (g->agents_fd >= 0)
		gitjournal_remove(g->agents_journal, g->agents_made);
	fd_close(&g->agents_fd);
}

bool
guard_agents_is_over(const struct guard *g)
{
	return !g->is_agents_due || !agentend_is_needed(&g->agents);
}

void
guard_agents_last(struct guard *g)
{
	if (!g->is_agents_due)
		return;
	g->agents.told = guard_tell_end;
	g->agents.arg = g;
	agentend_run(&g->agents);
	g->is_agents_due = false;
}
