#!/usr/bin/env bash
# What a process in the jail is, and what it sees of the host's: capabilities,
# processes, IPC, /proc and /sys.  batch-proc.t has the calls.
. "$(dirname "$0")/../lib.sh"

field() {	# field NAME: of a /proc/PID/status on stdin
	sed -n "s/^$1:[[:space:]]*//p"
}

for who in $WHOS; do
	W=$(workspace "$who")
	for engine in bwrap native; do
		run=(fence "$who" --engine "$engine" --)
		"${run[@]}" cat /proc/self/status
		is "$(for f in CapInh CapPrm CapEff CapBnd CapAmb; do
		    field "$f" <<<"$out"; done | sort -u)" 0000000000000000 \
		    "$who, $engine: no capability, none to come"
		is "$(field NoNewPrivs <<<"$out")$(field Seccomp <<<"$out")" 12 \
		    "$who, $engine: no new privileges, a filter"
		"${run[@]}" cat /proc/1/status
		is "$(field Name <<<"$out"):$(field CapEff <<<"$out"):$(field \
		    NoNewPrivs <<<"$out")" "fence-init:0000000000000000:1" \
		    "$who, $engine: nor has pid 1"
		"${run[@]}" sh -c 'for f in environ maps mem root/etc/passwd \
		    fd/0 cwd/etc exe; do
		    (head -c 1 /proc/1/$f) >/dev/null 2>&1 && echo "open $f"
		    done; cat /proc/self/comm'
		is "$out" cat "$who, $engine: pid 1 cannot be looked into"
		"${run[@]}" sh -c 'cat /proc/[0-9]*/comm'
		like "$(tr '\n' ' ' <<<"$out")" '^fence-init ((sh|cat) )+$' \
		    "$who, $engine: only the jail's processes are seen"
		"${run[@]}" sh -c '(: >>/proc/sys/kernel/core_pattern) ||
		    (: >>/sys/kernel/mm/ksm/run) ||
		    (: >>/sys/power/state) || echo shut; cat /proc/sys/kernel/ostype'
		is "$out" $'shut\nLinux' "$who, $engine: /proc/sys and /sys are shut"
		"${run[@]}" sh -c 'hostname planted; hostname'
		is "$out" "$(hostname)" "$who, $engine: the host's name stays"

		# IPC of the host's, and twins of the jail's own.
		id=$(as "$who" ipcmk -M 4096 | grep -o '[0-9]*$')
		"${run[@]}" sh -c 'ipcs -m | grep -c "^0x"; ipcmk -M 4096 \
		    >/dev/null && ipcs -m | grep -c "^0x"'
		is "$out" $'0\n1' "$who, $engine: shared memory is the jail's own"
		as "$who" ipcrm -m "$id"
		ok $? "$who, $engine: the host's is still there"
		key=/dev/shm/fence-rights.$$
		as "$who" sh -c "echo key >$key"
		"${run[@]}" sh -c "cat $key; echo x >$key; ls /dev/shm | wc -l"
		is "$out" 1 "$who, $engine: and so is /dev/shm"
		is "$(cat "$key")" key "$who, $engine: nothing was changed there"
		rm -f "$key"
	done
done
finish
