/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/record_check.h"

#include "bpf/shared/frames.h"

#include <stdint.h>
#include <string.h>

bool record_is_whole(const struct sample_event *event, size_t frames_bytes)
{
	return event->nr_kernel <= MAX_KERNEL_FRAMES && event->nr_user <= MAX_USER_WORDS &&
	       event->unwind_result < UNWIND_NR_RESULTS && event->kind < RECORD_NR_KINDS &&
	       frames_bytes >=
		       ((size_t)event->nr_kernel + event->nr_user) * sizeof(event->frames[0]);
}

bool record_is_copy(const void *record, size_t len)
{
	uint64_t time_ns;

	if (len < sizeof(time_ns))
		return false;
	memcpy(&time_ns, record, sizeof(time_ns));
	return time_ns == 0;
}
