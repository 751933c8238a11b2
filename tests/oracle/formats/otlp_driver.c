/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the sample profile to the checks written in other languages.
 *
 *	otlp_driver encode			the request's body on standard output
 *	otlp_driver sample|load standard|pyroscope
 *						the body made of the sample profile, or of that of a busy node, with the
 *						labels of a preset; what it costs on standard error
 */
#include "base/fileio.h"
#include "tests/oracle/formats/otlp_load.h"
#include "tests/oracle/formats/otlp_sample.h"

#include <string.h>

#define BODY_MAX_BYTES (16 << 20)

static int write_body(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);

	int r = otlp_encode_profile(profile, &body);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, body.data, body.len);
}

static int write_with_cost(const struct profile *profile, const char *preset)
{
	bool is_pyroscope = strcmp(preset, "pyroscope") == 0;
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct encode_result result = { .cost_bytes = 0 };

	int r = otlp_job_init(&job, profile, is_pyroscope ? OTLP_PYROSCOPE : OTLP_STANDARD);
	if (r == 0)
		r = otlp_encode(&job.job, &body, &result);
	if (r < 0)
		return r;
	fprintf(stderr, "%zu\n", result.cost_bytes);
	return fd_write_all(STDOUT_FILENO, body.data, body.len);
}

int main(int argc, char **argv)
{
	bool is_load = argc == 3 && strcmp(argv[1], "load") == 0;
	_cleanup_(profile_unrefp) struct profile *profile = is_load ? otlp_load_profile()
								    : otlp_sample_profile();
	int r = -EINVAL;

	if (!profile)
		return 1;
	if (argc == 2 && strcmp(argv[1], "encode") == 0)
		r = write_body(profile);
	else if (is_load || (argc == 3 && strcmp(argv[1], "sample") == 0))
		r = write_with_cost(profile, argv[2]);
	if (r < 0)
		fprintf(stderr, "otlp_driver: %s\n", strerror(-r));
	return r < 0;
}
