/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/commands.h"

#include <stdio.h>
#include <sys/utsname.h>

int cmd_version(const struct options *options)
{
	struct utsname host;

	(void)options;
	if (uname(&host) < 0)
		return STATUS_FAILED;
	printf("flamelet %s (%s)\n", FLAMELET_VERSION, host.machine);
	return STATUS_OK;
}
