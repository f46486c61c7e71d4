launcher_liblauncher_a_SOURCES += \
	launcher/cli/cmd.c launcher/cli/cmd.h launcher/cli/cmd_allow.c \
	launcher/cli/cmd_completion.c \
	launcher/cli/cmd_config.c launcher/cli/cmd_config_init.c \
	launcher/cli/cmd_doctor.c launcher/cli/cmd_hook.c launcher/cli/cmd_hooks.c launcher/cli/cmd_import.c launcher/cli/cmd_run.c \
	launcher/cli/cmd_shadow.c launcher/cli/cmd_template.c \
	launcher/cli/cmd_trace.c launcher/cli/cmd_why.c \
	launcher/cli/config.h launcher/cli/opt.c launcher/cli/opt.h \
	launcher/cli/policyedit.c launcher/cli/policyedit.h
