noinst_LIBRARIES += platform/base/libbase.a platform/libplatform.a

platform_base_libbase_a_SOURCES = \
	platform/base/arena.c platform/base/arena.h \
	platform/base/buf.c platform/base/buf.h \
	platform/base/clock.c platform/base/clock.h \
	platform/base/err.c platform/base/err.h \
	platform/base/errname.c platform/base/errname.h \
	platform/base/environ.c platform/base/environ.h \
	platform/base/io.c platform/base/io.h \
	platform/base/ip.h \
	platform/base/json.c platform/base/json.h \
	platform/base/jsonedit.c platform/base/jsonedit.h \
	platform/base/jsontree.c platform/base/jsontree.h \
	platform/base/path.c platform/base/path.h \
	platform/base/sha256.c platform/base/sha256.h \
	platform/base/str.c platform/base/str.h \
	platform/base/toml.c platform/base/toml.h \
	platform/base/vec.h \
	platform/base/xalloc.c platform/base/xalloc.h

platform_libplatform_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS) \
	-I$(top_builddir)
platform_libplatform_a_SOURCES = \
	platform/calls.h platform/confine.h platform/confine_linux.c \
	platform/fd.c platform/fd.h \
	platform/jail.h platform/limits.h \
	platform/looker.h \
	platform/loop.h platform/loop_epoll.c platform/machine.h \
	platform/mint.h \
	platform/mounttable.c platform/mounttable.h \
	platform/name_filter.c platform/name_filter.h \
	platform/net.c platform/net.h \
	platform/links.c platform/links.h platform/listed.h \
	platform/paths.c platform/paths.h \
	platform/pause.c platform/pause.h platform/remask.h \
	platform/spawn.c platform/spawn.h platform/sockets.h \
	platform/tracer.h \
	platform/tree.c platform/tree.h platform/tree_walk.c
EXTRA_DIST += platform/jail_none.c platform/jail_linux.c

if LINUX
platform_libplatform_a_SOURCES += \
	platform/jail_linux.c \
	platform/linux/ahead.c platform/linux/ahead.h \
	platform/linux/bwrap.c platform/linux/bwrap.h \
	platform/linux/callnames.c platform/linux/callwhy.c \
	platform/linux/caps.c platform/linux/caps.h \
	platform/linux/cgroup.c \
	platform/linux/cgroup_text.c platform/linux/cgroup_text.h \
	platform/linux/control.c platform/linux/control.h \
	platform/linux/cure.c platform/linux/cure.h \
	platform/linux/early.c platform/linux/early.h \
	platform/linux/filecalls.c platform/linux/filecalls.h \
	platform/linux/filter.c \
	platform/linux/held_exec.c \
	platform/linux/held_file.c platform/linux/held_file.h \
	platform/linux/idmap.c platform/linux/idmap.h \
	platform/linux/init_apply.c platform/linux/init_apply.h \
	platform/linux/initplan.h \
	platform/linux/inner.c platform/linux/jailplan.h \
	platform/linux/landlock.c platform/linux/landlock.h \
	platform/linux/looker.c \
	platform/linux/machine.c \
	platform/linux/mini.c platform/linux/mini.h \
	platform/linux/mint.c platform/linux/mint.h \
	platform/linux/minter.c \
	platform/linux/netlink.c platform/linux/netlink.h \
	platform/linux/nft.c platform/linux/nft.h \
	platform/linux/notify.c platform/linux/notify.h \
	platform/linux/outer.c platform/linux/outer.h \
	platform/linux/plancheck.c platform/linux/plancheck.h \
	platform/linux/place.c platform/linux/place.h \
	platform/linux/remask.c \
	platform/linux/root.c platform/linux/root.h platform/linux/root_etc.c \
	platform/linux/root_hold.c \
	platform/linux/route.c platform/linux/route.h \
	platform/linux/seccomp.c platform/linux/seccomp.h \
	platform/linux/seccomp_code.c platform/linux/seccomp_code.h \
	platform/linux/seccomp_rows.c platform/linux/seccomp_strict.c \
	platform/linux/stderr_line.c platform/linux/stderr_line.h \
	platform/linux/tracer.c \
	platform/linux/unixdiag.c \
	platform/linux/unixlist.c platform/linux/unixlist.h

# The jail's filters are made once, here, and not at every start.
if CROSS
platform_libplatform_a_CPPFLAGS += -DFENCE_FILTER_AT_RUN_TIME=1
else
noinst_PROGRAMS += platform/linux/genfilter
platform_linux_genfilter_SOURCES = platform/linux/genfilter.c \
	platform/linux/seccomp.c platform/linux/seccomp_code.c \
	platform/linux/seccomp_rows.c platform/linux/seccomp_strict.c
platform_linux_genfilter_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
platform_linux_genfilter_LDADD = platform/base/libbase.a $(SECCOMP_LIBS)

BUILT_SOURCES += platform/linux/filter.inc
CLEANFILES += platform/linux/filter.inc
platform/linux/filter.inc: platform/linux/genfilter$(EXEEXT)
	$(AM_V_GEN)platform/linux/genfilter$(EXEEXT) > $@.tmp && mv -f $@.tmp $@
platform/linux/libplatform_a-filter.$(OBJEXT): platform/linux/filter.inc
endif

# Static, so that it never loads the shim; no sanitizer, for the same reason.
pkglibexec_PROGRAMS += libexec/fence/fence-init
init_sources = \
	platform/linux/init_main.c platform/linux/init_child.c \
	platform/linux/caps.c \
	platform/linux/init_apply.c platform/linux/landlock.c \
	platform/base/io.c platform/fd.c platform/linux/idmap.c \
	platform/linux/early.c platform/linux/plancheck.c
libexec_fence_fence_init_SOURCES = $(init_sources) \
	platform/linux/init_apply.h platform/linux/init_child.h
libexec_fence_fence_init_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -O2 \
	-fstack-protector-strong -fno-pie
libexec_fence_fence_init_LDFLAGS = -static
libexec_fence_fence_init_LDADD =
if MUSL
# In one step, of other objects than those that automake knows; they are its
# dependencies all the same, since they follow the headers.
libexec/fence/fence-init$(EXEEXT): $(libexec_fence_fence_init_OBJECTS) Makefile
	@$(MKDIR_P) libexec/fence
	$(AM_V_CCLD)cd $(srcdir) && $(MUSL_CC) $(AM_CPPFLAGS) $(CPPFLAGS) \
	    -I. $(MUSL_CPPFLAGS) $(libexec_fence_fence_init_CFLAGS) -static \
	    -o $(abs_builddir)/$@ $(init_sources)
endif
else
platform_libplatform_a_SOURCES += platform/jail_none.c
endif

# Made when it is installed: it names the folder that the programs are in.
EXTRA_DIST += platform/linux/fence.apparmor.in
APPARMOR_SED = sed -e 's|@bindir[@]|$(bindir)|g' \
	$(srcdir)/platform/linux/fence.apparmor.in
install-data-hook: install-apparmor
install-apparmor:
	$(MKDIR_P) "$(DESTDIR)$(pkgdatadir)"
	$(APPARMOR_SED) > "$(DESTDIR)$(pkgdatadir)/fence.apparmor"
	test -z "$(APPARMOR_DIR)" || { \
	    $(MKDIR_P) "$(DESTDIR)$(APPARMOR_DIR)" && \
	    $(APPARMOR_SED) > "$(DESTDIR)$(APPARMOR_DIR)/fence"; } || \
	    echo "not installed: $(APPARMOR_DIR)/fence" >&2
uninstall-apparmor:
	rm -f "$(DESTDIR)$(pkgdatadir)/fence.apparmor"
	test -z "$(APPARMOR_DIR)" || rm -f "$(DESTDIR)$(APPARMOR_DIR)/fence"
.PHONY: install-apparmor uninstall-apparmor
