/* SPDX-License-Identifier: Apache-2.0 */
/* The path is read from its root down, and the first directory that is named after something gives
 * the name:
 *
 *	/system.slice/system-getty.slice/getty@tty1.service	getty@tty1.service
 *	/system.slice/containerd.service/worker			containerd.service
 *	/machine.slice/machine-qemu\x2d3\x2dweb.scope/libvirt	qemu-web
 *	/lxc.payload.web/system.slice/nginx.service		lxc-web
 *	/openrc.sshd						sshd
 *	/init.scope, /, /kubepods.slice				host
 *
 * The directories below are that thing's own affair, with two exceptions. A user has a slice and a
 * service manager, whose units are named "user-1000/UNIT". And a container with an ID is named
 * wherever it is, as no path says more of it: "docker-0123456789ab". (But podman's
 * "libpod-payload-ID" lies in the service it was written for, which has a name.)
 *
 * There should be few names, since backends group by service.name: what differs at each start is
 * left out.
 *
 *	app-gnome-org.gnome.Maps-4711.scope		org.gnome.Maps
 *	app-firefox@1f2e.service			firefox
 *	dbus-:1.3-org.gnome.Maps@0.service		org.gnome.Maps
 *	snap.code.code-UUID.scope			snap.code.code
 *	vte-spawn-UUID.scope, tmux-spawn-UUID.scope	vte-spawn, tmux-spawn
 *	sshd@7-10.0.0.1:22-10.0.0.2:4711.service	sshd@.service, which is one connection each
 *
 * The first two follow https://systemd.io/DESKTOP_ENVIRONMENTS. */
#include "cgroup/cgroup_service.h"

#include "base/err.h"
#include "base/hex.h"
#include "base/printable.h"
#include "base/strview.h"

#include <string.h>

#define PATH_MAX_BYTES 4096
#define RAW_MAX_BYTES 320 /* a file name is at most 255 long; more than CGROUP_SERVICE_MAX */
#define SHORT_ID_LEN 12
#define UUID_LEN 36
#define DIGITS "0123456789"

/* Rules for names of directories that are not systemd units. */
enum rule_kind {
	RULE_REST, /* what is between prefix and suffix follows the label */
	RULE_NUMBERED, /* as above, behind a number, which is different each time: "3-web" */
	RULE_LABEL, /* the label is all */
	RULE_EXACT, /* as above, and the prefix is the whole name */
	RULE_PARENT, /* the prefix is the whole name, and the next directory's follows the label */
};

static const struct rule {
	enum rule_kind kind;
	const char *prefix, *suffix;
	const char *label;
	const char *runtime;
} rules[] = {
	{ RULE_REST, "systemd-nspawn@", ".service", "nspawn-", "nspawn" },
	{ RULE_NUMBERED, "machine-qemu\\x2d", ".scope", "qemu-", "" },
	{ RULE_NUMBERED, "qemu-", ".libvirt-qemu", "qemu-", "" },
	{ RULE_NUMBERED, "machine-lxc\\x2d", ".scope", "lxc-", "lxc" },
	{ RULE_REST, "machine-", ".scope", "machine-", "" },
	{ RULE_REST, "lxc.payload.", "", "lxc-", "lxc" },
	{ RULE_PARENT, "lxc.payload", "", "lxc-", "lxc" },
	{ RULE_PARENT, "lxc", "", "lxc-", "lxc" },
	{ RULE_LABEL, "lxc.monitor", "", "lxc-monitor", "" },
	{ RULE_LABEL, "libpod-conmon-", ".scope", "conmon", "" },
	{ RULE_LABEL, "crio-conmon-", ".scope", "conmon", "" },
	{ RULE_EXACT, "conmon", "", "conmon", "" },
	{ RULE_EXACT, "buildkit", "", "buildkit", "" },
	{ RULE_REST, "openrc.", "", "", "" },
	{ RULE_PARENT, "podruntime", "", "", "" }, /* Talos */
	{ RULE_PARENT, "system", "", "", "" },
};

/* Words before the ID in a container's directory, or the name of its parent directory. */
static const struct {
	const char *token;
	const char *runtime;
} runtimes[] = {
	{ "cri-containerd", "containerd" },
	{ "nerdctl", "containerd" },
	{ "docker", "docker" },
	{ "crio", "cri-o" },
	{ "libpod", "podman" },
	{ "libpod-payload", "podman" },
};

/* The name before it is made printable. */
struct name {
	char text[RAW_MAX_BYTES];
	size_t len;
};

static void append(struct name *name, struct strview part)
{
	size_t room = sizeof(name->text) - 1 - name->len;
	size_t len = part.len < room ? part.len : room;

	if (len > 0)
		memcpy(name->text + name->len, part.text, len);
	name->len += len;
	name->text[name->len] = '\0';
}

static void append_str(struct name *name, const char *text)
{
	append(name, strview_of(text, RAW_MAX_BYTES));
}

/* The byte that an escape ("\x2d") at the beginning stands for; 0 when there is none. */
static char escaped_byte(struct strview text)
{
	if (text.len < 4 || text.text[0] != '\\' || text.text[1] != 'x')
		return '\0';

	int high = hex_value(text.text[2]), low = hex_value(text.text[3]);
	if (high < 0 || low < 0)
		return '\0';
	return (char)(high << 4 | low);
}

/* Appends without systemd's escapes. */
static void append_unescaped(struct name *name, struct strview part)
{
	while (part.len > 0) {
		char byte = escaped_byte(part);
		size_t len = byte ? 4 : 1;

		append(name, byte ? (struct strview){ &byte, 1 } : strview_head(part, 1));
		part = strview_tail(part, part.len - len);
	}
}

/* "3-web" without its number, the dash escaped or not. */
static struct strview without_number(struct strview text)
{
	struct strview rest = text;

	while (rest.len > 0 && strview_has_only(strview_head(rest, 1), DIGITS))
		rest = strview_tail(rest, rest.len - 1);
	if (rest.len == text.len)
		return text;
	return strview_without_prefix(strview_without_prefix(rest, "\\x2d"), "-");
}

static bool rule_applies(const struct rule *rule, struct strview dir)
{
	if (rule->kind == RULE_EXACT || rule->kind == RULE_PARENT)
		return strview_is(dir, rule->prefix);

	size_t rest_min = rule->kind == RULE_LABEL ? 0 : 1;
	return dir.len >= strlen(rule->prefix) + rest_min + strlen(rule->suffix) &&
	       strview_starts_with(dir, rule->prefix) && strview_ends_with(dir, rule->suffix);
}

/* Names a directory by a rule. Returns whether it has a name. */
static bool name_by_rule(const struct rule *rule, struct strview dir, struct strview below,
			 struct name *name)
{
	struct strview rest = strview_without_suffix(strview_without_prefix(dir, rule->prefix),
						     rule->suffix);

	if (rule->kind == RULE_PARENT && (!strview_next(&below, '/', &rest) || rest.len == 0))
		return false;
	if (rule->kind == RULE_NUMBERED)
		rest = without_number(rest);
	append_str(name, rule->label);
	if (rule->kind != RULE_LABEL && rule->kind != RULE_EXACT)
		append_unescaped(name, rest);
	return name->len > 0;
}

/* "-UUID" or ".UUID" at the end, which makes a scope's name unique. */
static bool ends_in_uuid(struct strview unit)
{
	if (unit.len <= UUID_LEN + 1 || !strview_is_uuid(strview_tail(unit, UUID_LEN)))
		return false;

	char before = unit.text[unit.len - UUID_LEN - 1];
	return before == '-' || before == '.';
}

/* Returns whether a template's instance is a connection: NUMBER-LOCAL-REMOTE, or NUMBER-PID-UID. */
static bool is_connection(struct strview instance)
{
	struct strview number, local;

	return strview_next(&instance, '-', &number) && number.len > 0 &&
	       strview_has_only(number, DIGITS) && strview_next(&instance, '-', &local) &&
	       local.len > 0 && instance.len > 0 && strview_has_only(local, HEX_DIGITS ".:_") &&
	       strview_has_only(instance, HEX_DIGITS ".:_");
}

/* Returns whether a unit is a desktop application. Outside of users' units, "app-" is part of a
 * service's name. */
static bool is_app(struct strview unit, bool is_users)
{
	return (is_users && strview_starts_with(unit, "app-")) ||
	       strview_starts_with(unit, "dbus-:");
}

/* "app[-LAUNCHER]-ID-RANDOM" of a scope, "app[-LAUNCHER]-ID[@RANDOM]" or "dbus-:NUMBER-ID@RANDOM"
 * of a service. */
static struct strview app_id(struct strview app, bool is_scope)
{
	struct strview id = app;

	if (is_scope) {
		struct strview random = strview_behind_last(app, '-');

		if (random.len < app.len)
			app = strview_head(app, app.len - random.len - 1);
	}
	(void)strview_next(&app, '@', &id);
	return strview_behind_last(id, '-');
}

static void append_service(struct name *name, struct strview unit)
{
	struct strview rest = strview_without_suffix(unit, ".service");
	struct strview template = rest;

	(void)strview_next(&rest, '@', &template);
	if (rest.text && is_connection(rest)) {
		append_unescaped(name, template);
		append_str(name, "@.service");
	} else {
		append_unescaped(name, unit);
	}
}

/* A service's or scope's name without what is different at each start. */
static void append_unit(struct name *name, struct strview unit, bool is_users)
{
	bool is_scope = strview_ends_with(unit, ".scope");
	struct strview bare = strview_without_suffix(unit, is_scope ? ".scope" : ".service");
	struct strview id = app_id(strview_without_prefix(bare, "app-"), is_scope);

	if (is_app(bare, is_users) && id.len > 0)
		append_unescaped(name, id);
	else if (is_scope && ends_in_uuid(bare))
		append_unescaped(name, strview_head(bare, bare.len - UUID_LEN - 1));
	else
		append_service(name, unit);
}

static bool is_unit(struct strview dir)
{
	static const char *const suffixes[] = { ".service", ".scope", ".mount", ".socket",
						".swap" };

	for (size_t i = 0; i < array_len(suffixes); i++)
		if (dir.len > strlen(suffixes[i]) && strview_ends_with(dir, suffixes[i]))
			return !strview_is(dir, "init.scope");
	return false;
}

/* Notes whose slice or service manager it is; what is in it comes behind the user's name. The
 * outermost counts, as the user may make any directory in it. Returns whether it is a user's. */
static bool read_user(struct strview dir, struct name *user)
{
	struct strview slice = strview_without_suffix(strview_without_prefix(dir, "user-"),
						      ".slice");
	struct strview manager = strview_without_suffix(strview_without_prefix(dir, "user@"),
							".service");
	bool is_slice = slice.len > 0 && slice.len + strlen("user-.slice") == dir.len;
	bool is_manager = manager.len > 0 && manager.len + strlen("user@.service") == dir.len;

	if (!is_slice && !is_manager)
		return false;
	if (user->len == 0) {
		append_str(user, "user-");
		append_unescaped(user, is_slice ? slice : manager);
	}
	return true;
}

/* The runtime whose word stands before the ID: "docker-ID", "/docker/ID", "…:cri-containerd:ID". */
static const char *runtime_of(struct strview before_id)
{
	if (before_id.len == 0)
		return "";

	struct strview token = strview_head(before_id, before_id.len - 1);
	token = strview_behind_last(strview_behind_last(token, '/'), ':');
	for (size_t i = 0; i < array_len(runtimes); i++)
		if (strview_is(token, runtimes[i].token))
			return runtimes[i].runtime;
	return "";
}

/* "docker-0123456789ab"; a short ID is that of ECS, whose end matters. */
static void name_container(const struct cgroup_owner *owner, const char *runtime, struct name *name)
{
	size_t len = strlen(owner->container_id);

	append_str(name, *runtime ? runtime : "container");
	append_str(name, "-");
	append(name, strview_of(owner->container_id, len == CONTAINER_ID_LEN ? SHORT_ID_LEN : len));
}

/* Names found in the directories: a user, and a service or container. */
struct findings {
	struct name user;
	struct name thing;
	const char *runtime;
};

/* Names one directory, if it has a name; `below` is the path behind it. Returns whether it has. */
static bool name_directory(struct strview dir, struct strview below, struct findings *findings)
{
	for (size_t i = 0; i < array_len(rules); i++) {
		if (rule_applies(&rules[i], dir) &&
		    name_by_rule(&rules[i], dir, below, &findings->thing)) {
			findings->runtime = rules[i].runtime;
			return true;
		}
	}
	if (is_unit(dir))
		append_unit(&findings->thing, dir, findings->user.len > 0);
	return findings->thing.len > 0;
}

static void read_directories(struct strview path, struct findings *findings)
{
	struct strview dir;

	while (strview_next(&path, '/', &dir)) {
		if (dir.len == 0 || read_user(dir, &findings->user))
			continue;
		if (name_directory(dir, path, findings))
			return;
	}
}

/* Takes over the container's runtime, and its name unless it lies in a service written for it. */
static void read_container(const char *path, const struct cgroup_owner *owner,
			   struct findings *findings)
{
	const char *id = strstr(path, owner->container_id);

	if (!owner->container_id[0] || !id)
		return;

	struct strview before_id = { path, (size_t)(id - path) };
	findings->runtime = runtime_of(before_id);
	if (strview_ends_with(before_id, ".service/libpod-payload-") && findings->thing.len > 0)
		return;
	findings->thing.len = 0;
	name_container(owner, findings->runtime, &findings->thing);
}

void cgroup_service_parse(const char *path, const struct cgroup_owner *owner,
			  struct cgroup_service *ret_service)
{
	struct findings findings = { .runtime = "" };
	struct name *name = &findings.user;

	read_directories(strview_without_suffix(strview_of(path, PATH_MAX_BYTES), " (deleted)"),
			 &findings);
	read_container(path, owner, &findings);
	if (name->len > 0 && findings.thing.len > 0)
		append_str(name, "/");
	append(name, strview_of(findings.thing.text, findings.thing.len));
	if (name->len == 0)
		append_str(name, "host");

	printable_copy(ret_service->name, sizeof(ret_service->name), name->text);
	ret_service->runtime = findings.runtime;
}
