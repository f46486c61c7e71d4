#!/usr/bin/env bash
# The shim arrives without a trace in any environment.
. "$(dirname "$0")/../lib.sh"

maps='grep -c libfence-shim /proc/self/maps'

for who in $WHOS; do
	W=$(workspace "$who")
	capture "$who" env LD_LIBRARY_PATH=/nowhere LD_BIND_NOW=1 \
	    LD_DEBUG_OUTPUT="$T/x" DYLD_INSERT_LIBRARIES=x "$FENCE_RUN" -- env
	is "$(grep -E '^(LD|DYLD)_' <<<"$out")" "" \
	    "$who: the host's LD_* and DYLD_* are gone"
	like "$out" 'PATH=' "$who: the rest is there"
	unlike "$out" 'libfence|/run/fence' "$who: nothing of ours in it"
	fence "$who" -- sh -c 'sh -c "sh -c env"'
	is "$(grep -E '^LD_' <<<"$out")" "" "$who: nor in grandchildren"
	unlike "$out" 'libfence|/run/fence' "$who: nor of ours there"
	fence "$who" -- env -u HOME LD_LIBRARY_PATH=/mine sh -c \
	    'sh -c "echo \$LD_LIBRARY_PATH"'
	is "$out" /mine "$who: what the command sets for its children passes"

	fence "$who" -- grep -c libfence-shim /proc/self/maps
	like "$out" '^[1-9]' "$who: the shim is in the command"
	fence "$who" -- sh -c "sh -c '$maps'"
	like "$out" '^[1-9]' "$who: and in its grandchildren"
	fence "$who" -- env -i /bin/sh -c "$maps"
	like "$out" '^[1-9]' "$who: and under env -i"
	fence "$who" -- "$PROBES/goclient" -exec /bin/grep -c libfence-shim \
	    /proc/self/maps
	like "$out" '^[1-9]' "$who: and in children of a static Go program"
	fence "$who" -- sh -c 'tr "\0" "\n" </proc/self/environ'
	is "$(grep -E '^LD_|libfence' <<<"$out")" "" \
	    "$who: nor in /proc/self/environ"

	# Proxy variables: exactly these, whatever the caller has.
	for mode in auto on off; do
		echo '{"network":{"proxyVariables":"'$mode'"},
		    "filesystem":{"allowWrite":["."]}}' >"$T/p.json"
		capture "$who" env HTTP_PROXY=http://u:p@corp:1 \
		    Https_Proxy=http://corp:1 no_proxy='*' rsync_proxy=corp:1 \
		    npm_config_https_proxy=x npm_config_noproxy=x \
		    PIP_PROXY=x YARN_HTTP_PROXY=x CLOUDSDK_PROXY_PASSWORD=x \
		    CARGO_HTTP_PROXY=x NODE_USE_ENV_PROXY=0 GRPC_PROXY=x \
		    MAVEN_OPTS='-ea -Dhttps.proxyHost=corp' \
		    "$FENCE_RUN" --settings "$T/p.json" -- env
		is "$(grep -iE 'proxy|corp|_OPTS' <<<"$out" | LC_ALL=C sort)" \
		    "$(cat "$TESTS/golden/proxyvars.$mode")" \
		    "$who: proxy variables: $mode"
	done
done
finish
