noinst_LIBRARIES += launcher/liblauncher.a
launcher_liblauncher_a_SOURCES = \
	launcher/addrbook.c launcher/addrbook.h \
	launcher/blame.c launcher/blame.h \
	launcher/callers.c launcher/callers.h \
	launcher/calls.c launcher/calls.h \
	launcher/cmd.c launcher/cmd.h launcher/cmd_completion.c \
	launcher/cmd_config.c launcher/cmd_config_init.c launcher/config.h \
	launcher/cmd_doctor.c launcher/cmd_run.c launcher/cmd_template.c launcher/cmd_why.c \
	launcher/dial.c launcher/dial.h \
	launcher/doctor.h \
	launcher/doctor_host.c launcher/doctor_jail.c launcher/doctor_print.c \
	launcher/doctor_run.c launcher/doctor_run.h \
	launcher/doctor_scene.c launcher/doctor_scene.h launcher/try.h \
	launcher/direct.c launcher/direct.h \
	launcher/enforce.c launcher/enforce.h \
	launcher/entry.c launcher/entry.h \
	launcher/env.c launcher/env.h \
	launcher/event.c launcher/event.h \
	launcher/exit.h \
	launcher/facts.c launcher/facts.h launcher/facts_check.c \
	launcher/facts_closed.c launcher/facts_own.c launcher/facts_git.c launcher/facts_grant.c launcher/facts_guard.c launcher/facts_secret.c \
	launcher/facts_socket.c launcher/gather.c launcher/gather.h \
	launcher/plan_judge.c launcher/plan_judge.h \
	launcher/gitconf.c launcher/gitconf.h launcher/gitconf_keys.c \
	launcher/gitend.c launcher/gitend.h launcher/gitend_keep.c \
	launcher/gitend_parts.h launcher/gitjournal.c launcher/gitjournal.h \
	launcher/gitwalk.c launcher/gitwalk.h \
	launcher/guard.c launcher/guard.h launcher/guard_chore.c \
	launcher/guard_folder.c launcher/guard_git.c \
	launcher/guard_held.c launcher/guard_keep.c launcher/guard_look.c \
	launcher/guard_loop.c launcher/guard_mask.c launcher/guard_move.c \
	launcher/guard_move.h launcher/guard_names.c launcher/guard_parts.h \
	launcher/guard_same.c launcher/guard_text.c launcher/guard_text.h \
	launcher/guard_wide.c launcher/guard_wide.h \
	launcher/guarding.c launcher/guarding.h \
	launcher/herald.c launcher/herald.h \
	launcher/inside.c launcher/inside.h \
	launcher/judge.c launcher/judge.h \
	launcher/keep.c launcher/keep.h \
	launcher/limits.c launcher/limits.h \
	launcher/listeners.c launcher/listeners.h \
	launcher/log.c launcher/log.h \
	launcher/made.c launcher/made.h \
	launcher/monitor.c launcher/monitor.h \
	launcher/mounts.c launcher/mounts.h \
	launcher/noproxy.c launcher/noproxy.h \
	launcher/opt.c launcher/opt.h \
	launcher/plan.c launcher/plan.h launcher/plan_dirs.c \
	launcher/plan_files.c launcher/plan_work.h \
	launcher/ports.c launcher/ports.h \
	launcher/policywatch.c launcher/policywatch.h \
	launcher/proxyvars.c launcher/proxyvars.h \
	launcher/pty.c launcher/pty.h \
	launcher/ranges.c launcher/ranges.h \
	launcher/reach.c launcher/reach.h \
	launcher/recent.c launcher/recent.h \
	launcher/repeat.c launcher/repeat.h \
	launcher/request.c launcher/request.h \
	launcher/reports.c launcher/reports.h \
	launcher/run.c launcher/run.h \
	launcher/shell.c launcher/shell.h \
	launcher/sink.c launcher/sink.h \
	launcher/sink_json.c launcher/sink_text.c \
	launcher/sni.c launcher/sni.h \
	launcher/stray.c launcher/stray.h \
	launcher/startup.c launcher/startup.h \
	launcher/suspect.c launcher/suspect.h \
	launcher/tally.c launcher/tally.h \
	launcher/trace.c launcher/trace.h \
	launcher/tty.c launcher/tty.h \
	launcher/via.c launcher/via.h \
	launcher/who.c launcher/who.h \
	launcher/witness.c launcher/witness.h \
	launcher/worker.c launcher/worker.h

# What every program of ours, and every unit test, is linked with.
FENCE_LIBS = launcher/liblauncher.a proxy/libproxy.a policy/libpolicy.a \
	platform/libplatform.a platform/base/libbase.a $(SECCOMP_LIBS) \
	$(INIH_LIBS) $(IDN2_LIBS)

bin_PROGRAMS += fence
fence_SOURCES = launcher/main.c
fence_LDADD = $(FENCE_LIBS)
fence_LDFLAGS = $(FAST_LDFLAGS)

# One binary, two names.
all-local: fence-run$(EXEEXT)
fence-run$(EXEEXT): fence$(EXEEXT)
	$(AM_V_GEN)ln -f fence$(EXEEXT) $@
install-exec-hook:
	ln -f $(DESTDIR)$(bindir)/fence$(EXEEXT) \
		$(DESTDIR)$(bindir)/fence-run$(EXEEXT)
uninstall-hook: uninstall-apparmor
	rm -f $(DESTDIR)$(bindir)/fence-run$(EXEEXT)
CLEANFILES += fence-run$(EXEEXT)

pkgdata_DATA += launcher/event.schema.json launcher/doctor.schema.json
EXTRA_DIST += launcher/event.schema.json launcher/doctor.schema.json

# What doctor tries from inside a jail.  Dynamic, so that it loads the shim.
pkglibexec_PROGRAMS += libexec/fence/fence-try
libexec_fence_fence_try_SOURCES = launcher/try_main.c launcher/try_file.c \
	launcher/try_net.c launcher/try_sys.c launcher/try.h
libexec_fence_fence_try_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARD_CFLAGS)
