{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Volumes of the pod, and where they are in it. */}}

{{/* MiB of the caches together; 0: there is none. The agent keeps at most 256 MiB of unwind tables and 128 MiB of source lines. */}}
{{- define "flamelet.cacheMebibytes" -}}
{{- $debuginfod := ternary (include "flamelet.mebibytes" .Values.symbols.debuginfod.cacheSize | int) 0 (gt (len .Values.symbols.debuginfod.urls) 0) }}
{{- add $debuginfod (ternary 384 0 .Values.unwind.cache) }}
{{- end }}

{{/* MiB of the queues of all destinations. */}}
{{- define "flamelet.queueMebibytes" -}}
{{- mul (len (include "flamelet.destinations" . | fromYaml).items) (include "flamelet.mebibytes" .Values.queue.size) }}
{{- end }}

{{- define "flamelet.volumes" -}}
- name: config
  projected:
    defaultMode: 0400
    sources: {{- include "flamelet.configSources" . | nindent 6 }}
- name: run
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: cgroup
  hostPath: {path: {{ .Values.host.cgroup | quote }}, type: Directory}
{{- if .Values.host.podLogs }}
- name: log-pods
  hostPath: {path: /var/log/pods, type: Directory}
- name: log-containers
  hostPath: {path: /var/log/containers, type: Directory}
{{- end }}
{{- if eq .Values.queue.type "emptyDir" }}
- name: queue
  emptyDir: {sizeLimit: {{ include "flamelet.queueMebibytes" . | include "flamelet.sizeLimit" }}}
{{- else if eq .Values.queue.type "hostPath" }}
- name: queue
  hostPath:
    path: {{ printf "%s/%s.%s" .Values.queue.hostPath (include "flamelet.namespace" .) .Release.Name | quote }}
    type: DirectoryOrCreate
{{- end }}
{{- if .Values.store.enabled }}
- name: record
  {{- if eq .Values.store.type "emptyDir" }}
  emptyDir: {sizeLimit: {{ include "flamelet.mebibytes" .Values.store.size | int | include "flamelet.sizeLimit" }}}
  {{- else }}
  hostPath:
    path: {{ printf "%s/%s.%s-record" .Values.store.hostPath (include "flamelet.namespace" .) .Release.Name | quote }}
    type: DirectoryOrCreate
  {{- end }}
{{- end }}
{{- with include "flamelet.cacheMebibytes" . | int }}
- name: cache
  emptyDir: {sizeLimit: {{ include "flamelet.sizeLimit" . }}}
{{- end }}
{{- with .Values.symbols.hostDebugDir }}
- name: debug
  hostPath: {path: {{ . | quote }}, type: Directory}
{{- end }}
{{- if include "flamelet.asksKubelet" . }}
- name: kubelet-token
  projected:
    defaultMode: 0400
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3600}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}
{{- if and (include "flamelet.asksKubelet" .) .Values.kubelet.hostCAFile }}
- name: kubelet-ca
  hostPath: {path: {{ .Values.kubelet.hostCAFile | quote }}, type: File}
{{- end }}
{{- if eq .Values.security.perfEventParanoid "sysctl" }}
- name: perf-event-paranoid
  hostPath: {path: /proc/sys/kernel/perf_event_paranoid, type: File}
{{- end }}
{{- if .Values.heap.library }}
- name: heap-library
  hostPath: {path: {{ .Values.heap.hostPath | quote }}, type: DirectoryOrCreate}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "flamelet.volumeMounts" -}}
- {name: config, mountPath: /etc/flamelet, readOnly: true}
- {name: run, mountPath: /run/flamelet}
- name: cgroup
  mountPath: /host/cgroup
  readOnly: true
  {{- /* With cgroup v1 each controller is a mount of its own below this one. */}}
  {{- if include "flamelet.since" (list . "1.33") }}
  recursiveReadOnly: IfPossible
  {{- end }}
{{- if .Values.host.podLogs }}
- {name: log-pods, mountPath: /host/log/pods, readOnly: true}
- {name: log-containers, mountPath: /host/log/containers, readOnly: true}
{{- end }}
{{- if include "flamelet.asksKubelet" . }}
- {name: kubelet-token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}
{{- if ne .Values.queue.type "memory" }}
- {name: queue, mountPath: /var/lib/flamelet/queue}
{{- end }}
{{- if .Values.store.enabled }}
{{- /* Every user may write to the root of an emptyDir: the agent makes a private directory in it. */}}
- {name: record, mountPath: {{ ternary "/var/lib/flamelet" "/var/lib/flamelet/record" (eq .Values.store.type "emptyDir") }}}
{{- end }}
{{- if include "flamelet.cacheMebibytes" . | int }}
- {name: cache, mountPath: /var/cache/flamelet}
{{- end }}
{{- with .Values.symbols.hostDebugDir }}
- {name: debug, mountPath: {{ . | quote }}, readOnly: true}
{{- end }}
{{- if and (include "flamelet.asksKubelet" .) .Values.kubelet.hostCAFile }}
- {name: kubelet-ca, mountPath: /host/kubelet/ca.crt, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
