#include "launcher/record/quota.h"

enum { UNIT = 1000 };

void
quota_init(struct quota *q, const struct quota_rule *rule)
{
	q->rule = *rule;
	q->all.thousandths = (int64_t)rule->all * UNIT;
}

static void
fill(struct quota_store *s, unsigned most, unsigned per_second, int64_t now_ms)
{
	if (now_ms > s->ms)
		s->thousandths += (now_ms - s->ms) * per_second;
	if (s->thousandths > (int64_t)most * UNIT)
		s->thousandths = (int64_t)most * UNIT;
	s->ms = now_ms;
}

static struct quota_sender *
find_sender(struct quota *q, pid_t pid, int64_t now_ms)
{
	struct quota_sender *set = q->sender[(unsigned)pid % QUOTA_SETS];
	struct quota_sender *oldest = set;

	for (unsigned i = 0; i < QUOTA_WAYS; i++) {
		if (set[i].pid == pid && pid != 0)
			return &set[i];
		if (set[i].store.ms < oldest->store.ms)
			oldest = &set[i];
	}
	*oldest = (struct quota_sender){ .pid = pid, .store = { now_ms,
	    (int64_t)q->rule.each * UNIT } };
	return oldest;
}

bool
quota_take(struct quota *q, pid_t pid, int64_t now_ms)
{
	struct quota_sender *s = find_sender(q, pid, now_ms);

	fill(&q->all, q->rule.all, q->rule.all_per_second, now_ms);
	fill(&s->store, q->rule.each, q->rule.each_per_second, now_ms);
	if (s->second != now_ms / 1000) {
		s->second = now_ms / 1000;
		s->used = 0;
	}
	if (s->store.thousandths < UNIT || (q->all.thousandths < UNIT &&
	    s->used >= q->rule.least_per_second))
		return false;
	s->store.thousandths -= UNIT;
	if (q->all.thousandths >= UNIT)
		q->all.thousandths -= UNIT;
	s->used++;
	return true;
}
