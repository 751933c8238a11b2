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
{{- if $.Values.heap.library }}
container.apparmor.security.beta.kubernetes.io/copy-heap: {{ $profile }}
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
{{- /* NVIDIA's runtime then adds the devices, and the library that tells what they do. */}}
{{- if .Values.gpu.enabled }}
- {name: NVIDIA_VISIBLE_DEVICES, value: all}
- {name: NVIDIA_DRIVER_CAPABILITIES, value: utility}
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

{{/* A container that writes to one place of the node and needs no capability for that: a dict of root, name, args, volume and mountPath. */}}
{{- define "flamelet.initContainer" -}}
- name: {{ .name }}
  image: {{ include "flamelet.image" .root | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{- toYaml .args | nindent 4 }}
  securityContext: {{- include "flamelet.securityContext" .root | nindent 4 }}
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: {{ .volume }}, mountPath: {{ .mountPath }}}
{{- end }}

{{/* The first one writes 2 to the one file that it is given, the second one puts a library into a directory. */}}
{{- define "flamelet.initContainers" -}}
{{- if eq .Values.security.perfEventParanoid "sysctl" }}
{{- $path := "/host/perf_event_paranoid" }}
{{ include "flamelet.initContainer" (dict "root" . "name" "allow-perf" "args" (list "allow-perf" "--paranoid-file" $path) "volume" "perf-event-paranoid" "mountPath" $path) }}
{{- end }}
{{- if .Values.heap.library }}
{{ include "flamelet.initContainer" (dict "root" . "name" "copy-heap" "args" (list "copy-heap" "--directory" "/host/heap") "volume" "heap-library" "mountPath" "/host/heap") }}
{{- end }}
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
{{- if and .Values.gpu.enabled .Values.gpu.runtimeClassName }}
runtimeClassName: {{ .Values.gpu.runtimeClassName | quote }}
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
{{- with include "flamelet.initContainers" . | trim }}
initContainers: {{- . | nindent 2 }}
{{- end }}
{{- end }}
