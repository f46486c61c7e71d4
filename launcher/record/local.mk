launcher_liblauncher_a_SOURCES += \
	launcher/record/callers.c launcher/record/callers.h \
	launcher/record/chain.c launcher/record/chain.h \
	launcher/record/digest.c launcher/record/digest.h \
	launcher/record/event.c launcher/record/event.h \
	launcher/record/explain.c launcher/record/explain.h \
	launcher/record/fold.c launcher/record/fold.h \
	launcher/record/judge.c launcher/record/judge.h \
	launcher/record/kept.c launcher/record/kept.h \
	launcher/record/judge_call.c \
	launcher/record/judging.c launcher/record/judging.h \
	launcher/record/outside.c launcher/record/outside.h \
	launcher/record/probe_call.c launcher/record/probe_call.h \
	launcher/record/quota.c launcher/record/quota.h \
	launcher/record/recent.c launcher/record/recent.h \
	launcher/record/sink.c launcher/record/sink.h \
	launcher/record/sink_json.c launcher/record/sink_text.c \
	launcher/record/suspect.c launcher/record/suspect.h \
	launcher/record/tally.c launcher/record/tally.h \
	launcher/record/twice.c launcher/record/twice.h \
	launcher/record/who.c launcher/record/who.h \
	launcher/record/witness.c launcher/record/witness.h

pkgdata_DATA += launcher/record/event.schema.json
EXTRA_DIST += launcher/record/event.schema.json
