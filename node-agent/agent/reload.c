/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was written in place may be half there when it is looked at, so a change counts when
 * the next look sees the same. A ConfigMap's file is never half there, but its path leads through a
 * symbolic link that is swapped: stat(2) follows it to another inode. A file that is gone is a
 * change like any other: reading it fails, once. */
#include "agent/reload.h"

#include "agent/signals.h"
#include "agent/target.h"
#include "base/log.h"
#include "config/option_fields.h"
#include "config/option_loader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MESSAGE_MAX_BYTES 4096

/* Values that differ if the file has changed; all zero if there is no file. */
struct file_state {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

struct reload {
	const struct options_input *input; /* borrowed */
	const struct options *start; /* borrowed; in force where an option cannot change */
	struct options newest; /* owned; empty until the first change */
	const struct options *current; /* start or newest */
	struct file_state loaded; /* when it was read last, or refused */
	struct file_state seen; /* at the last look */
	uint64_t next_look_ns;
	struct reload_stats stats;
};

static struct file_state look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct file_state){ 0 };
	return (struct file_state){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
}

static bool is_same(const struct file_state *a, const struct file_state *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

int reload_new(const struct options_input *input, const struct options *options,
	       struct reload **ret_reload)
{
	struct reload *reload = calloc(1, sizeof(*reload));

	if (!reload)
		return -ENOMEM;
	reload->input = input;
	reload->start = options;
	reload->current = options;
	if (options->config_file)
		reload->loaded = look_at(options->config_file);
	reload->seen = reload->loaded;
	*ret_reload = reload;
	return 0;
}

void reload_free(struct reload *reload)
{
	if (!reload)
		return;
	options_done(&reload->newest);
	free(reload);
}

/* Returns whether the file differs from the one that was read, and has not changed since the last
 * look. */
static bool has_changed(struct reload *reload)
{
	struct file_state now = look_at(reload->start->config_file);
	bool is_stable = is_same(&now, &reload->seen);

	reload->seen = now;
	return is_stable && !is_same(&now, &reload->loaded);
}

/* An empty file is probably about to be written. If it were loaded, it would end all exclusions. */
static int check_file(const struct reload *reload, struct strbuf *message)
{
	struct file_state now = look_at(reload->start->config_file);

	if (now.ino == 0 || now.size > 0)
		return 0;
	strbuf_appendf(message, "%s is empty", reload->start->config_file);
	return -EINVAL;
}

static int load(struct reload *reload, struct options *ret_options)
{
	_cleanup_(options_done) struct options options = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = check_file(reload, &message);
	if (r == 0)
		r = options_load(reload->input, &options, &message);
	if (r == 0)
		r = target_check_selection(&options, &message);
	if (r < 0) {
		reload->stats.nr_refused++;
		log_error("configuration not reloaded, keeping the old options: %s",
			  message.len > 0 ? message.data : strerror(-r));
		return r;
	}
	reload->stats.nr_reloads++;
	*ret_options = options;
	options = (struct options){ 0 };
	return 0;
}

static void warn_of_fixed(const struct reload *reload, const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(MESSAGE_MAX_BYTES);

	options_diff(reload->start, options, false, &names);
	if (names.len > 0)
		log_warn("changes of %s take effect at the next start", names.data);
}

static const struct options *apply(struct reload *reload)
{
	_cleanup_(options_done) struct options options = { 0 };
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (load(reload, &options) < 0)
		return NULL;
	warn_of_fixed(reload, &options);
	options_diff(reload->current, &options, true, &names);
	if (names.len == 0) {
		log_info("%s reloaded: no option changed that a running agent can apply",
			 reload->start->config_file);
		return NULL;
	}
	log_info("%s reloaded: %s changed", reload->start->config_file, names.data);

	struct options older = reload->newest;
	reload->newest = options;
	options = older;
	reload->current = &reload->newest;
	return reload->current;
}

const struct options *reload_poll(struct reload *reload, uint64_t now_ns)
{
	bool is_asked = signals_take_reload();

	if (!reload->start->config_file || (!is_asked && now_ns < reload->next_look_ns))
		return NULL;
	reload->next_look_ns = now_ns + RELOAD_LOOK_NS;
	if (!has_changed(reload) && !is_asked)
		return NULL;
	reload->loaded = reload->seen;
	return apply(reload);
}

struct reload_stats reload_get_stats(const struct reload *reload)
{
	return reload->stats;
}
