launcher_liblauncher_a_SOURCES += \
	launcher/history/history.c launcher/history/history.h \
	launcher/history/follow.c launcher/history/history_text.c \
	launcher/history/lines.c launcher/history/lines.h \
	launcher/history/record.c launcher/history/record.h \
	launcher/history/suggest.c launcher/history/suggest.h \
	launcher/history/verify.c
