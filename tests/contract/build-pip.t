#!/usr/bin/env bash
# `pip install` into a virtual environment, with its template.
# tags: long
# limit: 600
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

pip=(.venv/bin/pip --disable-pip-version-check)
try='import docopt, flask, markupsafe, requests, yaml
assert yaml.safe_load("[1]") == [1]
print(docopt.__version__, requests.__version__)'

for who in $WHOS; do
	fresh "$who"
	cp "$TESTS/builds/pip/requirements.txt" "$W"
	bare "$who" sh -ec '/usr/bin/python3 -m venv .venv
		.venv/bin/pip -q download --no-deps --no-cache-dir docopt'
	if [ "$status" != 0 ]; then
		skip "no index: $(tail -n1 <<<"$err")" "$who: pip install"
		continue
	fi
	rm -r "$W/.venv"

	jailed "$who" -t pip-install -- /usr/bin/python3 -m venv .venv
	works "$who" "python -m venv"
	jailed "$who" -t pip-install -- "${pip[@]}" install -r requirements.txt
	works "$who" "pip install"
	unlike "$err" 'cache has been disabled' "$who: with a cache"
	jailed "$who" -t pip-install -- .venv/bin/python -c "$try"
	is "$out" "0.6.2 2.32.3" "$who: what was installed works"
	bare "$who" .venv/bin/python -c "$try"
	is "$out" "0.6.2 2.32.3" "$who: outside as well"
	bare "$who" "${pip[@]}" check
	is "$status" 0 "$who: and is complete"
	jailed "$who" -t pip-install -- "${pip[@]}" install --upgrade \
	    requests certifi
	works "$who" "pip install --upgrade"
	jailed "$who" -t pip-install -- sh -ec 'rm -r .venv
		/usr/bin/python3 -m venv .venv
		.venv/bin/pip install -q -r requirements.txt'
	works "$who" "all anew, from the cache"

	H=$(workspace "$who")
	rm -rf "$W/.venv"
	jailed "$who" --trace-file "$H/trace" -- sh -ec '
		/usr/bin/python3 -m venv .venv
		.venv/bin/pip install --retries 0 docopt'
	[ "$status" != 0 ]
	ok $? "$who: without its template it fails"
	[ "$(denials "$H/trace" '' network.allowedDomains)" -ge 1 ]
	ok $? "$who: and the index's name is told"
done
finish
