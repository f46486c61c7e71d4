launcher_liblauncher_a_SOURCES += \
	launcher/doctor/doctor.h launcher/doctor/doctor_host.c \
	launcher/doctor/doctor_jail.c launcher/doctor/doctor_print.c \
	launcher/doctor/doctor_run.c launcher/doctor/doctor_run.h \
	launcher/doctor/doctor_scene.c launcher/doctor/doctor_scene.h \
	launcher/doctor/try.h

pkgdata_DATA += launcher/doctor/doctor.schema.json
EXTRA_DIST += launcher/doctor/doctor.schema.json

# What doctor tries from inside a jail.  Dynamic, so that it loads the shim.
pkglibexec_PROGRAMS += libexec/fence/fence-try
libexec_fence_fence_try_SOURCES = \
	launcher/doctor/try_main.c launcher/doctor/try_file.c \
	launcher/doctor/try_net.c launcher/doctor/try_sys.c launcher/doctor/try.h
libexec_fence_fence_try_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(HARD_CFLAGS)
