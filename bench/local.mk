# The load program of bench/run.  No sanitizer: it holds the watch.
noinst_PROGRAMS += bench/pump
bench_pump_SOURCES = bench/pump.c
bench_pump_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARD_CFLAGS) -pthread
bench_pump_LDADD =
