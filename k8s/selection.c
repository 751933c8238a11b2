/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of rule gives an answer, which is "maybe" if something is not known yet. The answers of
 * inclusions are joined by "and", those of exclusions by "or". So one inclusion's "no" or one
 * exclusion's "yes" decides, whatever is not known. */
#include "k8s/selection.h"

#include "base/arena.h"
#include "k8s/label_selector.h"

#include <stdlib.h>
#include <string.h>

#define CONTAINER_ID_MIN 12
#define MESSAGE_TEXT_MAX 256 /* of a rule in a message */

enum answer {
	ANSWER_NO,
	ANSWER_MAYBE,
	ANSWER_YES,
};

struct selector_list {
	struct label_selector **items; /* owned, as are the selectors */
	size_t nr;
};

struct selection {
	struct arena arena; /* the texts, and the arrays of them */
	struct text_list namespaces;
	struct text_list pods;
	struct text_list containers;
	struct text_list cgroups; /* "/a/b"; "" is the root */
	struct text_list excluded_namespaces;
	struct text_list excluded_containers;
	struct selector_list selectors;
	struct selector_list excluded_selectors;
};

/* Checks the text of a rule and copies it in its final form. The message gets the error. */
typedef int (*copy_fn)(struct arena *arena, const char *text, struct strbuf *reterr_msg,
		       const char **ret_copy);

static int copy_text(struct arena *arena, const char *text, struct strbuf *reterr_msg,
		     const char **ret_copy)
{
	if (*text == '\0') {
		strbuf_append_str(reterr_msg, "it is empty");
		return -EINVAL;
	}

	const char *copy = arena_strndup(arena, text, strlen(text));
	if (!copy)
		return -ENOMEM;
	*ret_copy = copy;
	return 0;
}

static int copy_pod(struct arena *arena, const char *text, struct strbuf *reterr_msg,
		    const char **ret_copy)
{
	const char *slash = strchr(text, '/');

	if (slash && (slash == text || !slash[1] || strchr(slash + 1, '/'))) {
		strbuf_append_str(reterr_msg, "write NAME or NAMESPACE/NAME");
		return -EINVAL;
	}
	return copy_text(arena, text, reterr_msg, ret_copy);
}

/* Copies a path with one slash before each part and none at the end. */
static int copy_cgroup(struct arena *arena, const char *text, struct strbuf *reterr_msg,
		       const char **ret_copy)
{
	char *copy = arena_alloc(arena, strlen(text) + 2);
	char *end = copy;

	if (!copy)
		return -ENOMEM;
	for (text += strspn(text, "/"); *text; text += strspn(text, "/")) {
		size_t len = strcspn(text, "/");

		if (strspn(text, ".") == len && len <= 2) {
			strbuf_append_str(reterr_msg, "write the path without . and ..");
			return -EINVAL;
		}
		*end++ = '/';
		memcpy(end, text, len);
		end += len;
		text += len;
	}
	*end = '\0';
	*ret_copy = copy;
	return 0;
}

static void blame(struct strbuf *reterr_msg, const char *what, const char *text,
		  const struct strbuf *reason)
{
	strbuf_appendf(reterr_msg, "%s \"%.*s\": %s", what, MESSAGE_TEXT_MAX, text,
		       strbuf_str(reason));
}

static int copy_list(struct selection *selection, const struct text_list *rules, const char *what,
		     copy_fn copy, struct strbuf *reterr_msg, struct text_list *ret_list)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(MESSAGE_TEXT_MAX);
	const char **items = arena_alloc(&selection->arena, rules->nr * sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < rules->nr; i++) {
		int r = copy(&selection->arena, rules->items[i], &reason, &items[i]);
		if (r == -EINVAL)
			blame(reterr_msg, what, rules->items[i], &reason);
		if (r < 0)
			return r;
	}
	*ret_list = (struct text_list){ items, rules->nr };
	return 0;
}

static int parse_selectors(const struct text_list *rules, const char *what,
			   struct strbuf *reterr_msg, struct selector_list *list)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(LABEL_SELECTOR_MAX_BYTES * 2);

	if (rules->nr == 0)
		return 0;
	list->items = calloc(rules->nr, sizeof(struct label_selector *));
	if (!list->items)
		return -ENOMEM;
	for (; list->nr < rules->nr; list->nr++) {
		const char *text = rules->items[list->nr];

		int r = label_selector_parse(text, &reason, &list->items[list->nr]);
		if (r == -EINVAL || r == -ENOSPC)
			blame(reterr_msg, what, text, &reason);
		if (r < 0)
			return r == -ENOSPC ? -EINVAL : r;
	}
	return 0;
}

static void free_selectors(struct selector_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		label_selector_free(list->items[i]);
	free(list->items);
}

int selection_new(const struct selection_rules *rules, struct strbuf *reterr_msg,
		  struct selection **ret_selection)
{
	_cleanup_(selection_freep) struct selection *selection = calloc(1, sizeof(*selection));

	if (!selection)
		return -ENOMEM;

	const struct {
		const struct text_list *rules;
		const char *what;
		copy_fn copy;
		struct text_list *copied;
	} lists[] = {
		{ &rules->namespaces, "--namespace", copy_text, &selection->namespaces },
		{ &rules->pods, "--pod", copy_pod, &selection->pods },
		{ &rules->containers, "--container", copy_text, &selection->containers },
		{ &rules->cgroups, "--cgroup", copy_cgroup, &selection->cgroups },
		{ &rules->excluded_namespaces, "--exclude-namespace", copy_text,
		  &selection->excluded_namespaces },
		{ &rules->excluded_containers, "--exclude-container", copy_text,
		  &selection->excluded_containers },
	};
	for (size_t i = 0; i < array_len(lists); i++) {
		int r = copy_list(selection, lists[i].rules, lists[i].what, lists[i].copy,
				  reterr_msg, lists[i].copied);
		if (r < 0)
			return r;
	}

	int r = parse_selectors(&rules->selectors, "--selector", reterr_msg, &selection->selectors);
	if (r == 0)
		r = parse_selectors(&rules->excluded_selectors, "--exclude-selector", reterr_msg,
				    &selection->excluded_selectors);
	if (r < 0)
		return r;
	*ret_selection = take_ptr(selection);
	return 0;
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	free_selectors(&selection->selectors);
	free_selectors(&selection->excluded_selectors);
	arena_done(&selection->arena);
	free(selection);
}

bool selection_has_inclusions(const struct selection *selection)
{
	return selection->namespaces.nr > 0 || selection->pods.nr > 0 ||
	       selection->containers.nr > 0 || selection->selectors.nr > 0 ||
	       selection->cgroups.nr > 0;
}

bool selection_is_empty(const struct selection *selection)
{
	return !selection_has_inclusions(selection) && selection->excluded_namespaces.nr == 0 &&
	       selection->excluded_containers.nr == 0 && selection->excluded_selectors.nr == 0;
}

/* A cgroup and its known data. */
struct subject {
	const char *path;
	const struct cgroup_owner *owner;
	const struct pod_match *match;
};

/* Answers a rule about pods for a cgroup without a known pod. */
static enum answer without_pod(const struct subject *subject)
{
	bool is_of_pod = subject->owner->kind >= CGROUP_POD;

	return is_of_pod && !subject->match->is_final ? ANSWER_MAYBE : ANSWER_NO;
}

static enum answer in_namespaces(const struct text_list *namespaces, const struct subject *subject)
{
	const struct pod *pod = subject->match->pod;

	if (!pod)
		return without_pod(subject);
	for (size_t i = 0; i < namespaces->nr; i++) {
		if (strcmp(namespaces->items[i], pod->namespace) == 0)
			return ANSWER_YES;
	}
	return ANSWER_NO;
}

/* "NAME" matches any pod of that name, "NAMESPACE/NAME" exactly one. */
static bool is_named(const struct pod *pod, const char *rule)
{
	const char *slash = strchr(rule, '/');
	size_t namespace_len = slash ? (size_t)(slash - rule) : 0;

	if (!slash)
		return strcmp(pod->name, rule) == 0;
	return strcmp(pod->name, slash + 1) == 0 && strlen(pod->namespace) == namespace_len &&
	       memcmp(pod->namespace, rule, namespace_len) == 0;
}

static enum answer is_one_of_pods(const struct text_list *pods, const struct subject *subject)
{
	if (!subject->match->pod)
		return without_pod(subject);
	for (size_t i = 0; i < pods->nr; i++) {
		if (is_named(subject->match->pod, pods->items[i]))
			return ANSWER_YES;
	}
	return ANSWER_NO;
}

static enum answer has_labels(const struct selector_list *selectors, const struct subject *subject)
{
	const struct pod *pod = subject->match->pod;

	if (!pod)
		return without_pod(subject);
	if (pod->source == POD_FROM_LOGS)
		return ANSWER_MAYBE;
	for (size_t i = 0; i < selectors->nr; i++) {
		if (label_selector_matches(selectors->items[i], pod->labels, pod->nr_labels))
			return ANSWER_YES;
	}
	return ANSWER_NO;
}

static bool has_id(const char *id, const char *rule)
{
	size_t len = strlen(rule);

	return len >= CONTAINER_ID_MIN && strncmp(id, rule, len) == 0;
}

/* A container of a pod may get its name later; a sandbox and containers of no pod never do. A pod's
 * own directory stands for containers in it that the agent has not seen yet and whose names are
 * unknown. */
static enum answer is_one_of_containers(const struct text_list *containers,
					const struct subject *subject)
{
	const struct pod_container *container = subject->match->container;
	bool may_be_named = subject->owner->kind == CGROUP_POD ||
			    (subject->owner->kind == CGROUP_CONTAINER && !container &&
			     !subject->match->is_sandbox && !subject->match->is_final);

	for (size_t i = 0; i < containers->nr; i++) {
		if (has_id(subject->owner->container_id, containers->items[i]) ||
		    (container && strcmp(container->name, containers->items[i]) == 0))
			return ANSWER_YES;
	}
	return may_be_named ? ANSWER_MAYBE : ANSWER_NO;
}

static enum answer is_below(const struct text_list *cgroups, const char *path)
{
	for (size_t i = 0; i < cgroups->nr; i++) {
		size_t len = strlen(cgroups->items[i]);

		if (strncmp(path, cgroups->items[i], len) == 0 &&
		    (path[len] == '/' || path[len] == '\0'))
			return ANSWER_YES;
	}
	return ANSWER_NO;
}

/* An unknown pod does not count as opted out. */
static enum answer is_opted_out(const struct subject *subject)
{
	const struct pod *pod = subject->match->pod;

	return pod && pod->is_opted_out ? ANSWER_YES : ANSWER_NO;
}

static enum answer either(enum answer a, enum answer b)
{
	return a > b ? a : b;
}

static enum answer is_excluded(const struct selection *selection, const struct subject *subject)
{
	enum answer answer = is_opted_out(subject);

	if (selection->excluded_namespaces.nr > 0)
		answer = either(answer, in_namespaces(&selection->excluded_namespaces, subject));
	if (selection->excluded_containers.nr > 0)
		answer = either(answer,
				is_one_of_containers(&selection->excluded_containers, subject));
	if (selection->excluded_selectors.nr > 0)
		answer = either(answer, has_labels(&selection->excluded_selectors, subject));
	return answer;
}

static enum answer both(enum answer a, enum answer b)
{
	return a < b ? a : b;
}

static enum answer is_included(const struct selection *selection, const struct subject *subject)
{
	enum answer answer = ANSWER_YES;

	if (selection->namespaces.nr > 0)
		answer = both(answer, in_namespaces(&selection->namespaces, subject));
	if (selection->pods.nr > 0)
		answer = both(answer, is_one_of_pods(&selection->pods, subject));
	if (selection->containers.nr > 0)
		answer = both(answer, is_one_of_containers(&selection->containers, subject));
	if (selection->selectors.nr > 0)
		answer = both(answer, has_labels(&selection->selectors, subject));
	if (selection->cgroups.nr > 0)
		answer = both(answer, is_below(&selection->cgroups, subject->path));
	return answer;
}

enum selection_verdict selection_decide(const struct selection *selection, const char *path,
					const struct cgroup_owner *owner,
					const struct pod_match *match)
{
	const struct subject subject = { path, owner, match };
	enum answer included = is_included(selection, &subject);
	enum answer excluded = is_excluded(selection, &subject);

	if (included == ANSWER_NO || excluded == ANSWER_YES)
		return SELECTION_EXCLUDED;
	if (included == ANSWER_MAYBE || excluded == ANSWER_MAYBE)
		return SELECTION_UNDECIDED;
	return SELECTION_WANTED;
}
