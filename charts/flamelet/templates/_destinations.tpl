{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Where profiles go: `otlp` and `destinations`. */}}

{{/* All destinations, as {items: [...]}; "suffix" tells their files apart, "shown" is the URL without its query. */}}
{{- define "flamelet.destinations" -}}
{{- $items := list }}
{{- if .Values.otlp.endpoint }}
{{- $items = append $items (merge (dict "suffix" "") .Values.otlp) }}
{{- end }}
{{- range .Values.destinations }}
{{- $items = append $items (merge (dict "suffix" (printf "-%s" .name)) .) }}
{{- end }}
{{- range $items }}
{{- $_ := set . "shown" (regexReplaceAll "[?#].*" .endpoint "") }}
{{- end }}
{{- toYaml (dict "items" $items) }}
{{- end }}

{{/* The options of one destination: a list of root and destination. Its files are those of "flamelet.destinationSources". */}}
{{- define "flamelet.destinationConfig" }}
{{- $secrets := "/etc/flamelet/secrets" }}
{{- $attributes := (index . 0).Values.attributes }}
{{- with index . 1 }}
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
{{- with $attributes.exclude }}
exclude-attribute: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if ne $attributes.sample "preset" }}
sample-attributes: {{ $attributes.sample | quote }}
{{- end }}
{{- with $attributes.valuesMax }}
attribute-values-max: {{ int . | quote }}
{{- end }}
{{- end }}

{{/* The files of the configuration, as sources of a projected volume: what changes in one of them is seen without a restart. */}}
{{- define "flamelet.configSources" -}}
- configMap: {name: {{ include "flamelet.fullname" . | quote }}}
{{- range (include "flamelet.destinations" . | fromYaml).items }}
{{- include "flamelet.destinationSources" . }}
{{- end }}
{{- with .Values.triggers.webhookSecret }}
{{- if .name }}
- secret:
    name: {{ .name | quote }}
    items: [{key: {{ .key | quote }}, path: secrets/webhook/url}]
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.destinationSources" }}
{{- $destination := . }}
{{- range $directory, $file := dict "headers" "headers" "token" "token" "ca" "ca.crt" }}
{{- with get $destination (printf "%sSecret" $directory) }}
{{- if .name }}
- secret:
    name: {{ .name | quote }}
    items: [{key: {{ .key | default $file | quote }}, path: secrets/{{ $directory }}{{ $destination.suffix }}/{{ $file }}}]
{{- end }}
{{- end }}
{{- end }}
{{- with .caConfigMap }}
{{- if .name }}
- configMap:
    name: {{ .name | quote }}
    items: [{key: {{ .key | default "ca.crt" | quote }}, path: secrets/ca{{ $destination.suffix }}/ca.crt}]
{{- end }}
{{- end }}
{{- with .clientCertSecret }}
{{- if .name }}
- secret:
    name: {{ .name | quote }}
    items:
      - {key: tls.crt, path: secrets/client{{ $destination.suffix }}/tls.crt}
      - {key: tls.key, path: secrets/client{{ $destination.suffix }}/tls.key}
{{- end }}
{{- end }}
{{- end }}
