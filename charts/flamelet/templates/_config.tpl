{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* The agent's configuration: a flat file whose keys are the options of `flamelet agent`. */}}

{{/* All receivers, as {items: [...]}; "suffix" tells their files apart. */}}
{{- define "flamelet.receivers" -}}
{{- $items := list }}
{{- if .Values.otlp.endpoint }}
{{- $items = append $items (merge (dict "suffix" "") .Values.otlp) }}
{{- end }}
{{- range .Values.destinations }}
{{- $items = append $items (merge (dict "suffix" (printf "-%s" .name)) .) }}
{{- end }}
{{- toYaml (dict "items" $items) }}
{{- end }}

{{/* The options of one receiver. Files of Secrets are at "flamelet.receiverSources". */}}
{{- define "flamelet.receiverConfig" -}}
{{- $secrets := "/etc/flamelet/secrets" }}
otlp-endpoint: {{ .endpoint | quote }}
exporter: {{ .exporter | default "otlp" | quote }}
{{- /* The default is not written: an endpoint with grpc:// contradicts it. */}}
{{- if eq (.protocol | default "") "grpc" }}
otlp-protocol: grpc
{{- end }}
{{- with .preset }}
otlp-preset: {{ . | quote }}
{{- end }}
otlp-compression: {{ .compression | default "gzip" | quote }}
{{- with .tenant }}
otlp-tenant: {{ . | quote }}
{{- end }}
otlp-timeout: {{ .timeout | default "10s" | quote }}
otlp-verify: {{ .verify | default "full" | quote }}
{{- with .headers }}
otlp-header:
  {{- range $name, $value := . }}
  - {{ printf "%s: %s" $name $value | quote }}
  {{- end }}
{{- end }}
{{- if (.headersSecret).name }}
otlp-header-file: {{ $secrets }}/headers{{ .suffix }}/headers
{{- end }}
{{- if (.tokenSecret).name }}
otlp-token-file: {{ $secrets }}/token{{ .suffix }}/token
{{- end }}
{{- if or (.caSecret).name (.caConfigMap).name }}
otlp-ca-file: {{ $secrets }}/ca{{ .suffix }}/ca.crt
{{- end }}
{{- if (.clientCertSecret).name }}
otlp-client-cert: {{ $secrets }}/client{{ .suffix }}/tls.crt
otlp-client-key: {{ $secrets }}/client{{ .suffix }}/tls.key
{{- end }}
{{- end }}

{{/* What leaves, to each receiver. */}}
{{- define "flamelet.attributesConfig" -}}
{{- with .Values.attributes }}
{{- with .exclude }}
exclude-attribute: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if ne .sample "preset" }}
sample-attributes: {{ .sample | quote }}
{{- end }}
{{- with .valuesMax }}
attribute-values-max: {{ int . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which pods are profiled, and the labels that become attributes: what the agent reads again by itself. */}}
{{- define "flamelet.reloadableConfig" -}}
{{- with .Values.select }}
{{- $options := dict "namespace" .namespaces "pod" .pods "container" .containers "selector" .selectors
    "exclude-namespace" .excludeNamespaces "exclude-container" .excludeContainers "exclude-selector" .excludeSelectors
    "pod-label" $.Values.attributes.podLabels "pod-annotation" $.Values.attributes.podAnnotations }}
{{- range $option, $items := $options }}
{{- with $items }}
{{ $option }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.symbolsConfig" -}}
{{- with .Values.symbols }}
demangle: {{ .demangle | quote }}
inlines: {{ ternary "on" "off" .inlines | quote }}
symbol-memory-max: {{ .memoryMax | quote }}
{{- with .hostDebugDir }}
debug-dir: {{ . | quote }}
{{- end }}
{{- if .debuginfod.urls }}
debuginfod-urls: {{ join " " .debuginfod.urls | quote }}
debuginfod-cache: /var/cache/flamelet/debuginfod
debuginfod-cache-max: {{ .debuginfod.cacheSize | quote }}
{{- end }}
{{- end }}
unwind-memory-max: {{ .Values.unwind.memoryMax | quote }}
{{- if .Values.unwind.cache }}
unwind-cache: /var/cache/flamelet/unwind
{{- end }}
{{- end }}

{{- define "flamelet.kubeletConfig" -}}
{{- if include "flamelet.asksKubelet" . }}
kubelet-verify: {{ .Values.kubelet.verify | quote }}
{{- if .Values.kubelet.hostCAFile }}
kubelet-ca-file: /host/kubelet/ca.crt
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.ownConfig" -}}
cgroup-root: /host/cgroup
pod-logs: /host/log
listen: unix:/run/flamelet/http.sock
log-level: {{ .Values.logLevel | quote }}
frequency: {{ int .Values.profiling.frequency | quote }}
idle: {{ .Values.profiling.idle | quote }}
export-interval: {{ .Values.exportInterval | quote }}
{{- if ne .Values.queue.type "memory" }}
queue-dir: /var/lib/flamelet/queue
queue-max: {{ .Values.queue.size | quote }}
{{- end }}
{{- if .Values.metrics.enabled }}
metrics-listen: {{ printf "*:%d" (int .Values.metrics.port) | quote }}
{{- end }}
{{- with .Values.attributes.resource }}
resource-attribute:
  {{- range $key, $value := . }}
  - {{ printf "%s=%s" $key (toString $value) | quote }}
  {{- end }}
{{- end }}
{{- with .Values.destinations }}
destination:
  {{- range . }}
  - /etc/flamelet/destination-{{ .name }}.yaml
  {{- end }}
{{- end }}
{{- if .Values.otlp.endpoint }}
{{ include "flamelet.receiverConfig" (merge (dict "suffix" "") .Values.otlp) }}
{{- include "flamelet.attributesConfig" . }}
{{- end }}
{{- include "flamelet.kubeletConfig" . }}
{{- include "flamelet.symbolsConfig" . }}
{{- include "flamelet.reloadableConfig" . }}
{{- end }}

{{- define "flamelet.config" -}}
{{- $own := include "flamelet.ownConfig" . | fromYaml }}
{{- with $own.Error }}{{ fail . }}{{ end }}
{{- merge $own .Values.extraConfig | toYaml }}
{{- end }}

{{- define "flamelet.destinationConfig" -}}
{{- $destination := .destination }}
{{- include "flamelet.receiverConfig" (merge (dict "suffix" (printf "-%s" $destination.name)) $destination) }}
{{- include "flamelet.attributesConfig" .root }}
{{- end }}

{{/* The data of the ConfigMap. */}}
{{- define "flamelet.configFiles" -}}
flamelet.yaml: |
  {{- include "flamelet.config" . | nindent 2 }}
{{- range .Values.destinations }}
destination-{{ .name }}.yaml: |
  {{- include "flamelet.destinationConfig" (dict "root" $ "destination" .) | nindent 2 }}
{{- end }}
{{- end }}

{{/* A digest of what takes effect at a start only: pods are replaced when it changes. */}}
{{- define "flamelet.checksum" -}}
{{- $config := include "flamelet.config" . | fromYaml }}
{{- $fixed := omit $config "namespace" "pod" "container" "selector" "cgroup" "exclude-namespace" "exclude-container"
    "exclude-selector" "pod-label" "pod-annotation" }}
{{- $files := omit (include "flamelet.configFiles" . | fromYaml) "flamelet.yaml" }}
{{- list $fixed $files | toYaml | sha256sum }}
{{- end }}
