/* SPDX-License-Identifier: Apache-2.0 */
/* Loads plugins, works in them for a while and unloads them again. The arguments are their
 * files. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "burn.h"

#define WORK_MS 150

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

NOINLINE static unsigned long callback(unsigned long x)
{
	return burn(50 + x % 16);
}

NOINLINE static void use(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);

	if (!plugin)
		exit(EXIT_FAILURE);
	unsigned long (*run)(unsigned long (*)(unsigned long), unsigned long) = (unsigned long (*)(
		unsigned long (*)(unsigned long), unsigned long))dlsym(plugin, "run");
	for (long long end_ms = now_ms() + WORK_MS; now_ms() < end_ms;)
		sink += run(callback, sink);
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	begin_burning();
	for (unsigned int i = 0; argc > 1; i++)
		use(argv[1 + i % (unsigned int)(argc - 1)]);
	return EXIT_FAILURE;
}
