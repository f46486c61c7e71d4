/* fence config init: a policy to begin with. */
#include "launcher/cli/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/exit.h"
#include "launcher/plan/request.h"
#include "platform/base/json.h"
#include "platform/base/path.h"
#include "policy/find.h"
#include "policy/resolve.h"

extern char **environ;

struct init_options {
	struct run_options	run;	/* template_name */
	const char		*output;
	bool			 minimal, force, print, scaffold;
};

#define AT(field)	offsetof(struct init_options, field)

const struct opt config_init_opts[] = {
	{ 't', "template", "NAME", OPT_TEXT, AT(run.template_name),
	    "extend the built-in policy NAME; "
	    "workspace-write unless told" },
	{ 0, "minimal", NULL, OPT_FLAG, AT(minimal), "extend nothing" },
	{ 'o', "output", "FILE", OPT_TEXT, AT(output),
	    "write there; the user's own policy unless told" },
	{ 'y', "force", NULL, OPT_FLAG, AT(force),
	    "replace a file without asking" },
	{ 0, "print", NULL, OPT_FLAG, AT(print), "print it, write nothing" },
	{ 0, "scaffold", NULL, OPT_FLAG, AT(scaffold),
	    "with the lists that are most used, empty" },
	{ .name = NULL },
};

static const char scaffold[] =
	"  \"network\": {\n"
	"    \"allowedDomains\": [],\n"
	"    \"deniedDomains\": []\n"
	"  },\n"
	"  \"filesystem\": {\n"
	"    \"allowRead\": [],\n"
	"    \"allowExecute\": [],\n"
	"    \"denyRead\": [],\n"
	"    \"allowWrite\": [],\n"
	"    \"denyWrite\": []\n"
	"  },\n"
	"  \"command\": {\n"
	"    \"deny\": [],\n"
	"    \"allow\": []\n"
	"  },\n"
	"  \"ssh\": {\n"
	"    \"allowedHosts\": [],\n"
	"    \"deniedHosts\": [],\n"
	"    \"allowedCommands\": [],\n"
	"    \"deniedCommands\": []\n"
	"  }\n";

static void
compose(const struct init_options *o, const char *name, struct buf *b)
{
	if (!o->print) {
		buf_puts(b, "// Made by 'fence config init'.  fence-policy(5) "
		    "explains every key,\n// and 'fence config check' checks "
		    "this file.\n");
		if (name != NULL)
			buf_printf(b, "// What '%s' says holds here, too: "
			    "'fence template show %s'.\n// An entry \"!x\" "
			    "takes x out of its lists.\n", name, name);
	}
	buf_puts(b, "{\n");
	if (name != NULL) {
		buf_puts(b, "  \"extends\": ");
		json_put_string(b, name, strlen(name));
		buf_puts(b, o->scaffold ? ",\n" : "\n");
	}
	if (o->scaffold)
		buf_puts(b, scaffold);
	buf_puts(b, "}\n");
}

bool
config_ask(const char *question)
{
	char answer[16] = "";

	printf("%s [y/N] ", question);
	fflush(stdout);
	if (fgets(answer, sizeof answer, stdin) == NULL)
		return false;
	answer[strcspn(answer, "\r\n")] = '\0';
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

static bool
may_replace(const char *path)
{
	printf("File \"%s\" already exists. ", path);
	return config_ask("Overwrite?");
}

static int
write_file(const char *path, const struct buf *b, struct err *e)
{
	FILE *fp = NULL;
	int fd;

	if (path_make_above(path, 0750) == 0 && (fd = open(path, O_WRONLY |
	    O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600)) >= 0) {
		if ((fp = fdopen(fd, "w")) == NULL)
			close(fd);
	}
	if (fp == NULL || fwrite(b->data, 1, b->len, fp) != b->len ||
	    fflush(fp) != 0) {
		err_set(e, ERR_POLICY, "cannot write '%.200s'", path);
		e->sys = errno;
	}
	if (fp != NULL)
		fclose(fp);
	return e->code == ERR_NONE ? 0 : -1;
}

int
config_write(const char *path, const struct buf *b, bool force,
    struct err *e)
{
	if (access(path, F_OK) == 0 && !force && !may_replace(path)) {
		err_set(e, ERR_POLICY, "'%.200s' is left as it is", path);
		return EXIT_POLICY;
	}
	return write_file(path, b, e) != 0 ? (int)e->code : 0;
}

static int
write_policy(const struct init_options *o, const char *name,
    const char *path, const struct buf *b, struct err *e)
{
	int status = config_write(path, b, o->force, e);

	if (status != 0)
		return status;
	if (name != NULL)
		printf("Created config extending \"%s\"\n", name);
	else
		printf("Created minimal config\n");
	printf("Written to \"%s\"\n", path);
	return 0;
}

static int
check_pairs(const struct init_options *o, struct err *e)
{
	const char *one = NULL, *other = NULL;

	if (o->minimal && o->run.template_name != NULL) {
		one = "minimal";
		other = "template";
	} else if (o->print && o->output != NULL) {
		one = "print";
		other = "output";
	} else if (o->print && o->force) {
		one = "print";
		other = "force";
	}
	if (one == NULL)
		return 0;
	return err_set(e, ERR_USAGE, "--%s and --%s exclude each other", one,
	    other);
}

int
config_user_path(struct arena *a, const struct resolve_request *req,
    const char **ret, struct err *e)
{
	const char *found;
	size_t dir;

	if (find_user(a, req->home, environ, &found, ret, e) != 0)
		return -1;
	if (found == NULL || *ret == NULL || strcmp(found, *ret) == 0)
		return 0;
	dir = path_dir_len(*ret) + 1;
	if (strncmp(found, *ret, dir) != 0 || strchr(found + dir, '/') != NULL)
		return 0;
	err_set(e, ERR_POLICY, "'%.200s' is there already", found);
	err_hint(e, "remove it, or name another file with -o");
	return -1;
}

static int
init(struct init_options *o, struct arena *arena, struct err *e)
{
	const char *path = o->output, *name = NULL;
	struct resolve_request req;
	struct resolved res;
	struct buf b;
	int status = 0;

	if (check_pairs(o, e) != 0)
		return EXIT_USAGE;
	if (!o->minimal && o->run.template_name == NULL)
		o->run.template_name = "workspace-write";
	if (request_make(arena, &o->run, environ, &req, e) != 0)
		return (int)e->code;
	if (!o->minimal) {
		name = o->run.template_name;
		if (policy_resolve(&req, &res, e) != 0)
			return (int)e->code;
		resolved_release(&res);
	}
	if (path == NULL && !o->print &&
	    config_user_path(arena, &req, &path, e) != 0)
		return (int)e->code;
	buf_init(&b, 0);
	compose(o, name, &b);
	if (path != NULL)
		status = write_policy(o, name, path, &b, e);
	else
		fputs(b.data, stdout);
	buf_release(&b);
	return status;
}

int
config_init(const char *program, int argc, char **argv, struct err *e)
{
	struct init_options o = { 0 };
	struct arena *arena = arena_new();
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(config_init_opts, argc, argv, &o, &nwords, e) ==
	    0) {
		if (nwords > 0) {
			err_set(e, ERR_USAGE,
			    "'fence config init' takes no word");
			err_hint(e, "-o FILE says where to write");
		} else {
			status = init(&o, arena, e);
		}
	}
	arena_free(arena);
	return status;
}
