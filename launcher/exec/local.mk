launcher_liblauncher_a_SOURCES += \
	launcher/exec/exec_facts.c launcher/exec/exec_facts.h \
	launcher/exec/preflight.c launcher/exec/preflight.h
