#!/usr/bin/env bash
# Both engines build the same jail: what a program inside sees of its mounts,
# rights, descriptors and of pid 1 is one picture, and the walls are in it.
. "$(dirname "$0")/../lib.sh"

cat >"$T/picture.py" <<'PYTHON'
import errno, fcntl, os, re

def attempt(name, fn):
    try:
        fn()
        print(name, "ok")
    except OSError as e:
        print(name, errno.errorcode[e.errno])

def write(path):
    attempt("write " + path, lambda: os.close(os.open(path,
        os.O_WRONLY | os.O_APPEND)))

lines = list(open("/proc/self/mountinfo"))
proc = [line for line in lines if line.split()[4] == "/proc"]
for line in lines:
    # bwrap has had one of its own, which the jail's lies over.
    if line in proc[:-1]:
        continue
    head, tail = line.rstrip("\n").split(" - ", 1)
    f = head.split()
    # Sockets of others, which are masked, come and go meanwhile.
    if f[3].endswith("/none") and not f[4].startswith("/etc/"):
        continue
    # What is mounted over is not reached; its order says nothing.
    print("mount", f[4], f[5], *f[6:], tail.split()[0])
for pid in "self", "1":
    for line in open(f"/proc/{pid}/status"):
        if re.match("Cap|NoNew|Seccomp|Uid|Gid|Groups|Tracer", line):
            print("status", pid, *line.split())
print("fds", *sorted(int(n) for n in os.listdir("/proc/self/fd"))[:-1])
for name in "uid_map", "gid_map", "setgroups":
    print(name, *open("/proc/self/" + name).read().split())
for name in "mnt", "net", "pid", "ipc", "uts", "cgroup":
    fd = os.open("/proc/self/ns/" + name, os.O_RDONLY)
    attempt("owner of " + name, lambda: fcntl.ioctl(fd, 0xb701))
    os.close(fd)
for name in "root", "cwd", "exe", "ns/mnt", "ns/user":
    attempt("pid 1 " + name, lambda: os.readlink("/proc/1/" + name))
for name in "environ", "mem", "maps", "stack", "auxv", "pagemap":
    attempt("pid 1 " + name, lambda: open("/proc/1/" + name, "rb").read(1))
attempt("pid 1 descriptor", lambda: [os.readlink("/proc/1/fd/" + n)
    for n in os.listdir("/proc/1/fd")])
attempt("kill 1", lambda: os.kill(1, 9))
for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
             "/proc/sys/kernel/hostname", "/proc/self/oom_score_adj",
             "/proc/self/uid_map", "/proc/1/oom_score_adj",
             "/sys/kernel/uevent_helper", "/dev/console", "/dev/null"):
    write(path)
for dir in "/", "/dev", "/run", "/run/fence", "/etc", "/sys", "/proc":
    attempt("make in " + dir, lambda: os.mkdir(dir + "/x"))
print("dev", *sorted(os.listdir("/dev")))
print("run", *sorted(os.listdir("/run/fence")))
PYTHON
chmod 644 "$T/picture.py"

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir "$W" "$base/hidden"
	echo "{\"filesystem\":{\"allowWrite\":[\".\"],
	    \"denyRead\":[\"$base/hidden\"]}}" >"$T/open.json"
	echo "{\"filesystem\":{\"defaultDenyRead\":true,\"allowRead\":[\"$T\"],
	    \"allowWrite\":[\".\"]}}" >"$T/closed.json"
	chmod 644 "$T"/*.json
	for policy in open closed; do
		for engine in bwrap native; do
			name="$who: $policy: $engine"
			fence "$who" --engine $engine -s "$T/$policy.json" -- \
			    /usr/bin/python3 "$T/picture.py"
			is "$status" 0 "$name: a picture"
			seen=$(sort <<<"$out")
			printf '%s\n' "$seen" >"$T/$engine"
			is "$(grep '^mount' <<<"$seen" | grep -v nosuid)" '' \
			    "$name: every mount is nosuid"
			is "$(grep '^mount' <<<"$seen" | grep -v nodev |
			    grep -v '^mount /dev')" '' \
			    "$name: and nodev, but for those of /dev"
			is "$(grep -E '^mount.* (shared|master|propagate)' \
			    <<<"$seen")" '' "$name: none hears of the host's"
			is "$(awk '/^mount/ && $3 ~ /^rw/ { print $2 }' \
			    <<<"$seen" | sort -u | tr '\n' ' ')" \
			    "$(printf '%s\n' /dev /dev/pts /tmp "$W" |
			    sort | tr '\n' ' ')" \
			    "$name: those that can be written"
			is "$(grep -c '^status.* Cap...: 0000000000000000$' \
			    <<<"$seen") $(grep -c 'NoNewPrivs: 1' \
			    <<<"$seen") $(grep '^fds' <<<"$seen")" \
			    '10 2 fds 0 1 2' "$name: no rights, no descriptors"
			is "$(grep '^owner' <<<"$seen" | grep -v EPERM)" '' \
			    "$name: no namespace is its own to rule"
			is "$(grep -E '^(pid 1|make in|write /(proc|sys))' \
			    <<<"$seen" | grep ' ok$')" '' \
			    "$name: pid 1, /proc and the tree are closed"
			like "$seen" 'write /dev/null ok' "$name: /dev is not"
		done
		is "$(diff "$T/bwrap" "$T/native")" '' \
		    "$who: $policy: one picture"
	done
done
finish
