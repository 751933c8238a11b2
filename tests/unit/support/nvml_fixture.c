/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_fixture.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define LIBRARY_MAX_BYTES ((size_t)64 << 20)

int nvml_fixture_init(struct nvml_fixture *fixture)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(LIBRARY_MAX_BYTES);

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/flamelet-nvml-XXXXXX");
	if (!mkdtemp(fixture->dir))
		return -errno;
	snprintf(fixture->library, sizeof(fixture->library), "%s/libnvidia-ml.so.1", fixture->dir);
	int r = file_read_at(AT_FDCWD, NVML_STANDIN, &bytes);
	return r < 0 ? r : file_write_atomic(fixture->library, bytes.data, bytes.len);
}

void nvml_fixture_done(struct nvml_fixture *fixture)
{
	remove_tree(fixture->dir);
}

void nvml_fixture_control(const struct nvml_fixture *fixture, const char *words)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/control", fixture->dir);
	assert_int_equal(file_write_atomic(path, words, strlen(words)), 0);
}
