/* SPDX-License-Identifier: Apache-2.0 */
/* Any text gives values that vitals have, whatever file it is said to be. */
#include "vitals/vital_files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < VITALS_NR_FILES; i++) {
		struct vitals values = { 0 };

		vital_files[i].parse((const char *)data, len, &values);
		for (enum vital vital = 0; vital < VITAL_NR; vital++)
			if (!vitals_has(&values, vital) && values.values[vital] != 0)
				abort();
		if (values.has >> VITAL_NR)
			abort();
	}
	return 0;
}
