#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/trust.h"
#include "tests/unit/room.h"
#include "tests/unit/verdict_words.h"

#define D(name)	"{\"network\":{\"allowedDomains\":[\"" name ".test\"]}}"
#define X(ext, name) \
	"{\"extends\":" ext ",\"network\":{\"allowedDomains\":[\"" name \
	".test\"]}}"

static void
resolve(const struct resolve_request *req, struct resolved *ret)
{
	struct err e = { 0 };

	if (policy_resolve(req, ret, &e) != 0)
		fail_msg("%s: %s: %s (%s)", e.where, e.key, e.msg, e.hint);
}

/* The whole of an error in one line. */
static const char *
failure(const struct resolve_request *req, enum err_code code)
{
	static char text[2048];
	struct resolved res;
	struct err e = { 0 };

	if (policy_resolve(req, &res, &e) == 0) {
		resolved_release(&res);
		return "(no error)";
	}
	assert_int_equal(e.code, code);
	assert_null(res.policy);
	snprintf(text, sizeof text, "%s: %s: %s (%s)", e.where, e.key, e.msg,
	    e.hint);
	return text;
}

static void
assert_says(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part, text);
}

/* "a b c": allowed domains in order, without ".test". */
static void
assert_domains(const struct policy *p, const char *want)
{
	char got[512] = "";

	for (size_t i = 0; i < p->net.allowed_domains.n; i++) {
		const char *text = p->net.allowed_domains.v[i].text;

		snprintf(got + strlen(got), sizeof got - strlen(got),
		    "%s%.*s", i > 0 ? " " : "", (int)strcspn(text, "."),
		    text);
	}
	assert_string_equal(got, want);
}

static bool
may_reach(const struct policy *p, const char *name)
{
	struct verdict v;
	struct host h;

	assert_int_equal(host_canon(name, strlen(name), &h), 0);
	decide_net(p, &h, 443, &v);
	return v.action == ACTION_ALLOW;
}

static bool
may(const struct policy *p, enum fs_op op, const char *path)
{
	struct verdict v;

	decide_fs(p, op, path, &v);
	return v.action == ACTION_ALLOW;
}

/* ---- discovery ---- */

static const struct {
	const char	*files[4];
	const char	*xdg;		/* XDG_CONFIG_HOME below the room */
	const char	*label;		/* of the first step */
	const char	*path;		/* the end of the label */
} places[] = {
	{ { NULL }, NULL, "builtin default (no config loaded from ",
	    "/home/.config/fence/fence.json)" },
	{ { NULL }, "x", "builtin default", "/x/fence/fence.json)" },
	{ { "home/.config/fence/fence.jsonc", "home/.fence.json" }, NULL,
	    "user config: ",
	    "/home/.config/fence/fence.jsonc" },
	{ { "home/.config/fence/fence.json", "home/.fence.jsonc" }, NULL,
	    "user config: ", "/home/.config/fence/fence.json" },
	{ { "home/.config/fence/fence.ini", "home/.fence.jsonc" }, NULL,
	    "user config: ", "/home/.config/fence/fence.ini" },
	{ { "home/.fence.jsonc" }, NULL, "user config: ",
	    "/home/.fence.jsonc" },
	{ { "home/.fence.json" }, NULL, "user config: ",
	    "/home/.fence.json" },
	{ { "home/Library/Application Support/fence/fence.json",
	    "home/.fence.json" }, NULL, "user config: ",
	    "Support/fence/fence.json" },
	{ { "x/fence/fence.json", "home/.config/fence/fence.jsonc" }, "x",
	    "user config: ", "/x/fence/fence.json" },
	/* Directories of that name are none. */
	{ { "home/.config/fence/fence.json/", "home/.fence.json" }, NULL,
	    "user config: ", "/home/.fence.json" },
	{ { "home/Library/Application Support/fence/fence.jsonc" }, NULL,
	    "user config: ", "Support/fence/fence.jsonc" },
	{ { "home/.config/fence/fence.jsonc/", "home/.fence.json" }, NULL,
	    "user config: ", "/home/.fence.json" },
};

static void
test_user_places(void **state)
{
	struct room *r = *state;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct resolve_request req = room_request(r);
		char xdg[256], *env[] = { xdg, NULL };
		struct resolved res;
		const char *label, *end;

		snprintf(xdg, sizeof xdg, "XDG_CONFIG_HOME=%s",
		    places[i].xdg != NULL ? room_path(r, places[i].xdg) :
		    "relative");
		req.environ = env;
		for (size_t k = 0; k < 4 && places[i].files[k] != NULL; k++)
			room_put(r, places[i].files[k],
			    strstr(places[i].files[k], ".ini") != NULL ?
			    "allowPty = true\n" : "{}");
		resolve(&req, &res);
		label = res.chain[0].label;
		end = label + strlen(label) - strlen(places[i].path);
		assert_int_equal(strncmp(label, places[i].label,
		    strlen(places[i].label)), 0);
		assert_string_equal(end, places[i].path);
		assert_int_equal(res.is_builtin_default,
		    places[i].files[0] == NULL);
		assert_int_equal(res.nfiles, places[i].files[0] != NULL);
		assert_string_equal(res.workspace, req.cwd);
		resolved_release(&res);
		room_remove(r, "home");
		room_remove(r, "x");
		room_put(r, "home/", "");
	}
}

/* Of two in one folder none is taken: a run may have put one there. */
static void
test_two_of_user(void **state)
{
	static const char *const pairs[][2] = {
		{ "home/.config/fence/fence.jsonc",
		    "home/.config/fence/fence.json" },
		{ "home/.config/fence/fence.json",
		    "home/.config/fence/fence.ini" },
		{ "home/.fence.jsonc", "home/.fence.json" },
		{ "home/Library/Application Support/fence/fence.jsonc",
		    "home/Library/Application Support/fence/fence.ini" },
	};
	struct room *r = *state;
	struct resolve_request req = room_request(r);

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const char *says;

		room_put(r, pairs[i][0], "{}");
		room_put(r, pairs[i][1], "");
		says = failure(&req, ERR_POLICY);
		assert_says(says, "two policies in one folder");
		assert_says(says, room_path(r, pairs[i][0]));
		assert_says(says, room_path(r, pairs[i][1]));
		assert_says(says, "remove one");
		room_remove(r, "home");
		room_put(r, "home/", "");
	}
}

/* Only a name that is not there is no policy. */
static void
test_user_unknown(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	char link[256];

	room_put(r, "home/.config/", "");
	snprintf(link, sizeof link, "%s",
	    room_path(r, "home/.config/fence"));
	assert_int_equal(symlink("fence", link), 0);	/* ELOOP */
	assert_says(failure(&req, ERR_POLICY),
	    "cannot look for a policy at '");
	assert_says(failure(&req, ERR_POLICY), "chmod");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("missing", link), 0);	/* ENOENT */
	resolve(&req, &res);
	assert_true(res.is_builtin_default);
	resolved_release(&res);
	assert_int_equal(unlink(link), 0);
	room_put(r, "home/.config/fence", "a file");	/* ENOTDIR */
	resolve(&req, &res);
	assert_true(res.is_builtin_default);
	resolved_release(&res);
}

static void
test_project_unknown(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	assert_int_equal(symlink("fence.json",
	    room_path(r, "proj/fence.json")), 0);
	assert_says(failure(&req, ERR_POLICY), "proj/fence.json'");
	req.ignore_project = true;
	resolve(&req, &res);
	resolved_release(&res);
}

static const struct {
	const char	*files[3];
	const char	*found;		/* or NULL: no project */
} projects[] = {
	{ { "proj/fence.json" }, "proj/fence.json" },
	{ { "proj/fence.jsonc", "proj/fence.json" }, "proj/fence.jsonc" },
	{ { "proj/fence.json", "proj/fence.ini" }, "proj/fence.json" },
	{ { "proj/fence.ini" }, "proj/fence.ini" },
	{ { "fence.jsonc", "proj/fence.json" }, "proj/fence.json" },
	{ { "fence.jsonc", "proj/sub/fence.json" }, "proj/sub/fence.json" },
	{ { "fence.jsonc" }, "fence.jsonc" },
	{ { "proj/fence.json/", "fence.json" }, "fence.json" },
	{ { "proj/sub/deeper/fence.json" }, NULL },
	{ { "proj/.fence.json", "proj/sub/fence.conf" }, NULL },
};

static void
test_project_places(void **state)
{
	struct room *r = *state;

	for (size_t i = 0; i < sizeof projects / sizeof *projects; i++) {
		struct resolve_request req = room_request(r);
		struct resolved res;

		room_put(r, "proj/sub/", "");
		for (size_t k = 0; k < 3 && projects[i].files[k] != NULL; k++)
			room_put(r, projects[i].files[k],
			    strstr(projects[i].files[k], ".ini") != NULL ?
			    "allowPty = true\n" : "{}");
		resolve(&req, &res);
		if (projects[i].found != NULL)
			assert_string_equal(res.project,
			    room_path(r, projects[i].found));
		else
			assert_null(res.project);
		resolved_release(&res);
		req.ignore_project = true;
		resolve(&req, &res);
		assert_null(res.project);
		resolved_release(&res);
		room_remove(r, "proj");
		room_remove(r, "fence.jsonc");
		room_remove(r, "fence.json");
	}
}

/* The user's own file is no project's, though it is found as one. */
static void
test_user_is_no_project(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "home/.config/fence/fence.json", D("u"));
	req.cwd = room_path(r, "home/.config/fence");
	resolve(&req, &res);
	assert_null(res.project);
	assert_domains(res.policy, "u");
	assert_null(res.policy->also);
	resolved_release(&res);
}

/* ---- extends ---- */

static const struct {
	const char	*text;
	const char	*want;		/* domains, or NULL for an error */
	const char	*says;
} chains[] = {
	{ D("m"), "m", NULL },
	{ X("\"./a.json\"", "m"), "a m", NULL },
	{ X("\"a.json\"", "m"), NULL, "a file is written with a slash" },
	{ X("\"./below/c.json\"", "m"), "a c m", NULL },
	{ X("[\"./a.json\", \"./b.json\"]", "m"), "a b m", NULL },
	{ X("[\"./b.json\", \"./a.json\"]", "m"), "b a m", NULL },
	{ X("[]", "m"), "m", NULL },
	/* Twice by two ways is no cycle. */
	{ X("[\"./a.json\", \"./below/c.json\"]", "m"), "a c m", NULL },
	{ X("\"@base\"", "m"), "user m", NULL },
	{ X("[\"@base\", \"./a.json\"]", "m"), "user a m", NULL },
	{ X("\"~/h.json\"", "m"), "h m", NULL },
	{ X("\"./ini.ini\"", "m"), "i m", NULL },
	{ X("\"git-readonly\"", "m"), "m", NULL },
	{ X("\"git-readonly.json\"", "m"), "m", NULL },
	{ "{\"extends\":\"./a.json\",\"network\":{\"allowedDomains\":"
	    "[\"!a.test\",\"m.test\"]}}", "m", NULL },
	{ "{\"extends\":\"./a.json\",\"network\":{\"allowedDomains\":"
	    "[\"!z.test\"]}}", NULL, "main.json:1:" },
	{ X("\"cod\"", "m"), NULL, "did you mean \"code\"" },
	{ X("\"nothing-like-it\"", "m"), NULL, "fence template list" },
	{ X("\"./missing.json\"", "m"), NULL, "main.json:1:12: extends: " },
	{ X("\"./missing.json\"", "m"), NULL, "missing.json" },
	{ X("\"./below\"", "m"), NULL, "is a directory" },
	{ X("\"./broken.json\"", "m"), NULL, "broken.json:1:2" },
	{ X("\"./broad.json\"", "m"), NULL, "broad.json:1:31: "
	    "network.allowedDomains[0]: '*.com'" },
	{ X("\"./blank.json\"", "m"), NULL, "blank.json" },
	/* A proxy may be inherited; none at all is told of the whole. */
	{ "{\"extends\":\"./proxy.json\",\"network\":{\"allowedDomains\":"
	    "[\"m.test\"],\"defaultAction\":\"proxy\"}}", "m", NULL },
	{ "{\"extends\":\"./a.json\",\"network\":{\"defaultAction\":"
	    "\"proxy\"}}", NULL, "main.json:1:50: network.defaultAction: "
	    "'proxy' needs network.upstreamProxy" },
	{ X("\"./fifo\"", "m"), NULL, "not a regular file" },
	{ X("\"./bad.json\"", "m"), NULL, "bad.json:2:" },
	{ X("\"./empty.json\"", "m"), NULL, "empty.json" },
	{ X("\"./main.json\"", "m"), NULL, "extends itself" },
	{ X("\"./alias.json\"", "m"), NULL, "extends itself" },
	{ X("\"./one.json\"", "m"), NULL, "two.json:1:12: extends: " },
	{ X("7", "m"), NULL, "extends" },
	{ X("[7]", "m"), NULL, "extends" },
};

static void
test_extends(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "a.json", D("a"));
	room_put(r, "b.json", D("b"));
	room_put(r, "below/c.json", X("\"../a.json\"", "c"));
	room_put(r, "home/h.json", D("h"));
	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "ini.ini", "[network]\nallowedDomains = i.test\n");
	room_put(r, "bad.json", "{\n  \"nonsense\": 1\n}");
	room_put(r, "empty.json", "");
	room_put(r, "blank.json", " \n");
	room_put(r, "broken.json", "{invalid json}");
	room_put(r, "broad.json", "{\"network\":{\"allowedDomains\":"
	    "[\"*.com\"]}}");
	room_put(r, "proxy.json", "{\"network\":{\"upstreamProxy\":"
	    "\"http://p:1\"}}");
	room_put(r, "one.json", X("\"./two.json\"", "one"));
	room_put(r, "two.json", X("\"./one.json\"", "two"));
	assert_int_equal(symlink("main.json", room_path(r, "alias.json")), 0);
	assert_int_equal(mkfifo(room_path(r, "fifo"), 0600), 0);
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		room_put(r, "main.json", chains[i].text);
		req.settings = room_path(r, "main.json");
		if (chains[i].want == NULL) {
			assert_says(failure(&req, ERR_POLICY),
			    chains[i].says);
			continue;
		}
		resolve(&req, &res);
		assert_domains(res.policy, chains[i].want);
		assert_int_equal(res.policy->extends.n, 0);
		resolved_release(&res);
	}
}

static void
test_depth(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char name[32], text[64];
	struct resolved res;

	room_put(r, "0.json", "{}");
	for (int i = 1; i <= 11; i++) {
		snprintf(name, sizeof name, "%d.json", i);
		snprintf(text, sizeof text, "{\"extends\":\"./%d.json\"}",
		    i - 1);
		room_put(r, name, text);
	}
	req.settings = room_path(r, "10.json");
	resolve(&req, &res);
	assert_int_equal(res.nchain, 11);
	assert_int_equal(res.nfiles, 11);
	resolved_release(&res);
	req.settings = room_path(r, "11.json");
	assert_says(failure(&req, ERR_POLICY), "longer than 10");
	/* Wide instead of deep: bounded, too. */
	room_put(r, "1.json", "{\"extends\":[\"./0.json\",\"./0.json\","
	    "\"./0.json\",\"./0.json\",\"./0.json\",\"./0.json\"]}");
	for (int i = 2; i < 6; i++) {
		snprintf(name, sizeof name, "%d.json", i);
		snprintf(text, sizeof text, "{\"extends\":[\"./%d.json\","
		    "\"./%d.json\",\"./%d.json\"]}", i - 1, i - 1, i - 1);
		room_put(r, name, text);
	}
	req.settings = room_path(r, "5.json");
	assert_says(failure(&req, ERR_POLICY), "more than 64");
}

/* Labels and depths as the Go program's config show prints them. */
static void
test_chain_labels(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	char want[256];

	room_put(r, "home/.config/fence/fence.json",
	    "{\"extends\":\"code\"}");
	room_put(r, "main.json", "{\"extends\":\"@base\"}");
	req.settings = room_path(r, "main.json");
	resolve(&req, &res);
	assert_int_equal(res.nchain, 4);
	snprintf(want, sizeof want, "settings file: %s/main.json", r->dir);
	assert_string_equal(res.chain[0].label, want);
	snprintf(want, sizeof want,
	    "@base user config: %s/home/.config/fence/fence.json", r->dir);
	assert_string_equal(res.chain[1].label, want);
	assert_int_equal(res.chain[1].depth, 1);
	assert_string_equal(res.chain[2].label, "builtin template: code");
	assert_int_equal(res.chain[2].depth, 2);
	assert_string_equal(res.chain[3].label,
	    "builtin template: workspace-write");
	assert_int_equal(res.chain[3].depth, 3);
	resolved_release(&res);
	/* @base in the user's own file is a cycle. */
	room_put(r, "home/.config/fence/fence.json",
	    "{\"extends\":\"@base\"}");
	req.settings = NULL;
	assert_says(failure(&req, ERR_POLICY), "extends itself");
}

/* Round by way of @base, whoever begins. */
static void
test_base_cycle(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char text[256];

	snprintf(text, sizeof text, "{\"extends\":\"%s\"}",
	    room_path(r, "proj/fence.json"));
	room_put(r, "home/.config/fence/fence.json", text);
	room_put(r, "proj/fence.json", "{\"extends\":\"@base\"}");
	assert_says(failure(&req, ERR_POLICY), "extends itself");
	req.settings = room_path(r, "proj/fence.json");
	assert_says(failure(&req, ERR_POLICY), "extends itself");
	req.settings = NULL;
	req.ignore_project = true;
	assert_says(failure(&req, ERR_POLICY), "extends itself");
}

/* Files of a chain: by an absolute name, and where it is the user's. */
static void
test_file_labels(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	char text[512], want[256];

	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "a.json", D("a"));
	snprintf(text, sizeof text, X("[\"%s\",\"%s\",\"./a.json\"]", "m"),
	    room_path(r, "a.json"), room_path(r, "home/.fence.json"));
	room_put(r, "main.json", text);
	req.settings = room_path(r, "main.json");
	resolve(&req, &res);
	assert_domains(res.policy, "a user m");
	assert_int_equal(res.nchain, 4);
	snprintf(want, sizeof want, "file: %s/a.json", r->dir);
	assert_string_equal(res.chain[1].label, want);
	assert_string_equal(res.chain[3].label, want);
	snprintf(want, sizeof want, "user config: %s/home/.fence.json",
	    r->dir);
	assert_string_equal(res.chain[2].label, want);
	resolved_release(&res);
}

/* No home: nothing of the user's is looked for. */
static void
test_no_home(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	req.home = NULL;
	room_put(r, "main.json", "{}");
	req.settings = room_path(r, "main.json");
	resolve(&req, &res);
	assert_int_equal(res.nchain, 1);
	resolved_release(&res);
	req.settings = NULL;
	req.template_name = "default-deny";
	resolve(&req, &res);
	assert_string_equal(res.chain[0].label,
	    "builtin template: default-deny");
	resolved_release(&res);
	/* The built-in policy hides what is in a home. */
	req.template_name = NULL;
	assert_says(failure(&req, ERR_POLICY), "home directory");
}

/* Without a user's file @base is what would hold without any file. */
static void
test_base_without_user(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "main.json", X("\"@base\"", "m"));
	req.settings = room_path(r, "main.json");
	resolve(&req, &res);
	assert_true(may(res.policy, FS_WRITE, req.cwd));
	assert_false(may(res.policy, FS_READ, room_path(r, "home/.ssh")));
	assert_false(res.is_builtin_default);
	assert_int_equal(strncmp(res.chain[1].label, "@base builtin default "
	    "(no config loaded from ", 45), 0);
	resolved_release(&res);
}

/* ---- selection and flags ---- */

static void
test_selection(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "proj/fence.json", D("proj"));
	room_put(r, "s.json", D("s"));
	req.settings = room_path(r, "s.json");
	resolve(&req, &res);
	assert_domains(res.policy, "s");
	assert_null(res.policy->also);
	assert_null(res.project);
	assert_string_equal(res.workspace, req.cwd);
	resolved_release(&res);
	req.template_name = "code";
	assert_says(failure(&req, ERR_USAGE), "exclude each other");
	req.settings = NULL;
	resolve(&req, &res);
	assert_true(may_reach(res.policy, "api.openai.com"));
	resolved_release(&res);
	req.template_name = "code.json";
	resolve(&req, &res);
	assert_true(may_reach(res.policy, "api.minimax.io"));
	assert_string_equal(res.chain[0].label, "builtin template: code");
	resolved_release(&res);
	req.template_name = "nonesuch";
	assert_says(failure(&req, ERR_USAGE), "no template is named");
	req.template_name = "cod";
	assert_says(failure(&req, ERR_USAGE), "did you mean \"code\"");
	req.template_name = NULL;
	req.settings = room_path(r, "missing.json");
	assert_says(failure(&req, ERR_POLICY), "missing.json");
}

static void
test_flags(void **state)
{
	static const char *const domains[] = { "once.test", "port.test:8443" };
	static const char *const paths[] = { "out", "/opt/x", "/opt/x/d" };
	static const char *const bad[] = { "*." };
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "home/.fence.json", D("user"));
	req.allow = (struct resolve_list){ domains, 2 };
	req.write = (struct resolve_list){ paths, 2 };
	req.deny_read = (struct resolve_list){ paths + 2, 1 };
	resolve(&req, &res);
	assert_true(may_reach(res.policy, "user.test"));
	assert_true(may_reach(res.policy, "once.test"));
	assert_false(may_reach(res.policy, "port.test"));
	assert_true(may(res.policy, FS_WRITE, room_path(r, "proj/sub/out/f")));
	assert_false(may(res.policy, FS_WRITE, room_path(r, "proj/sub/f")));
	assert_true(may(res.policy, FS_WRITE, "/opt/x/f"));
	assert_false(may(res.policy, FS_READ, "/opt/x/d/f"));
	assert_string_equal(
	    res.policy->net.allowed_domains.v[1].at.file, "<command line>");
	resolved_release(&res);
	/* The user's word counts over a file that is not trusted, too. */
	room_put(r, "proj/fence.json", D("user"));
	resolve(&req, &res);
	assert_non_null(res.policy->also);
	assert_true(may_reach(res.policy, "once.test"));
	resolved_release(&res);
	req.allow = (struct resolve_list){ bad, 1 };
	assert_says(failure(&req, ERR_USAGE), ": --allow: ");
}

/*
 * {R}: the room.  What -r and -w say of proj/sub/x and the like, over a
 * policy of the user's own and a ceiling.
 */
static const struct {
	const char	*user, *ceiling;
	const char	*read, *write, *deny, *allow;
	const char	*says;		/* of the error, or NULL */
	bool		 reads, writes;	/* proj/sub/x/f */
} vain[] = {
	/* As long as the user's own denial: the flag speaks. */
	{ "\"denyRead\":[\"x\"]", NULL, "x", NULL, NULL, NULL, NULL, true,
	    false },
	{ "\"denyRead\":[\"x\"],\"allowWrite\":[\".\"]", NULL, "x", NULL,
	    NULL, NULL, NULL, true, false },
	{ "\"denyRead\":[\"x\"]", NULL, NULL, "x", NULL, NULL, NULL, true,
	    true },
	{ "\"denyRead\":[\"x\"],\"allowRead\":[\"x\"]", NULL, "x", NULL,
	    NULL, NULL, NULL, true, false },
	{ "\"denyRead\":[\"**/x\"]", NULL, "x", NULL, NULL, NULL, NULL, true,
	    false },
	{ "\"denyRead\":[\"**/x\"],\"allowRead\":[\"*\"]", NULL, "x", NULL,
	    NULL, NULL, NULL, true, false },
	{ "\"denyWrite\":[\"x\"],\"allowWrite\":[\".\"]", NULL, NULL, "x",
	    NULL, NULL, NULL, true, true },
	/* Without a flag as ever. */
	{ "\"denyRead\":[\"x\"],\"allowRead\":[\"x\"]", NULL, NULL, NULL,
	    NULL, NULL, NULL, false, false },
	/* Longer denials inside hold. */
	{ "\"denyRead\":[\"x/f\"]", NULL, "x", NULL, NULL, NULL, NULL,
	    false, false },
	/* Never over the rest. */
	{ "\"allowWrite\":[]", "\"denyRead\":[\"x\"]", "x", NULL, NULL,
	    NULL, "c.json:1:28: filesystem.denyRead[0]: --read 'x' has no "
	    "effect", false, false },
	{ "\"allowWrite\":[]", "\"allowWrite\":[]", NULL, "x", NULL, NULL,
	    "filesystem.allowWrite: --write 'x' has no effect", false, false },
	{ "\"allowWrite\":[]", NULL, "x", NULL, "x", NULL,
	    "--read 'x' has no effect", false, false },
	{ "\"denyRead\":[\"x\"]", NULL, "x", NULL, "x", NULL,
	    "--read 'x' has no effect", false, false },
	{ "\"allowWrite\":[]", NULL, NULL, "~/.config/fence/x", NULL, NULL,
	    "fence's own", false, false },
	{ "\"allowWrite\":[]", NULL, NULL, NULL, NULL, "no.test",
	    ".fence.json:1:30: network.deniedDomains[0]: --allow 'no.test' "
	    "has no effect", false, false },
	{ "\"allowWrite\":[]", NULL, NULL, NULL, NULL, "*.a.wild.test",
	    "network.deniedDomains[1]: --allow '*.a.wild.test' has no effect",
	    false, false },
	{ "\"allowWrite\":[]", NULL, NULL, NULL, NULL, "yes.test", NULL,
	    true, false },
	{ "\"allowWrite\":[]", NULL, NULL, NULL, NULL, "*.tame.test", NULL,
	    true, false },
};

static struct resolve_list
one(const char *const *text)
{
	return (struct resolve_list){ text, *text != NULL };
}

static void
test_vain_flags(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	char text[512], path[256];

	snprintf(path, sizeof path, "%s/proj/sub/x/f", r->dir);
	for (size_t i = 0; i < sizeof vain / sizeof *vain; i++) {
		snprintf(text, sizeof text, "{\"network\":{"
		    "\"deniedDomains\":[\"no.test\",\"*.wild.test\"]},"
		    "\"filesystem\":{%s}}", vain[i].user);
		room_put(r, "home/.fence.json", text);
		room_remove(r, "ceiling.d");
		snprintf(text, sizeof text, "{\"filesystem\":{%s}}",
		    vain[i].ceiling != NULL ? vain[i].ceiling : "");
		if (vain[i].ceiling != NULL)
			room_put(r, "ceiling.d/c.json", text);
		req.read = one(&vain[i].read);
		req.write = one(&vain[i].write);
		req.deny_read = one(&vain[i].deny);
		req.allow = one(&vain[i].allow);
		if (vain[i].says != NULL) {
			assert_says(failure(&req, ERR_POLICY), vain[i].says);
			continue;
		}
		resolve(&req, &res);
		if (may(res.policy, FS_READ, path) != vain[i].reads ||
		    may(res.policy, FS_WRITE, path) != vain[i].writes)
			fail_msg("row %zu", i);
		resolved_release(&res);
	}
	/* Nor over a project that nobody trusts, nor over a password. */
	room_put(r, "home/.fence.json", "{\"filesystem\":{\"denyRead\":"
	    "[\"proxy.json\"]}}");
	req.read = one(&(const char *){ "x" });
	req.deny_read.n = req.allow.n = req.write.n = 0;
	room_put(r, "proj/sub/fence.json", "{\"filesystem\":{\"denyRead\":"
	    "[\"x\"]}}");
	assert_says(failure(&req, ERR_POLICY), "sub/fence.json:1:28: "
	    "filesystem.denyRead[0]: --read 'x' has no effect");
	room_remove(r, "proj/sub/fence.json");
	room_put(r, "proj/sub/x", "{\"network\":{\"via\":"
	    "\"http://u:pw@h:1\"}}");
	req.settings = room_path(r, "proj/sub/x");
	assert_says(failure(&req, ERR_POLICY), "sub/x:1:19: network.via: "
	    "--read 'x' has no effect");
}

/* ---- trust ---- */

static void
trust_now(struct room *r, const struct resolve_request *req,
    const char *name, char hex[SHA256_HEX])
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	const char *trusted;

	if (policy_digest(req, room_path(r, name), a, &trusted, hex, &e) != 0)
		fail_msg("%s: %s", e.where, e.msg);
	assert_int_equal(trust_add(trust_store(a, req->home, req->environ),
	    trusted, hex, &e), 0);
	arena_free(a);
}

static bool
is_trusted(const struct resolve_request *req)
{
	struct resolved res;
	bool trusted;

	resolve(req, &res);
	trusted = res.is_trusted;
	assert_int_equal(trusted, res.policy->also == NULL);
	resolved_release(&res);
	return trusted;
}

/* proj/fence.json holds, and the one in proj/sub is a layer over it. */
static void
assert_is_layer(struct room *r, const struct resolve_request *req)
{
	struct resolved res;

	resolve(req, &res);
	assert_true(res.is_trusted);
	assert_string_equal(res.project, room_path(r, "proj/fence.json"));
	assert_non_null(res.policy->also);
	assert_string_equal(res.policy->also->name,
	    room_path(r, "proj/sub/fence.json"));
	resolved_release(&res);
}

static void
test_trust(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char hex[SHA256_HEX], again[SHA256_HEX];
	struct resolved res;

	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "proj/part.json", D("part"));
	room_put(r, "proj/fence.json",
	    X("[\"./part.json\",\"@base\"]", "proj"));
	assert_false(is_trusted(&req));
	trust_now(r, &req, "proj/fence.json", hex);
	resolve(&req, &res);
	assert_true(res.is_trusted);
	assert_domains(res.policy, "part user proj");
	assert_string_equal(res.workspace, room_path(r, "proj"));
	assert_int_equal(res.nnotices, 0);
	resolved_release(&res);
	/* The user's own file may change; the rest of the closure may not. */
	room_put(r, "home/.fence.json", D("other"));
	assert_true(is_trusted(&req));
	room_put(r, "proj/part.json", D("evil"));
	assert_false(is_trusted(&req));
	trust_now(r, &req, "proj/fence.json", again);
	assert_string_not_equal(hex, again);
	assert_true(is_trusted(&req));
	/* A byte more, also one that means nothing. */
	room_put(r, "proj/fence.json",
	    X("[\"./part.json\",\"@base\"]", "proj") "\n");
	assert_false(is_trusted(&req));
	/* Trust is of a place: a copy elsewhere has none. */
	trust_now(r, &req, "proj/fence.json", again);
	room_put(r, "proj/sub/fence.json",
	    X("[\"./part.json\",\"@base\"]", "proj") "\n");
	room_put(r, "proj/sub/part.json", D("evil"));
	assert_is_layer(r, &req);
	room_remove(r, "proj/sub/fence.json");
	assert_int_equal(symlink("../fence.json",
	    room_path(r, "proj/sub/fence.json")), 0);
	assert_is_layer(r, &req);
}

/* Trust moves from text to text, and takes no other file along. */
static void
test_digest_edit(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char hex[SHA256_HEX], before[SHA256_HEX], after[SHA256_HEX];
	struct arena *a = arena_new();
	struct buf was, will;
	struct err e = { 0 };
	const char *name;

	buf_init(&was, 0);
	buf_init(&will, 0);
	buf_puts(&was, X("[\"./part.json\",\"@base\"]", "proj"));
	buf_puts(&will, X("[\"./part.json\",\"@base\"]", "more"));
	room_put(r, "proj/part.json", D("part"));
	room_put(r, "proj/fence.json", was.data);
	trust_now(r, &req, "proj/fence.json", hex);
	/* What lies there by then does not matter. */
	room_put(r, "proj/fence.json", D("evil"));
	assert_int_equal(policy_digest_edit(&req,
	    room_path(r, "proj/fence.json"), &was, &will, a, &name, before,
	    after, &e), 0);
	assert_string_equal(before, hex);
	room_put(r, "proj/fence.json", will.data);
	assert_false(is_trusted(&req));
	assert_int_equal(trust_add(trust_store(a, req.home, req.environ), name,
	    after, &e), 0);
	assert_true(is_trusted(&req));
	room_put(r, "proj/part.json", D("evil"));
	assert_int_equal(policy_digest_edit(&req,
	    room_path(r, "proj/fence.json"), &was, &will, a, &name, before,
	    after, &e), 0);
	assert_string_not_equal(before, hex);
	buf_release(&was);
	buf_release(&will);
	arena_free(a);
}

static void
test_untrusted(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "home/.fence.json", "{\"network\":{\"allowedDomains\":"
	    "[\"both.test\",\"user.test\"]},\"filesystem\":"
	    "{\"allowWrite\":[\".\"]}}");
	room_put(r, "proj/fence.json", "{\"network\":{\"allowedDomains\":"
	    "[\"both.test\",\"evil.test\"]},\"filesystem\":"
	    "{\"allowWrite\":[\".\",\"~/x\"]}}");
	resolve(&req, &res);
	assert_false(res.is_trusted);
	assert_true(may_reach(res.policy, "both.test"));
	assert_false(may_reach(res.policy, "user.test"));
	assert_false(may_reach(res.policy, "evil.test"));
	/* It does not move the workspace: only cwd was the user's word. */
	assert_string_equal(res.workspace, req.cwd);
	assert_true(may(res.policy, FS_WRITE, room_path(r, "proj/sub/f")));
	assert_false(may(res.policy, FS_WRITE, room_path(r, "proj/f")));
	assert_int_equal(res.nnotices, 1);
	assert_says(res.notices[0], "network.allowedDomains \"evil.test\"");
	assert_says(res.notices[0], "filesystem.allowWrite \"~/x\"");
	assert_says(res.notices[0], "fence config trust ");
	assert_null(strstr(res.notices[0], "both.test"));
	assert_int_equal(res.nfiles, 2);
	resolved_release(&res);
	/* What was given needs no notice. */
	room_put(r, "proj/fence.json", D("both"));
	resolve(&req, &res);
	assert_int_equal(res.nnotices, 0);
	assert_false(may(res.policy, FS_WRITE, room_path(r, "proj/sub/f")));
	resolved_release(&res);
	/* Over the built-in policy, where the user has none. */
	room_remove(r, "home/.fence.json");
	resolve(&req, &res);
	assert_true(res.is_builtin_default);
	assert_false(may_reach(res.policy, "both.test"));
	resolved_release(&res);
	/* A mistake in it is told, not skipped. */
	room_put(r, "proj/fence.json", "{\"netwrk\":{}}");
	assert_says(failure(&req, ERR_POLICY), "proj/fence.json:1:2: netwrk");
}

static size_t
count_layers(const struct policy *p)
{
	size_t n = 0;

	for (; p != NULL; p = p->also)
		n++;
	return n;
}

/* A file that a run planted below does not take the trusted one's place. */
static void
test_nested(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char hex[SHA256_HEX], want[256], cwd[256];
	struct resolved res;

	room_put(r, "proj/fence.json", "{\"network\":{\"allowedDomains\":"
	    "[\"proj.test\",\"both.test\"]},\"filesystem\":"
	    "{\"allowWrite\":[\".\"],\"denyWrite\":[\"held\"]}}");
	trust_now(r, &req, "proj/fence.json", hex);
	room_put(r, "proj/sub/fence.jsonc", "{\"network\":{\"allowedDomains\":"
	    "[\"both.test\",\"evil.test\"]},\"filesystem\":"
	    "{\"allowWrite\":[\"out\",\"../held\"],\"denyRead\":[\"key\"]}}");
	room_put(r, "proj/sub/deep/fence.ini", "[network]\n"
	    "allowedDomains = both.test\n[filesystem]\nallowWrite = ..\n");
	snprintf(cwd, sizeof cwd, "%s/proj/sub/deep", r->dir);
	req.cwd = cwd;
	resolve(&req, &res);
	assert_true(res.is_trusted);
	assert_false(res.is_builtin_default);
	assert_string_equal(res.project, room_path(r, "proj/fence.json"));
	assert_string_equal(res.workspace, room_path(r, "proj"));
	assert_int_equal(count_layers(res.policy), 3);
	assert_string_equal(res.policy->name, room_path(r, "proj/fence.json"));
	assert_true(may_reach(res.policy, "both.test"));
	assert_false(may_reach(res.policy, "proj.test"));
	assert_false(may_reach(res.policy, "evil.test"));
	/* Each one's paths belong to its own folder. */
	assert_true(may(res.policy, FS_WRITE, room_path(r, "proj/sub/out/f")));
	assert_false(may(res.policy, FS_WRITE, room_path(r, "proj/sub/f")));
	assert_false(may(res.policy, FS_WRITE, room_path(r, "proj/held/f")));
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/sub/key")));
	assert_true(may(res.policy, FS_READ, room_path(r, "proj/key")));
	/* All are fence's own, and the chain has them. */
	assert_int_equal(res.nfiles, 3);
	assert_int_equal(res.nchain, 3);
	snprintf(want, sizeof want, "project config: %s/proj/fence.json",
	    r->dir);
	assert_string_equal(res.chain[0].label, want);
	assert_says(res.chain[1].label, "sub/deep/fence.ini (not trusted");
	assert_says(res.chain[2].label, "sub/fence.jsonc (not trusted");
	assert_int_equal(res.nnotices, 2);
	assert_says(res.notices[0], "sub/deep/fence.ini (and one more) is not "
	    "trusted and may only tighten; what holds is ");
	assert_says(res.notices[0], "proj/fence.json");
	assert_says(res.notices[1], "evil.test");
	resolved_release(&res);
	/* A trusted one in between ends the search. */
	trust_now(r, &req, "proj/sub/fence.jsonc", hex);
	resolve(&req, &res);
	assert_string_equal(res.workspace, room_path(r, "proj/sub"));
	assert_int_equal(count_layers(res.policy), 2);
	resolved_release(&res);
	/* A planted one with a mistake ends the start, with its place. */
	room_put(r, "proj/sub/deep/fence.ini", "[netwrk]\nx = 1\n");
	assert_says(failure(&req, ERR_POLICY), "deep/fence.ini:1:1: netwrk");
}

#define DENY(name) "{\"filesystem\":{\"denyRead\":[\"" name "\"]}}"

/* All names of a folder count: one beside another does not replace it. */
static void
test_beside(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char hex[SHA256_HEX];
	struct resolved res;

	room_put(r, "proj/fence.json", DENY("above"));
	room_put(r, "proj/sub/fence.jsonc", "{}");
	room_put(r, "proj/sub/fence.json", DENY("key"));
	room_put(r, "proj/sub/fence.ini", "[filesystem]\ndenyRead = ini\n");
	resolve(&req, &res);
	assert_false(res.is_trusted);
	assert_string_equal(res.project, room_path(r, "proj/sub/fence.jsonc"));
	assert_int_equal(res.nfiles, 4);
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/sub/key")));
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/sub/ini")));
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/above")));
	assert_true(may(res.policy, FS_READ, room_path(r, "proj/sub/f")));
	resolved_release(&res);
	/* The first that is trusted is the policy. */
	room_put(r, "proj/sub/fence.json", "{\"filesystem\":{\"allowWrite\":"
	    "[\".\"],\"denyRead\":[\"key\"]}}");
	trust_now(r, &req, "proj/sub/fence.json", hex);
	trust_now(r, &req, "proj/sub/fence.ini", hex);
	resolve(&req, &res);
	assert_true(res.is_trusted);
	assert_string_equal(res.project, room_path(r, "proj/sub/fence.json"));
	assert_int_equal(res.nfiles, 3);
	assert_int_equal(count_layers(res.policy), 3);
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/sub/key")));
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/sub/ini")));
	assert_true(may(res.policy, FS_READ, room_path(r, "proj/above")));
	assert_says(res.chain[0].label, "sub/fence.json");
	assert_says(res.chain[1].label, "fence.jsonc (not trusted: may only");
	assert_says(res.chain[2].label, "fence.ini (not the first that is "
	    "trusted: may only");
	assert_says(res.notices[0], "sub/fence.jsonc (and one more) is not "
	    "trusted and may only tighten; what holds is ");
	resolved_release(&res);
	/* One with a mistake ends the start, wherever it stands. */
	room_put(r, "proj/sub/fence.ini", "[netwrk]\nx = 1\n");
	assert_says(failure(&req, ERR_POLICY), "sub/fence.ini:1:1: netwrk");
}

/* A link to the user's own file does not end the search. */
static void
test_link_to_user(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "home/.fence.json", "{}");
	room_put(r, "proj/fence.json", DENY("key"));
	assert_int_equal(symlink("../../home/.fence.json",
	    room_path(r, "proj/sub/fence.json")), 0);
	resolve(&req, &res);
	assert_string_equal(res.project, room_path(r, "proj/fence.json"));
	assert_false(may(res.policy, FS_READ, room_path(r, "proj/key")));
	assert_true(may(res.policy, FS_READ, room_path(r, "proj/f")));
	resolved_release(&res);
}

/* Without a trusted one: over the user's own, and a bounded number. */
static void
test_many_untrusted(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char name[128] = "proj", cwd[256];
	struct resolved res;

	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "proj/fence.json", D("user"));
	for (int i = 1; i < 16; i++) {
		strcat(name, "/d/fence.json");
		room_put(r, name, D("user"));
		name[strlen(name) - strlen("/fence.json")] = '\0';
	}
	snprintf(cwd, sizeof cwd, "%s/%s", r->dir, name);
	req.cwd = cwd;
	resolve(&req, &res);
	assert_int_equal(count_layers(res.policy), 17);
	assert_string_equal(res.policy->name,
	    room_path(r, "home/.fence.json"));
	assert_true(may_reach(res.policy, "user.test"));
	assert_int_equal(res.nfiles, 17);
	resolved_release(&res);
	room_put(r, "fence.json", D("user"));
	assert_says(failure(&req, ERR_POLICY), "more than 16 project files");
}

static const struct {
	const char	*extends;	/* of proj/fence.json */
	const char	*says;		/* NULL: it is taken */
	const char	*not;		/* no word of this */
} strangers[] = {
	{ "\"./part.json\"", NULL, NULL },
	{ "\"./sub/part.json\"", NULL, NULL },	/* and back up */
	{ "\"@base\"", NULL, NULL },
	{ "\"code\"", NULL, NULL },
	{ "\"~/secret\"", "proj/fence.json:1:12: extends: a project file "
	    "that is not trusted may only extend", "s3cret" },
	{ "\"../home/secret.json\"", "may only extend", "s3cret" },
	{ "\"~/missing\"", "may only extend", "No such" },
	{ "\"~/fine.json\"", "may only extend", "unknown" },
	{ "\"./link.json\"", "may only extend", "s3cret" },
	{ "\"./sub/far.json\"", "sub/far.json:1:12: extends: a project "
	    "file that is not trusted may only extend", "s3cret" },
	{ "\"./word\"", "proj/word:2:1: : the extended file is not a policy",
	    "s3cret" },
	{ "\"./key.json\"", "proj/key.json:1:2: : the extended file is not "
	    "a policy", "s3cret" },
	{ "\"./bad.ini\"", "proj/bad.ini:1:1: : the extended file is not a "
	    "policy", "s3cret" },
};

static void
test_stranger(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	char hex[SHA256_HEX], text[256];
	struct resolved res;

	room_put(r, "home/.fence.json", D("user"));
	room_put(r, "home/secret", "s3cret token\n");
	room_put(r, "home/secret.json", "{\"s3cret\": 1}");
	room_put(r, "home/fine.json", D("h"));
	room_put(r, "proj/part.json", D("p"));
	room_put(r, "proj/sub/part.json", X("\"../part.json\"", "q"));
	room_put(r, "proj/sub/far.json", X("\"../../home/secret\"", "q"));
	room_put(r, "proj/word", "// x\ns3cret\n");
	room_put(r, "proj/key.json", "{\"s3cret\": 1}");
	room_put(r, "proj/bad.ini", "s3cret = 1\n");
	assert_int_equal(symlink("../home/secret.json",
	    room_path(r, "proj/link.json")), 0);
	for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
		const char *got;

		snprintf(text, sizeof text, "{\"extends\":%s}",
		    strangers[i].extends);
		room_put(r, "proj/fence.json", text);
		if (strangers[i].says == NULL) {
			resolve(&req, &res);
			assert_non_null(res.policy->also);
			resolved_release(&res);
			continue;
		}
		got = failure(&req, ERR_POLICY);
		assert_says(got, strangers[i].says);
		if (strstr(got, strangers[i].not) != NULL)
			fail_msg("\"%s\" is quoted: %s", strangers[i].not, got);
	}
	/* Trusted, it leads where it likes. */
	room_put(r, "proj/fence.json", X("\"~/fine.json\"", "m"));
	trust_now(r, &req, "proj/fence.json", hex);
	assert_true(is_trusted(&req));
	/* A name of ours that is a link to something else. */
	room_remove(r, "proj/fence.json");
	assert_int_equal(symlink("../home/secret",
	    room_path(r, "proj/fence.json")), 0);
	assert_null(strstr(failure(&req, ERR_POLICY), "s3cret"));
	assert_int_equal(unlink(room_path(r, "proj/fence.json")), 0);
	assert_int_equal(symlink("../home/secret.json",
	    room_path(r, "proj/fence.json")), 0);
	assert_null(strstr(failure(&req, ERR_POLICY), "s3cret"));
	/* The user's own chain: what is no policy is not quoted either. */
	room_put(r, "main.json", "{\"extends\":\"~/secret\"}");
	req.settings = room_path(r, "main.json");
	assert_says(failure(&req, ERR_POLICY), "home/secret:1:1: : the file "
	    "is not a policy");
	room_put(r, "main.json", "{\"extends\":\"~/secret.json\"}");
	assert_says(failure(&req, ERR_POLICY), "home/secret.json:1:2: s3cret: "
	    "unknown key");
}

/* ---- profile and ceilings ---- */

/* The way out is the machine's to say, and its password not the command's. */
static void
test_ceiling_via(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	struct verdict v;

	room_put(r, "ceiling.d/10.json", "{\"network\":{\"via\":"
	    "\"http://u:secret@10.0.0.1:8080\"}}");
	room_put(r, "s.json", "{\"network\":{\"via\":\"direct\"}}");
	req.settings = room_path(r, "s.json");
	resolve(&req, &res);
	assert_says(res.policy->net.via.text, "secret@10.0.0.1");
	assert_int_equal(res.nnotices, 1);
	assert_says(res.notices[0], "s.json:1:19: network.via \"direct\" was "
	    "not given: ");
	assert_says(res.notices[0], "10.json has \"http");
	assert_null(strstr(res.notices[0], "secret"));
	assert_false(may(res.policy, FS_READ,
	    room_path(r, "ceiling.d/10.json")));
	decide_fs(res.policy, FS_READ, room_path(r, "ceiling.d/10.json"), &v);
	assert_string_equal(rule_words(&v), "network.via");
	assert_says(v.rule.at.file, "10.json");
	assert_says(v.reason, "password");
	assert_string_equal(remedy_key_words(&v), "network.via");
	assert_true(may(res.policy, FS_READ, room_path(r, "s.json")));
	resolved_release(&res);

	/* Nobody said otherwise: nothing to tell. */
	room_put(r, "s.json", "{}");
	resolve(&req, &res);
	assert_says(res.policy->net.via.text, "10.0.0.1");
	assert_int_equal(res.nnotices, 0);
	resolved_release(&res);

	/* One that says nothing leaves it as it was. */
	room_put(r, "ceiling.d/20.json", "{}");
	resolve(&req, &res);
	assert_says(res.policy->net.via.text, "10.0.0.1");
	resolved_release(&res);
	room_put(r, "ceiling.d/20.json", "{\"network\":{\"via\":\"auto\"}}");
	assert_says(failure(&req, ERR_POLICY), "20.json:1:19: network.via: "
	    "another ceiling says \"http");
	room_put(r, "ceiling.d/10.json", "{}");
	room_put(r, "s.json", "{\"network\":{\"via\":\"direct\"}}");
	resolve(&req, &res);
	assert_string_equal(res.policy->net.via.text, "auto");
	resolved_release(&res);
}

static void
test_profile(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;

	room_put(r, "s.json", "{\"profile\":\"strict\",\"network\":"
	    "{\"allowedDomains\":[\"a.test\"]},\"filesystem\":"
	    "{\"allowWrite\":[\".\",\"/opt/x\"]}}");
	req.settings = room_path(r, "s.json");
	resolve(&req, &res);
	assert_non_null(res.policy->also);
	assert_false(may_reach(res.policy, "a.test"));
	assert_true(may(res.policy, FS_WRITE, req.cwd));
	assert_false(may(res.policy, FS_WRITE, "/opt/x/f"));
	assert_false(may(res.policy, FS_READ, room_path(r, "home/f")));
	assert_false(decide_env(res.policy, "A_TOKEN=1"));
	resolved_release(&res);
	/* -t strict is that template alone. */
	req.settings = NULL;
	req.template_name = "strict";
	resolve(&req, &res);
	assert_null(res.policy->also);
	resolved_release(&res);
}

static void
test_ceiling(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	char settings[128];

	room_put(r, "s.json", "{\"network\":{\"allowedDomains\":[\"a.test\","
	    "\"b.test\"]},\"filesystem\":{\"allowWrite\":[\".\","
	    "\"/opt/x\"]}}");
	room_put(r, "ceiling.d/20.json", "{\"network\":{\"allowedDomains\":"
	    "[\"*\"]},\"filesystem\":{\"allowWrite\":[\".\"]}}");
	room_put(r, "ceiling.d/10.ini", "[network]\nallowedDomains = *\n"
	    "deniedDomains = b.test\n[filesystem]\nallowWrite = /\n");
	room_put(r, "ceiling.d/README", "not a policy");
	snprintf(settings, sizeof settings, "%s/s.json", r->dir);
	req.settings = settings;
	resolve(&req, &res);
	assert_int_equal(res.nchain, 3);
	assert_says(res.chain[1].label, "ceiling.d/10.ini");
	assert_int_equal(res.nfiles, 3);
	assert_true(may_reach(res.policy, "a.test"));
	assert_false(may_reach(res.policy, "b.test"));
	assert_true(may(res.policy, FS_WRITE, req.cwd));
	assert_false(may(res.policy, FS_WRITE, "/opt/x/f"));
	resolved_release(&res);
	/* The host's network needs every layer; whoever asked hears of it. */
	room_put(r, "s.json", "{\"network\":{\"mode\":\"direct\"}}");
	resolve(&req, &res);
	assert_int_equal(res.policy->net.mode.value, NET_MODE_GATE);
	assert_int_equal(res.nnotices, 1);
	assert_says(res.notices[0], "s.json:1:20: network.mode \"direct\" was "
	    "not given: ");
	assert_says(res.notices[0], "ceiling.d/10.ini does not grant it");
	resolved_release(&res);
	room_put(r, "ceiling.d/10.ini", "[network]\nmode = direct\n");
	resolve(&req, &res);
	assert_int_equal(res.nnotices, 1);
	assert_says(res.notices[0], "ceiling.d/20.json does not");
	resolved_release(&res);
	room_put(r, "ceiling.d/20.json", "{\"network\":{\"mode\":\"direct\"}}");
	resolve(&req, &res);
	assert_int_equal(res.policy->net.mode.value, NET_MODE_DIRECT);
	assert_int_equal(res.nnotices, 0);
	resolved_release(&res);
	/* Two homes are no glob. */
	room_put(r, "ceiling.d/30.jsonc", "{\"filesystem\":{\"allowWrite\":"
	    "[\".\"],\"denyRead\":[\"~/.ssh\"]}}");
	req.other_home = "/other";
	resolve(&req, &res);
	assert_false(may(res.policy, FS_READ, "/other/.ssh/id"));
	assert_false(may(res.policy, FS_READ, room_path(r, "home/.ssh/id")));
	assert_true(may(res.policy, FS_READ, "/other/x"));
	resolved_release(&res);
	room_put(r, "ceiling.d/30.jsonc", "{\"filesystem\":{\"denyRead\":"
	    "[\"~/*\"]}}");
	assert_says(failure(&req, ERR_POLICY), "a ceiling cannot");
	req.other_home = NULL;
	room_put(r, "ceiling.d/30.jsonc", "{\"filesystem\":{\"allowWrite\":"
	    "[\"/opt/*/x\"]}}");
	assert_says(failure(&req, ERR_POLICY),
	    "30.jsonc:1:30: filesystem.allowWrite[0]: a ceiling cannot");
	room_put(r, "ceiling.d/30.jsonc", "{");
	assert_says(failure(&req, ERR_POLICY), "ceiling.d/30.jsonc:1:");
	/* A place that cannot be listed is not an empty one. */
	req.ceiling_dir = room_path(r, "s.json");
	assert_says(failure(&req, ERR_POLICY), "cannot read the ceilings");
}

/* ---- templates ---- */

static const struct {
	const char	*name;
	const char	*reach[3];
	const char	*reach_not[3];
	const char	*write[3];	/* below the room */
	const char	*write_not[3];
	const char	*read_not[3];
} templates[] = {
	{ "workspace-write", { NULL }, { "pypi.org" }, { "proj/sub/f" },
	    { "proj/f", "home/f" }, { "home/.ssh/id", "home/.aws" } },
	{ "default-deny", { NULL }, { "pypi.org" }, { NULL },
	    { "proj/sub/f" }, { "home/f" } },
	{ "strict", { NULL }, { "pypi.org" }, { "proj/sub/f" },
	    { "home/f" }, { "home/f" } },
	{ "code", { "api.openai.com", "x.anthropic.com", "api.minimaxi.com" },
	    { "example.com", "statsig.anthropic.com", "169.254.169.254" },
	    { "proj/sub/f", "home/.codex/f", "home/.qwen/f" },
	    { "proj/sub/.env", "home/.config/fence/fence.json", "home/f" },
	    { "home/.ssh/id_rsa", "home/.gnupg", "home/.netrc" } },
	{ "code-relaxed", { "example.com" }, { "x.sentry.io" },
	    { "home/.augment/f" }, { "home/f" }, { "home/.aws/x" } },
	{ "code-strict", { "github.com" }, { "example.com" },
	    { "proj/sub/f" }, { "home/f" }, { "home/f", "home/.kube" } },
	{ "disable-telemetry", { "example.com" },
	    { "sentry.io", "app.posthog.com", "x.datadoghq.com" },
	    { "proj/sub/f" }, { "home/f" }, { NULL } },
	{ "git-readonly", { NULL }, { "github.com" }, { "proj/sub/f" },
	    { "proj/sub/.git/HEAD" }, { NULL } },
	{ "hermes", { "api.telegram.org", "api.openai.com" },
	    { "example.com" }, { "home/.hermes/f" }, { "home/f" },
	    { "home/.aws" } },
	{ "local-dev-server", { NULL }, { "example.com" }, { "proj/sub/f" },
	    { "home/f" }, { NULL } },
	{ "npm-install", { "registry.npmjs.org" }, { "pypi.org" },
	    { "home/.npm/f", "proj/sub/f" }, { "home/f" },
	    { "home/.ssh" } },
	{ "pip-install", { "pypi.org", "files.pythonhosted.org" },
	    { "registry.npmjs.org" }, { "home/.cache/pip/f" },
	    { "home/f" }, { "home/.ssh" } },
	{ "cargo-build", { "index.crates.io", "static.crates.io" },
	    { "pypi.org" }, { "home/.cargo/registry/f" },
	    { "home/.cargo/bin/f" }, { "home/.cargo/credentials.toml" } },
	{ "go-build", { "proxy.golang.org", "sum.golang.org" },
	    { "pypi.org" }, { "home/go/pkg/mod/f" }, { "home/go/bin/f" },
	    { "home/.ssh" } },
	{ "ci", { "pypi.org", "crates.io", "proxy.golang.org" },
	    { "example.com" }, { "proj/sub/f", "home/.npm/f" },
	    { "home/f" }, { "home/.ssh", "home/.aws" } },
};

static void
ask_template(struct room *r, const struct policy *p, size_t i)
{
	for (size_t k = 0; k < 3; k++) {
		if (templates[i].reach[k] != NULL &&
		    !may_reach(p, templates[i].reach[k]))
			fail_msg("%s does not reach %s", templates[i].name,
			    templates[i].reach[k]);
		if (templates[i].reach_not[k] != NULL &&
		    may_reach(p, templates[i].reach_not[k]))
			fail_msg("%s reaches %s", templates[i].name,
			    templates[i].reach_not[k]);
		if (templates[i].write[k] != NULL &&
		    !may(p, FS_WRITE, room_path(r, templates[i].write[k])))
			fail_msg("%s does not write %s", templates[i].name,
			    templates[i].write[k]);
		if (templates[i].write_not[k] != NULL &&
		    may(p, FS_WRITE, room_path(r, templates[i].write_not[k])))
			fail_msg("%s writes %s", templates[i].name,
			    templates[i].write_not[k]);
		if (templates[i].read_not[k] != NULL &&
		    may(p, FS_READ, room_path(r, templates[i].read_not[k])))
			fail_msg("%s reads %s", templates[i].name,
			    templates[i].read_not[k]);
	}
}

static void
test_templates(void **state)
{
	static const char *const of_code[] = { "code", "code-relaxed",
	    "code-strict", "hermes" };
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved res;
	size_t n = 0;

	for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
		req.template_name = templates[i].name;
		resolve(&req, &res);
		assert_int_equal(res.nnotices, 0);
		ask_template(r, res.policy, i);
		assert_false(may(res.policy, FS_READ,
		    room_path(r, "home/.ssh/any-name")));
		assert_false(may(res.policy, FS_READ,
		    room_path(r, "home/.config/google-chrome/x")));
		assert_true(may(res.policy, FS_READ, req.cwd));
		resolved_release(&res);
	}
	while (policy_builtin_name(n, NULL) != NULL)
		n++;
	assert_int_equal(n, sizeof templates / sizeof *templates);
	/* What extends code has its denials. */
	for (size_t i = 0; i < sizeof of_code / sizeof *of_code; i++) {
		req.template_name = of_code[i];
		resolve(&req, &res);
		assert_true(res.policy->net.denied_domains.n > 0);
		assert_true(res.policy->fs.deny_read.n > 0);
		assert_true(res.policy->fs.deny_write.n > 0);
		assert_true(res.policy->command.deny.n > 0);
		assert_true(res.policy->allow_pty.value);
		assert_true(may_reach(res.policy, "api.minimax.io"));
		assert_true(may_reach(res.policy, "api.minimaxi.com"));
		assert_true(may_reach(res.policy, "x.anthropic.com"));
		resolved_release(&res);
	}
	req.template_name = "code-strict";
	resolve(&req, &res);
	assert_true(res.policy->fs.default_deny_read.value);
	assert_string_equal(res.policy->fs.allow_read.v[0].text, ".");
	resolved_release(&res);
	req.template_name = "ci";
	resolve(&req, &res);
	assert_true(res.policy->env.deny_secrets.value);
	resolved_release(&res);
}

int
main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_enter, \
	room_leave)
	const struct CMUnitTest tests[] = {
		ROOM(test_user_places),
		ROOM(test_two_of_user),
		ROOM(test_user_unknown),
		ROOM(test_project_unknown),
		ROOM(test_project_places),
		ROOM(test_user_is_no_project),
		ROOM(test_extends),
		ROOM(test_depth),
		ROOM(test_chain_labels),
		ROOM(test_base_cycle),
		ROOM(test_file_labels),
		ROOM(test_no_home),
		ROOM(test_base_without_user),
		ROOM(test_selection),
		ROOM(test_flags),
		ROOM(test_vain_flags),
		ROOM(test_trust),
		ROOM(test_digest_edit),
		ROOM(test_untrusted),
		ROOM(test_nested),
		ROOM(test_beside),
		ROOM(test_link_to_user),
		ROOM(test_many_untrusted),
		ROOM(test_stranger),
		ROOM(test_profile),
		ROOM(test_ceiling), ROOM(test_ceiling_via),
		ROOM(test_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
