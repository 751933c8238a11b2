/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/row_seed.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/random.h"
#include "unwind/file/row_cache_files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "hash-seed"

static bool read_seed(int dir_fd, uint64_t *ret_seed)
{
	_cleanup_close_ int fd = openat(dir_fd, NAME,
					O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0 ||
	    st.st_size != sizeof(*ret_seed))
		return false;
	return fd_read_all(fd, ret_seed, sizeof(*ret_seed)) == 0;
}

static void write_seed(int dir_fd, uint64_t seed)
{
	char temp[ROW_CACHE_NAME_MAX];
	const struct file_content content = {
		.name = NAME,
		.temp_name = temp,
		.mode = 0600,
		.parts = { { &seed, sizeof(seed) } },
	};

	if (row_cache_files_temp_name(temp) == 0)
		(void)!file_replace_at(dir_fd, &content);
}

int row_seed_load(int dir_fd, uint64_t *ret_seed)
{
	uint64_t seed;

	if (read_seed(dir_fd, ret_seed))
		return 0;
	int r = random_bytes(&seed, sizeof(seed));
	if (r < 0)
		return r;
	write_seed(dir_fd, seed);
	*ret_seed = seed;
	return 0;
}
