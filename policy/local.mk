# What the command may touch: rules, and answers about them.

noinst_LIBRARIES += policy/libpolicy.a
policy_libpolicy_a_SOURCES = \
	policy/agents.c policy/agents.h \
	policy/check.c policy/check.h \
	policy/cmdrule.c policy/cmdrule.h \
	policy/covers.c policy/covers.h \
	policy/decide.h policy/decide_env.c policy/decide_fs.c \
	policy/decide_exec.c policy/decide_exec.h \
	policy/decide_ssh.c policy/decide_ssh.h \
	policy/exec_remedy.c policy/exec_remedy.h \
	policy/decide_guard.c \
	policy/decide_unix.c policy/guard.c policy/guard.h \
	policy/decide_local.c policy/decide_net.c \
	policy/diff.c policy/diff.h \
	policy/emit.c policy/emit.h policy/emit_mdoc.c policy/emit_schema.c \
	policy/extends.c policy/extends.h \
	policy/find.c policy/find.h \
	policy/flags.c policy/flags.h \
	policy/glob.c policy/glob.h \
	policy/hides.c policy/hides.h \
	policy/host.c policy/host.h \
	policy/index.h policy/index_fs.c policy/index_net.c \
	policy/ini.c policy/ini.h \
	policy/jsonc.c policy/jsonc.h \
	policy/keyname.c policy/keys.c policy/keys.h \
	policy/layers.c policy/layers.h \
	policy/load.c policy/load.h \
	policy/merge.c policy/merge.h \
	policy/origin.h \
	policy/pattern.c policy/pattern.h \
	policy/probesig.c policy/probesig.h \
	policy/pattern_host.c policy/pattern_path.c \
	policy/policy.c policy/policy.h \
	policy/proxyurl.c policy/proxyurl.h \
	policy/resolve.c policy/resolve.h policy/resolve_work.h \
	policy/resolve_project.c policy/resolve_secret.c \
	policy/rule.c policy/rule.h \
	policy/regex.c policy/regex.h \
	policy/settle.c policy/settle.h \
	policy/shexpand.c policy/shgrammar.c policy/shheredoc.c \
	policy/shlex.c policy/shparse.h \
	policy/shunwrap.c policy/shunwrap.h policy/shunwrap_git.c \
	policy/shunwrap_parts.h policy/shunwrap_rows.c policy/shunwrap_shell.c \
	policy/shwords.c policy/shwords.h \
	policy/sshconf.c policy/sshconf.h \
	policy/sshline.c policy/sshline.h \
	policy/unseen.c policy/unseen.h \
	policy/trust.c policy/trust.h \
	policy/verdict.c policy/verdict.h
policy_libpolicy_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir) \
	$(INIH_CFLAGS) $(IDN2_CFLAGS) $(PCRE2_CFLAGS)

# In the order of `fence template list`.
policy_templates = \
	policy/templates/cargo-build.jsonc \
	policy/templates/ci.jsonc \
	policy/templates/code.jsonc \
	policy/templates/code-relaxed.jsonc \
	policy/templates/code-strict.jsonc \
	policy/templates/default-deny.jsonc \
	policy/templates/disable-telemetry.jsonc \
	policy/templates/git-readonly.jsonc \
	policy/templates/go-build.jsonc \
	policy/templates/hermes.jsonc \
	policy/templates/local-dev-server.jsonc \
	policy/templates/npm-install.jsonc \
	policy/templates/pip-install.jsonc \
	policy/templates/strict.jsonc \
	policy/templates/workspace-write.jsonc

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
