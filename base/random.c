/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <sys/random.h>

int random_bytes(void *buf, size_t len)
{
	ssize_t n = getrandom(buf, len, GRND_NONBLOCK);

	if (n == (ssize_t)len)
		return 0;
	if (n >= 0 || errno != ENOSYS)
		return n < 0 ? -errno : -EAGAIN;
	_cleanup_close_ int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd_read_all(fd, buf, len);
}
