/* loaded_symbols.c - looks symbols up in the GNU hash tables of ELF objects.
 *
 * The table's symbols are sorted by bucket. Each has its hash in the chain, of which the lowest bit says
 * that it is the last one of its bucket. Objects with the older kind of table alone are not searched.
 * The C library keeps objects mapped while dl_iterate_phdr() runs. */
#include "tracer/loaded/loaded_symbols.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
	const char *name;
	uint32_t hash;
	uint64_t found;
};

/* An object's tables; NULL: it has none. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *texts;
	const uint32_t *hash;
};

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static int is_definition(const struct tables *t, uint32_t symbol, const char *name)
{
	const ElfW(Sym) *s = &t->symbols[symbol];
	unsigned type = s->st_info & 15;

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE) &&
	       !strcmp(t->texts + s->st_name, name);
}

/* The number of a symbol; 0: there is none. */
static uint32_t find(const struct tables *t, const struct search *s)
{
	uint32_t buckets = t->hash[0], first = t->hash[1], filters = t->hash[2], i;
	const ElfW(Addr) *filter = (const void *)(t->hash + 4);
	const uint32_t *bucket = (const void *)(filter + filters);
	const uint32_t *chain = bucket + buckets;

	i = buckets ? bucket[s->hash % buckets] : 0;
	for (; i && i >= first; i++) {
		if ((chain[i - first] | 1) == (s->hash | 1) && is_definition(t, i, s->name))
			return i;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

/* The C library has made most addresses in the section absolute, but not those of every object. */
static const void *table_at(const struct dl_phdr_info *info, ElfW(Addr) at)
{
	return (const void *)(uintptr_t)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
}

static void read_section(
	const struct dl_phdr_info *info, const ElfW(Phdr) * section, struct tables *out)
{
	const ElfW(Dyn) *d = (const void *)(uintptr_t)(info->dlpi_addr + section->p_vaddr);

	for (; d->d_tag != DT_NULL; d++) {
		const void *at = table_at(info, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			out->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			out->texts = at;
		else if (d->d_tag == DT_GNU_HASH)
			out->hash = at;
	}
}

static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct tables t = {NULL, NULL, NULL};
	struct search *s = arg;
	uint32_t symbol = 0;
	unsigned i;

	(void)bytes;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_section(info, &info->dlpi_phdr[i], &t);
	if (t.symbols && t.texts && t.hash)
		symbol = find(&t, s);
	if (symbol)
		s->found = info->dlpi_addr + t.symbols[symbol].st_value;
	return symbol != 0;
}

uint64_t vtr_loaded_symbol(const char *name)
{
	struct search s = {name, hash_of(name), 0};

	dl_iterate_phdr(look, &s);
	return s.found;
}

static int count(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	if (bytes >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof(info->dlpi_adds))
		*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

uint64_t vtr_loaded_count(void)
{
	uint64_t loaded = 0;

	dl_iterate_phdr(count, &loaded);
	return loaded;
}
