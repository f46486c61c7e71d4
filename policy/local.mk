# What the command may touch: rules, and answers about them.

noinst_LIBRARIES += policy/libpolicy.a
policy_libpolicy_a_SOURCES = \
	policy/decide.h policy/decide_fs.c policy/decide_net.c \
	policy/glob.c policy/glob.h \
	policy/host.c policy/host.h \
	policy/jsonc.c policy/jsonc.h \
	policy/keys.c policy/keys.h \
	policy/origin.h \
	policy/pattern.c policy/pattern.h \
	policy/policy.c policy/policy.h \
	policy/verdict.c policy/verdict.h
policy_libpolicy_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)

policy_templates = policy/templates/workspace-write.jsonc

EXTRA_DIST += policy/embed.awk $(policy_templates)
BUILT_SOURCES += policy/builtin.inc
CLEANFILES += policy/builtin.inc

# Written aside and renamed: a broken awk leaves no half a policy behind.
policy/builtin.inc: $(policy_templates) policy/embed.awk
	$(AM_V_GEN)$(MKDIR_P) policy && \
	templates= && \
	for t in $(policy_templates); do \
		templates="$$templates $(srcdir)/$$t"; \
	done && \
	LC_ALL=C $(AWK) -f $(srcdir)/policy/embed.awk $$templates > $@.tmp && \
	mv -f $@.tmp $@
policy/libpolicy_a-policy.$(OBJEXT): policy/builtin.inc
