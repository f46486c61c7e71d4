launcher_liblauncher_a_SOURCES += \
	launcher/gate/addrbook.c launcher/gate/addrbook.h \
	launcher/gate/blame.c launcher/gate/blame.h \
	launcher/gate/calls.c launcher/gate/calls.h \
	launcher/gate/dial.c launcher/gate/dial.h \
	launcher/gate/entry.c launcher/gate/entry.h \
	launcher/gate/herald.c launcher/gate/herald.h \
	launcher/gate/monitor.c launcher/gate/monitor.h \
	launcher/gate/reach.c launcher/gate/reach.h \
	launcher/gate/repeat.c launcher/gate/repeat.h \
	launcher/gate/sni.c launcher/gate/sni.h
