launcher_liblauncher_a_SOURCES += \
	launcher/shadow/shadow.c launcher/shadow/shadow.h \
	launcher/shadow/shadow_carry.c \
	launcher/shadow/shadow_diff.c launcher/shadow/shadow_diff.h \
	launcher/shadow/shadow_end.c \
	launcher/shadow/shadow_login.c \
	launcher/shadow/shadow_merge.c launcher/shadow/shadow_parts.h \
	launcher/shadow/shadow_run.c launcher/shadow/shadow_run.h \
	launcher/shadow/shadow_sift.c \
	launcher/shadow/shadow_store.c launcher/shadow/shadow_store.h \
	launcher/shadow/shadow_text.c \
	launcher/shadow/shadow_tree.c launcher/shadow/shadow_tree.h \
	launcher/shadow/shadow_user.c launcher/shadow/shadow_user.h
