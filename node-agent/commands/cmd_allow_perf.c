/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet allow-perf: lowers kernel.perf_event_paranoid where the kernel wants more than
 * CAP_PERFMON. It is for an init container that has no capabilities, only that one file of the
 * node. */
#include "commands/commands.h"
#include "privilege/perf_paranoid.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 4096
#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"

int cmd_allow_perf(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	const char *path = options->paranoid_file ? options->paranoid_file : PARANOID_FILE;
	int before = 0;

	int r = perf_paranoid_allow(path, &before, &message);
	if (r < 0) {
		fprintf(stderr, "flamelet allow-perf: %s\n",
			message.len > 0 ? message.data : strerror(-r));
		return STATUS_FAILED;
	}
	if (before > PERF_PARANOID_ALLOWED)
		printf("changed kernel.perf_event_paranoid from %d to %d\n", before,
		       PERF_PARANOID_ALLOWED);
	else
		printf("kernel.perf_event_paranoid is already %d\n", before);
	return STATUS_OK;
}
