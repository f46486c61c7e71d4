launcher_liblauncher_a_SOURCES += \
	launcher/hooks/agent.c launcher/hooks/agent.h \
	launcher/hooks/answer.c launcher/hooks/answer.h \
	launcher/hooks/hook.c launcher/hooks/hook.h \
	launcher/hooks/input.c launcher/hooks/input.h \
	launcher/hooks/line.c launcher/hooks/line.h
