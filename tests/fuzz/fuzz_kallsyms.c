/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kallsyms.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1000, UINT64_C(0xffffffff81000010),
					      UINT64_MAX };
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kallsyms_load(AT_FDCWD, path, &kallsyms) < 0)
		return 0;
	for (size_t i = 0; i < array_len(addresses); i++) {
		const char *module = "";
		const char *name = kallsyms_find(kallsyms, addresses[i], &module);

		if (name && strlen(name) + strlen(module) > size)
			abort();
	}
	return 0;
}
