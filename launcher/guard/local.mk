launcher_liblauncher_a_SOURCES += \
	launcher/guard/agentconf.c launcher/guard/agentconf.h \
	launcher/guard/agentconf_edit.c launcher/guard/agentconf_parts.h \
	launcher/guard/agentconf_rows.c launcher/guard/agentconf_toml.c \
	launcher/guard/agentend.c launcher/guard/agentend.h \
	launcher/guard/agentend_journal.c launcher/guard/agentend_parts.h \
	launcher/guard/gitconf.c launcher/guard/gitconf.h \
	launcher/guard/gitconf_keys.c \
	launcher/guard/gitend.c launcher/guard/gitend.h \
	launcher/guard/gitend_back.c launcher/guard/gitend_keep.c \
	launcher/guard/gitend_parts.h launcher/guard/gitend_state.c \
	launcher/guard/gitjournal.c launcher/guard/gitjournal.h \
	launcher/guard/gitwalk.c launcher/guard/gitwalk.h \
	launcher/guard/guard.c launcher/guard/guard.h \
	launcher/guard/guard_agents.c launcher/guard/journal.h \
	launcher/guard/guard_chore.c launcher/guard/guard_folder.c \
	launcher/guard/guard_git.c launcher/guard/guard_held.c \
	launcher/guard/guard_keep.c launcher/guard/guard_look.c \
	launcher/guard/guard_loop.c launcher/guard/guard_mask.c \
	launcher/guard/guard_move.c launcher/guard/guard_move.h \
	launcher/guard/guard_names.c launcher/guard/guard_parts.h \
	launcher/guard/guard_same.c launcher/guard/guard_side.c \
	launcher/guard/guard_text.c launcher/guard/guard_text.h \
	launcher/guard/guard_wide.c launcher/guard/guard_wide.h
