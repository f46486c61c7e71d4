noinst_LIBRARIES += launcher/liblauncher.a
launcher_liblauncher_a_SOURCES = \
	launcher/addrbook.c launcher/addrbook.h \
	launcher/cmd.c launcher/cmd.h launcher/cmd_completion.c \
	launcher/cmd_config.c launcher/cmd_config_init.c launcher/config.h \
	launcher/cmd_run.c launcher/cmd_template.c launcher/cmd_why.c \
	launcher/dial.c launcher/dial.h \
	launcher/enforce.c launcher/enforce.h \
	launcher/env.c launcher/env.h \
	launcher/event.c launcher/event.h \
	launcher/exit.h \
	launcher/facts.c launcher/facts.h launcher/facts_check.c \
	launcher/facts_guard.c launcher/facts_socket.c launcher/gather.h \
	launcher/guard.c launcher/guard.h launcher/guard_folder.c \
	launcher/guard_keep.c launcher/guard_look.c \
	launcher/guard_loop.c launcher/guard_mask.c launcher/guard_move.c \
	launcher/guard_move.h launcher/guard_names.c launcher/guard_parts.h \
	launcher/guard_same.c \
	launcher/guard_wide.c launcher/guard_wide.h \
	launcher/guarding.c launcher/guarding.h \
	launcher/herald.c launcher/herald.h \
	launcher/made.c launcher/made.h \
	launcher/monitor.c launcher/monitor.h \
	launcher/mounts.c launcher/mounts.h \
	launcher/opt.c launcher/opt.h \
	launcher/plan.c launcher/plan.h launcher/plan_files.c \
	launcher/plan_work.h \
	launcher/recent.c launcher/recent.h \
	launcher/request.c launcher/request.h \
	launcher/run.c launcher/run.h \
	launcher/sink.c launcher/sink.h \
	launcher/sink_json.c launcher/sink_text.c \
	launcher/sni.c launcher/sni.h \
	launcher/suspect.c launcher/suspect.h \
	launcher/tally.c launcher/tally.h \
	launcher/trace.c launcher/trace.h \
	launcher/tty.c launcher/tty.h \
	launcher/who.c launcher/who.h \
	launcher/witness.c launcher/witness.h

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
uninstall-hook:
	rm -f $(DESTDIR)$(bindir)/fence-run$(EXEEXT)
CLEANFILES += fence-run$(EXEEXT)

pkgdata_DATA += launcher/event.schema.json
EXTRA_DIST += launcher/event.schema.json
