# The doorbell.  A "program" to automake, because libtool would only add to
# it; no sanitizer and no -fPIE, because it lives in other people's programs.
pkglibexec_PROGRAMS += libexec/fence/libfence-shim.so
libexec_fence_libfence_shim_so_SOURCES = \
	shim/refuse.c shim/refuse.h \
	shim/hook.h \
	shim/call.c shim/call.h \
	shim/hidden.c shim/hidden.h \
	shim/hook_exec.c \
	shim/hook_fs.c \
	shim/hook_meta.c \
	shim/hook_name.c \
	shim/hook_net.c \
	shim/hook_raw.c \
	shim/hook_sys.c \
	shim/hook_tty.c \
	shim/hook_walk.c \
	shim/init.c \
	shim/table.c shim/table.h \
	shim/real.c shim/real.h \
	shim/report.c shim/report.h \
	shim/stage.c shim/stage.h \
	shim/sys.h \
	shim/wire.h
libexec_fence_libfence_shim_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -O2 -fPIC \
	-fvisibility=hidden
# Every program inside loads it, so it is one mapping for code and constants
# and one for data, without the start files of libc (it has no destructors).
# No relro: it would cost a call and a page of each program, and guard tables
# beside which real_table is writable anyhow.
libexec_fence_libfence_shim_so_LDFLAGS = -shared -nostartfiles \
	-Wl,--version-script=$(srcdir)/shim/shim.map \
	-Wl,-z,now -Wl,-z,norelro -Wl,-z,noseparate-code -Wl,-z,defs \
	-Wl,--hash-style=gnu -Wl,--as-needed -Wl,--strip-debug
# dlsym() moved into libc with glibc 2.34.
libexec_fence_libfence_shim_so_LDADD = -ldl
libexec_fence_libfence_shim_so_DEPENDENCIES = shim/shim.map
EXTRA_DIST += shim/shim.map

# A 32-bit loader asks for the same file; an empty one keeps it quiet.
if STUB32
pkglibexec_SCRIPTS += libexec/fence/libfence-shim32.so
CLEANFILES += libexec/fence/libfence-shim32.so shim/stub32.o
libexec/fence/libfence-shim32.so:
	$(AM_V_GEN)$(MKDIR_P) libexec/fence shim && \
	echo '.section .note.GNU-stack,"",@progbits' | \
	    $(AS) --32 -o shim/stub32.o - && \
	$(LD) -m elf_i386 -shared -z noexecstack -o $@ shim/stub32.o
endif

# The probe library (trace.calls) is loaded where a policy asks for it alone.
# libffi enters by closure.c and is hidden inside.
if PROBES
pkglibexec_PROGRAMS += libexec/fence/libfence-probe.so
libexec_fence_libfence_probe_so_SOURCES = \
	shim/probe/capture.c \
	shim/probe/closure.c \
	shim/probe/init.c \
	shim/probe/patch.c \
	shim/probe/probe.h \
	shim/probe/probe_wire.h
libexec_fence_libfence_probe_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(FFI_CFLAGS) \
	-O2 -fPIC -fvisibility=hidden -fexceptions
# Exceptions and longjmp() pass through it, hence its tables of frames.
libexec_fence_libfence_probe_so_LDFLAGS = -shared -nostartfiles \
	-Wl,--version-script=$(srcdir)/shim/probe/probe.map \
	-Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,--hash-style=gnu \
	-Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,--strip-debug
libexec_fence_libfence_probe_so_LDADD = $(FFI_PIC_LIBS) -ldl
libexec_fence_libfence_probe_so_DEPENDENCIES = shim/probe/probe.map
endif
EXTRA_DIST += shim/probe/probe.map
