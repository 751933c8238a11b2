{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Names, labels, the image, and what the cluster's version decides. Who writes a name quotes it: 123 and 1e3 are names, too. */}}

{{- define "flamelet.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "flamelet.fullname" -}}
{{- $name := include "flamelet.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | replace "." "-" | trunc 52 | trimAll "-" }}
{{- end }}

{{- define "flamelet.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{/* Objects without a namespace have the release's in their name: two releases of the same name must not meet.
Namespaces have no dots, so no two pairs make one name. */}}
{{- define "flamelet.clusterName" -}}
{{- include "flamelet.namespace" . }}.{{ include "flamelet.fullname" . }}
{{- end }}

{{- define "flamelet.serviceAccountName" -}}
{{- default (include "flamelet.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{/* The labels by which the pods of a release are found; they never change. */}}
{{- define "flamelet.selectorLabels" -}}
app.kubernetes.io/name: {{ include "flamelet.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "flamelet.agentLabels" -}}
{{ include "flamelet.selectorLabels" . }}
app.kubernetes.io/component: agent
{{- end }}

{{/* Pods do not say by which chart they were made: a new chart alone is no reason to replace them. */}}
{{- define "flamelet.podLabels" -}}
{{- merge (include "flamelet.agentLabels" . | fromYaml) .Values.podLabels .Values.commonLabels | toYaml }}
{{- end }}

{{- define "flamelet.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "flamelet.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The metadata of an object, of a dict: root and, if they are not the usual ones, name, namespace ("-" for none),
component, labels and annotations. */}}
{{- define "flamelet.metadata" -}}
{{- $root := .root -}}
{{- $namespace := default (include "flamelet.namespace" $root) .namespace -}}
name: {{ default (include "flamelet.fullname" $root) .name | quote }}
{{- if ne $namespace "-" }}
namespace: {{ $namespace | quote }}
{{- end }}
{{- $own := set (include "flamelet.ownLabels" $root | fromYaml) "app.kubernetes.io/component" (default "agent" .component) }}
labels: {{- merge $own (.labels | default dict) $root.Values.commonLabels | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "flamelet.image" -}}
{{- with .Values.image }}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{/* "true" when the cluster has at least that version: a list of root and version. */}}
{{- define "flamelet.since" -}}
{{- $root := index . 0 }}
{{- if semverCompare (printf ">=%s.0-0" (index . 1)) $root.Capabilities.KubeVersion.Version }}true{{ end }}
{{- end }}

{{/* The resource of the kubelet's API that the agent may ask for: nodes/pods, nodes/proxy, or nothing. */}}
{{- define "flamelet.kubeletResource" -}}
{{- $access := .Values.rbac.kubeletAccess }}
{{- if eq $access "auto" }}
{{- $access = ternary "pods" "none" (eq (include "flamelet.since" (list . "1.33")) "true") }}
{{- end }}
{{- if and .Values.kubelet.enabled (ne $access "none") }}nodes/{{ $access }}{{ end }}
{{- end }}

{{- define "flamelet.asksKubelet" -}}
{{- if include "flamelet.kubeletResource" . }}true{{ end }}
{{- end }}
