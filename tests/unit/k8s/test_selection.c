/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/selection.h"

#include "torture.h"
#include "unit.h"

#include <string.h>

#define ITEMS_MAX 4
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_12 "9a4e161f1570"
#define DOCKER_ID "0a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"

enum kind {
	NAMESPACES,
	PODS,
	CONTAINERS,
	SELECTORS,
	CGROUPS,
	NO_NAMESPACES,
	NO_CONTAINERS,
	NO_SELECTORS,
	NR_KINDS,
};

/* Texts of each kind, ended by NULL. */
struct rules {
	const char *texts[NR_KINDS][ITEMS_MAX];
};

static struct text_list list_of(const char *const *texts)
{
	struct text_list list = { .items = texts };

	while (list.nr < ITEMS_MAX && texts[list.nr])
		list.nr++;
	return list;
}

static int make(const struct rules *rules, struct strbuf *message, struct selection **ret_selection)
{
	const struct selection_rules lists = {
		.namespaces = list_of(rules->texts[NAMESPACES]),
		.pods = list_of(rules->texts[PODS]),
		.containers = list_of(rules->texts[CONTAINERS]),
		.selectors = list_of(rules->texts[SELECTORS]),
		.cgroups = list_of(rules->texts[CGROUPS]),
		.excluded_namespaces = list_of(rules->texts[NO_NAMESPACES]),
		.excluded_containers = list_of(rules->texts[NO_CONTAINERS]),
		.excluded_selectors = list_of(rules->texts[NO_SELECTORS]),
	};

	return selection_new(&lists, message, ret_selection);
}

static struct pod_attribute web_labels[] = { { "app", "web" }, { "tier", "front" } };

static const struct pod_container web_container = { .name = "web", .id = ID };
static const struct pod web_pod = {
	.name = "cart-1",
	.namespace = "shop",
	.labels = web_labels,
	.nr_labels = array_len(web_labels),
};
static const struct pod logs_pod = {
	.source = POD_FROM_LOGS,
	.name = "cart-1",
	.namespace = "shop",
};
static const struct pod quiet_pod = {
	.name = "cart-2",
	.namespace = "shop",
	.labels = web_labels,
	.nr_labels = array_len(web_labels),
	.is_opted_out = true,
};

/* What verdicts are asked for. */
enum subject_id {
	HOST, /* a systemd unit */
	DOCKER, /* a container without a pod */
	DOCKER_OF_POD, /* cri-dockerd with a path that has no pod */
	WEB, /* a container of a pod that is known */
	POD_DIR, /* the pod's own directory */
	RUNTIME, /* conmon of that pod */
	SANDBOX,
	NAMELESS, /* a container of a pod that is known, with a name to come */
	NEVER_NAMED, /* the same, with none to come */
	LOGS, /* WEB, known by its log directory */
	QUIET, /* WEB, with the annotation */
	UNKNOWN, /* a pod not known yet */
	NEVER_KNOWN, /* and one that never will be */
	NR_SUBJECTS,
};

static const struct {
	const char *path;
	struct cgroup_owner owner;
	struct pod_match match;
} subjects[] = {
	[HOST] = { "/system.slice/sshd.service", { .kind = CGROUP_HOST }, { 0 } },
	[DOCKER] = { "/docker/" DOCKER_ID,
		     { .kind = CGROUP_CONTAINER_NO_POD, .container_id = DOCKER_ID },
		     { 0 } },
	[DOCKER_OF_POD] = { "/docker/" ID,
			    { .kind = CGROUP_CONTAINER_NO_POD, .container_id = ID },
			    { .pod = &web_pod, .container = &web_container } },
	[WEB] = { "/kubepods/podA/" ID,
		  { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
		  { .pod = &web_pod, .container = &web_container } },
	[POD_DIR] = { "/kubepods/podA",
		      { .kind = CGROUP_POD, .pod_uid = "A" },
		      { .pod = &web_pod } },
	[RUNTIME] = { "/kubepods/podA/conmon",
		      { .kind = CGROUP_RUNTIME, .pod_uid = "A" },
		      { .pod = &web_pod } },
	[SANDBOX] = { "/kubepods/podA/" ID,
		      { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
		      { .pod = &web_pod, .is_sandbox = true } },
	[NAMELESS] = { "/kubepods/podA/" ID,
		       { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
		       { .pod = &web_pod } },
	[NEVER_NAMED] = { "/kubepods/podA/" ID,
			  { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
			  { .pod = &web_pod, .is_final = true } },
	[LOGS] = { "/kubepods/podA/" ID,
		   { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
		   { .pod = &logs_pod, .container = &web_container } },
	[QUIET] = { "/kubepods/podA/" ID,
		    { .kind = CGROUP_CONTAINER, .pod_uid = "A", .container_id = ID },
		    { .pod = &quiet_pod, .container = &web_container } },
	[UNKNOWN] = { "/kubepods/podB/" ID,
		      { .kind = CGROUP_CONTAINER, .pod_uid = "B", .container_id = ID },
		      { 0 } },
	[NEVER_KNOWN] = { "/kubepods/podB/" ID,
			  { .kind = CGROUP_CONTAINER, .pod_uid = "B", .container_id = ID },
			  { .is_final = true } },
};

static void check_verdicts(const struct rules *rules, const char *expected)
{
	static const char letters[] = {
		[SELECTION_WANTED] = '+', [SELECTION_EXCLUDED] = '-', [SELECTION_UNDECIDED] = '?'
	};
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	_cleanup_(selection_freep) struct selection *selection = NULL;
	char verdicts[NR_SUBJECTS + 1] = "";

	assert_int_equal(make(rules, &message, &selection), 0);
	for (size_t i = 0; i < NR_SUBJECTS; i++)
		verdicts[i] = letters[selection_decide(selection, subjects[i].path,
						       &subjects[i].owner, &subjects[i].match)];
	assert_string_equal(verdicts, expected);
}

/* One letter for each subject, in the order of enum subject_id: + wanted, - excluded, ?
 * undecided. */
struct verdict_case {
	struct rules rules;
	const char *verdicts;
};

#define IN(kind, ...) [kind] = { __VA_ARGS__ }
#define RULES(...)                                                                                 \
	{                                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct verdict_case cases[] = {
	{ RULES(IN(NAMESPACES, NULL)), "++++++++++-++" },

	{ RULES(IN(NAMESPACES, "shop")), "--++++++++-?-" },
	{ RULES(IN(NAMESPACES, "sho")), "-----------?-" },
	{ RULES(IN(NAMESPACES, "test", "shop")), "--++++++++-?-" },
	{ RULES(IN(NO_NAMESPACES, "shop")), "++---------?+" },
	{ RULES(IN(NO_NAMESPACES, "test")), "++++++++++-?+" },
	{ RULES(IN(NAMESPACES, "shop"), IN(NO_NAMESPACES, "shop")), "-----------?-" },

	{ RULES(IN(PODS, "cart-1")), "--++++++++-?-" },
	{ RULES(IN(PODS, "shop/cart-1")), "--++++++++-?-" },
	{ RULES(IN(PODS, "test/cart-1")), "-----------?-" },
	{ RULES(IN(PODS, "sho/cart-1", "shop/cart", "cart")), "-----------?-" },
	{ RULES(IN(PODS, "cart-2", "cart-1")), "--++++++++-?-" },

	{ RULES(IN(CONTAINERS, "web")), "--++?--?-+-?-" },
	{ RULES(IN(CONTAINERS, "we")), "----?--?---?-" },
	{ RULES(IN(CONTAINERS, ID_12)), "--++?-++++-++" },
	{ RULES(IN(CONTAINERS, ID)), "--++?-++++-++" },
	{ RULES(IN(CONTAINERS, "9a4e161f157")), "----?--?---?-" },
	{ RULES(IN(CONTAINERS, ID "0")), "----?--?---?-" },
	{ RULES(IN(CONTAINERS, DOCKER_ID)), "-+--?--?---?-" },
	{ RULES(IN(CONTAINERS, "db", "web")), "--++?--?-+-?-" },
	{ RULES(IN(NO_CONTAINERS, "web")), "++--?++?+--?+" },
	{ RULES(IN(NO_CONTAINERS, "db")), "++++?++?++-?+" },
	{ RULES(IN(NO_CONTAINERS, ID_12)), "++--?+-------" },

	{ RULES(IN(SELECTORS, "app=web")), "--+++++++?-?-" },
	{ RULES(IN(SELECTORS, "app=db")), "---------?-?-" },
	{ RULES(IN(SELECTORS, "app=web,tier=back")), "---------?-?-" },
	{ RULES(IN(SELECTORS, "app=db", "tier=front")), "--+++++++?-?-" },
	{ RULES(IN(SELECTORS, "!canary")), "--+++++++?-?-" },
	{ RULES(IN(SELECTORS, "")), "--+++++++?-?-" },
	{ RULES(IN(NO_SELECTORS, "app in (web)")), "++-------?-?+" },
	{ RULES(IN(NO_SELECTORS, "app", "x")), "++-------?-?+" },
	{ RULES(IN(NO_SELECTORS, "x")), "+++++++++?-?+" },

	{ RULES(IN(CGROUPS, "/")), "++++++++++-++" },
	{ RULES(IN(CGROUPS, "/kubepods")), "---+++++++-++" },
	{ RULES(IN(CGROUPS, "kubepods//podA//")), "---+++++++---" },
	{ RULES(IN(CGROUPS, "/kubepods/pod")), "-------------" },
	{ RULES(IN(CGROUPS, "/system.slice/", "/docker")), "+++----------" },
	{ RULES(IN(CGROUPS, "/system.slice/sshd.service/x")), "-------------" },

	/* Kinds narrow each other, and a no of one is final whatever is not known of the others. */
	{ RULES(IN(NAMESPACES, "shop"), IN(SELECTORS, "app=web")), "--+++++++?-?-" },
	{ RULES(IN(NAMESPACES, "shop"), IN(SELECTORS, "app=db")), "---------?-?-" },
	{ RULES(IN(NAMESPACES, "test"), IN(SELECTORS, "app=web")), "-----------?-" },
	{ RULES(IN(PODS, "cart-1"), IN(CONTAINERS, "web")), "--++?--?-+-?-" },
	{ RULES(IN(NAMESPACES, "shop"), IN(CGROUPS, "/docker")), "--+----------" },
	{ RULES(IN(NAMESPACES, "shop"), IN(NO_CONTAINERS, "web")), "----?++?+--?-" },
	{ RULES(IN(NAMESPACES, "test"), IN(NO_CONTAINERS, "web")), "-----------?-" },
	{ RULES(IN(CGROUPS, "/system.slice"), IN(NO_SELECTORS, "app")), "+------------" },
};

static void verdicts_follow_from_the_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check_verdicts(&cases[i].rules, cases[i].verdicts);
}

static void a_cgroup_covers_what_is_below_it(void **state)
{
	static const struct {
		const char *rule;
		const char *path;
		bool is_covered;
	} paths[] = {
		{ "/a/b", "/a/b", true },    { "/a/b", "/a/b/c", true },
		{ "/a/b", "/a/bc", false },  { "/a/b", "/a", false },
		{ "/a/b", "/", false },	     { "/a/b/", "/a/b/c", true },
		{ "/a/b///", "/a/b", true }, { "//a//b", "/a/b", true },
		{ "a/b", "/a/b/c", true },   { "/", "/", true },
		{ "///", "/a", true },	     { "/a.b", "/a.b/..c", true },
		{ "/...", "/...", true },
	};
	(void)state;

	for (size_t i = 0; i < array_len(paths); i++) {
		const struct rules rules = RULES(IN(CGROUPS, paths[i].rule));
		const struct cgroup_owner owner = { .kind = CGROUP_HOST };
		const struct pod_match match = { 0 };
		struct strbuf message = strbuf_with_max(100);
		_cleanup_(selection_freep) struct selection *selection = NULL;

		assert_int_equal(make(&rules, &message, &selection), 0);
		assert_int_equal(selection_decide(selection, paths[i].path, &owner, &match),
				 paths[i].is_covered ? SELECTION_WANTED : SELECTION_EXCLUDED);
	}
}

static void rules_say_whether_they_include(void **state)
{
	(void)state;
	for (size_t kind = 0; kind <= NR_KINDS; kind++) {
		struct strbuf message = strbuf_with_max(100);
		_cleanup_(selection_freep) struct selection *selection = NULL;
		struct rules rules = { .texts = { { NULL } } };

		if (kind < NR_KINDS)
			rules.texts[kind][0] = "a";
		assert_int_equal(make(&rules, &message, &selection), 0);
		assert_int_equal(selection_is_empty(selection), kind == NR_KINDS);
		assert_int_equal(selection_has_inclusions(selection), kind < NO_NAMESPACES);
	}
}

static void a_wrong_rule_is_named_with_the_reason(void **state)
{
	static const struct {
		struct rules rules;
		const char *message;
	} wrong[] = {
		{ RULES(IN(NAMESPACES, "a", "")), "--namespace \"\": it is empty" },
		{ RULES(IN(NO_NAMESPACES, "")), "--exclude-namespace \"\": it is empty" },
		{ RULES(IN(CONTAINERS, "")), "--container \"\": it is empty" },
		{ RULES(IN(NO_CONTAINERS, "")), "--exclude-container \"\": it is empty" },
		{ RULES(IN(PODS, "")), "--pod \"\": it is empty" },
		{ RULES(IN(PODS, "a", "/b")), "--pod \"/b\": write NAME or NAMESPACE/NAME" },
		{ RULES(IN(PODS, "a/")), "--pod \"a/\": write NAME or NAMESPACE/NAME" },
		{ RULES(IN(PODS, "a/b/c")), "--pod \"a/b/c\": write NAME or NAMESPACE/NAME" },
		{ RULES(IN(CGROUPS, "/a/../b")),
		  "--cgroup \"/a/../b\": write the path without . and .." },
		{ RULES(IN(CGROUPS, ".")), "--cgroup \".\": write the path without . and .." },
		{ RULES(IN(SELECTORS, "app", "app in (a")),
		  "--selector \"app in (a\": character 10: the selector ends; expected \",\" "
		  "or \")\"" },
		{ RULES(IN(NO_SELECTORS, "a b")),
		  "--exclude-selector \"a b\": character 3: \"b\"; expected \"=\", \"!=\", \"in\", "
		  "\"notin\" or \",\"" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(wrong); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
		_cleanup_(selection_freep) struct selection *selection = NULL;

		assert_int_equal(make(&wrong[i].rules, &message, &selection), -EINVAL);
		assert_string_equal(strbuf_str(&message), wrong[i].message);
	}
}

static void a_selector_over_its_limits_is_a_wrong_rule(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	char text[5000];
	const struct rules rules = RULES(IN(SELECTORS, text));
	struct selection *selection = NULL;
	(void)state;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(make(&rules, &message, &selection), -EINVAL);
	assert_non_null(strstr(strbuf_str(&message), "too long; at most 4096 bytes"));
}

static void want_of_memory_leaves_nothing_behind(void **state)
{
	static const struct rules rules = RULES(IN(NAMESPACES, "a"), IN(PODS, "b/c"),
						IN(CONTAINERS, "d"), IN(SELECTORS, "e", "f"),
						IN(CGROUPS, "/g"), IN(NO_NAMESPACES, "h"),
						IN(NO_CONTAINERS, "i"), IN(NO_SELECTORS, "j=k"));
	_cleanup_(selection_freep) struct selection *selection = NULL;
	struct strbuf message = strbuf_with_max(4096);
	unsigned int n = 1;
	(void)state;

	for (;; n++) {
		torture_begin(n);
		int r = make(&rules, &message, &selection);
		if (!torture_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_null(selection);
		assert_int_equal(message.len, 0);
	}
	assert_true(n > 8);
	assert_non_null(selection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_follow_from_the_rules),
		cmocka_unit_test(a_cgroup_covers_what_is_below_it),
		cmocka_unit_test(rules_say_whether_they_include),
		cmocka_unit_test(a_wrong_rule_is_named_with_the_reason),
		cmocka_unit_test(a_selector_over_its_limits_is_a_wrong_rule),
		cmocka_unit_test(want_of_memory_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
