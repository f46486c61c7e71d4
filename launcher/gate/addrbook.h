/*
 * addrbook: name <-> fake address.  Names the policy allows get a stable
 * address of 198.18.0.0/15 for as long as the run lasts; an address is never
 * given to a second name.  Names that a wildcard allows share half of the
 * addresses, so that one command cannot leave none for those that the policy
 * spells out.  198.18.0.0/24 is the jail's own and never handed
 * out.
 */
#ifndef FENCE_LAUNCHER_ADDRBOOK_H
#define FENCE_LAUNCHER_ADDRBOOK_H

#include <stdbool.h>
#include <stdint.h>

struct addrbook;

struct addrbook	*addrbook_new(void);
void		 addrbook_free(struct addrbook *);
/*
 * Canonical name -> address in host order; -1 when the book is full.
 * is_reserved: the policy spells the name out.
 */
int		 addrbook_get(struct addrbook *, const char *name,
		    bool is_reserved, uint32_t *ret_addr);
/* NULL for an address that was never handed out. */
const char	*addrbook_name(const struct addrbook *, uint32_t addr);
bool		 addrbook_is_fake(uint32_t addr);

#endif
