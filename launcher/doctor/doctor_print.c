/* What doctor found, for people, for programs, and as a short table. */
#include "launcher/doctor/doctor.h"

#include <string.h>

#include "platform/base/errname.h"
#include "platform/base/json.h"
#include "platform/base/str.h"

enum { WORD_WIDTH = 9, WHAT_WIDTH = 36, ID_WIDTH = 18, NFEATURES_MAX = 16 };

const char *
doctor_status_word(enum machine_status s)
{
	static const char *const words[] = { "strict", "degraded", "absent" };

	return words[s];
}

const char *
doctor_result_word(enum try_result r)
{
	static const char *const words[TRY_NRESULTS] = { "held", "hole",
	    "works", "broken", "untried" };

	return words[r];
}

const struct machine_part *
doctor_part(const struct doctor *d, const char *id)
{
	for (size_t i = 0; i < d->machine.nparts; i++)
		if (strcmp(d->machine.parts[i].id, id) == 0)
			return &d->machine.parts[i];
	return NULL;
}

unsigned
doctor_count(const struct doctor *d, enum try_result r)
{
	unsigned n = 0;

	for (size_t i = 0; i < TRY_NROWS; i++)
		n += d->tries[i].answer.result == r;
	return n;
}

static unsigned
lacking(const struct doctor *d)
{
	unsigned n = 0;

	for (size_t i = 0; i < d->machine.nparts; i++)
		n += d->machine.parts[i].is_needed &&
		    d->machine.parts[i].status != MACHINE_STRICT;
	return n;
}

bool
doctor_is_enforced(const struct doctor *d)
{
	return lacking(d) == 0 && d->is_started && d->jail_error == NULL &&
	    doctor_count(d, TRY_HOLE) == 0 && doctor_count(d, TRY_BROKEN) == 0;
}

/* ---- text ---- */

static void
put_safe(struct buf *b, const char *s)
{
	str_escape(b, s, strlen(s), 0);
}

static void
put_item(struct buf *b, const struct machine_part *it)
{
	buf_printf(b, "  %-*s %-*s ", WORD_WIDTH, doctor_status_word(
	    it->status), ID_WIDTH, it->id);
	put_safe(b, it->detail);
	buf_putc(b, '\n');
	if (it->status == MACHINE_STRICT)
		return;
	buf_printf(b, "%*s for:   %s%s\n", WORD_WIDTH + 2, "", it->purpose,
	    it->is_needed ? "" : " (the default policy does not need it)");
	buf_printf(b, "%*s needs: %s\n", WORD_WIDTH + 2, "", it->needs);
	if (it->cure != NULL) {
		buf_printf(b, "%*s cure:  ", WORD_WIDTH + 2, "");
		put_safe(b, it->cure);
		buf_putc(b, '\n');
	}
}

static void
put_try(struct buf *b, const struct doctor *d, const struct doctor_try *t)
{
	const struct try_answer *a = &t->answer;
	char room[ERRNAME_MAX];

	buf_printf(b, "  %-*s %-*s ", WORD_WIDTH, a->result == TRY_HOLE ?
	    "HOLE" : doctor_result_word(a->result), WHAT_WIDTH, t->what);
	if (a->error != 0)
		buf_puts(b, errname(a->error, room));
	if (a->error != 0 && a->text[0] != '\0')
		buf_puts(b, ": ");
	put_safe(b, a->text);
	if (d->stand_in != NULL && strcmp(t->id, "read-ssh") == 0) {
		buf_puts(b, " (a stand-in, ");
		put_safe(b, d->stand_in);
		buf_puts(b, ": there is nothing in ~/.ssh)");
	}
	buf_putc(b, '\n');
}

static void
put_verdict(struct buf *b, const struct doctor *d)
{
	unsigned holes = doctor_count(d, TRY_HOLE);

	if (doctor_is_enforced(d)) {
		buf_puts(b, "\nThe default policy is fully enforced here.\n");
		return;
	}
	buf_printf(b, "\nThe default policy is NOT fully enforced here: %u "
	    "item%s short, %u hole%s, %u broken.\n", lacking(d),
	    lacking(d) == 1 ? "" : "s", holes, holes == 1 ? "" : "s",
	    doctor_count(d, TRY_BROKEN));
}

void
doctor_text(const struct doctor *d, struct buf *b)
{
	buf_puts(b, "What this machine can enforce:\n\n");
	for (size_t i = 0; i < d->machine.nparts; i++)
		put_item(b, &d->machine.parts[i]);
	buf_puts(b, "\nWhat was tried from inside a jail (policy "
	    "workspace-write):\n\n");
	if (d->jail_error != NULL) {
		buf_puts(b, "  the jail: ");
		put_safe(b, d->jail_error);
		buf_putc(b, '\n');
	}
	for (size_t i = 0; d->is_started && i < TRY_NROWS; i++)
		put_try(b, d, &d->tries[i]);
	put_verdict(b, d);
}

/* ---- JSON ---- */

static void
put_bool(struct buf *b, const char *name, bool value)
{
	json_put_name(b, name);
	buf_puts(b, value ? "true" : "false");
}

static void
item_json(struct buf *b, const struct machine_part *it)
{
	buf_putc(b, '{');
	json_put_text(b, "id", it->id);
	json_put_text(b, "status", doctor_status_word(it->status));
	put_bool(b, "needed", it->is_needed);
	json_put_text(b, "purpose", it->purpose);
	json_put_text(b, "needs", it->needs);
	json_put_text(b, "detail", it->detail);
	json_put_text(b, "cure", it->cure);
	buf_putc(b, '}');
}

static void
try_json(struct buf *b, const struct doctor_try *t)
{
	char room[ERRNAME_MAX];

	buf_putc(b, '{');
	json_put_text(b, "id", t->id);
	json_put_text(b, "what", t->what);
	json_put_text(b, "result", doctor_result_word(t->answer.result));
	json_put_text(b, "errno", t->answer.error == 0 ? NULL :
	    errname(t->answer.error, room));
	json_put_text(b, "detail", t->answer.text[0] != '\0' ? t->answer.text :
	    NULL);
	buf_putc(b, '}');
}

void
doctor_json(const struct doctor *d, struct buf *b)
{
	buf_puts(b, "{\"version\":1");
	json_put_text(b, "fence", FENCE_VERSION);
	put_bool(b, "enforced", doctor_is_enforced(d));
	json_put_name(b, "machine");
	buf_putc(b, '[');
	for (size_t i = 0; i < d->machine.nparts; i++) {
		buf_puts(b, i > 0 ? "," : "");
		item_json(b, &d->machine.parts[i]);
	}
	buf_puts(b, "],\"jail\":{");
	put_bool(b, "started", d->is_started);
	json_put_text(b, "policy", "workspace-write");
	json_put_text(b, "engine", d->engine);
	json_put_text(b, "error", d->jail_error);
	json_put_text(b, "standIn", d->stand_in);
	buf_printf(b, "},\"holes\":%u,\"tries\":[",
	    doctor_count(d, TRY_HOLE));
	for (size_t i = 0; i < TRY_NROWS; i++) {
		buf_puts(b, i > 0 ? "," : "");
		try_json(b, &d->tries[i]);
	}
	buf_puts(b, "]}\n");
}

/* ---- --linux-features ---- */

static const char *
ok_word(bool is_ok)
{
	return is_ok ? "ok" : "unavailable";
}

/* The Go program's columns and words; rows of ours beside its own. */
void
doctor_features(const struct doctor *d, struct buf *b)
{
	static const struct {
		const char	*name, *purpose, *id;
	} rows[] = {
		{ "Kernel", "Linux sandbox baseline", "kernel" },
		{ "Bubblewrap", "core sandbox", "bwrap" },
		{ "User namespaces", "sandbox without root",
		    "user-namespaces" },
		{ "Network namespace", "direct network isolation",
		    "network-namespace" },
		{ "nftables TPROXY", "transparent gate", "nftables" },
		{ "Overlay", "files of its own in /etc", "overlay" },
		{ "Seccomp filter", "syscall hardening", "seccomp" },
		{ "Seccomp log action", "violation diagnostics", NULL },
		{ "Seccomp user notification", "runtimeExecPolicy: \"argv\"",
		    "seccomp-notify" },
		{ "Landlock", "extra filesystem enforcement", "landlock" },
		{ "Control groups v2", "limits.memory, limits.processes",
		    "cgroup" },
	};

	buf_puts(b, "Linux Sandbox Features:\n\n");
	buf_printf(b, "  %-25s  %-31s  %-11s  %s\n", "Capability",
	    "Required For", "Status", "Details");
	buf_printf(b, "  %-25s  %-31s  %-11s  %s\n", "----------",
	    "------------", "------", "-------");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct machine_part *it = rows[i].id == NULL ? NULL :
		    doctor_part(d, rows[i].id);
		bool is_ok = it == NULL ? d->machine.logs_calls :
		    it->status != MACHINE_ABSENT;

		buf_printf(b, "  %-25s  %-31s  %-11s  ", rows[i].name,
		    rows[i].purpose, i == 0 ? "info" : ok_word(is_ok));
		put_safe(b, it != NULL ? it->detail : is_ok ? "accepted" :
		    "not accepted");
		buf_putc(b, '\n');
	}
}
