#!/usr/bin/env bash
# The policy schema: golden, and of one mind with the reader, by a validator
# that is not ours.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
LIB_WHO=user

capture "$LIB_WHO" "$FENCE" config schema
is "$status" 0 'config schema: exit 0'
printf '%s\n' "$out" >"$T/schema"
cmp "$T/schema" "$TESTS/golden/policy.schema.json"
ok $? 'as in golden/policy.schema.json'

if [ ! -x "${FENCE_BUILD:-}/tests/unit/test_emit" ]; then
	skip 'no build tree (FENCE_BUILD)' 'the schema and the reader agree'
else
	FENCE_SHOW_POLICIES=$T/right srcdir=$FENCE_SRC \
	    "$FENCE_BUILD/tests/unit/test_emit" >"$T/log" 2>&1
	ok $? 'policies that the reader takes'
	FENCE_SHOW_RIGHT=$T/right FENCE_SHOW_WRONG=$T/wrong \
	    "$FENCE_BUILD/tests/unit/test_policy" >"$T/log" 2>&1
	ok $? 'texts that it refuses'
	/usr/bin/python3 "$TESTS/validate-schema" \
	    "$TESTS/golden/policy.schema.json" "$T/right" "$T/wrong" \
	    >"$T/log" 2>&1
	ok $? 'the schema and the reader agree' || note "$(tail "$T/log")"
fi
finish
