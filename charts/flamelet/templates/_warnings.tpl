{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Warnings for those who install the chart, at the end of NOTES.txt. */}}

{{- define "flamelet.warnings" -}}
{{- include "flamelet.kubeletWarnings" . }}
{{- include "flamelet.destinationWarnings" . }}
{{- include "flamelet.nodeWarnings" . }}
{{- end }}

{{- define "flamelet.kubeletWarnings" -}}
{{- $resource := include "flamelet.kubeletResource" . }}
{{- if not .Values.kubelet.enabled }}
{{- else if not (include "flamelet.asksKubelet" .) }}

WARNING: profiles have pod names, but no labels, owners and images of pods.
{{- if eq .Values.rbac.kubeletAccess "auto" }} Kubernetes {{ .Capabilities.KubeVersion.Version }} cannot grant the list of pods alone
(nodes/pods, since 1.33). rbac.kubeletAccess=proxy grants far more: to run commands in every container of the cluster.
{{- else }} rbac.kubeletAccess=none grants no access to the kubelet.
{{- end }}
{{- else }}
{{- if and .Values.rbac.create (eq $resource "nodes/proxy") }}

WARNING: rbac.kubeletAccess=proxy. Anyone who has the agents' token can run commands in every container of the cluster.
{{- if include "flamelet.since" (list . "1.33") }} This cluster does not
need it: set rbac.kubeletAccess=auto.
{{- end }}
{{- end }}
{{- if eq .Values.kubelet.verify "insecure" }}

WARNING: kubelet.verify=insecure. A server that impersonates a kubelet gets the agents' token.
{{- else if eq .Values.kubelet.verify "full" }}

If the doctor or a log says that the kubelet's certificate cannot be verified (kubeadm, kind, minikube: it is
self-signed), add
   --set kubelet.verify=pinned --set kubelet.hostCAFile=/var/lib/kubelet/pki/kubelet.crt
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.destinationWarnings" -}}
{{- range (include "flamelet.destinations" . | fromYaml).items }}
{{- if eq (.verify | default "") "insecure" }}

WARNING: verify=insecure for {{ .shown }}. A server that impersonates it gets the profiles, tokens and headers.
{{- else if and (regexMatch "^(http|grpc)://" .endpoint) (or (.tokenSecret).name (.headersSecret).name) }}

WARNING: {{ .shown }} uses no TLS: others can read the token or headers of its Secret on the network.
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.nodeWarnings" -}}
{{- if eq .Values.security.perfEventParanoid "sysctl" }}

kernel.perf_event_paranoid is set to 2 on each node where it is higher. It stays so after an uninstall, until the node
restarts.
{{- else if eq .Values.security.perfEventParanoid "keep" }}

If an agent's log mentions kernel.perf_event_paranoid (Debian's and Ubuntu's kernels), add
   --set security.perfEventParanoid=sysctl
{{- end }}
{{- if and .Values.heap.inject (not (include "flamelet.since" (list . "1.36"))) }}

WARNING: heap.inject does nothing. Kubernetes {{ .Capabilities.KubeVersion.Version }} has no MutatingAdmissionPolicy, which came with 1.36. Add the volume,
its mount and LD_PRELOAD to the pods yourself (docs/memory.md).
{{- else if and .Values.heap.inject .Values.heap.library }}

Pods with the annotation flamelet.dev/heap: "true" get a hostPath volume. Pods in namespaces of the Pod Security levels
"baseline" and "restricted" get none, because these refuse it, and so do without the library. With heap.library=false, pods
of all levels get a volume of the agent's image.
{{- else if .Values.heap.inject }}

Pods with the annotation flamelet.dev/heap: "true" get a volume of the agent's image. That takes containerd 2.1 or CRI-O 1.31:
on nodes with an older runtime, these pods do not start. Set heap.library=true there.
{{- end }}
{{- if eq .Values.queue.type "hostPath" }}

Profiles that wait for a destination are in {{ .Values.queue.hostPath }}/{{ include "flamelet.namespace" . }}.{{ .Release.Name }} of each node. They stay
there after an uninstall: remove the directory on the nodes.
{{- end }}
{{- if and .Values.store.enabled (eq .Values.store.type "hostPath") }}

Records are in {{ .Values.store.hostPath }}/{{ include "flamelet.namespace" . }}.{{ .Release.Name }}-record of each node. They stay there after an uninstall:
remove the directory on the nodes.
{{- end }}
{{- end }}
