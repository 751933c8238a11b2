/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a kubelet's 403. Its text says who asked and for what:
 *
 *	Forbidden (user=U, verb=get, resource=nodes, subresource=proxy)			before 1.32
 *	Forbidden (user=U, verb=get, resource=nodes, subresource(s)=[pods proxy])	since
 *
 * The text comes from outside and is shown to an administrator, who may do what it says. So only a
 * user and one of the two resources that /pods can need are taken from it. */
#ifndef K8S_KUBELET_REFUSAL_H
#define K8S_KUBELET_REFUSAL_H

#include "base/strbuf.h"

/* Appends a sentence of printable ASCII with the rule of a ClusterRole that is missing. */
void kubelet_refusal_explain(const char *text, struct strbuf *sentence);

#endif
