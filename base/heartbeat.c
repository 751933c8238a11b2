/* SPDX-License-Identifier: Apache-2.0 */
/* All fields are atomic, since a signal handler may read them. The lock only protects taking a
 * slot. A slot in use has a name. */
#include "base/heartbeat.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
	const char *name; /* static; NULL: free */
	uint32_t number; /* among threads of this name, from 1 on */
	uint32_t is_ticking;
	uint64_t max_ns;
	uint64_t beat_ns; /* by the clock of beats; of the ticking thread: CLOCK_MONOTONIC */
};

static struct slot slots[HEARTBEAT_MAX_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clock_ns;
static uint64_t tick_ns; /* when the clock was last advanced; 0: never */
static uint64_t nr_late;
static _Thread_local struct slot *own; /* NULL: not watched */

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

static const char *name_of(const struct slot *slot)
{
	return __atomic_load_n(&slot->name, __ATOMIC_ACQUIRE);
}

static struct slot *find_free(void)
{
	for (size_t i = 0; i < HEARTBEAT_MAX_THREADS; i++)
		if (!name_of(&slots[i]))
			return &slots[i];
	return NULL;
}

static bool is_used(const char *name, uint32_t number)
{
	for (size_t i = 0; i < HEARTBEAT_MAX_THREADS; i++) {
		const char *other = name_of(&slots[i]);

		if (other && strcmp(other, name) == 0 && LOAD(slots[i].number) == number)
			return true;
	}
	return false;
}

static uint32_t find_number(const char *name)
{
	uint32_t number = 1;

	while (is_used(name, number))
		number++;
	return number;
}

static void begin(const char *name, uint64_t max_ns, bool is_ticking)
{
	pthread_mutex_lock(&lock);
	struct slot *slot = own ? NULL : find_free();
	if (slot) {
		STORE(slot->number, find_number(name));
		STORE(slot->is_ticking, is_ticking);
		STORE(slot->max_ns, max_ns);
		STORE(slot->beat_ns, is_ticking ? clock_mono_ns() : LOAD(clock_ns));
		__atomic_store_n(&slot->name, name, __ATOMIC_RELEASE);
		own = slot;
	}
	pthread_mutex_unlock(&lock);
}

void heartbeat_begin(const char *name, uint64_t max_ns)
{
	begin(name, max_ns, false);
}

void heartbeat_begin_ticking(const char *name, uint64_t max_ns)
{
	begin(name, max_ns, true);
}

void heartbeat_end(void)
{
	if (own)
		__atomic_store_n(&own->name, NULL, __ATOMIC_RELEASE);
	own = NULL;
}

#ifdef HEARTBEAT_ASSERTS
#define SCHEDSTAT_MAX_BYTES 256

/* Returns the total time that the calling thread was runnable but waited for a CPU; 0 if the kernel
 * does not report it. */
static uint64_t read_cpu_wait_ns(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SCHEDSTAT_MAX_BYTES);
	uint64_t run_ns, wait_ns;

	if (file_read_at(AT_FDCWD, "/proc/thread-self/schedstat", &text) < 0)
		return 0;
	const char *cursor = strbuf_str(&text);
	const char *end = cursor + text.len;
	if (parse_digits(&cursor, end, 10, &run_ns) < 0 || cursor == end || *cursor++ != ' ' ||
	    parse_digits(&cursor, end, 10, &wait_ns) < 0)
		return 0;
	return wait_ns;
}

/* On an overloaded machine a thread may be late without hanging. */
static void assert_in_time(const struct slot *slot, uint64_t age_ns)
{
	if (age_ns <= slot->max_ns + read_cpu_wait_ns())
		return;
	fprintf(stderr, "the thread %s has made no progress for %.1f s (limit %.1f s)\n",
		slot->name, (double)age_ns / 1e9, (double)slot->max_ns / 1e9);
	abort();
}
#else
static void assert_in_time(const struct slot *slot, uint64_t age_ns)
{
	(void)slot;
	(void)age_ns;
}
#endif

void heartbeat_beat(void)
{
	uint64_t now_ns = LOAD(clock_ns);

	if (!own || own->is_ticking)
		return;
	uint64_t age_ns = now_ns - own->beat_ns;
	STORE(own->beat_ns, now_ns);
	if (age_ns <= own->max_ns)
		return;
	__atomic_add_fetch(&nr_late, 1, __ATOMIC_RELAXED);
	assert_in_time(own, age_ns);
}

void heartbeat_tick(uint64_t now_ns)
{
	uint64_t gap_ns = LOAD(tick_ns) > 0 ? now_ns - LOAD(tick_ns) : 0;

	if (gap_ns > 2 * HEARTBEAT_TICK_NS)
		gap_ns = 2 * HEARTBEAT_TICK_NS;
	STORE(clock_ns, LOAD(clock_ns) + gap_ns);
	STORE(tick_ns, now_ns);
	if (own && own->is_ticking)
		STORE(own->beat_ns, now_ns);
}

static uint64_t age_of(const struct slot *slot, uint64_t now_ns)
{
	uint64_t present_ns = LOAD(slot->is_ticking) ? now_ns : LOAD(clock_ns);
	uint64_t beat_ns = LOAD(slot->beat_ns);

	return present_ns > beat_ns ? present_ns - beat_ns : 0;
}

/* Does not use printf(3), which a signal handler must not call. */
static void write_name(const char *name, uint32_t number, char out[static HEARTBEAT_NAME_BYTES])
{
	size_t len = strlen(name);

	if (len > HEARTBEAT_NAME_BYTES - sizeof("-99"))
		len = HEARTBEAT_NAME_BYTES - sizeof("-99");
	memcpy(out, name, len);
	if (number > 1) {
		out[len++] = '-';
		if (number > 9)
			out[len++] = (char)('0' + number / 10 % 10);
		out[len++] = (char)('0' + number % 10);
	}
	out[len] = '\0';
}

size_t heartbeat_list(uint64_t now_ns, struct heartbeat list[static HEARTBEAT_MAX_THREADS])
{
	size_t nr = 0;

	for (size_t i = 0; i < HEARTBEAT_MAX_THREADS; i++) {
		const char *name = name_of(&slots[i]);

		if (!name)
			continue;
		write_name(name, LOAD(slots[i].number), list[nr].name);
		list[nr].max_ns = LOAD(slots[i].max_ns);
		list[nr++].age_ns = age_of(&slots[i], now_ns);
	}
	return nr;
}

static uint64_t lateness(const struct heartbeat *heartbeat)
{
	return heartbeat->age_ns > heartbeat->max_ns ? heartbeat->age_ns - heartbeat->max_ns : 0;
}

bool heartbeat_find_late(uint64_t now_ns, struct heartbeat *ret_heartbeat)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];
	size_t nr = heartbeat_list(now_ns, list);
	const struct heartbeat *latest = NULL;

	for (size_t i = 0; i < nr; i++)
		if (lateness(&list[i]) > (latest ? lateness(latest) : 0))
			latest = &list[i];
	if (latest)
		*ret_heartbeat = *latest;
	return latest;
}

uint64_t heartbeat_nr_late(void)
{
	return LOAD(nr_late);
}
