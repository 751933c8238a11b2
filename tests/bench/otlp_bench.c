/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the encoding of a busy node's profile (otlp_load.h), all resources in one request.
 *
 *	otlp_bench BODY		a line a form: name, bytes a sample raw, gzip'ed, ns of CPU time a sample to encode, to compress;
 *				then the number of samples. The OTLP request goes to BODY.
 */
#include "base/clock.h"
#include "base/fileio.h"
#include "base/gzip.h"
#include "otlp/encode/encode.h"
#include "profile/pprof.h"
#include "tests/oracle/formats/otlp_load.h"
#include "tests/oracle/formats/otlp_sample.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define MAX_BYTES ((size_t)64 << 20)
#define MEASURE_NS NSEC_PER_SEC

struct subject {
	const struct profile *profile;
	struct otlp_job standard;
	struct otlp_job pyroscope;
};

typedef int encode_fn(struct subject *subject, struct strbuf *out);

static int encode_labels(struct subject *subject, struct strbuf *out)
{
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };

	(void)out;
	return attribute_maker_make(subject->standard.maker, subject->profile, 0, &attributes);
}

static int encode_standard(struct subject *subject, struct strbuf *out)
{
	struct encode_result result;

	return otlp_encode(&subject->standard.job, out, &result);
}

static int encode_pyroscope(struct subject *subject, struct strbuf *out)
{
	struct encode_result result;

	return otlp_encode(&subject->pyroscope.job, out, &result);
}

static int encode_push(struct subject *subject, struct strbuf *out)
{
	struct encode_result result;

	return push_encode(&subject->pyroscope.job, out, &result);
}

static int encode_pprof(struct subject *subject, struct strbuf *out)
{
	return pprof_encode(subject->profile, NULL, NULL, out);
}

static const struct {
	const char *name;
	encode_fn *encode;
} forms[] = {
	{ "labels", encode_labels },
	{ "otlp", encode_standard },
	{ "otlp/pyroscope", encode_pyroscope },
	{ "push", encode_push },
	{ "pprof", encode_pprof },
};

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int encode_again(struct subject *subject, encode_fn *encode, struct strbuf *out)
{
	strbuf_clear(out);
	return encode(subject, out);
}

/* CPU time of one of many runs. */
static int time_encoding(struct subject *subject, encode_fn *encode, struct strbuf *out,
			 double *ret_ns)
{
	uint64_t nr = 0;

	int r = encode_again(subject, encode, out);
	uint64_t start_ns = cpu_ns();
	for (; r == 0 && cpu_ns() - start_ns < MEASURE_NS; nr++)
		r = encode_again(subject, encode, out);
	if (r < 0)
		return r;
	*ret_ns = (double)(cpu_ns() - start_ns) / (double)nr;
	return 0;
}

static int print_form(struct subject *subject, const char *name, encode_fn *encode)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	double nr_samples = (double)subject->profile->nr_samples;
	double encode_ns;

	int r = time_encoding(subject, encode, &body, &encode_ns);
	if (r < 0)
		return r;
	uint64_t start_ns = cpu_ns();
	gzip_append(&packed, body.data, body.len);
	uint64_t gzip_ns = cpu_ns() - start_ns;

	printf("%s %.1f %.1f %.0f %.0f\n", name, (double)body.len / nr_samples,
	       (double)packed.len / nr_samples, encode_ns / nr_samples,
	       (double)gzip_ns / nr_samples);
	return strbuf_error(&packed);
}

static int write_body(struct subject *subject, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	int r = encode_standard(subject, &body);
	return r < 0 ? r : fd_write_all(fd, body.data, body.len);
}

static int run(struct subject *subject, const char *path)
{
	int r = otlp_job_init(&subject->standard, subject->profile, OTLP_STANDARD);
	if (r == 0)
		r = otlp_job_init(&subject->pyroscope, subject->profile, OTLP_PYROSCOPE);
	for (size_t i = 0; r == 0 && i < array_len(forms); i++)
		r = print_form(subject, forms[i].name, forms[i].encode);
	if (r == 0)
		r = write_body(subject, path);
	printf("samples %zu\n", subject->profile->nr_samples);
	otlp_job_done(&subject->standard);
	otlp_job_done(&subject->pyroscope);
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_load_profile();
	struct subject subject = { .profile = profile };

	if (argc != 2 || !profile)
		return 2;
	int r = run(&subject, argv[1]);
	if (r < 0)
		fprintf(stderr, "otlp_bench: %s\n", strerror(-r));
	return r < 0;
}
