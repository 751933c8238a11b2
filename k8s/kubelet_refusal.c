/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet_refusal.h"

#include <stdbool.h>
#include <string.h>

#define USER_MAX 360 /* "system:serviceaccount:", a namespace of 63 bytes, a name of 253 */
#define USER_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.-_@/"

/* Returns the text after `key`, or NULL. */
static const char *find_value(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found ? found + strlen(key) : NULL;
}

/* Returns the length of the user's name at the start of `text`; 0 if the name must not be
 * repeated. */
static int user_len(const char *text)
{
	size_t len = strspn(text, USER_BYTES);

	return len <= USER_MAX && text[len] == ',' ? (int)len : 0;
}

/* Returns whether the kubelet needs nodes/proxy. A kubelet that knows nodes/pods lists it first. */
static bool wants_proxy(const char *text)
{
	const char *one = find_value(text, " resource=nodes, subresource=");

	return one && strncmp(one, "proxy)", strlen("proxy)")) == 0;
}

void kubelet_refusal_explain(const char *text, struct strbuf *sentence)
{
	const char *user = find_value(text, "(user=");
	int len = user ? user_len(user) : 0;

	strbuf_append_str(sentence,
			  "the kubelet forbids the request (403): add to a ClusterRole bound to ");
	if (len > 0)
		strbuf_append(sentence, user, (size_t)len);
	else
		strbuf_append_str(sentence, "the agent's service account");
	strbuf_appendf(sentence, ": - apiGroups: [\"\"] resources: [\"nodes/%s\"] verbs: [\"get\"]",
		       wants_proxy(text) ? "proxy" : "pods");
	if (wants_proxy(text))
		strbuf_append_str(sentence, " (before Kubernetes 1.33 there is only nodes/proxy; "
					    "later versions accept nodes/pods)");
}
