#!/usr/bin/env bash
# `npm ci` of a project of more than 300 packages, with its template.
# tags: long
# limit: 600
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

table='
nodejs	cmd:node
npm	cmd:npm
'
for who in $WHOS; do
	if ! packages "$table"; then
		skip "$(tail -n1 "$T/apt.log")" "$who: npm ci"
		continue
	fi
	fresh "$who"
	cp "$TESTS"/builds/npm/* "$W"
	bare "$who" npm install --package-lock-only --ignore-scripts
	if [ "$status" != 0 ]; then
		skip "no registry: $(head -n1 <<<"$err")" "$who: npm ci"
		continue
	fi
	[ "$(grep -c '^    "node_modules/' "$W/package-lock.json")" -ge 300 ]
	ok $? "$who: a project of 300 packages or more"
	before=$(sha256sum "$W/package-lock.json")

	# Another home: nothing of it is in the cache.
	H=$(workspace "$who")
	jailed "$who" -t npm-install -- npm ci --no-audit
	works "$who" "npm ci"
	like "$out" 'added [3-9][0-9][0-9] packages' "$who: all of them"
	bare "$who" npm ls --all
	is "$status" 0 "$who: the tree is complete"
	is "$(sha256sum "$W/package-lock.json")" "$before" \
	    "$who: and the lock file as it was"
	jailed "$who" -t npm-install -- npm test
	works "$who" "npm test: workers, and a server on localhost"
	jailed "$who" -t npm-install -- npx eslint --version
	is "$out" v8.57.0 "$who: npx starts what was installed"
	jailed "$who" -t npm-install -- npx esbuild --bundle --platform=node \
	    --outfile=out.js --external:./node_modules app.test.js
	works "$who" "esbuild, a static Go program that npm brought"
	jailed "$who" -t npm-install -- npm ci --no-audit --prefer-offline
	works "$who" "npm ci again, over what is there and from the cache"

	# The template `code`, in a project and a home that exist.
	jailed "$who" -t code -- npm ci --no-audit
	works "$who" "npm ci under code"

	# Without the variables: npm 11 asks a proxy that refuses it again and
	# again, for ever.
	H=$(workspace "$who")
	jailed "$who" --trace-file "$H/trace" -- env -u https_proxy \
	    -u HTTPS_PROXY -u npm_config_https_proxy -u all_proxy \
	    -u ALL_PROXY npm ci --no-audit --fetch-retries=0
	[ "$status" != 0 ]
	ok $? "$who: without its template it fails"
	[ "$(denials "$H/trace" '' network.allowedDomains)" -ge 1 ]
	ok $? "$who: and the registry's name is told"
done
finish
