{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* The agent's configuration: a flat file whose keys are the options of `flamelet agent`. */}}

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
tables-memory-max: {{ .Values.tablesMemoryMax | quote }}
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

{{- define "flamelet.triggerConfig" }}
{{- with .Values.triggers.rules }}
trigger:
  {{- range . }}
  - {{ . | quote }}
  {{- end }}
trigger-around: {{ $.Values.triggers.around | quote }}
trigger-per-hour: {{ int $.Values.triggers.perHour | quote }}
{{- if $.Values.triggers.boost }}
trigger-boost: {{ int $.Values.triggers.boost | quote }}
{{- end }}
{{- if $.Values.triggers.webhookSecret.name }}
trigger-webhook-file: /etc/flamelet/secrets/webhook/url
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.ownConfig" -}}
cgroup-root: /host/cgroup
{{- if .Values.host.podLogs }}
pod-logs: /host/log
{{- end }}
listen: unix:/run/flamelet/http.sock
log-level: {{ .Values.logLevel | quote }}
kind: {{ join "," .Values.profiling.kinds | quote }}
frequency: {{ int .Values.profiling.frequency | quote }}
idle: {{ .Values.profiling.idle | quote }}
export-interval: {{ .Values.exportInterval | quote }}
{{- if ne .Values.queue.type "memory" }}
queue-dir: /var/lib/flamelet/queue
queue-max: {{ .Values.queue.size | quote }}
{{- end }}
{{- if .Values.store.enabled }}
store: /var/lib/flamelet/record
store-max: {{ .Values.store.size | quote }}
store-per-day: {{ .Values.store.perDay | quote }}
store-age: {{ .Values.store.age | quote }}
{{- if .Values.gpu.enabled }}
gpu: true
{{- end }}
{{- include "flamelet.triggerConfig" . }}
{{- end }}
{{- if .Values.metrics.enabled }}
metrics-listen: {{ printf "*:%d" (int .Values.metrics.port) | quote }}
{{- end }}
{{- with .Values.attributes.resource }}
resource-attribute:
  {{- range $key, $value := . }}
  - {{ printf "%s=%s" $key $value | quote }}
  {{- end }}
{{- end }}
{{- with .Values.destinations }}
destination:
  {{- range . }}
  - /etc/flamelet/destination-{{ .name }}.yaml
  {{- end }}
{{- end }}
{{- range (include "flamelet.destinations" . | fromYaml).items }}
{{- if not .name }}
{{- include "flamelet.destinationConfig" (list $ .) }}
{{- end }}
{{- end }}
{{- include "flamelet.kubeletConfig" . }}
{{- include "flamelet.symbolsConfig" . }}
{{- include "flamelet.reloadableConfig" . }}
{{- end }}

{{/* All options of `flamelet agent` that a file may have. */}}
{{- define "flamelet.agentOptions" -}}
attribute-values-max capture cgroup cgroup-root comm container cpu debug-dir debuginfod-cache debuginfod-cache-max
debuginfod-urls demangle destination exclude-attribute exclude-container exclude-namespace exclude-selector
export-interval exporter frequency gpu gpu-library idle inlines kind kubelet-ca-file kubelet-token-file kubelet-url kubelet-verify listen
log-level metrics-listen min-block namespace node-name otlp-ca-file otlp-client-cert otlp-client-key otlp-compression
otlp-endpoint otlp-header otlp-header-file otlp-original-payload otlp-preset otlp-protocol otlp-request-max
otlp-tenant otlp-timeout otlp-timestamps otlp-token-file otlp-verify pod pod-annotation pod-label pod-logs queue-dir queue-max
reason resource-attribute runtimes sample-attributes selector stack-copy store store-age store-cpu store-max store-per-day
symbol-memory-max tables-memory-max trigger trigger-around trigger-boost trigger-per-hour trigger-webhook trigger-webhook-file unwind-cache unwind-memory-max
{{- end }}

{{- define "flamelet.config" -}}
{{- $known := regexSplit "\\s+" (include "flamelet.agentOptions" .) -1 }}
{{- $own := include "flamelet.ownConfig" . | fromYaml }}
{{- range $option, $_ := .Values.extraConfig }}
{{- if eq $option "otlp-header" }}
{{- fail "extraConfig.otlp-header: everybody who may read ConfigMaps would read it. Use otlp.headers, and otlp.headersSecret for credentials." }}
{{- end }}
{{- if not (has $option $known) }}
{{- fail (printf "extraConfig.%s: the agent has no such option. `flamelet agent --help-all` lists them; write them without the dashes." $option) }}
{{- end }}
{{- if hasKey $own $option }}
{{- fail (printf "extraConfig.%s: the chart sets this option itself. See which of its values does (helm show values), and set that." $option) }}
{{- end }}
{{- end }}
{{- merge $own .Values.extraConfig | toYaml }}
{{- end }}

{{/* The data of the ConfigMap. */}}
{{- define "flamelet.configFiles" -}}
flamelet.yaml: |
  {{- include "flamelet.config" . | nindent 2 }}
{{- range (include "flamelet.destinations" . | fromYaml).items }}
{{- if .name }}
destination-{{ .name }}.yaml: |
  {{- include "flamelet.destinationConfig" (list $ .) | fromYaml | toYaml | nindent 2 }}
{{- end }}
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
