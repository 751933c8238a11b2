/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_processes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "otlp/attributes/attribute_names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEY_NAME "process.executable.name"
#define KEY_PATH "process.executable.path"
#define KEY_PID "process.pid"
#define KEY_CREATION_TIME "process.creation.time"
#define KEY_SHORT "process"
#define MAX_ITEMS 3 /* beside the pid, which is none */
#define TIME_TEXT_BYTES sizeof("2026-11-23T00:00:00.000Z")

/* A process that ended earlier gets no resource of its own. */
#define SHORT_LIFE_NS NSEC_PER_SEC

static_assert(sizeof(struct process_key) == 16, "gap in struct process_key");

struct group_key {
	uint32_t resource;
	uint32_t program; /* 0: none; ATTRIBUTE_OTHER */
	uint32_t process_plus_1; /* row of one that leaves alone; 0: none */
};

static_assert(sizeof(struct group_key) == 12, "gap in struct group_key");

struct grouping {
	struct attribute_processes *processes;
	const struct group_attributes *resources; /* borrowed */
	struct export_attributes *attributes; /* borrowed */
	struct group_key *keys; /* owned; by group */
	size_t cap_keys, cap_groups;
	struct htable index;
};

static void grouping_done(struct grouping *grouping)
{
	free(grouping->keys);
	htable_done(&grouping->index);
}

void process_rules_init(struct process_rules *rules, const struct attribute_rules *attribute_rules)
{
	bool is_pyroscope = attribute_rules->preset == ATTRIBUTES_PYROSCOPE;
	bool has_pid = !is_pyroscope && !attribute_rules_exclude(attribute_rules, KEY_PID);

	*rules = (struct process_rules){
		.preset = attribute_rules->preset,
		.has_name = !attribute_rules_exclude(attribute_rules,
						     is_pyroscope ? KEY_SHORT : KEY_NAME),
		.has_path = !is_pyroscope && !attribute_rules_exclude(attribute_rules, KEY_PATH),
		.has_pid = has_pid,
		.has_creation_time = has_pid &&
				     !attribute_rules_exclude(attribute_rules, KEY_CREATION_TIME),
	};
	uint64_t boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	rules->boot_unix_ns = clock_real_ns() - boot_ns;
}

size_t process_rules_max(const struct process_rules *rules)
{
	return (size_t)rules->has_name + rules->has_path + rules->has_pid +
	       rules->has_creation_time;
}

/* Sets name and program, as far as they are wanted. */
static void describe(const struct attribute_processes *processes, struct process_row *row)
{
	const struct process_rules *rules = &processes->rules;
	const struct profile_process *process = &processes->profile->processes[row->key.process];

	row->name = process->name ? process->name : row->key.comm;
	if (rules->has_path && process->path)
		row->program = process->path;
	else if (rules->has_name || rules->has_path)
		row->program = row->name;
}

static struct process_key key_of(const struct profile *profile, const struct profile_sample *sample,
				 const uint32_t *first_alike)
{
	const struct profile_process *process = &profile->processes[sample->process];
	bool has_process = sample->process != 0;

	return (struct process_key){
		.resource = first_alike[sample->resource],
		.process = sample->process,
		.pid = has_process ? process->pid : sample->pid,
		.comm = process->name ? 0 : sample->process_comm,
	};
}

static int find_row(struct attribute_processes *processes, const struct process_key *key,
		    uint32_t *ret_row)
{
	uint32_t hash = hash_bytes(key, sizeof(*key));
	struct htable_iter it = htable_lookup(&processes->index, hash);

	while (htable_next(&it, ret_row))
		if (memcmp(&processes->rows[*ret_row].key, key, sizeof(*key)) == 0)
			return 0;

	int r = array_grow(processes->rows, processes->cap_rows, processes->nr_rows + 1,
			   UINT32_MAX - 1);
	if (r == 0)
		r = htable_add(&processes->index, hash, (uint32_t)processes->nr_rows);
	if (r < 0)
		return r;
	*ret_row = (uint32_t)processes->nr_rows++;
	processes->rows[*ret_row] = (struct process_row){ .key = *key };
	describe(processes, &processes->rows[*ret_row]);
	return 0;
}

/* Returns whether the process may be sent with its pid. */
static bool may_be_alone(const struct attribute_processes *processes, const struct process_row *row)
{
	const struct profile_process *process = &processes->profile->processes[row->key.process];

	if (row->key.pid == 0 || row->name == 0)
		return false;
	return process->start_ns == 0 || process->seen_ns >= process->start_ns + SHORT_LIFE_NS;
}

/* Sorts the busiest first, and equal ones in order of arrival. */
static int compare_rows(const void *left, const void *right)
{
	const struct process_row *const *a = left;
	const struct process_row *const *b = right;

	if ((*a)->count != (*b)->count)
		return (*a)->count < (*b)->count ? 1 : -1;
	return *a < *b ? -1 : 1;
}

static int choose_alone(struct attribute_processes *processes)
{
	_cleanup_free_ struct process_row **rows = calloc(processes->nr_rows + 1,
							  sizeof(struct process_row *));
	size_t nr = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; processes->rules.has_pid && i < processes->nr_rows; i++)
		if (may_be_alone(processes, &processes->rows[i]))
			rows[nr++] = &processes->rows[i];
	qsort(rows, nr, sizeof(struct process_row *), compare_rows);
	for (size_t i = 0; i < nr && i < ATTRIBUTE_PROCESSES_MAX; i++)
		rows[i]->is_alone = true;
	return 0;
}

int attribute_processes_init(struct attribute_processes *processes,
			     const struct process_rules *rules, const struct profile *profile,
			     const uint32_t *first_alike)
{
	*processes = (struct attribute_processes){ .profile = profile, .rules = *rules };
	processes->of_sample = calloc(profile->nr_samples + 1, sizeof(*processes->of_sample));
	if (!processes->of_sample)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_samples; i++) {
		const struct process_key key = key_of(profile, &profile->samples[i], first_alike);
		uint32_t row;

		int r = find_row(processes, &key, &row);
		if (r < 0)
			return r;
		processes->of_sample[i] = row;
		processes->rows[row].count += profile->samples[i].count;
	}
	return choose_alone(processes);
}

void attribute_processes_done(struct attribute_processes *processes)
{
	free(processes->rows);
	free(processes->of_sample);
	htable_done(&processes->index);
}

bool process_row_key(const struct process_row *process, struct tally_key *ret_key)
{
	*ret_key = (struct tally_key){
		.value = process->program,
		.group = process->key.resource,
		.attribute = PROGRAM_ATTRIBUTE,
	};
	return process->program != 0;
}

/* A process whose program has no place is joined, even if it is busy. */
static struct group_key group_of(struct process_row *row, const struct attribute_tally *tally,
				 uint32_t number)
{
	struct group_key key = { .resource = row->key.resource, .program = row->program };
	struct tally_key program;

	if (process_row_key(row, &program) && !attribute_tally_admits(tally, &program)) {
		key.program = ATTRIBUTE_OTHER;
		row->is_alone = false;
	}
	if (row->is_alone)
		key.process_plus_1 = number + 1;
	return key;
}

/* Attributes from other sources take precedence over a process's attribute of the same key. */
static bool has_key(const struct group_attributes *attributes, const char *key)
{
	for (size_t i = 0; i < attributes->nr; i++)
		if (attribute_names_clash(ATTRIBUTES_PYROSCOPE, attributes->items[i].key, key))
			return true;
	return false;
}

static int put_item(struct export_attributes *attributes, struct attribute *items, size_t *nr,
		    const char *key, const char *value)
{
	const struct group_attributes present = { .items = items, .nr = *nr };
	char clean[ATTRIBUTE_VALUE_MAX + 1];

	if (!value[0] || has_key(&present, key))
		return 0;
	attribute_value_clean(value, clean);
	value = arena_strndup(&attributes->memory, clean, strlen(clean));
	if (!value)
		return -ENOMEM;
	items[(*nr)++] = (struct attribute){ key, value };
	return 0;
}

static void write_time(uint64_t unix_ns, char text[static TIME_TEXT_BYTES])
{
	const struct timespec time = clock_timespec(unix_ns);
	struct tm parts;

	gmtime_r(&time.tv_sec, &parts);
	size_t len = strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + len, TIME_TEXT_BYTES - len, ".%03uZ",
		 (unsigned int)((uint64_t)time.tv_nsec / NSEC_PER_MSEC % 1000));
}

static int put_creation_time(const struct grouping *grouping, const struct process_row *row,
			     struct attribute *items, size_t *nr)
{
	const struct attribute_processes *processes = grouping->processes;
	uint64_t start_ns = processes->profile->processes[row->key.process].start_ns;
	char text[TIME_TEXT_BYTES];

	if (start_ns == 0 || !processes->rules.has_creation_time)
		return 0;
	write_time(processes->rules.boot_unix_ns + start_ns, text);
	return put_item(grouping->attributes, items, nr, KEY_CREATION_TIME, text);
}

static int put_program(const struct grouping *grouping, const struct process_row *row,
		       struct attribute *items, size_t *nr)
{
	const struct attribute_processes *processes = grouping->processes;
	const struct process_rules *rules = &processes->rules;
	const struct profile *profile = processes->profile;
	uint32_t path = profile->processes[row->key.process].path;
	bool is_pyroscope = rules->preset == ATTRIBUTES_PYROSCOPE;
	int r = 0;

	if (rules->has_name)
		r = put_item(grouping->attributes, items, nr, is_pyroscope ? KEY_SHORT : KEY_NAME,
			     profile_string(profile, row->name));
	if (r == 0 && rules->has_path)
		r = put_item(grouping->attributes, items, nr, KEY_PATH,
			     profile_string(profile, path));
	return r;
}

static int put_other(const struct grouping *grouping, struct attribute *items, size_t *nr)
{
	const struct process_rules *rules = &grouping->processes->rules;
	bool is_pyroscope = rules->preset == ATTRIBUTES_PYROSCOPE;

	if (!rules->has_name)
		return 0;
	return put_item(grouping->attributes, items, nr, is_pyroscope ? KEY_SHORT : KEY_NAME,
			ATTRIBUTE_OTHER_TEXT);
}

static int make_attributes(const struct grouping *grouping, const struct group_key *key,
			   const struct process_row *row, struct group_attributes *ret_attributes)
{
	const struct group_attributes *base = &grouping->resources[key->resource];
	struct attribute *items = arena_alloc(&grouping->attributes->memory,
					      (base->nr + MAX_ITEMS) * sizeof(*items));
	size_t nr = base->nr;
	int r = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		items[i] = base->items[i];
	if (key->program == ATTRIBUTE_OTHER)
		r = put_other(grouping, items, &nr);
	else if (key->program)
		r = put_program(grouping, row, items, &nr);
	if (r == 0 && key->process_plus_1)
		r = put_creation_time(grouping, row, items, &nr);
	*ret_attributes = (struct group_attributes){
		.items = items,
		.nr = nr,
		.pid = key->process_plus_1 && !has_key(base, KEY_PID) ? row->key.pid : 0,
	};
	return r;
}

static int find_group(struct grouping *grouping, const struct group_key *key,
		      struct process_row *row)
{
	struct export_attributes *attributes = grouping->attributes;
	uint32_t hash = hash_bytes(key, sizeof(*key));
	struct htable_iter it = htable_lookup(&grouping->index, hash);

	while (grouping->cap_keys > 0 && htable_next(&it, &row->group))
		if (memcmp(&grouping->keys[row->group], key, sizeof(*key)) == 0)
			return 0;

	size_t nr = attributes->nr_groups;
	int r = array_grow(grouping->keys, grouping->cap_keys, nr + 1, UINT32_MAX - 1);
	if (r == 0)
		r = array_grow(attributes->groups, grouping->cap_groups, nr + 1, UINT32_MAX - 1);
	if (r == 0)
		r = make_attributes(grouping, key, row, &attributes->groups[nr]);
	if (r == 0)
		r = htable_add(&grouping->index, hash, (uint32_t)nr);
	if (r < 0)
		return r;
	grouping->keys[nr] = *key;
	row->group = (uint32_t)attributes->nr_groups++;
	return 0;
}

/* Sorts by resource, and then by the first sample. */
static int compare_places(const void *left, const void *right)
{
	const struct process_row *const *a = left;
	const struct process_row *const *b = right;

	if ((*a)->key.resource != (*b)->key.resource)
		return (*a)->key.resource < (*b)->key.resource ? -1 : 1;
	return *a < *b ? -1 : 1;
}

int attribute_processes_group(struct attribute_processes *processes,
			      const struct attribute_tally *tally,
			      const struct group_attributes *resources,
			      struct export_attributes *attributes)
{
	_cleanup_(grouping_done) struct grouping grouping = {
		.processes = processes,
		.resources = resources,
		.attributes = attributes,
	};
	_cleanup_free_ struct process_row **rows = calloc(processes->nr_rows + 1,
							  sizeof(struct process_row *));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < processes->nr_rows; i++)
		rows[i] = &processes->rows[i];
	qsort(rows, processes->nr_rows, sizeof(struct process_row *), compare_places);
	for (size_t i = 0; i < processes->nr_rows; i++) {
		uint32_t number = (uint32_t)(rows[i] - processes->rows);
		const struct group_key key = group_of(rows[i], tally, number);

		int r = find_group(&grouping, &key, rows[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
