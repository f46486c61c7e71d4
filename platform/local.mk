noinst_LIBRARIES += platform/base/libbase.a platform/libplatform.a

platform_base_libbase_a_SOURCES = \
	platform/base/arena.c platform/base/arena.h \
	platform/base/buf.c platform/base/buf.h \
	platform/base/err.c platform/base/err.h \
	platform/base/json.c platform/base/json.h \
	platform/base/str.c platform/base/str.h \
	platform/base/vec.h \
	platform/base/xalloc.c platform/base/xalloc.h

platform_libplatform_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
platform_libplatform_a_SOURCES = \
	platform/confine.h platform/confine_linux.c \
	platform/fd.c platform/fd.h \
	platform/jail.h \
	platform/loop.h platform/loop_epoll.c \
	platform/net.c platform/net.h \
	platform/paths.c platform/paths.h \
	platform/pause.c platform/pause.h \
	platform/spawn.c platform/spawn.h \
	platform/tree.c platform/tree.h
EXTRA_DIST += platform/jail_none.c platform/jail_linux.c

if LINUX
platform_libplatform_a_SOURCES += \
	platform/jail_linux.c \
	platform/linux/bwrap.c platform/linux/bwrap.h \
	platform/linux/initplan.h \
	platform/linux/landlock.c platform/linux/landlock.h \
	platform/linux/mint.c platform/linux/mint.h \
	platform/linux/netlink.c platform/linux/netlink.h \
	platform/linux/nft.c platform/linux/nft.h \
	platform/linux/outer.c platform/linux/outer.h \
	platform/linux/plancheck.c platform/linux/plancheck.h \
	platform/linux/route.c platform/linux/route.h \
	platform/linux/seccomp.c platform/linux/seccomp.h

# Static, so that it never loads the shim; no sanitizer, for the same reason.
pkglibexec_PROGRAMS += libexec/fence/fence-init
libexec_fence_fence_init_SOURCES = \
	platform/linux/init_main.c platform/linux/init_child.c \
	platform/linux/init_child.h platform/linux/landlock.c \
	platform/fd.c platform/linux/plancheck.c
libexec_fence_fence_init_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -O2 \
	-fstack-protector-strong -fno-pie
libexec_fence_fence_init_LDFLAGS = -static
libexec_fence_fence_init_LDADD =
else
platform_libplatform_a_SOURCES += platform/jail_none.c
endif
