dist_man_MANS += man/fence.1 man/fence-hooks.1 man/fence-run.1 man/fence-policy.5 man/fence-events.5 \
	man/fence-security.7 man/fence-trace.1
EXTRA_DIST += man/trace-light.png man/trace-dark.png
