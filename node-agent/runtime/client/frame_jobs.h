/* SPDX-License-Identifier: Apache-2.0 */
/* The requests for names of frames (runtime_jobs.h). Frames whose code objects were copied are read
 * from the copies, those of many processes at once; all others from the memory of their process. */
#ifndef RUNTIME_CLIENT_FRAME_JOBS_H
#define RUNTIME_CLIENT_FRAME_JOBS_H

#include "base/err.h"
#include "runtime/client/runtime_search.h"

/* Chooses frames and writes the request. Returns whether there are some. */
bool frame_jobs_next(const struct runtime_search *search);

/* Has the frames of a request wait again. */
void frame_jobs_put_back(struct runtime_registry *registry, const struct runtime_job *job);

/* Leaves the frames of a request without names. */
void frame_jobs_lose(struct runtime_registry *registry, const struct runtime_job *job,
		     uint64_t now_ns);

/* Takes the names of frames. What could not be read from a copy waits for the memory of its
 * process. Errors: -EBADMSG the worker sent nonsense. */
int frame_jobs_take(struct runtime_registry *registry, const struct runtime_job *job,
		    const struct runtime_reply *reply) must_check;

#endif
