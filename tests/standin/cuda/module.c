/* module.c - modules and libraries: PTX text, of which only the entries' names are read.
 *
 *	.visible .entry NAME(.param .u64 ns, ...)
 *
 * Names are interned and outlive their module, as CUPTI's do. */
#include "tests/standin/cuda/device_state.h"

#include <stdlib.h>
#include <string.h>

struct module {
	uint64_t magic;
	uint32_t id;
	const char *image;
	size_t image_bytes;
	struct sim_kernel *kernels;
};

static struct name {
	struct name *next;
	char text[];
} * names[1024];

static uint32_t module_count;

const char *sim_intern(const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = 14695981039346656037u;
	struct name *n;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	for (n = names[hash % 1024]; n; n = n->next)
		if (!strcmp(n->text, text))
			return n->text;
	n = malloc(sizeof(*n) + length + 1);
	if (!n)
		return NULL;
	memcpy(n->text, text, length + 1);
	n->next = names[hash % 1024];
	names[hash % 1024] = n;
	return n->text;
}

static int name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

/* Adds the entry whose name begins at `at`. */
static int add_kernel(struct module *m, const char *at)
{
	size_t length = 0;
	struct sim_kernel *k;
	const char *open, *close;
	char *name;

	while (name_char(at[length]))
		length++;
	name = length ? strndup(at, length) : NULL;
	k = calloc(1, sizeof(*k));
	if (!name || !k) {
		free(name);
		free(k);
		return length ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_PTX;
	}
	k->magic = SIM_KERNEL_MAGIC;
	k->name = sim_intern(name);
	free(name);
	open = at + length + strspn(at + length, " \t\r\n");
	close = *open == '(' ? strchr(open, ')') : NULL;
	k->has_arguments = close && memmem(open, (size_t)(close - open), ".param", 6) != NULL;
	k->next = m->kernels;
	m->kernels = k;
	return 0;
}

static void module_free(struct module *m)
{
	while (m->kernels) {
		struct sim_kernel *k = m->kernels;

		m->kernels = k->next;
		k->magic = 0;
		free(k);
	}
	m->magic = 0;
	free(m);
}

static int parse(struct module *m, const char *text)
{
	for (const char *at = strstr(text, ".visible"); at; at = strstr(at + 1, ".visible")) {
		const char *word = at + strlen(".visible");
		int error;

		word += strspn(word, " \t\r\n");
		if (strncmp(word, ".entry", 6))
			continue;
		word += 6;
		word += strspn(word, " \t\r\n");
		error = add_kernel(m, word);
		if (error)
			return error;
	}
	return m->kernels ? 0 : CUDA_ERROR_INVALID_PTX;
}

static void tell(const struct module *m, enum sim_resource_id id)
{
	sim_tell(&(struct sim_resource){.id = id,
		.context = sim_current(),
		.module = m->id,
		.image = m->image,
		.image_bytes = m->image_bytes});
}

int sim_module_load(void **out, const void *image)
{
	struct module *m;
	CUcontext context;
	int error = sim_current_or_primary(&context);

	*out = NULL;
	if (error)
		return error;
	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	m = calloc(1, sizeof(*m));
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_may_stay(m);
	m->magic = SIM_MODULE_MAGIC;
	m->id = ++module_count;
	m->image = image;
	m->image_bytes = strlen(image) + 1;
	error = parse(m, image);
	if (error) {
		module_free(m);
		return error;
	}
	tell(m, SIM_MODULE_LOADED);
	*out = m;
	return 0;
}

int sim_module_unload(void *module)
{
	struct module *m = module;

	if (!m || m->magic != SIM_MODULE_MAGIC)
		return CUDA_ERROR_INVALID_HANDLE;
	m->image = NULL; /* the caller's, and perhaps gone */
	m->image_bytes = 0;
	tell(m, SIM_MODULE_UNLOAD);
	module_free(m);
	return 0;
}

int sim_module_kernel(void **out, void *module, const char *name)
{
	struct module *m = module;

	*out = NULL;
	if (!m || m->magic != SIM_MODULE_MAGIC || !name)
		return CUDA_ERROR_INVALID_HANDLE;
	for (struct sim_kernel *k = m->kernels; k; k = k->next) {
		if (strcmp(k->name, name))
			continue;
		*out = k;
		return 0;
	}
	return CUDA_ERROR_NOT_FOUND;
}
