/* Is the hook there, and what would keep it from acting? */
#include <string.h>
#include <unistd.h>

#include "launcher/hooks/install_parts.h"
#include "platform/base/jsonedit.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/toml.h"

/* What was found about one agent. */
struct state {
	const struct install	*in;
	struct entry_found	 found;
	struct buf		*out;
	bool			 is_kept;	/* from acting */
};

static void
trouble(struct state *s, const char *file, const char *what)
{
	s->is_kept = true;
	buf_puts(s->out, "    ! ");
	if (file != NULL) {
		str_escape(s->out, file, strlen(file), 0);
		buf_puts(s->out, ": ");
	}
	buf_puts(s->out, what);
	buf_putc(s->out, '\n');
}

/* The tree of a JSON file; NULL: it is missing or cannot be read. */
static struct jnode *
read_json(struct state *s, const char *path)
{
	struct jnode *root = NULL;
	struct buf b;
	struct err e;
	bool exists;

	buf_init(&b, JSONEDIT_MAX);
	if (path != NULL && install_read(path, &b, &exists, &e) == 0 &&
	    exists)
		(void)jsontree_parse(s->in->arena, path, b.data, b.len,
		    JSONEDIT_MAX, &root, &e);
	buf_release(&b);
	return root;
}

/* ---- Claude Code, and those that took its words over ---- */

static void
look_claude(struct state *s, const char *path)
{
	const struct jnode *n = read_json(s, path);

	if (jsontree_is_true(n, "disableAllHooks"))
		trouble(s, path, "disableAllHooks is true: no hook runs");
}

static void
look_managed(struct state *s, const char *path)
{
	look_claude(s, path);
	if (jsontree_is_true(read_json(s, path), "allowManagedHooksOnly"))
		trouble(s, path, "allowManagedHooksOnly is true: no hook of "
		    "a user's runs");
}

static void
keep_claude(struct state *s)
{
	look_claude(s, install_path(s->in));
	look_claude(s, ".claude/settings.json");
	look_claude(s, ".claude/settings.local.json");
	look_managed(s, "/etc/claude-code/managed-settings.json");
}

static void
keep_qwen(struct state *s)
{
	look_claude(s, install_path(s->in));
	look_claude(s, ".qwen/settings.json");
}

static void
keep_copilot(struct state *s)
{
	look_claude(s, install_beside(s->in, "../settings.json"));
	look_claude(s, ".github/copilot/settings.json");
}

/* ---- Codex ---- */

static bool
is_false(const struct jnode *n, const char *key)
{
	const struct jnode *c = jsontree_get(n, key);

	return c != NULL && c->kind == JSON_FALSE;
}

/* config.toml knows the hooks that the user trusted, by file and place. */
static const struct jnode *
codex_state(const struct jnode *config, const char *hooks_file)
{
	const struct jnode *state = jsontree_walk(config, "hooks", "state",
	    NULL);
	size_t n = strlen(hooks_file);

	for (const struct jnode *c = state != NULL ? state->child : NULL;
	    c != NULL; c = c->next)
		if (strncmp(c->key, hooks_file, n) == 0 && c->key[n] == ':')
			return c;
	return NULL;
}

static void
keep_codex(struct state *s)
{
	const char *path = install_beside(s->in, "config.toml");
	const char *real = path_real_or_same(s->in->arena,
	    install_path(s->in));
	const struct jnode *state;
	struct jnode *config = NULL;
	struct buf b;
	struct err e;
	bool exists = false;

	buf_init(&b, TOML_MAX);
	if (install_read(path, &b, &exists, &e) == 0 && exists)
		(void)toml_parse(s->in->arena, path, b.data, b.len, &config,
		    &e);
	buf_release(&b);
	if (is_false(jsontree_get(config, "features"), "hooks"))
		trouble(s, path, "features.hooks is false: no hook runs");
	state = codex_state(config, real);
	if (state == NULL)
		state = codex_state(config, install_path(s->in));
	if (is_false(state, "enabled"))
		trouble(s, path, "the hook is not enabled");
	if (jsontree_text(state, "trusted_hash") == NULL)
		trouble(s, NULL, "not trusted, so Codex does not run it: "
		    "start Codex, open /hooks, trust it");
}

/* ---- Gemini ---- */

static void
look_gemini(struct state *s, const char *path)
{
	const struct jnode *n = read_json(s, path);
	const struct jnode *off = jsontree_walk(n, "hooksConfig", "disabled",
	    NULL);

	if (is_false(jsontree_get(n, "hooksConfig"), "enabled"))
		trouble(s, path, "hooksConfig.enabled is false: no hook "
		    "runs");
	for (off = off != NULL ? off->child : NULL; off != NULL;
	    off = off->next)
		if (off->kind == JSON_STRING &&
		    (strcmp(off->text, "fence") == 0 ||
		    strcmp(off->text, s->found.command) == 0))
			trouble(s, path, "hooksConfig.disabled names it");
}

static void
keep_gemini(struct state *s)
{
	look_gemini(s, install_path(s->in));
	look_gemini(s, ".gemini/settings.json");
	look_gemini(s, "/etc/gemini-cli/settings.json");
}

/* ---- others ---- */

/* A file of the same name in the project: Crush reads that one, too. */
static void
keep_crush(struct state *s)
{
	static const char *const names[] = { ".crush.json", "crush.json" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (jsontree_walk(read_json(s, names[i]), "hooks",
		    "PreToolUse", NULL) != NULL)
			trouble(s, names[i], "has hooks of its own, which "
			    "may stand for those of the user");
}

static void
keep_opencode(struct state *s)
{
	static const char *const names[] = { "../opencode.jsonc",
	    "../opencode.json" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = install_beside(s->in, names[i]);
		const struct jnode *n = jsontree_get(read_json(s, path),
		    "plugin");

		for (n = n != NULL ? n->child : NULL; n != NULL; n = n->next)
			if (n->kind == JSON_STRING && strstr(n->text,
			    "opencode-fence") != NULL)
				trouble(s, path, "names the plugin of the Go "
				    "program, too: install takes it out");
	}
}

static const struct {
	const char	*agent;
	void		(*look)(struct state *);
} keepers[] = {
	{ "claude", keep_claude }, { "qwen", keep_qwen },
	{ "copilot", keep_copilot }, { "codex", keep_codex },
	{ "gemini", keep_gemini }, { "crush", keep_crush },
	{ "opencode", keep_opencode },
};

static void
look_program(struct state *s)
{
	const char *program = s->found.program;

	if (program[0] != '/')
		trouble(s, NULL, "the program is no absolute path: where the "
		    "agent does not find it, commands run unasked");
	else if (access(program, X_OK) != 0)
		trouble(s, program, "is no program: commands run unasked");
}

static int
find(struct state *s, const char *path, struct err *e)
{
	struct buf b;
	bool exists;
	int rc;

	buf_init(&b, JSONEDIT_MAX);
	rc = install_read(path, &b, &exists, e);
	if (rc == 0 && exists)
		rc = entry_find(s->in->arena, s->in->agent, NULL, path,
		    b.data, b.len, &s->found, e);
	buf_release(&b);
	return rc;
}

bool
install_status(const struct install *in, struct buf *ret,
    bool *ret_is_installed)
{
	struct state s = { .in = in, .out = ret };
	const char *path = install_path(in);
	struct err e = { 0 };
	bool is_bad = path == NULL || find(&s, path, &e) != 0;

	*ret_is_installed = s.found.n > 0;
	buf_printf(ret, "%-10s%s  ", in->agent->name, is_bad ? "unreadable" :
	    s.found.n > 0 ? "installed" : "not installed");
	str_escape(ret, path != NULL ? path : "", path != NULL ?
	    strlen(path) : 0, 0);
	buf_putc(ret, '\n');
	if (is_bad)
		trouble(&s, e.where[0] != '\0' ? e.where : NULL, e.msg);
	if (s.found.n == 0)
		return false;
	buf_puts(ret, "    calls ");
	str_escape(ret, s.found.command, strlen(s.found.command), 0);
	buf_putc(ret, '\n');
	look_program(&s);
	for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
		if (strcmp(keepers[i].agent, in->agent->name) == 0)
			keepers[i].look(&s);
	return !s.is_kept;
}
