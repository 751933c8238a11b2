/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests of the OTLP encoder, written as tables. */
#ifndef TESTS_ORACLE_OTLP_SAMPLE_H
#define TESTS_ORACLE_OTLP_SAMPLE_H

#include "otlp/attributes/attribute_maker.h"
#include "otlp/encode/encode.h"
#include "profile/builder.h"

struct otlp_line {
	const char *name; /* system name, too */
	const char *source;
	uint32_t start_line;
	uint32_t line;
};

struct otlp_frame {
	const char *name;
	const char *system_name; /* NULL: the name is a stand-in */
	enum frame_kind kind;
	const char *file; /* NULL: no mapping */
	const char *build_id; /* NULL: the file has none */
	uint64_t address;
	const struct otlp_line
		*lines; /* instead of the name: innermost first, ended by an empty one; or NULL */
};

struct otlp_process {
	const char *path; /* NULL: it has a name only */
	const char *name;
	uint32_t pid;
	uint64_t start_ns, seen_ns;
};

struct otlp_sample {
	const struct attribute *attributes;
	size_t nr_attributes;
	const struct otlp_frame *frames; /* leaf first */
	size_t nr_frames;
	const char *thread;
	struct profile_sample numbers; /* cgroup_id, pid, tid, cpu, count */
	const char *comm; /* of the process */
	const struct otlp_process *process; /* NULL: not known */
};

/* The samples as a profile of 10 s at 100 Hz that began at OTLP_SAMPLE_TIME; NULL for want of
 * memory. */
#define OTLP_SAMPLE_TIME_NS UINT64_C(1795188153000000000)
struct profile *otlp_profile_of(const struct otlp_sample *samples, size_t nr);

/* A job for all samples of a profile, with the labels of a new maker. */
struct otlp_job {
	struct encode_job job;
	struct attribute_maker *maker;
	struct export_attributes attributes;
	uint32_t *samples;
};
int otlp_job_init(struct otlp_job *job, const struct profile *profile,
		  const struct attribute_opts *opts) must_check;
void otlp_job_done(struct otlp_job *job);

#define OTLP_STANDARD (&(struct attribute_opts){ .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT })
#define OTLP_PYROSCOPE                                                                             \
	(&(struct attribute_opts){ .preset = ATTRIBUTES_PYROSCOPE,                                 \
				   .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT })

/* All of it as OTLP, with the standard preset. */
int otlp_encode_profile(const struct profile *profile, struct strbuf *out) must_check;

/* One of everything an encoder can meet. What must become of it is written down in
 * otlp_expected.py. */
struct profile *otlp_sample_profile(void);

#endif
