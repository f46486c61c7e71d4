# Programs that act inside the jail.  The sanitizers stay out: a probe must
# meet the walls as any program does.  The Go client is built by the runner.
check_PROGRAMS += tests/probes/anyop \
	tests/probes/probe tests/probes/probe-static \
	tests/probes/rawclient tests/probes/callprobe tests/probes/filtered \
	tests/probes/caller tests/probes/cancelled tests/probes/execrace \
	tests/probes/execstorm \
	tests/probes/deadmount tests/probes/forge tests/probes/heldfiles \
	tests/probes/heldfiles-shim tests/probes/leaver tests/probes/leaver-shim tests/probes/swapper \
	tests/probes/wobbler

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

tests_probes_swapper_SOURCES = tests/probes/swapper.c
tests_probes_swapper_CFLAGS = $(probe_cflags) -fPIE
tests_probes_swapper_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_swapper_LDADD =

tests_probes_wobbler_SOURCES = tests/probes/wobbler.c
tests_probes_wobbler_CFLAGS = $(probe_cflags) -fPIE
tests_probes_wobbler_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_wobbler_LDADD =

tests_probes_anyop_SOURCES = tests/probes/anyop.c
tests_probes_anyop_CFLAGS = $(probe_cflags) -fPIE
tests_probes_anyop_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_anyop_LDADD =

tests_probes_cancelled_SOURCES = tests/probes/cancelled.c
tests_probes_cancelled_CFLAGS = $(probe_cflags) -fPIE
tests_probes_cancelled_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_cancelled_LDADD = -lpthread

tests_probes_caller_SOURCES = tests/probes/caller.c
tests_probes_caller_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_caller_LDFLAGS = -static
tests_probes_caller_LDADD = -lpthread

tests_probes_deadmount_SOURCES = tests/probes/deadmount.c
tests_probes_deadmount_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_deadmount_LDFLAGS = -static
tests_probes_deadmount_LDADD =

tests_probes_forge_SOURCES = tests/probes/forge.c
tests_probes_forge_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_forge_LDFLAGS = -static
tests_probes_forge_LDADD =

leaver_sources = \
	tests/probes/dnsq.c tests/probes/dnsq.h tests/probes/leaver.c
tests_probes_leaver_SOURCES = $(leaver_sources)
tests_probes_leaver_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_leaver_LDFLAGS = -static
tests_probes_leaver_LDADD =
tests_probes_leaver_shim_SOURCES = $(leaver_sources)
tests_probes_leaver_shim_CFLAGS = $(probe_cflags)
tests_probes_leaver_shim_LDADD =

# It has the libraries inside, so it is built as they are.
tests_probes_filtered_SOURCES = tests/probes/filtered.c
tests_probes_filtered_LDADD = platform/libplatform.a \
	platform/base/libbase.a $(SECCOMP_LIBS)

EXTRA_DIST += tests/probes/README.md tests/probes/calls tests/probes/goclient/go.mod \
	tests/probes/goclient/main.go

# Conquered workers: the real ones, but for what they do behind their walls.
check_PROGRAMS += tests/probes/hostile tests/probes/fence-net-hostile \
	tests/probes/fence-names-hostile

hostile_sources = tests/probes/hostile.c tests/probes/hostile.h \
	tests/probes/hostile_socket.c
tests_probes_hostile_SOURCES = $(hostile_sources) tests/probes/hostile_main.c
tests_probes_hostile_CFLAGS = $(probe_cflags)
tests_probes_hostile_LDADD =

tests_probes_fence_net_hostile_SOURCES = $(hostile_sources) \
	tests/probes/hostile_net.c proxy/net_main.c
tests_probes_fence_net_hostile_LDFLAGS = $(FAST_LDFLAGS) -Wl,--wrap=loop_run
tests_probes_fence_net_hostile_LDADD = proxy/libproxy.a \
	platform/libplatform.a platform/base/libbase.a

tests_probes_fence_names_hostile_SOURCES = $(hostile_sources) \
	tests/probes/hostile_names.c $(names_sources)
tests_probes_fence_names_hostile_LDFLAGS = $(HARD_LDFLAGS) \
	-Wl,--wrap=loop_run
tests_probes_fence_names_hostile_LDADD = proxy/libproxy.a \
	platform/libplatform.a platform/base/libbase.a

# One packet out, by every way we know.
check_PROGRAMS += tests/probes/leak tests/probes/leak-static

leak_sources = tests/probes/leak.c tests/probes/leak.h \
	tests/probes/leak_sweep.c tests/probes/leak_tricks.c
tests_probes_leak_SOURCES = $(leak_sources)
tests_probes_leak_CFLAGS = $(probe_cflags) -fPIE
tests_probes_leak_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_leak_LDADD =
tests_probes_leak_static_SOURCES = $(leak_sources)
tests_probes_leak_static_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_leak_static_LDFLAGS = -static
tests_probes_leak_static_LDADD =

# The simple commands of a text, for shell-lines.
check_PROGRAMS += tests/probes/shsplit
tests_probes_shsplit_SOURCES = tests/probes/shsplit.c
tests_probes_shsplit_LDADD = policy/libpolicy.a platform/base/libbase.a \
	$(INIH_LIBS) $(IDN2_LIBS) $(PCRE2_LIBS)

tests_probes_execrace_SOURCES = tests/probes/execrace.c
tests_probes_execrace_CFLAGS = $(probe_cflags) -fPIE
tests_probes_execrace_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_execrace_LDADD = -lpthread

tests_probes_execstorm_SOURCES = tests/probes/execstorm.c
tests_probes_execstorm_CFLAGS = $(probe_cflags) -fPIE
tests_probes_execstorm_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_execstorm_LDADD =

# What keeps an agent's folder, without a jail.
check_PROGRAMS += tests/probes/shadowrun
tests_probes_shadowrun_SOURCES = tests/probes/shadowrun.c
tests_probes_shadowrun_LDADD = $(FENCE_LIBS)

tests_probes_heldfiles_SOURCES = tests/probes/heldfiles.c
tests_probes_heldfiles_CFLAGS = $(probe_cflags) -fno-pie
tests_probes_heldfiles_LDFLAGS = -static
tests_probes_heldfiles_LDADD =

tests_probes_heldfiles_shim_SOURCES = tests/probes/heldfiles.c
tests_probes_heldfiles_shim_CFLAGS = $(probe_cflags) -fPIE
tests_probes_heldfiles_shim_LDFLAGS = $(HARD_LDFLAGS)
tests_probes_heldfiles_shim_LDADD =
