#!/usr/bin/env bash
# The judges judged: batches run against fences that are known to be wrong.
# tags: root
# limit: 300
. "$(dirname "$0")/../lib.sh"

# Answers of one batch under a false fence.  The probe's victims (pid 1 and a
# process outside) are of a pid namespace made for the purpose, /etc of the
# world: without a jail around it the table does harm.
answers() {	# answers FENCE BATCH
	in_world root unshare --pid --fork --mount-proc --kill-child -- \
	    "$TESTS/batch" --ways root-shim \
	    --fence "$TESTS/self-check/$1" "$TESTS/batches/$2.batch"
}

# none_pass FENCE BATCH WORD: no row of that kind says ok, and there are some.
none_pass() {
	local rows passed
	rows=$(grep -c "^\(not \)\?ok - root-shim: $3 " <<<"$output")
	passed=$(grep "^ok - root-shim: $3 " <<<"$output")
	is "$passed" "" "$1: every '$3' row of $2 notices"
	[ "$rows" -gt 0 ]
	ok $? "$1: $2 has '$3' rows"
}

for batch in "$TESTS"/batches/*.batch; do
	batch=$(basename "$batch" .batch)
	output=$(answers fence-open "$batch" 2>&1)
	none_pass fence-open "$batch" denies
	if grep -q '[[:space:]]told ' "$TESTS/batches/$batch.batch"; then
		none_pass fence-open "$batch" told
	fi
	# Without fence there is no proxy to ask.
	is "$(grep '^not ok - root-shim: permits' <<<"$output" |
	    grep -v 'permits proxy')" "" \
	    "fence-open: every 'permits' row of $batch is possible"
	output=$(answers fence-closed "$batch" 2>&1)
	none_pass fence-closed "$batch" permits
	output=$(answers fence-deaf "$batch" 2>&1)
	none_pass fence-deaf "$batch" permits
done
finish
