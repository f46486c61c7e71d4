#include "platform/linux/seccomp_code.h"

enum { REACH = 255 };		/* of a conditional jump */

/* How many instructions lie between the next one written and a place. */
static size_t
distance(const struct code *c, size_t place)
{
	return c->n - 1 - place;
}

static size_t
put(struct code *c, struct sock_filter ins, size_t yes, size_t no)
{
	if (c->n == CODE_MAX) {
		c->failed = true;
		return 0;
	}
	c->ins[c->n] = ins;
	c->to[c->n][0] = yes;
	c->to[c->n][1] = no;
	return c->n++;
}

/* The same instruction with the same continuation, if it is in reach. */
static bool
find(const struct code *c, unsigned op, uint32_t k, size_t yes, size_t no,
    size_t *ret_place)
{
	for (size_t i = c->n; i-- > 0 && distance(c, i) < REACH;)
		if (c->ins[i].code == op && c->ins[i].k == k &&
		    c->to[i][0] == yes && c->to[i][1] == no) {
			*ret_place = i;
			return true;
		}
	return false;
}

size_t
code_return(struct code *c, uint32_t verdict)
{
	struct sock_filter ins = BPF_STMT(BPF_RET | BPF_K, verdict);
	size_t place;

	if (find(c, ins.code, verdict, 0, 0, &place))
		return place;
	return put(c, ins, 0, 0);
}

/*
 * A place that conditional jumps reach, also when `more` instructions are
 * written in between.
 */
static size_t
near(struct code *c, size_t place, size_t more)
{
	struct sock_filter ins = BPF_STMT(BPF_JMP | BPF_JA, 0);

	if (distance(c, place) + more <= REACH)
		return place;
	if (c->ins[place].code == (BPF_RET | BPF_K))
		return code_return(c, c->ins[place].k);
	ins.k = distance(c, place);
	return put(c, ins, place, place);
}

/* What does not jump goes on at the instruction behind it. */
static size_t
put_before(struct code *c, struct sock_filter ins, size_t next)
{
	size_t place;

	if (find(c, ins.code, ins.k, next, next, &place))
		return place;
	if (distance(c, next) > 0) {
		struct sock_filter jump = BPF_STMT(BPF_JMP | BPF_JA, 0);

		jump.k = distance(c, next);
		put(c, jump, next, next);
	}
	return put(c, ins, next, next);
}

size_t
code_load(struct code *c, size_t offset, size_t next)
{
	struct sock_filter ins = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);

	ins.k = offset;
	return put_before(c, ins, next);
}

size_t
code_and(struct code *c, uint32_t mask, size_t next)
{
	struct sock_filter ins = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask);

	return put_before(c, ins, next);
}

size_t
code_if(struct code *c, unsigned op, uint32_t k, size_t yes, size_t no)
{
	struct sock_filter ins = BPF_JUMP(BPF_JMP | op | BPF_K, k, 0, 0);
	size_t place, near_yes;

	if (yes == no)
		return yes;
	if (find(c, ins.code, k, yes, no, &place))
		return place;
	near_yes = near(c, yes, 1);
	no = near(c, no, 0);
	ins.jt = distance(c, near_yes);
	ins.jf = distance(c, no);
	return put(c, ins, near_yes, no);
}

int
code_export(struct code *c, size_t start, struct buf *out)
{
	if (c->failed)
		return -1;
	for (size_t i = start + 1; i-- > 0;)
		buf_add(out, &c->ins[i], sizeof c->ins[i]);
	return 0;
}
