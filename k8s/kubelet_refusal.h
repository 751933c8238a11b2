/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a kubelet's status 403. The text of the answer contains the user and the resource:
 *
 *	Forbidden (user=U, verb=get, resource=nodes, subresource=proxy)			before 1.32
 *	Forbidden (user=U, verb=get, resource=nodes, subresource(s)=[pods proxy])	since
 *
 * The text comes from outside and is shown to an administrator, who may follow it. So only the user
 * and one of the two resources that /pods can need are used. */
#ifndef K8S_KUBELET_REFUSAL_H
#define K8S_KUBELET_REFUSAL_H

#include "base/strbuf.h"

/* Appends a sentence in printable ASCII with the missing rule of a ClusterRole. */
void kubelet_refusal_explain(const char *text, struct strbuf *sentence);

#endif
