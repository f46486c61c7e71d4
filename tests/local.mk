# Built by `make check`; tests/run (through ./test.sh) runs them, and so does
# `make check` for those that need nothing but themselves.

if HAVE_CMOCKA
LDADD = $(FENCE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS = \
	tests/unit/test_answers \
	tests/unit/test_arena \
	tests/unit/test_agentconf \
	tests/unit/test_agentend \
	tests/unit/test_ask \
	tests/unit/test_budget \
	tests/unit/test_buf \
	tests/unit/test_callers \
	tests/unit/test_cgroup \
	tests/unit/test_bwrap \
	tests/unit/test_chunked \
	tests/unit/test_clock \
	tests/unit/test_cmd \
	tests/unit/test_confine \
	tests/unit/test_connector \
	tests/unit/test_decide_exec \
	tests/unit/test_decide_fs \
	tests/unit/test_decide_net \
	tests/unit/test_decide_ssh \
	tests/unit/test_digest \
	tests/unit/test_dnsmsg \
	tests/unit/test_doctor \
	tests/unit/test_emit \
	tests/unit/test_enforce \
	tests/unit/test_event \
	tests/unit/test_exec \
	tests/unit/test_explain tests/unit/test_judge \
	tests/unit/test_facts \
	tests/unit/test_fd \
	tests/unit/test_fold \
	tests/unit/test_gate_events \
	tests/unit/test_gitconf \
	tests/unit/test_gitdir \
	tests/unit/test_gitend \
	tests/unit/test_guard \
	tests/unit/test_guard_mask \
	tests/unit/test_guard_move \
	tests/unit/test_guard_text \
	tests/unit/test_history \
	tests/unit/test_hooks \
	tests/unit/test_host \
	tests/unit/test_http1 \
	tests/unit/test_httpresp \
	tests/unit/test_ini \
	tests/unit/test_init \
	tests/unit/test_initplan \
	tests/unit/test_io \
	tests/unit/test_jail_next \
	tests/unit/test_ip \
	tests/unit/test_json \
	tests/unit/test_kept \
	tests/unit/test_kept_fds \
	tests/unit/test_landlock \
	tests/unit/test_launcher \
	tests/unit/test_keys \
	tests/unit/test_layers \
	tests/unit/test_limits \
	tests/unit/test_listeners \
	tests/unit/test_log \
	tests/unit/test_loop \
	tests/unit/test_granted_dirs \
	tests/unit/test_merge \
	tests/unit/test_monitor \
	tests/unit/test_mounts \
	tests/unit/test_name_filter \
	tests/unit/test_nested \
	tests/unit/test_nft \
	tests/unit/test_notify \
	tests/unit/test_page \
	tests/unit/test_path \
	tests/unit/test_pattern \
	tests/unit/test_peek \
	tests/unit/test_place \
	tests/unit/test_plan \
	tests/unit/test_policy \
	tests/unit/test_policywatch \
	tests/unit/test_ports \
	tests/unit/test_probe_call \
	tests/unit/test_probesig \
	tests/unit/test_prepare \
	tests/unit/test_proxy \
	tests/unit/test_proxyvars \
	tests/unit/test_quota \
	tests/unit/test_ranges \
	tests/unit/test_recent \
	tests/unit/test_relay \
	tests/unit/test_request \
	tests/unit/test_retry_loop \
	tests/unit/test_resolve \
	tests/unit/test_route \
	tests/unit/test_seccomp \
	tests/unit/test_seccomp_code \
	tests/unit/test_seccomp_kernel \
	tests/unit/test_serve_http \
	tests/unit/test_selfpath \
	tests/unit/test_serve_self \
	tests/unit/test_serve_socks5 \
	tests/unit/test_serve_tunnel \
	tests/unit/test_sha256 \
	tests/unit/test_shadow \
	tests/unit/test_shadow_diff \
	tests/unit/test_shadow_tree \
	tests/unit/test_shell \
	tests/unit/test_shim \
	tests/unit/test_shim_table \
	tests/unit/test_sink \
	tests/unit/test_shwords \
	tests/unit/test_sni \
	tests/unit/test_socks5 \
	tests/unit/test_sshsay \
	tests/unit/test_startup \
	tests/unit/test_str \
	tests/unit/test_stray \
	tests/unit/test_suspect \
	tests/unit/test_tally \
	tests/unit/test_tlshello \
	tests/unit/test_tracer \
	tests/unit/test_twice \
	tests/unit/test_tree \
	tests/unit/test_trust \
	tests/unit/test_unixlist \
	tests/unit/test_upstream \
	tests/unit/test_via \
	tests/unit/test_who \
	tests/unit/test_witness \
	tests/unit/test_writer \
	tests/unit/test_worker

FUZZERS = \
	tests/fuzz/fuzz_agentconf \
	tests/fuzz/fuzz_ask \
	tests/fuzz/fuzz_chunked \
	tests/fuzz/fuzz_dnsmsg \
	tests/fuzz/fuzz_entry \
	tests/fuzz/fuzz_gitconf \
	tests/fuzz/fuzz_hook \
	tests/fuzz/fuzz_host \
	tests/fuzz/fuzz_http1 \
	tests/fuzz/fuzz_httpresp \
	tests/fuzz/fuzz_import \
	tests/fuzz/fuzz_ini \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_page \
	tests/fuzz/fuzz_pattern \
	tests/fuzz/fuzz_probe_call \
	tests/fuzz/fuzz_probesig \
	tests/fuzz/fuzz_record \
	tests/fuzz/fuzz_selfpath \
	tests/fuzz/fuzz_shwords \
	tests/fuzz/fuzz_socks5 \
	tests/fuzz/fuzz_sshline \
	tests/fuzz/fuzz_tlshello \
	tests/fuzz/fuzz_toml \
	tests/fuzz/fuzz_unixlist \
	tests/fuzz/fuzz_upstream

check_PROGRAMS += $(UNIT_TESTS) $(FUZZERS)

TESTS += $(UNIT_TESTS)
AM_TESTS_ENVIRONMENT = \
	FENCE_TEST_SHIM='$(abs_builddir)/libexec/fence/libfence-shim.so'; \
	FENCE_TEST_INIT='$(abs_builddir)/libexec/fence/fence-init'; \
	export FENCE_TEST_SHIM FENCE_TEST_INIT;

# The parts of the shim that are no hooks.
tests_unit_test_shim_table_SOURCES = tests/unit/test_shim_table.c \
	shim/hidden.c shim/table.c shim/report.c shim/stage.c

# In the suite a fuzz target replays its corpus; with clang's
# -fsanitize=fuzzer the same file is the fuzzer (tests/README.md).
tests_fuzz_fuzz_agentconf_SOURCES = tests/fuzz/fuzz_agentconf.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_ask_SOURCES = tests/fuzz/fuzz_ask.c tests/fuzz/replay.c
tests_fuzz_fuzz_chunked_SOURCES = tests/fuzz/fuzz_chunked.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_dnsmsg_SOURCES = tests/fuzz/fuzz_dnsmsg.c tests/fuzz/replay.c
tests_fuzz_fuzz_gitconf_SOURCES = tests/fuzz/fuzz_gitconf.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_entry_SOURCES = tests/fuzz/fuzz_entry.c tests/fuzz/replay.c
tests_fuzz_fuzz_hook_SOURCES = tests/fuzz/fuzz_hook.c tests/fuzz/replay.c
tests_fuzz_fuzz_host_SOURCES = tests/fuzz/fuzz_host.c tests/fuzz/replay.c
tests_fuzz_fuzz_http1_SOURCES = tests/fuzz/fuzz_http1.c tests/fuzz/replay.c
tests_fuzz_fuzz_httpresp_SOURCES = tests/fuzz/fuzz_httpresp.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_import_SOURCES = tests/fuzz/fuzz_import.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_ini_SOURCES = tests/fuzz/fuzz_ini.c tests/fuzz/replay.c
tests_fuzz_fuzz_page_SOURCES = tests/fuzz/fuzz_page.c tests/fuzz/replay.c
tests_fuzz_fuzz_selfpath_SOURCES = tests/fuzz/fuzz_selfpath.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_pattern_SOURCES = tests/fuzz/fuzz_pattern.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/replay.c
tests_fuzz_fuzz_probe_call_SOURCES = tests/fuzz/fuzz_probe_call.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_probesig_SOURCES = tests/fuzz/fuzz_probesig.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_record.c tests/fuzz/replay.c
tests_fuzz_fuzz_shwords_SOURCES = tests/fuzz/fuzz_shwords.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_sshline_SOURCES = tests/fuzz/fuzz_sshline.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_toml_SOURCES = tests/fuzz/fuzz_toml.c tests/fuzz/replay.c
tests_fuzz_fuzz_unixlist_SOURCES = tests/fuzz/fuzz_unixlist.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_upstream_SOURCES = tests/fuzz/fuzz_upstream.c \
	tests/fuzz/replay.c
tests_fuzz_fuzz_socks5_SOURCES = tests/fuzz/fuzz_socks5.c tests/fuzz/replay.c
tests_fuzz_fuzz_tlshello_SOURCES = tests/fuzz/fuzz_tlshello.c \
	tests/fuzz/replay.c
endif

include tests/probes/local.mk

EXTRA_DIST += tests/README.md tests/agents tests/agree tests/batch tests/batches tests/builds \
	tests/clients tests/contract tests/coverage tests/hooks tests/hygiene \
	tests/fuzz/corpus tests/golden tests/kill-at tests/lib.sh tests/lint \
	tests/heldfiles tests/page tests/records.py tests/run tests/scale.sh tests/self-check \
	tests/shell-lines \
	tests/setup.sh tests/swapper.sh tests/trace \
	tests/unit/bpf.h tests/unit/exec_rows.h tests/unit/gate_world.h \
	tests/unit/generate.h tests/unit/guard_scene.h tests/unit/hello.h \
	tests/unit/netns.h tests/unit/serve_world.h \
	tests/unit/room.h tests/unit/verdict_words.h \
	tests/unit/shim_name_rows.h tests/unit/shim_rows.h \
	tests/unit/shim_world.h tests/unit/tree_text.h tests/validate-events \
	tests/validate-schema \
	tests/world
