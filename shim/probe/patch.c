/*
 * Objects and their slots.
 *
 * When an object has been loaded and relocated, before any of its constructors
 * runs, its _init() calls __gmon_start__() if somebody has such a function.
 * We have.  So objects that are loaded later are seen without a replacement
 * of dlopen(), which finds files by who calls it.
 *
 * A slot that is not bound yet gets what the loader would bind it to, which
 * depends on the object: its own libraries, its version of the function,
 * RTLD_DEEPBIND.  dlsym(RTLD_DEFAULT) answers exactly that to a caller inside
 * the object, and who calls is told by the address that the call returns to:
 * call_from() has it return to a `ret` of the object's own code.
 */
#include "shim/probe/probe.h"

#include <sys/mman.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "shim/sys.h"

#define OUR_FOLDER	"/etc/.fence/"

enum { PAGE = 4096, RET = 0xc3, SHSTK_STATUS = 0x5005 };

struct object {
	uintptr_t		 base;
	const ElfW(Phdr)	*ph;
	size_t			 nph;
	const ElfW(Sym)		*syms;
	const char		*strings;
	const ElfW(Half)	*versions;	/* of syms, or NULL */
	const ElfW(Verneed)	*needs;
	const ElfW(Rela)	*rela, *jumps;
	size_t			 nrela, njumps;
	bool			 is_bound;	/* no slot is lazy */
	const void		*ret;	/* see call_from(), or NULL */
	uintptr_t		 relro, relro_end;
};

/* Objects that were seen, and whether any was unloaded since. */
static unsigned long long seen_adds, seen_subs;
static size_t seen;
static int is_busy;

/* The program itself, for slots that lead to its own linkage table. */
static struct object program;

/*
 * fn(a, b, c), which returns to `ret`, a return instruction.
 */
void *call_from(const void *ret, const void *fn, const void *a,
    const void *b, const void *c) PROBE_HIDDEN;
__asm__(
"	.text\n"
"	.type	call_from, @function\n"
"call_from:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	leaq	1f(%rip), %rax\n"
"	pushq	%rax\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq	%rdi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	movq	%rsi, %rax\n"
"	movq	%rdx, %rdi\n"
"	movq	%rcx, %rsi\n"
"	movq	%r8, %rdx\n"
"	jmpq	*%rax\n"
"	.cfi_adjust_cfa_offset -16\n"
"1:	ret\n"
"	.cfi_endproc\n"
"	.size	call_from, . - call_from\n");

/*
 * dlsym() of a handle may answer a closure.  Everything else goes on to the
 * real one as it came, because that looks at its caller.
 */
void probe_dlsym(void) PROBE_HIDDEN;
PROBE_HIDDEN void *real_dlsym;
__asm__(
"	.text\n"
"	.type	probe_dlsym, @function\n"
"probe_dlsym:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	pushq	%rdi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq	%rsi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	subq	$8, %rsp\n"
"	.cfi_adjust_cfa_offset 8\n"
"	call	dlsym_probe\n"
"	addq	$8, %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq	%rsi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq	%rdi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	testl	%eax, %eax\n"
"	jns	dlsym_closure\n"
"	jmpq	*real_dlsym(%rip)\n"
"	.cfi_endproc\n"
"	.size	probe_dlsym, . - probe_dlsym\n");

/* One thread at a time; a fork may have left it taken, so none waits long. */
static bool
begin(void)
{
	for (int i = 0; i < 1000; i++) {
		if (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE) == 0)
			return true;
		SYS(sched_yield, 0);
	}
	return false;
}

static void
end(void)
{
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

/* ---- an object ---- */

/* The loader relocates these in place, except where it cannot write. */
static uintptr_t
dyn_ptr(const struct object *o, const ElfW(Dyn) *d)
{
	return d->d_un.d_ptr < o->base ? o->base + d->d_un.d_ptr :
	    d->d_un.d_ptr;
}

static void
read_dynamic(struct object *o, const ElfW(Dyn) *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->syms = (const void *)dyn_ptr(o, d);
			break;
		case DT_STRTAB:
			o->strings = (const void *)dyn_ptr(o, d);
			break;
		case DT_VERSYM:
			o->versions = (const void *)dyn_ptr(o, d);
			break;
		case DT_VERNEED:
			o->needs = (const void *)dyn_ptr(o, d);
			break;
		case DT_RELA:
			o->rela = (const void *)dyn_ptr(o, d);
			break;
		case DT_RELASZ:
			o->nrela = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			o->jumps = (const void *)dyn_ptr(o, d);
			break;
		case DT_PLTRELSZ:
			o->njumps = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_BIND_NOW:
			o->is_bound = true;
			break;
		case DT_FLAGS:
			o->is_bound |= (d->d_un.d_val & DF_BIND_NOW) != 0;
			break;
		case DT_FLAGS_1:
			o->is_bound |= (d->d_un.d_val & DF_1_NOW) != 0;
			break;
		}
	}
}

/* With a shadow stack no call can pretend to come from elsewhere. */
static bool
has_shadow_stack(void)
{
	unsigned long status = 0;

	return SYS(arch_prctl, SHSTK_STATUS, &status) == 0 && status != 0;
}

static bool
read_object(struct object *o, uintptr_t base, const ElfW(Phdr) *ph,
    size_t nph)
{
	const ElfW(Dyn) *dynamic = NULL;

	memset(o, 0, sizeof *o);
	o->base = base;
	o->ph = ph;
	o->nph = nph;
	for (size_t i = 0; i < nph; i++) {
		uintptr_t at = base + ph[i].p_vaddr;

		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)at;
		if (ph[i].p_type == PT_GNU_RELRO) {
			o->relro = at & -(uintptr_t)PAGE;
			o->relro_end = (at + ph[i].p_memsz) &
			    -(uintptr_t)PAGE;
		}
		if (ph[i].p_type == PT_LOAD && o->ret == NULL &&
		    (ph[i].p_flags & (PF_X | PF_R)) == (PF_X | PF_R))
			o->ret = memchr((const void *)at, RET,
			    ph[i].p_filesz);
	}
	if (dynamic == NULL || dynamic == _DYNAMIC)
		return false;
	read_dynamic(o, dynamic);
	if (o->syms == NULL || o->strings == NULL)
		return false;
	return true;
}

static bool
is_in(const struct object *o, uintptr_t at, uint32_t flags)
{
	for (size_t i = 0; i < o->nph; i++) {
		const ElfW(Phdr) *ph = &o->ph[i];
		uintptr_t start = o->base + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags &&
		    at >= start && at - start < ph->p_memsz)
			return true;
	}
	return false;
}

/* Of the reference to a symbol; NULL: none. */
static const char *
version_of(const struct object *o, size_t sym)
{
	const ElfW(Verneed) *need = o->needs;
	ElfW(Half) want;

	if (o->versions == NULL || need == NULL)
		return NULL;
	want = o->versions[sym] & 0x7fff;
	for (;; need = (const void *)((const char *)need + need->vn_next)) {
		const ElfW(Vernaux) *aux = (const void *)((const char *)need +
		    need->vn_aux);

		for (;; aux = (const void *)((const char *)aux +
		    aux->vna_next)) {
			if ((aux->vna_other & 0x7fff) == want)
				return o->strings + aux->vna_name;
			if (aux->vna_next == 0)
				break;
		}
		if (need->vn_next == 0)
			return NULL;
	}
}

/* ---- what a slot leads to ---- */

static void *
look_up(const struct object *from, void *handle, const char *name,
    const char *version)
{
	void *found;

	if (from->ret == NULL || has_shadow_stack())
		return NULL;
	found = version == NULL ?
	    call_from(from->ret, (const void *)dlsym, handle, name, NULL) :
	    call_from(from->ret, (const void *)dlvsym, handle, name, version);
	if (found == NULL)
		(void)dlerror();	/* it is not the program's */
	return found;
}

/*
 * A program that is not position-independent and takes a function's address
 * answers with an entry of its own linkage table, to everybody.  Calls through
 * it meet the program's slot.
 */
static bool
is_linkage(const void *target)
{
	for (size_t i = 0; i < program.njumps; i++) {
		const ElfW(Sym) *sym = &program.syms[ELF64_R_SYM(
		    program.jumps[i].r_info)];

		if (sym->st_shndx == SHN_UNDEF && sym->st_value != 0 &&
		    program.base + sym->st_value == (uintptr_t)target)
			return true;
	}
	return false;
}

static bool
is_own_symbol(const struct object *o, const ElfW(Sym) *sym, uintptr_t value)
{
	return sym->st_shndx != SHN_UNDEF && o->base + sym->st_value == value;
}

/* The function, or NULL: leave the slot as it is. */
static void *
target_of(const struct object *o, size_t i, uintptr_t value, bool is_jump)
{
	const ElfW(Sym) *sym = &o->syms[i];
	const char *name = o->strings + sym->st_name;
	const char *version;
	void *found = (void *)value;

	if (value == 0 || closure_is(found))
		return NULL;
	if (is_jump && !o->is_bound && is_in(o, value, PF_X) &&
	    !is_own_symbol(o, sym, value)) {
		version = version_of(o, i);
		found = look_up(o, RTLD_DEFAULT, name, version);
		if (found != NULL && is_linkage(found))
			found = look_up(&program, RTLD_NEXT, name, version);
		return found;
	}
	return is_linkage(found) ? NULL : found;
}

/* ---- slots ---- */

static void
set_slot(const struct object *o, uintptr_t *slot, const void *value)
{
	uintptr_t at = (uintptr_t)slot, page = at & -(uintptr_t)PAGE;
	bool is_relro = at >= o->relro && at < o->relro_end;

	if (at % sizeof *slot != 0 || !is_in(o, at, PF_W))
		return;
	if (is_relro && SYS(mprotect, page, PAGE, PROT_READ | PROT_WRITE) < 0)
		return;
	__atomic_store_n(slot, (uintptr_t)value, __ATOMIC_RELEASE);
	if (is_relro)
		SYS(mprotect, page, PAGE, PROT_READ);
}

/* What stands in for the loader's own functions; NULL: nothing does. */
static const void *loader_function(const char *name, const void *value);

static void
patch_slot(const struct object *o, const ElfW(Rela) *r, bool is_jump)
{
	size_t sym = ELF64_R_SYM(r->r_info);
	const char *name = o->strings + o->syms[sym].st_name;
	uintptr_t *slot = (uintptr_t *)(o->base + r->r_offset);
	int probe = probe_find(name);
	const void *with;
	void *target;

	if (probe < 0 && (name[0] != 'd' || name[1] != 'l'))
		return;
	if (!is_in(o, (uintptr_t)slot, PF_W))
		return;
	if (probe < 0 && strcmp(name, "dlsym") != 0 &&
	    strcmp(name, "dlmopen") != 0)
		return;
	target = target_of(o, sym, *slot, is_jump);
	if (target == NULL)
		return;
	with = probe >= 0 ? closure_get(probe, target) :
	    loader_function(name, target);
	if (with != NULL)
		set_slot(o, slot, with);
}

static void
patch_object(const struct object *o)
{
	for (size_t i = 0; i < o->njumps; i++)
		if (ELF64_R_TYPE(o->jumps[i].r_info) == R_X86_64_JUMP_SLOT)
			patch_slot(o, &o->jumps[i], true);
	for (size_t i = 0; i < o->nrela; i++)
		if (ELF64_R_TYPE(o->rela[i].r_info) == R_X86_64_GLOB_DAT)
			patch_slot(o, &o->rela[i], false);
}

/* ---- all objects ---- */

static bool
is_ours(const char *path)
{
	return path != NULL && strncmp(path, OUR_FOLDER,
	    sizeof OUR_FOLDER - 1) == 0;
}

struct walk {
	size_t	 at, from;
	bool	 is_begun;
};

static int
on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = arg;
	struct object o;

	(void)size;
	if (!w->is_begun) {
		w->is_begun = true;
		if (info->dlpi_adds == seen_adds &&
		    info->dlpi_subs == seen_subs)
			return 1;	/* nothing is new */
		w->from = info->dlpi_subs == seen_subs ? seen : 0;
		seen_adds = info->dlpi_adds;
		seen_subs = info->dlpi_subs;
	}
	if (w->at++ < w->from ||
	    !read_object(&o, info->dlpi_addr, info->dlpi_phdr,
	    info->dlpi_phnum))
		return 0;
	if (w->at == 1)
		program = o;
	if (!is_ours(info->dlpi_name))
		patch_object(&o);
	return 0;
}

void
patch_objects(void)
{
	struct walk w = { 0 };

	if (!begin())
		return;
	if (real_dlsym == NULL)
		real_dlsym = (void *)dlsym;
	if (dl_iterate_phdr(on_object, &w) == 0)
		seen = w.at;
	end();
}

/* ---- dlsym and dlmopen ---- */

/* The probe that this look-up may be for, or -1. */
PROBE_HIDDEN int dlsym_probe(void *handle, const char *name);
PROBE_HIDDEN void *dlsym_closure(void *handle, const char *name);

int
dlsym_probe(void *handle, const char *name)
{
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || name == NULL)
		return -1;
	return probe_find(name);
}

void *
dlsym_closure(void *handle, const char *name)
{
	void *target = dlsym(handle, name), *closure;
	int probe = probe_find(name);

	if (target == NULL || closure_is(target) || probe < 0 || !begin())
		return target;
	closure = closure_get(probe, target);
	end();
	return closure != NULL ? closure : target;
}

struct search {
	uintptr_t	 at;
	struct object	 found;
};

static int
on_search(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	return read_object(&s->found, info->dlpi_addr, info->dlpi_phdr,
	    info->dlpi_phnum) && is_in(&s->found, s->at, PF_X);
}

/* A namespace of its own has neither this library nor a way to look. */
static void
patch_namespace(const struct link_map *m)
{
	const ElfW(Ehdr) *eh;
	struct object o;

	while (m->l_prev != NULL)
		m = m->l_prev;
	for (; m != NULL; m = m->l_next) {
		eh = (const void *)m->l_addr;
		if (m->l_addr == 0 || m->l_ld == NULL || SYS(rt_sigprocmask,
		    -1, eh, NULL, 8) != -EINVAL ||
		    memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
		    eh->e_ident[EI_CLASS] != ELFCLASS64)
			continue;
		if (read_object(&o, m->l_addr, (const void *)(m->l_addr +
		    eh->e_phoff), eh->e_phnum))
			patch_object(&o);
	}
}

static void *
probe_dlmopen(Lmid_t space, const char *file, int mode)
{
	struct search s = { .at = (uintptr_t)__builtin_return_address(0) };
	void *h;

	if (dl_iterate_phdr(on_search, &s) != 0 && s.found.ret != NULL &&
	    !has_shadow_stack())
		h = call_from(s.found.ret, (const void *)dlmopen,
		    (const void *)space, file, (const void *)(long)mode);
	else
		h = dlmopen(space, file, mode);
	if (h != NULL && space != LM_ID_BASE && begin()) {
		patch_namespace(h);
		end();
	}
	return h;
}

static const void *
loader_function(const char *name, const void *value)
{
	if (value == (const void *)dlsym && name[2] == 's')
		return (const void *)probe_dlsym;
	if (value == (const void *)dlmopen && name[2] == 'm')
		return (const void *)probe_dlmopen;
	return NULL;
}
