/* Codex's config.toml: its sandbox, and the environment of its commands. */
#include "launcher/hooks/import_parts.h"

#include <string.h>

static bool
is_text(const struct jnode *n, const char *text)
{
	return n->kind == JSON_STRING && strcmp(n->text, text) == 0;
}

static const char *
root_path(struct import *m, const char *text)
{
	return import_escape(m, text);
}

/* ---- sandbox_mode ---- */

static void
take_mode(struct import *m, const struct jnode *n)
{
	m->nrules++;
	if (is_text(n, "workspace-write"))
		import_add(m, KEY_OF(fs.allow_write), ".", n,
		    "sandbox_mode = \"workspace-write\"");
	else if (is_text(n, "danger-full-access"))
		import_left(m, n, "a jail that lets everything through is "
		    "none: run such commands without fence");
	else if (!is_text(n, "read-only"))
		import_left(m, n, "fence does not know this mode");
}

/* These act in mode workspace-write alone. */
static void
take_workspace(struct import *m, const struct jnode *table, bool is_on)
{
	for (const struct jnode *n = table->child; n != NULL; n = n->next) {
		if (!is_on) {
			import_left(m, n, "it acts with sandbox_mode = "
			    "\"workspace-write\" alone");
		} else if (strcmp(n->key, "writable_roots") == 0) {
			import_list(m, n, KEY_OF(fs.allow_write), root_path);
		} else if (strcmp(n->key, "network_access") == 0) {
			m->nrules++;
			if (n->kind == JSON_TRUE)
				import_add(m, KEY_OF(net.allowed_domains), "*",
				    n, import_where(m, n));
			else if (n->kind != JSON_FALSE)
				import_left(m, n, "it is neither true nor "
				    "false");
		} else if (strcmp(n->key, "exclude_slash_tmp") == 0 ||
		    strcmp(n->key, "exclude_tmpdir_env_var") == 0) {
			m->nrules++;
			import_left(m, n, "/tmp inside is the command's own, "
			    "and always writable");
		} else {
			import_left(m, n, "fence does not know it");
		}
	}
}

/* ---- shell_environment_policy ---- */

/* "AWS_*" is ours, too; a star elsewhere is not. */
static void
take_excluded(struct import *m, const struct jnode *list)
{
	for (const struct jnode *n = list->child; n != NULL; n = n->next) {
		const char *star = n->kind == JSON_STRING ?
		    strchr(n->text, '*') : NULL;

		m->nrules++;
		if (n->kind != JSON_STRING)
			import_left(m, n, "it is no string");
		else if (star != NULL && star[1] != '\0')
			import_left(m, n, "env.deny takes a star at the end "
			    "alone; env.denySecrets knows names of secrets");
		else
			import_add(m, KEY_OF(env.deny), n->text, n,
			    import_where(m, n));
	}
}

static void
take_set(struct import *m, const struct jnode *table)
{
	for (const struct jnode *n = table->child; n != NULL; n = n->next) {
		m->nrules++;
		if (n->kind == JSON_STRING)
			import_add_map(m, KEY_OF(env.set), n->key, n->text, n,
			    import_where(m, n));
		else
			import_left(m, n, "it is no string");
	}
}

static void
take_environment(struct import *m, const struct jnode *table)
{
	for (const struct jnode *n = table->child; n != NULL; n = n->next) {
		if (strcmp(n->key, "exclude") == 0 && n->kind == JSON_ARRAY)
			take_excluded(m, n);
		else if (strcmp(n->key, "set") == 0 &&
		    n->kind == JSON_OBJECT)
			take_set(m, n);
		else if (strcmp(n->key, "ignore_default_excludes") == 0 &&
		    n->kind == JSON_FALSE)
			import_set(m, KEY_OF(env.deny_secrets), "true", n,
			    import_where(m, n));
		else if (strcmp(n->key, "inherit") == 0 && is_text(n, "all"))
			m->nrules++;	/* as fence does */
		else if (strcmp(n->key, "ignore_default_excludes") == 0 &&
		    n->kind == JSON_TRUE)
			m->nrules++;
		else
			import_left(m, n, strcmp(n->key, "inherit") == 0 ||
			    strcmp(n->key, "include_only") == 0 ?
			    "fence takes variables away (env.deny); it has "
			    "no list of those that pass" :
			    "fence does not know it");
	}
}

/* ---- the rest ---- */

static const struct {
	const char	*name, *why;
} rest[] = {
	{ "approval_policy", "how Codex asks is not fence's to say" },
	{ "approvals_reviewer", "how Codex asks is not fence's to say" },
	{ "default_permissions", "permission profiles are not read: name the "
	    "folders and hosts in the policy" },
	{ "permissions", "permission profiles are not read: name the folders "
	    "and hosts in the policy" },
	{ "profile", "profiles are not read: this is the file without one" },
	{ "profiles", "profiles are not read" },
};

void
import_codex(struct import *m, const struct jnode *root)
{
	const char *mode = jsontree_text(root, "sandbox_mode"), *others = "";
	bool is_on = mode != NULL && strcmp(mode, "workspace-write") == 0;
	size_t i;

	for (const struct jnode *n = root->child; n != NULL; n = n->next) {
		for (i = 0; i < sizeof rest / sizeof *rest; i++)
			if (strcmp(rest[i].name, n->key) == 0)
				break;
		if (strcmp(n->key, "sandbox_mode") == 0)
			take_mode(m, n);
		else if (strcmp(n->key, "sandbox_workspace_write") == 0)
			take_workspace(m, n, is_on);
		else if (strcmp(n->key, "shell_environment_policy") == 0)
			take_environment(m, n);
		else if (i < sizeof rest / sizeof *rest)
			import_left(m, n, rest[i].why);
		else
			others = arena_printf(m->arena, "%s%s%s", others,
			    others[0] != '\0' ? ", " : "", n->key);
	}
	if (others[0] != '\0')
		import_note(m, NULL, others, "not about what commands may "
		    "touch");
}
