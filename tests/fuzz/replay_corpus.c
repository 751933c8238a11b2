/* SPDX-License-Identifier: Apache-2.0 */
/* main() of a fuzz target in builds without libFuzzer: feeds it every file of the directories
 * given. No file may take more CPU time or memory than tests/fuzz/run allows; CPU time, since a
 * machine that is busy does not make a parser slow. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define INPUT_MAX_BYTES ((size_t)64 << 20)

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

/* Sanitizers make code slow, and keep what was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MAX_CPU_S 10
#define MAX_RESIDENT_KB (1024L << 10)
#else
#define MAX_CPU_S 1
#define MAX_RESIDENT_KB (256L << 10)
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* For the signal handler: what is being read. */
static char current[NAME_MAX + 1];

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void stop_input(int number)
{
	(void)number;
	say(current);
	say(": takes too much CPU time\n");
	_exit(1);
}

static int set_cpu_limit(time_t seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	return setitimer(ITIMER_PROF, &limit, NULL) < 0 ? -errno : 0;
}

static int check_memory(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return -errno;
	if (usage.ru_maxrss <= MAX_RESIDENT_KB)
		return 0;
	fprintf(stderr, "%s: takes %ld MB of memory\n", current, usage.ru_maxrss >> 10);
	return -ENOMEM;
}

static int replay_file(int dir_fd, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf input = strbuf_with_max(INPUT_MAX_BYTES);

	int r = file_read_at(dir_fd, name, &input);
	if (r < 0)
		return r;
	snprintf(current, sizeof(current), "%s", name);
	r = set_cpu_limit(MAX_CPU_S);
	if (r < 0)
		return r;
	LLVMFuzzerTestOneInput((const uint8_t *)strbuf_str(&input), input.len);
	r = set_cpu_limit(0);
	return r < 0 ? r : check_memory();
}

static int replay_dir(const char *path)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	int nr_files = 0;

	if (!dir)
		return -errno;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;

		int r = replay_file(dirfd(dir), entry->d_name);
		if (r < 0)
			return r;
		nr_files++;
	}
	return nr_files;
}

int main(int argc, char **argv)
{
	const struct sigaction stop = { .sa_handler = stop_input };

	if (sigaction(SIGPROF, &stop, NULL) < 0)
		return 1;
	for (int i = 1; i < argc; i++) {
		if (replay_dir(argv[i]) <= 0) {
			fprintf(stderr, "%s: no inputs, or not all can be read in bounds\n",
				argv[i]);
			return 1;
		}
	}
	return argc > 1 ? 0 : 2;
}
