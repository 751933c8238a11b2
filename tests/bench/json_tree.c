/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline of reading a pod list: `json_tree FILE` makes the whole JSON tree of it once, and
 * prints the CPU time in ms and the memory of body and tree in MB. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#define BODY_MAX_BYTES ((size_t)256 << 20)

static double memory_mb(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd) / (1 << 20);
}

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	double before_mb = memory_mb();

	if (argc != 2)
		return 2;
	int r = file_read_at(AT_FDCWD, argv[1], &body);
	if (r < 0)
		return 1;

	uint64_t start_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	cJSON *tree = cJSON_ParseWithLength(body.data, body.len);
	uint64_t end_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!tree)
		return 1;
	printf("%.1f %.1f\n", (double)(end_ns - start_ns) / 1e6, memory_mb() - before_mb);
	cJSON_Delete(tree);
	return 0;
}
