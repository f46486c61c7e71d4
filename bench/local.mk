# The load program of bench/run.  No sanitizer: it holds the watch.
noinst_PROGRAMS += bench/pump
bench_pump_SOURCES = bench/pump.c
bench_pump_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARD_CFLAGS) -pthread
bench_pump_LDADD =

# Its calls load no library of fence's.
noinst_PROGRAMS += bench/held
bench_held_SOURCES = tests/probes/heldfiles.c
bench_held_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -O2 -fno-pie
bench_held_LDFLAGS = -static
bench_held_LDADD =

# What a decision costs; `make bench/decide && bench/decide` prints it.
noinst_PROGRAMS += bench/decide
bench_decide_SOURCES = bench/decide.c
bench_decide_LDADD = $(FENCE_LIBS)
