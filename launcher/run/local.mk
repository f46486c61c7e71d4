launcher_liblauncher_a_SOURCES += \
	launcher/run/agent_files.c launcher/run/agent_files.h \
	launcher/run/granted_dirs.c launcher/run/granted_dirs.h \
	launcher/run/guarding.c launcher/run/guarding.h \
	launcher/run/nested.c launcher/run/nested.h \
	launcher/run/limits.c launcher/run/limits.h \
	launcher/run/listeners.c launcher/run/listeners.h \
	launcher/run/policywatch.c launcher/run/policywatch.h \
	launcher/run/prepare.c launcher/run/prepare.h \
	launcher/run/pty.c launcher/run/pty.h \
	launcher/run/reports.c launcher/run/reports.h \
	launcher/run/run.c launcher/run/run.h \
	launcher/run/run_events.c launcher/run/run_parts.h \
	launcher/run/shading.c launcher/run/shading.h \
	launcher/run/startup.c launcher/run/startup.h \
	launcher/run/tty.c launcher/run/tty.h \
	launcher/run/worker.c launcher/run/worker.h
