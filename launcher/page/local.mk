launcher_liblauncher_a_SOURCES += launcher/page/page.c launcher/page/page.h

page_parts = launcher/page/page.css launcher/page/page.html \
	launcher/page/page.js

EXTRA_DIST += $(page_parts)
BUILT_SOURCES += launcher/page/page.inc
CLEANFILES += launcher/page/page.inc

# Written aside and renamed: a broken awk leaves no half a page behind.
launcher/page/page.inc: $(page_parts) policy/embed.awk
	$(AM_V_GEN)$(MKDIR_P) launcher/page && \
	parts= && \
	for p in $(page_parts); do \
		parts="$$parts $(srcdir)/$$p"; \
	done && \
	LC_ALL=C $(AWK) -f $(srcdir)/policy/embed.awk $$parts > $@.tmp && \
	mv -f $@.tmp $@
launcher/page/page.$(OBJEXT): launcher/page/page.inc
