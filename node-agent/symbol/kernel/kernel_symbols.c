/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kernel_symbols.h"

#include "symbol/kernel/kallsyms.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kernel_symbols {
	int proc_fd; /* borrowed */
	struct kallsyms *list; /* owned; NULL until the file was read */
	uint64_t read_at_ns; /* time of the last attempt to read it */
	uint64_t wait_ns; /* time between that attempt and the next one */
	uint64_t changed_ns; /* atomic; time of the last known change of the kernel's code */
};

/* Reads the file; if that fails, the old list stays. */
static int read_list(struct kernel_symbols *symbols, uint64_t now_ns)
{
	struct kallsyms *list = NULL;

	symbols->read_at_ns = now_ns;
	int r = kallsyms_load(symbols->proc_fd, "kallsyms", &list);
	if (r < 0)
		return r;
	kallsyms_free(symbols->list);
	symbols->list = list;
	return 0;
}

int kernel_symbols_new(int proc_fd, uint64_t now_ns, int *ret_error,
		       struct kernel_symbols **ret_symbols)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = calloc(1,
										sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	symbols->proc_fd = proc_fd;
	symbols->wait_ns = KERNEL_SYMBOLS_MIN_WAIT_NS;

	int r = read_list(symbols, now_ns);
	if (r == -ENOMEM)
		return r;
	*ret_error = r;
	*ret_symbols = take_ptr(symbols);
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	kallsyms_free(symbols->list);
	free(symbols);
}

static const char *find(const struct kernel_symbols *symbols, uint64_t address,
			const char **ret_module)
{
	return symbols->list ? kallsyms_find(symbols->list, address, ret_module) : NULL;
}

void kernel_symbols_outdate(struct kernel_symbols *symbols, uint64_t time_ns)
{
	__atomic_store_n(&symbols->changed_ns, time_ns, __ATOMIC_RELAXED);
}

static bool may_read_again(const struct kernel_symbols *symbols, uint64_t now_ns)
{
	uint64_t changed_ns = __atomic_load_n(&symbols->changed_ns, __ATOMIC_RELAXED);
	uint64_t wait_ns = symbols->wait_ns;

	if (changed_ns > symbols->read_at_ns && wait_ns > KERNEL_SYMBOLS_CHANGED_WAIT_NS)
		wait_ns = KERNEL_SYMBOLS_CHANGED_WAIT_NS;
	return now_ns - symbols->read_at_ns >= wait_ns;
}

/* Reads the file again because of an address. `name` is its present name; NULL: it has none. */
static void read_again(struct kernel_symbols *symbols, uint64_t address, const char *name,
		       uint64_t now_ns)
{
	_cleanup_free_ char *old_name = name ? strdup(name) : NULL;
	const char *module;

	if (name && !old_name)
		return;

	int r = read_list(symbols, now_ns);
	const char *new_name = find(symbols, address, &module);
	bool helped = r == 0 && new_name && (!old_name || strcmp(new_name, old_name) != 0);

	symbols->wait_ns = helped ? KERNEL_SYMBOLS_MIN_WAIT_NS : 2 * symbols->wait_ns;
	if (symbols->wait_ns > KERNEL_SYMBOLS_MAX_WAIT_NS)
		symbols->wait_ns = KERNEL_SYMBOLS_MAX_WAIT_NS;
}

const char *kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address, uint64_t now_ns,
				const char **ret_module)
{
	const char *module = "";
	const char *name = find(symbols, address, &module);
	bool is_doubtful = !name || module[0] != '\0';

	if (is_doubtful && may_read_again(symbols, now_ns)) {
		read_again(symbols, address, name, now_ns);
		name = find(symbols, address, &module);
	}
	if (name && ret_module)
		*ret_module = module;
	return name;
}

void kernel_symbols_each(const struct kernel_symbols *symbols,
			 void (*handle)(const char *name, uint64_t start, uint64_t end, void *data),
			 void *data)
{
	if (symbols->list)
		kallsyms_each(symbols->list, handle, data);
}
