/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C that is busy for a while, then loads a libpython by dlopen(), starts it, ends it,
 * starts it again, and runs a script.
 *
 *	embedded LIBPYTHON SCRIPT ARGUMENT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#define LATE_CLOCKS (CLOCKS_PER_SEC / 5)
#define MAX_TEXT 1024

struct python {
	void (*initialize)(int with_signals);
	int (*run)(const char *text);
	int (*finalize)(void);
};

static int load_python(const char *path, struct python *ret_python)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		return -1;
	*(void **)&ret_python->initialize = dlsym(library, "Py_InitializeEx");
	*(void **)&ret_python->run = dlsym(library, "PyRun_SimpleString");
	*(void **)&ret_python->finalize = dlsym(library, "Py_FinalizeEx");
	return ret_python->initialize && ret_python->run && ret_python->finalize ? 0 : -1;
}

static void be_busy(void)
{
	clock_t end = clock() + LATE_CLOCKS;

	while (clock() < end)
		continue;
}

static int run_script(const struct python *python, char *const *argv)
{
	char text[MAX_TEXT];

	snprintf(text, sizeof(text),
		 "import sys\nsys.argv = ['%s', '%s']\n"
		 "exec(open('%s').read(), {'__name__': '__main__'})",
		 argv[2], argv[3], argv[2]);
	python->initialize(0);
	int r = python->run(text);
	return python->finalize() < 0 ? -1 : r;
}

int main(int argc, char *argv[])
{
	struct python python;

	if (argc != 4)
		return 2;
	be_busy();
	if (load_python(argv[1], &python) < 0)
		return 1;
	python.initialize(0);
	if (python.run("pass") < 0 || python.finalize() < 0)
		return 1;
	return run_script(&python, argv) < 0;
}
