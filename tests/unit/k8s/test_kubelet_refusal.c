/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet_refusal.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define START "the kubelet forbids the request (403): add to a ClusterRole bound to "
#define SOMEBODY "the agent's service account"
#define PODS ": - apiGroups: [\"\"] resources: [\"nodes/pods\"] verbs: [\"get\"]"
#define PROXY                                                                                      \
	": - apiGroups: [\"\"] resources: [\"nodes/proxy\"] verbs: [\"get\"] (before "             \
	"Kubernetes 1.33 there is only nodes/proxy; later versions accept nodes/pods)"
#define AGENT "system:serviceaccount:prof:agent"

static void assert_explained(const char *text, const char *rest)
{
	_cleanup_(strbuf_done) struct strbuf sentence = strbuf_with_max(1024);

	kubelet_refusal_explain(text, &sentence);
	assert_int_equal(strbuf_error(&sentence), 0);
	assert_memory_equal(strbuf_str(&sentence), START, strlen(START));
	assert_string_equal(strbuf_str(&sentence) + strlen(START), rest);
}

static void user_and_resource_are_those_the_kubelet_names(void **state)
{
	(void)state;
	assert_explained("Forbidden (user=" AGENT ", verb=get, resource=nodes, subresource=proxy)",
			 AGENT PROXY);
	assert_explained("Forbidden (user=" AGENT
			 ", verb=get, resource=nodes, subresource(s)=[pods proxy])",
			 AGENT PODS);
	assert_explained("Forbidden (user=node-reader@example.org, verb=get, resource=nodes, "
			 "subresource(s)=[pods proxy])\n",
			 "node-reader@example.org" PODS);
}

static void what_is_no_refusal_of_a_kubelet_is_not_repeated(void **state)
{
	static const char *const texts[] = {
		"",
		"Forbidden",
		"Forbidden (user=",
		"Forbidden (user=)",
		"Forbidden (user=, verb=get)",
		"Forbidden (user=" AGENT,
		"Forbidden (user=" AGENT ")",
		"Forbidden (user=two words, verb=get, resource=nodes, subresource(s)=[pods proxy])",
		"Forbidden (user=\x1b[31mred, verb=get, resource=nodes, subresource=pods)",
		"Forbidden (user=\"\nlevel=error, verb=get)",
		"Forbidden (user=\xc3\xa4, verb=get)",
		"Forbidden (verb=get, resource=nodes, subresource=proxy/../secrets)",
		"Forbidden (verb=get, resource=secrets, subresource=proxy)",
		"<html>(user=<script>, </html>",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++)
		assert_explained(texts[i], SOMEBODY PODS);
}

static void an_endless_name_is_not_repeated(void **state)
{
	char text[1000];
	(void)state;

	memset(text, 'a', sizeof(text));
	memcpy(text, "(user=", strlen("(user="));
	text[sizeof(text) - 2] = ',';
	text[sizeof(text) - 1] = '\0';
	assert_explained(text, SOMEBODY PODS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_and_resource_are_those_the_kubelet_names),
		cmocka_unit_test(what_is_no_refusal_of_a_kubelet_is_not_repeated),
		cmocka_unit_test(an_endless_name_is_not_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
