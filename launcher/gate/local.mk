launcher_liblauncher_a_SOURCES += \
	launcher/gate/addrbook.c launcher/gate/addrbook.h \
	launcher/gate/answers.c launcher/gate/answers.h \
	launcher/gate/proxy_error.c launcher/gate/proxy_error.h \
	launcher/gate/held_calls.c launcher/gate/held_calls.h \
	launcher/gate/held_files.c launcher/gate/held_files.h \
	launcher/gate/dial.c launcher/gate/dial.h \
	launcher/gate/inbound.c launcher/gate/inbound.h \
	launcher/gate/gate_events.c launcher/gate/gate_events.h \
	launcher/gate/monitor.c launcher/gate/monitor.h \
	launcher/gate/connector.c launcher/gate/connector.h \
	launcher/gate/retry_loop.c launcher/gate/retry_loop.h \
	launcher/gate/sni.c launcher/gate/sni.h
