/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the sample profile to the checks written in other languages.
 *
 *	otlp_driver encode			the request's body on standard output
 *	otlp_driver export ENDPOINT		through the exporter, to a real receiver
 */
#include "base/clock.h"
#include "base/fileio.h"
#include "otlp/exporter.h"
#include "tests/oracle/otlp_sample.h"

#include <string.h>

#define BODY_MAX_BYTES (1 << 20)

static int write_body(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);

	int r = otlp_encode_profile(profile, &body);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, body.data, body.len);
}

static int export_to(const char *endpoint, struct profile *profile)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = NULL;
	uint64_t deadline_ns = clock_mono_ns() + 20 * NSEC_PER_SEC;
	struct exporter_stats stats = { 0 };
	const struct exporter_opts opts = {
		.endpoint = endpoint,
		.interval_ns = 50 * NSEC_PER_MSEC,
		.timeout_ns = 10 * NSEC_PER_SEC,
	};

	int r = exporter_start(&opts, &exporter);
	if (r < 0)
		return r;
	exporter_push(exporter, profile);
	while (stats.nr_requests == 0 && clock_mono_ns() < deadline_ns) {
		usleep(10000);
		stats = exporter_get_stats(exporter);
	}
	return stats.nr_samples_sent == stats.nr_samples_pushed ? 0 : -EIO;
}

int main(int argc, char **argv)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	int r = -EINVAL;

	if (!profile)
		return 1;
	if (argc == 2 && strcmp(argv[1], "encode") == 0)
		r = write_body(profile);
	else if (argc == 3 && strcmp(argv[1], "export") == 0)
		r = export_to(argv[2], profile);
	if (r < 0)
		fprintf(stderr, "otlp_driver: %s\n", strerror(-r));
	return r < 0;
}
