/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records as the agent does, faster than real time, and asks them.
 *
 *	store_bench make DIR hard|light BUSY HOURS PER_DAY	a made node of 128 CPUs, BUSY percent
 *	store_bench replay DIR SOURCE SHARE PER_DAY		another record, SHARE percent of it
 *	store_bench query DIR SECONDS BACK [COMM]		SECONDS that end BACK before its end
 *
 * Prints lines "name value". PER_DAY is in bytes; 0: nothing is folded. */
#include "base/clock.h"
#include "base/fileio.h"
#include "base/minmax.h"
#include "base/zstd.h"
#include "profile/folded.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "store/recorder.h"
#include "store/store_reader.h"
#include "tests/bench/store_load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define START_S UINT64_C(1795478400) /* midnight, when a new limit of a day begins */
#define MINUTE_S 60
#define HOUR_S 3600
#define CENSUS_S 240 /* as long as the recording of which the model is */
#define COMPARED_S 120 /* the minute from here on is encoded in other ways, too */
#define MAX_BYTES ((size_t)2 << 30)
#define TEXT_LEVEL 9

/* What a record is made of. */
struct source {
	struct model *model; /* NULL: `reader` is read */
	struct load *load;
	const struct store_reader *reader;
	unsigned int share; /* percent of the reader's samples */
	uint64_t first_s, end_s;
};

struct run {
	struct recorder *recorder; /* owned */
	struct profile *minute[MINUTE_S]; /* owned; to be encoded in other ways */
	size_t nr_minute;
	uint64_t cpu_ns; /* of the recorder */
	uint64_t nr_samples, nr_rows;
	size_t peak_kb, base_kb; /* of private memory */
};

static void print_number(const char *name, uint64_t value)
{
	printf("%s %" PRIu64 "\n", name, value);
}

/* Private memory; the load's own is shared. */
static size_t read_anon_kb(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(65536);
	size_t kb = 0;

	if (file_read_at(AT_FDCWD, "/proc/self/status", &text) < 0)
		return 0;
	const char *line = strstr(strbuf_str(&text), "RssAnon:");
	if (line)
		kb = strtoul(line + strlen("RssAnon:"), NULL, 10);
	return kb;
}

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Sources. */

/* Keeps the samples whose number is below a share. */
static int thin_out(const struct profile *whole, unsigned int share, struct profile **ret_profile)
{
	struct profile part = *whole;
	_cleanup_free_ struct profile_sample *samples = calloc(whole->nr_samples + 1,
							       sizeof(*samples));
	_cleanup_(builder_freep) struct builder *builder = NULL;
	static uint64_t state = 88172645463325252U;

	if (!samples)
		return -ENOMEM;
	part.samples = samples;
	part.nr_samples = 0;
	for (size_t i = 0; i < whole->nr_samples; i++) {
		struct profile_sample sample = whole->samples[i];
		uint64_t left = 0;

		for (uint64_t n = 0; n < whole->samples[i].count; n++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			left += state % 100 < share;
		}
		sample.count = left;
		if (left > 0)
			samples[part.nr_samples++] = sample;
	}
	int r = builder_new(MAX_BYTES, &builder);
	if (r == 0)
		r = merge_profile(builder, &part, NULL);
	if (r == 0)
		*ret_profile = builder_seal(take_ptr(builder));
	return r;
}

static int replay_second(const struct source *source, uint64_t second, struct profile **ret_profile)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(65536);
	struct selector all = { 0 };
	const struct store_query query = {
		.range = { second, second + 1 },
		.selector = &all,
		.type = PROFILE_CPU,
		.with_labels = true,
		.max_bytes = MAX_BYTES,
	};
	struct store_answer answer = { 0 };

	int r = store_reader_merge(source->reader, &query, &warnings, &answer);
	if (r < 0)
		return r;
	if (source->share >= 100) {
		*ret_profile = answer.profile;
		return 0;
	}
	r = thin_out(answer.profile, source->share, ret_profile);
	profile_unref(answer.profile);
	return r;
}

static int next_profile(const struct source *source, uint64_t second, struct profile **ret_profile)
{
	if (source->load)
		return load_second(source->load, second, ret_profile);
	return replay_second(source, second, ret_profile);
}

/* Other encodings of the same minute. */

static int merge_minute(const struct run *run, struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	for (size_t i = 0; r == 0 && i < run->nr_minute; i++)
		r = merge_profile(builder, run->minute[i], NULL);
	if (r == 0)
		*ret_profile = builder_seal(take_ptr(builder));
	return r;
}

static int print_pprof_minute(const struct run *run)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *minute = NULL;

	int r = merge_minute(run, &minute);
	if (r == 0)
		r = pprof_encode_gzip(minute, NULL, &bytes);
	print_number("minute_samples", r == 0 ? profile_total(minute) : 0);
	print_number("pprof_minute_bytes", bytes.len);
	return r;
}

static int print_pprof_seconds(const struct run *run)
{
	uint64_t nr_bytes = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < run->nr_minute; i++) {
		_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

		r = pprof_encode_gzip(run->minute[i], NULL, &bytes);
		nr_bytes += bytes.len;
	}
	print_number("pprof_seconds_bytes", nr_bytes);
	return r;
}

static int print_folded(const struct run *run)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	int r = 0;

	for (size_t i = 0; r == 0 && i < run->nr_minute; i++)
		r = folded_encode(run->minute[i], &text);
	zstd_append_checked(&packed, strbuf_str(&text), text.len, TEXT_LEVEL);
	print_number("folded_bytes", text.len);
	print_number("folded_zstd_bytes", packed.len);
	return r < 0 ? r : strbuf_error(&packed);
}

static int compare_minute(struct run *run)
{
	int r = print_pprof_minute(run);

	if (r == 0)
		r = print_pprof_seconds(run);
	if (r == 0)
		r = print_folded(run);
	for (size_t i = 0; i < run->nr_minute; i++)
		profile_unref(take_ptr(run->minute[i]));
	run->nr_minute = 0;
	return r;
}

/* Writing. */

static int print_census(const struct model *model)
{
	struct model_census census;

	int r = model_count(model, &census);
	if (r < 0)
		return r;
	print_number("census_samples", census.nr_samples);
	print_number("census_functions", census.nr_functions);
	print_number("census_stacks", census.nr_stacks);
	print_number("census_nodes", census.nr_nodes);
	print_number("census_pairs", census.nr_pairs);
	print_number("census_single_pairs", census.nr_single_pairs);
	printf("census_entropy %.2f\n", census.entropy_bits);
	return 0;
}

static void write_second(struct run *run, uint64_t second, const struct profile *profile)
{
	uint64_t start_ns = cpu_ns();

	recorder_add(run->recorder, profile);
	recorder_tick(run->recorder, second + 1);
	run->cpu_ns += cpu_ns() - start_ns;
	run->nr_samples += profile_total(profile);
	run->peak_kb = max_u64(run->peak_kb, read_anon_kb());
}

static int do_second(struct run *run, const struct source *source, uint64_t second)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	uint64_t passed_s = second - source->first_s;

	int r = next_profile(source, second, &profile);
	if (r < 0)
		return r == -ENOENT ? 0 : r; /* an idle second */
	write_second(run, second, profile);
	if (passed_s >= COMPARED_S && run->nr_minute < MINUTE_S && passed_s < COMPARED_S + MINUTE_S)
		run->minute[run->nr_minute++] = profile_ref(profile);
	if (passed_s == COMPARED_S + MINUTE_S)
		r = compare_minute(run);
	if (r == 0 && source->model && passed_s == CENSUS_S)
		r = print_census(source->model);
	if (source->model && passed_s % HOUR_S == HOUR_S - 1)
		model_end_hour(source->model);
	return r;
}

static void finish(struct run *run)
{
	uint64_t start_ns = cpu_ns();

	recorder_finish(run->recorder);
	run->cpu_ns += cpu_ns() - start_ns;
	struct recorder_stats stats = recorder_get_stats(run->recorder);
	print_number("samples", run->nr_samples);
	print_number("written", stats.nr_samples_written);
	print_number("dropped", stats.nr_samples_dropped);
	print_number("folded", stats.nr_samples_folded);
	print_number("writer_cpu_us", run->cpu_ns / NSEC_PER_USEC);
	print_number("memory_kb", run->peak_kb - run->base_kb);
}

static int write_record(const char *dir, uint64_t per_day, const struct source *source)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(65536);
	const struct recorder_opts opts = {
		.dir = dir,
		.host = "node-7.example",
		.max_bytes = UINT64_MAX,
		.max_age_s = UINT64_MAX / 2,
		.per_day = per_day,
	};
	struct run run = { .base_kb = read_anon_kb() };

	int r = recorder_new(&opts, &message, &run.recorder);
	if (r < 0) {
		fprintf(stderr, "store_bench: %s\n", strbuf_str(&message));
		return r;
	}
	for (uint64_t second = source->first_s; r == 0 && second < source->end_s; second++)
		r = do_second(&run, source, second);
	print_number("seconds", source->end_s - source->first_s);
	finish(&run);
	recorder_close(run.recorder);
	for (size_t i = 0; i < run.nr_minute; i++)
		profile_unref(run.minute[i]);
	return r;
}

static int run_make(char **args)
{
	const struct model_params *params = model_params_find(args[1]);
	_cleanup_(model_freep) struct model *model = NULL;
	_cleanup_(load_freep) struct load *load = NULL;
	struct source source = { .first_s = START_S };

	if (!params)
		return -EINVAL;
	source.end_s = START_S + (uint64_t)(strtod(args[3], NULL) * HOUR_S);
	int r = model_new(params, &model);
	if (r == 0)
		r = load_new(model, (unsigned int)strtoul(args[2], NULL, 10), &load);
	if (r < 0)
		return r;
	source.model = model;
	source.load = load;
	return write_record(args[0], strtoull(args[4], NULL, 10), &source);
}

static int open_reader(const char *path, struct store_reader *ret_reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(65536);

	int r = store_reader_open(&path, 1, &warnings, ret_reader);
	fputs(strbuf_str(&warnings), stderr);
	return r;
}

static int run_replay(char **args)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct source source = { .reader = &reader,
				 .share = (unsigned int)strtoul(args[2], NULL, 10) };

	int r = open_reader(args[1], &reader);
	if (r < 0)
		return r;
	source.first_s = reader.spans[0].first_s;
	source.end_s = store_reader_newest(&reader) + 1;
	return write_record(args[0], strtoull(args[3], NULL, 10), &source);
}

/* Asking. */

/* A question, and the times when it was asked. */
struct asking {
	const struct store_reader *reader;
	struct store_query query;
	uint64_t seconds, back_s;
	uint64_t start_cpu_ns, start_ns;
};

/* Prints the times under a name and a suffix. */
static int ask(struct asking *asking, const char *suffix)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(65536);
	struct store_answer answer = { 0 };

	int r = store_reader_merge(asking->reader, &asking->query, &warnings, &answer);
	if (r < 0)
		return r;
	printf("cpu_us%s %" PRIu64 "\n", suffix, (cpu_ns() - asking->start_cpu_ns) / NSEC_PER_USEC);
	printf("wall_us%s %" PRIu64 "\n", suffix,
	       (clock_mono_ns() - asking->start_ns) / NSEC_PER_USEC);
	if (suffix[0] == '\0')
		print_number("samples", profile_total(answer.profile));
	profile_unref(answer.profile);
	return 0;
}

/* Asks once with a new reader, and again with the same one. */
static int ask_twice(const char *dir, struct asking asking)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };

	asking.start_cpu_ns = cpu_ns();
	asking.start_ns = clock_mono_ns();
	int r = open_reader(dir, &reader);
	if (r < 0)
		return r;
	uint64_t end_s = store_reader_newest(&reader) + 1 - asking.back_s;
	asking.reader = &reader;
	asking.query.range = (struct time_range){ end_s - min_u64(end_s, asking.seconds), end_s };
	r = ask(&asking, asking.query.with_labels ? "_labels" : "");
	if (r < 0)
		return r;
	asking.start_cpu_ns = cpu_ns();
	asking.start_ns = clock_mono_ns();
	return ask(&asking, asking.query.with_labels ? "_labels_again" : "_again");
}

static int run_query(char **args, const char *comm)
{
	_cleanup_(selector_done) struct selector selector = { 0 };
	struct asking asking = {
		.query = { .selector = &selector, .type = PROFILE_CPU, .max_bytes = MAX_BYTES },
		.seconds = strtoull(args[1], NULL, 10),
		.back_s = strtoull(args[2], NULL, 10),
	};
	struct rusage usage;
	int r = 0;

	if (comm)
		r = selector_add_values(&selector, "comm", (char *const *)&comm, 1);
	if (r == 0)
		r = ask_twice(args[0], asking);
	getrusage(RUSAGE_SELF, &usage);
	print_number("memory_kb", (uint64_t)usage.ru_maxrss);
	asking.query.with_labels = true;
	return r == 0 ? ask_twice(args[0], asking) : r;
}

int main(int argc, char **argv)
{
	int r = -EINVAL;

	if (argc == 7 && strcmp(argv[1], "make") == 0)
		r = run_make(argv + 2);
	else if (argc == 6 && strcmp(argv[1], "replay") == 0)
		r = run_replay(argv + 2);
	else if ((argc == 5 || argc == 6) && strcmp(argv[1], "query") == 0)
		r = run_query(argv + 2, argc == 6 ? argv[5] : NULL);
	if (r < 0)
		fprintf(stderr, "store_bench: %s\n", strerror(-r));
	return r < 0;
}
