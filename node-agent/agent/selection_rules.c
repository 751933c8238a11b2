/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/selection_rules.h"

static struct text_list borrow(const struct string_list *list)
{
	return (struct text_list){ (const char *const *)list->items, list->nr };
}

void options_selection_rules(const struct options *options, struct selection_rules *ret_rules)
{
	*ret_rules = (struct selection_rules){
		.namespaces = borrow(&options->namespaces),
		.pods = borrow(&options->pods),
		.containers = borrow(&options->containers),
		.selectors = borrow(&options->selectors),
		.cgroups = borrow(&options->cgroups),
		.excluded_namespaces = borrow(&options->excluded_namespaces),
		.excluded_containers = borrow(&options->excluded_containers),
		.excluded_selectors = borrow(&options->excluded_selectors),
	};
}

int options_check_selection(const struct options *options, struct strbuf *message)
{
	_cleanup_(selection_freep) struct selection *selection = NULL;
	struct selection_rules rules;

	options_selection_rules(options, &rules);
	return selection_new(&rules, message, &selection);
}
