/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_fixture.h"

#include "base/clock.h"
#include "base/http_client.h"
#include "base/log.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "tests/oracle/formats/otlp_text.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <unistd.h>

static struct standin server;

int exporter_fixture_start_server(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_ERROR);
	return standin_start(&server);
}

int exporter_fixture_stop_server(void **state)
{
	(void)state;
	standin_stop(&server);
	return 0;
}

struct exporter *exporter_fixture_start_with(const char *mode, uint64_t interval_ns,
					     const char *queue_dir)
{
	struct exporter *exporter = NULL;
	char endpoint[80];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u/otlp/%s", server.port, mode);
	const struct exporter_opts opts = {
		.transport = { .endpoint = endpoint, .timeout_ns = NSEC_PER_SEC, .compress = true },
		.attributes = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT,
				.max_attributes = 25 },
		.max_request_bytes = EXPORTER_FIXTURE_BYTES,
		.interval_ns = interval_ns,
		.queue_dir = queue_dir,
		.max_queue_bytes = EXPORTER_FIXTURE_BYTES,
	};
	assert_int_equal(exporter_start(&opts, &exporter), 0);
	return exporter;
}

struct exporter *exporter_fixture_start(const char *mode, uint64_t interval_ns)
{
	return exporter_fixture_start_with(mode, interval_ns, NULL);
}

struct profile *exporter_fixture_profile_of(uint32_t count)
{
	static const struct attribute web[] = { { "service.name", "web" } };
	static const struct otlp_frame frame = {
		"main", "main", FRAME_NATIVE, NULL, NULL, 1, NULL
	};
	const struct otlp_sample samples[] = {
		{ web, 1, &frame, 1, "a", .numbers = { .count = count } },
		{ NULL, 0, &frame, 1, "b", .numbers = { .count = count } },
	};
	struct profile *profile = otlp_profile_of(samples, array_len(samples));

	assert_non_null(profile);
	return profile;
}

void exporter_fixture_push(struct exporter *exporter, uint32_t count)
{
	_cleanup_(profile_unrefp) struct profile *profile = exporter_fixture_profile_of(count);

	exporter_push(exporter, profile);
}

void exporter_fixture_get(const char *path, struct strbuf *body)
{
	const struct http_client_opts opts = {
		.connect_timeout_ns = NSEC_PER_SEC,
		.total_timeout_ns = NSEC_PER_SEC,
	};
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_response response;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s", server.port, path);
	const struct http_request request = { .url = url };
	assert_int_equal(http_client_new(&opts, &client), 0);
	assert_int_equal(http_perform(client, &request, body, &response), 0);
}

uint64_t exporter_fixture_nr_settled(const struct exporter_stats *stats)
{
	return stats->nr_samples_sent + exporter_stats_dropped(stats);
}

struct exporter_stats exporter_fixture_settle(struct exporter *exporter)
{
	uint64_t deadline_ns = clock_mono_ns() + EXPORTER_FIXTURE_PATIENCE_NS;
	struct exporter_stats stats;

	do {
		stats = exporter_get_stats(exporter);
		assert_true(exporter_fixture_nr_settled(&stats) <=
			    stats.nr_samples_pushed + stats.nr_samples_restored);
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
	} while (exporter_fixture_nr_settled(&stats) <
		 stats.nr_samples_pushed + stats.nr_samples_restored);
	return stats;
}

void exporter_fixture_await_sent(struct exporter *exporter, uint64_t nr)
{
	uint64_t deadline_ns = clock_mono_ns() + EXPORTER_FIXTURE_PATIENCE_NS;

	while (exporter_get_stats(exporter).nr_samples_sent < nr) {
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
	}
}

struct exporter_stats exporter_fixture_end(struct exporter *exporter, uint64_t patience_ns)
{
	exporter_close(exporter, clock_mono_ns() + patience_ns);
	exporter_join(exporter);
	return exporter_get_stats(exporter);
}

void exporter_fixture_assert_last_text(const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(EXPORTER_FIXTURE_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(EXPORTER_FIXTURE_BYTES);

	exporter_fixture_get("last", &body);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

struct exporter *exporter_fixture_start_merging(void)
{
	struct exporter *exporter = exporter_fixture_start("ok", 3600 * NSEC_PER_SEC);

	exporter_fixture_push(exporter, 1);
	assert_int_equal(exporter_fixture_settle(exporter).nr_requests, 1);
	return exporter;
}

uint16_t exporter_fixture_port(void)
{
	return server.port;
}
