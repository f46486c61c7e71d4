# Programs that act inside the jail.  The sanitizers stay out: a probe must
# meet the walls as any program does.  The Go client is built by the runner.
check_PROGRAMS += tests/probes/probe tests/probes/probe-static \
	tests/probes/rawclient tests/probes/callprobe tests/probes/filtered

probe_sources = \
	tests/probes/dnsq.c tests/probes/dnsq.h \
	tests/probes/probe.c tests/probes/probe.h \
	tests/probes/probe_attack.c \
	tests/probes/probe_names.c \
	tests/probes/probe_net.c \
	tests/probes/probe_sys.c \
	tests/probes/probe_unix.c
probe_cflags = -std=gnu11 $(WARN_CFLAGS) -O2

tests_probes_probe_SOURCES = $(probe_sources)
tests_probes_probe_CFLAGS = $(probe_cflags) -fPIE
tests_probes_probe_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_probe_LDADD =

tests_probes_probe_static_SOURCES = $(probe_sources)
tests_probes_probe_static_CPPFLAGS = $(AM_CPPFLAGS) -DPROBE_STATIC=1
tests_probes_probe_static_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_probe_static_LDFLAGS = -static
tests_probes_probe_static_LDADD =

tests_probes_rawclient_SOURCES = \
	tests/probes/dnsq.c tests/probes/dnsq.h tests/probes/rawclient.c
tests_probes_rawclient_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_rawclient_LDFLAGS = -static
tests_probes_rawclient_LDADD =

tests_probes_callprobe_SOURCES = tests/probes/callprobe.c
tests_probes_callprobe_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_callprobe_LDFLAGS = -static
tests_probes_callprobe_LDADD =

# It has the libraries inside, so it is built as they are.
tests_probes_filtered_SOURCES = tests/probes/filtered.c
tests_probes_filtered_LDADD = platform/libplatform.a \
	platform/base/libbase.a $(SECCOMP_LIBS)

EXTRA_DIST += tests/probes/README.md tests/probes/goclient/go.mod \
	tests/probes/goclient/main.go
