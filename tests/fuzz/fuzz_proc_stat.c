/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is either refused or has a state letter. */
#include "process/proc_stat.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct proc_stat stat;

	int r = proc_stat_parse((const char *)data, len, &stat);
	if (r != 0 && r != -EBADMSG)
		abort();
	if (r == 0 && (stat.state < 'A' || stat.state > 'z'))
		abort();
	return 0;
}
