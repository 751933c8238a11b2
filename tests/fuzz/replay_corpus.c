/* SPDX-License-Identifier: Apache-2.0 */
/* main() of a fuzz target in builds without libFuzzer: feeds it every file of the directories
 * given. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#define INPUT_MAX_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replay_file(int dir_fd, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf input = strbuf_with_max(INPUT_MAX_BYTES);

	int r = file_read_at(dir_fd, name, &input);
	if (r < 0)
		return r;
	LLVMFuzzerTestOneInput((const uint8_t *)strbuf_str(&input), input.len);
	return 0;
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
	for (int i = 1; i < argc; i++) {
		if (replay_dir(argv[i]) <= 0) {
			fprintf(stderr, "%s: no inputs, or they cannot be read\n", argv[i]);
			return 1;
		}
	}
	return argc > 1 ? 0 : 2;
}
