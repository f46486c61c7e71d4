launcher_liblauncher_a_SOURCES += \
	launcher/exec/exec_facts.c launcher/exec/exec_facts.h \
	launcher/exec/exec_judge.c launcher/exec/exec_judge.h \
	launcher/exec/exec_part.c launcher/exec/exec_part.h \
	launcher/exec/exec_repeats.c launcher/exec/exec_repeats.h \
	launcher/exec/exec_screen.c launcher/exec/exec_screen.h \
	launcher/exec/exec_watch.c launcher/exec/exec_watch.h \
	launcher/exec/preflight.c launcher/exec/preflight.h
