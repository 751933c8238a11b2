/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer of samples that knows no process and binds none. */
#ifndef TESTS_BPF_KERNEL_PLAIN_CONSUMER_H
#define TESTS_BPF_KERNEL_PLAIN_CONSUMER_H

#include "capture/sample_consumer.h"

static inline void plain_consumer_catch_up(uint64_t time_ns, void *data)
{
	(void)time_ns;
	(void)data;
}

static inline void plain_consumer_meet_process(const struct sample_event *event, uint64_t ip,
					       void *data)
{
	(void)event;
	(void)ip;
	(void)data;
}

static inline struct sample_consumer plain_consumer(void (*handle)(const struct sample_event *event,
								   void *data),
						    void *data)
{
	return (struct sample_consumer){
		.catch_up = plain_consumer_catch_up,
		.meet_process = plain_consumer_meet_process,
		.handle = handle,
		.data = data,
	};
}

#endif
