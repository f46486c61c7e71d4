launcher_liblauncher_a_SOURCES += \
	launcher/plan/direct.c launcher/plan/direct.h \
	launcher/plan/enforce.c launcher/plan/enforce.h \
	launcher/plan/exec_files.c launcher/plan/exec_files.h \
	launcher/plan/exec_mode.c launcher/plan/exec_mode.h \
	launcher/plan/env.c launcher/plan/env.h \
	launcher/plan/facts.c launcher/plan/facts.h \
	launcher/plan/facts_after.c \
	launcher/plan/facts_again.c \
	launcher/plan/facts_check.c launcher/plan/facts_closed.c \
	launcher/plan/facts_git.c launcher/plan/facts_gitdir.c \
	launcher/plan/facts_grant.c launcher/plan/gitdir.c \
	launcher/plan/gitdir.h \
	launcher/plan/facts_guard.c \
	launcher/plan/facts_look.c launcher/plan/facts_look.h \
	launcher/plan/facts_own.c \
	launcher/plan/facts_places.c launcher/plan/facts_repo.c \
	launcher/plan/facts_secret.c launcher/plan/facts_shadow.c \
	launcher/plan/facts_socket.c launcher/plan/facts_state.c \
	launcher/plan/facts_parts.c launcher/plan/facts_parts.h \
	launcher/plan/kept_fds.c launcher/plan/kept_fds.h \
	launcher/plan/missing.c launcher/plan/missing.h \
	launcher/plan/mounts.c launcher/plan/mounts.h \
	launcher/plan/noproxy.c launcher/plan/noproxy.h \
	launcher/plan/plan.c launcher/plan/plan.h \
	launcher/plan/plan_command.c launcher/plan/plan_dirs.c launcher/plan/plan_exec.c \
	launcher/plan/plan_etc.c launcher/plan/plan_files.c \
	launcher/plan/plan_net.c launcher/plan/plan_probes.c \
	launcher/plan/plan_judge.c launcher/plan/plan_judge.h \
	launcher/plan/plan_work.h launcher/plan/ports.c launcher/plan/ports.h \
	launcher/plan/proxyvars.c launcher/plan/proxyvars.h \
	launcher/plan/ranges.c launcher/plan/ranges.h \
	launcher/plan/request.c launcher/plan/request.h \
	launcher/plan/shell.c launcher/plan/shell.h \
	launcher/plan/stray.c launcher/plan/stray.h \
	launcher/plan/via.c launcher/plan/via.h
