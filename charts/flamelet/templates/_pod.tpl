{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* The pod: of the DaemonSet and, with other arguments, of `helm test`. */}}

{{/* Kubernetes refuses both of maxSurge and maxUnavailable; the latter has a default. */}}
{{- define "flamelet.updateStrategy" -}}
{{- $surge := (.Values.updateStrategy.rollingUpdate).maxSurge | default "0" | toString }}
{{- $changes := ternary (dict) (dict "rollingUpdate" (dict "maxUnavailable" 0)) (has $surge (list "0" "0%")) }}
{{- mergeOverwrite (deepCopy .Values.updateStrategy) $changes | toYaml }}
{{- end }}

{{- define "flamelet.podAnnotations" -}}
{{- $own := dict "checksum/config" (include "flamelet.checksum" .) }}
{{- merge $own (include "flamelet.appArmorAnnotations" . | fromYaml) .Values.podAnnotations | toYaml }}
{{- end }}

{{/* Before Kubernetes 1.30 the AppArmor profile is an annotation for each container. */}}
{{- define "flamelet.appArmorAnnotations" -}}
{{- if not (include "flamelet.since" (list . "1.30")) }}
{{- with .Values.security.appArmorProfile }}
{{- $profile := printf "localhost/%s" .localhostProfile }}
{{- if ne .type "Localhost" }}
{{- $profile = ternary "unconfined" "runtime/default" (eq .type "Unconfined") }}
{{- end }}
container.apparmor.security.beta.kubernetes.io/flamelet: {{ $profile }}
{{- if eq $.Values.security.perfEventParanoid "sysctl" }}
container.apparmor.security.beta.kubernetes.io/allow-perf: {{ $profile }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.podSecurityContext" -}}
runAsUser: 0
runAsGroup: 0
{{- with .Values.security.seccompProfile }}
seccompProfile: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if include "flamelet.since" (list . "1.30") }}
{{- with .Values.security.appArmorProfile }}
appArmorProfile: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.security.seLinuxOptions }}
seLinuxOptions: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "flamelet.capabilities" -}}
{{- $names := .Values.security.capabilities }}
{{- if eq .Values.security.perfEventParanoid "sysAdmin" }}{{ $names = append $names "SYS_ADMIN" }}{{ end }}
{{- if .Values.security.oldKernel }}{{ $names = append $names "SYS_RESOURCE" }}{{ end }}
{{- toYaml $names }}
{{- end }}

{{- define "flamelet.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "flamelet.env" -}}
- name: NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
{{- /* Without the node's address the agent has no kubelet to ask. */}}
{{- if include "flamelet.asksKubelet" . }}
- name: HOST_IP
  valueFrom: {fieldRef: {fieldPath: status.hostIP}}
{{- end }}
{{- /* A command that reads the record shares the memory limit with the agent. */}}
{{- if .Values.store.enabled }}
- name: FLAMELET_QUERY_MEMORY_MAX
  value: {{ .Values.store.queryMemoryMax | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The program's arguments: a list of root and command. */}}
{{- define "flamelet.args" -}}
{{- $root := index . 0 -}}
- {{ index . 1 }}
- -c
- /etc/flamelet/flamelet.yaml
{{- if and (include "flamelet.asksKubelet" $root) (ne (int $root.Values.kubelet.port) 10250) }}
- --kubelet-url=https://$(HOST_IP):{{ int $root.Values.kubelet.port }}
{{- end }}
{{- end }}

{{/* By its address and not by the configuration: an agent goes on with the old one when the new one is wrong. */}}
{{- define "flamelet.probe" -}}
exec:
  command: [/usr/bin/flamelet, health, --listen, "unix:/run/flamelet/http.sock"{{ if .ready }}, --ready{{ end }}]
{{ toYaml .settings }}
{{- end }}

{{/* Writes 2 to the one file that it is given: no capability is needed for that. */}}
{{- define "flamelet.initContainers" -}}
- name: allow-perf
  image: {{ include "flamelet.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: [allow-perf, --paranoid-file, /host/perf_event_paranoid]
  securityContext: {{- include "flamelet.securityContext" . | nindent 4 }}
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: perf-event-paranoid, mountPath: /host/perf_event_paranoid}
{{- end }}

{{/* What the agent and the test have in common. */}}
{{- define "flamelet.container" -}}
name: flamelet
image: {{ include "flamelet.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env: {{- include "flamelet.env" . | nindent 2 }}
{{- with .Values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "flamelet.securityContext" . | nindent 2 }}
    add: {{- include "flamelet.capabilities" . | nindent 6 }}
resources: {{- include "flamelet.resources" . | nindent 2 }}
{{- /* `kubectl describe pod` then says why an agent ended. */}}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts: {{- include "flamelet.volumeMounts" . | nindent 2 }}
{{- end }}

{{- define "flamelet.podSpec" -}}
serviceAccountName: {{ include "flamelet.serviceAccountName" . | quote }}
{{- /* The token for the kubelet is a volume of its own: one that is mounted by itself is good for a year. */}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- /* Samples carry the host's process ids. */}}
hostPID: true
{{- if kindIs "bool" .Values.hostUsers }}
hostUsers: {{ .Values.hostUsers }}
{{- end }}
dnsPolicy: {{ .Values.dnsPolicy }}
securityContext: {{- include "flamelet.podSecurityContext" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes: {{- include "flamelet.volumes" . | nindent 2 }}
{{- if eq .Values.security.perfEventParanoid "sysctl" }}
initContainers: {{- include "flamelet.initContainers" . | nindent 2 }}
{{- end }}
{{- end }}
