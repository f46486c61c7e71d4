# One library of the rooms, which unit tests are linked with, too.
noinst_LIBRARIES += launcher/liblauncher.a
launcher_liblauncher_a_SOURCES = \
	launcher/exit.h launcher/log.c launcher/log.h \
	launcher/options.h launcher/trace.c launcher/trace.h \
	launcher/writer.c launcher/writer.h

include launcher/cli/local.mk
include launcher/doctor/local.mk
include launcher/exec/local.mk
include launcher/gate/local.mk
include launcher/guard/local.mk
include launcher/hooks/local.mk
include launcher/history/local.mk
include launcher/page/local.mk
include launcher/plan/local.mk
include launcher/record/local.mk
include launcher/run/local.mk
include launcher/shadow/local.mk

# What every program of ours, and every unit test, is linked with.
FENCE_LIBS = launcher/liblauncher.a proxy/libproxy.a policy/libpolicy.a \
	platform/libplatform.a platform/base/libbase.a $(SECCOMP_LIBS) \
	$(INIH_LIBS) $(IDN2_LIBS) $(PCRE2_LIBS)

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
