#!/usr/bin/env bash
# Started by root: no file under /proc or /sys opens for writing.  Root owns
# /proc/sys without any capability; core_pattern alone is an escape.
# tags: root
. "$(dirname "$0")/../lib.sh"

scan='
import os, stat, sys
for top in ("/proc", "/sys"):
    for where, dirs, files in os.walk(top):
        for f in files:
            p = os.path.join(where, f)
            try:
                if not stat.S_ISREG(os.lstat(p).st_mode):
                    continue
                os.close(os.open(p, os.O_WRONLY | os.O_NONBLOCK))
                print("opened", p)
            except OSError:
                pass
print("done")
'
W=$(workspace root)
(: >>/proc/sys/kernel/core_pattern) 2>/dev/null
ok $? "outside, core_pattern opens for writing: the test can see"
fence root -- /usr/bin/python3 -c "$scan"
is "$out" "done" "inside, nothing opens"
fence root -- grep -E 'Cap(Prm|Eff|Bnd|Amb)' /proc/self/status
unlike "$out" '[1-9a-f][0-9a-f]*$' "no capability"
like "$out" 'CapEff:[[:space:]]0+' "and the line was read"
fence root -- grep NoNewPrivs /proc/self/status
like "$out" '1$' "no_new_privs"
finish
