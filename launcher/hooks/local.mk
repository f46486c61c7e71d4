launcher_liblauncher_a_SOURCES += \
	launcher/hooks/agent.c launcher/hooks/agent.h \
	launcher/hooks/answer.c launcher/hooks/answer.h \
	launcher/hooks/entry.c launcher/hooks/entry.h \
	launcher/hooks/entry_yaml.c \
	launcher/hooks/hook.c launcher/hooks/hook.h \
	launcher/hooks/import.c launcher/hooks/import.h \
	launcher/hooks/import_claude.c launcher/hooks/import_codex.c \
	launcher/hooks/import_parts.h launcher/hooks/import_srt.c \
	launcher/hooks/install.c launcher/hooks/install.h \
	launcher/hooks/install_parts.h launcher/hooks/status.c \
	launcher/hooks/trial.c \
	launcher/hooks/input.c launcher/hooks/input.h \
	launcher/hooks/line.c launcher/hooks/line.h
