{{/*
The chart renders the manifests of deploy/kubernetes, which are in the folder `base`, changed by the values. Templates that
return a structure return it as JSON.
*/}}

{{/* The text of a file of the chart. Tools that drop symbolic links, e.g. Flux with a Git repository, drop these files. */}}
{{- define "gantry.file" -}}
{{- .root.Files.Get .file | required (printf "the chart lacks %s: use the archive of helm package, which has no symbolic links" .file) -}}
{{- end -}}

{{/* The resources in a file of the base: { of: [...] }. */}}
{{- define "gantry.resources" -}}
{{- $of := list -}}
{{- range splitList "\n---\n" (include "gantry.file" (dict "root" .root "file" (printf "base/%s" .file))) -}}
{{- $of = append $of (fromYaml .) -}}
{{- end -}}
{{- toJson (dict "of" $of) -}}
{{- end -}}

{{/* The port of an http or https URL. */}}
{{- define "gantry.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "80" "443" (eq $url.scheme "http")) -}}
{{- end -}}

{{- define "gantry.kustomization" -}}
{{- include "gantry.file" (dict "root" . "file" "base/kustomization.yaml") -}}
{{- end -}}

{{/* The Deployment of a process with the patches of the kustomization. */}}
{{- define "gantry.deployment" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $parts := list -}}
{{- range (include "gantry.kustomization" $root | fromYaml).patches -}}
{{- if regexMatch (printf "^(%s)$" (default ".*" .target.name)) $name -}}
{{- $parts = append $parts (index (include "gantry.resources" (dict "root" $root "file" .path) | fromJson).of 0) -}}
{{- end -}}
{{- end -}}
{{- $parts = append $parts (index (include "gantry.resources" (dict "root" $root "file" (printf "%s.yaml" $name)) | fromJson).of 0) -}}
{{- $container := dict -}}
{{- $env := list -}}
{{- $merged := dict -}}
{{- range $parts -}}
{{- $own := index .spec.template.spec.containers 0 -}}
{{- $env = concat $env (default list $own.env) -}}
{{- $container = mergeOverwrite $container (omit $own "env") -}}
{{- $merged = mergeOverwrite $merged . -}}
{{- end -}}
{{- $_ := set $merged.spec.template.spec "containers" (list (set $container "env" $env)) -}}
{{- toJson $merged -}}
{{- end -}}

{{/* The settings of a process in the base. */}}
{{- define "gantry.baseSettings" -}}
{{- $name := .name -}}
{{- $settings := dict -}}
{{- range (include "gantry.kustomization" .root | fromYaml).configMapGenerator -}}
{{- if has .name (list "gantry" $name) -}}
{{- range .literals -}}
{{- $pair := splitn "=" 2 . -}}
{{- $_ := set $settings $pair._0 $pair._1 -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{/*
The settings of a process: those of the base, then those of all processes, then its own. PUBLIC_URL is only for processes
that have it in the base.
*/}}
{{- define "gantry.settings" -}}
{{- $settings := include "gantry.baseSettings" . | fromJson -}}
{{- $base := deepCopy $settings -}}
{{- range $key, $value := .root.Values.settings -}}
{{- if or (ne $key "PUBLIC_URL") (hasKey $base $key) -}}
{{- $_ := set $settings $key $value -}}
{{- end -}}
{{- end -}}
{{- $settings = mergeOverwrite $settings (deepCopy (index .root.Values .name).settings) -}}
{{- if .root.Values.ipv6 -}}
{{- $_ := set $settings "HOST" "::" -}}
{{- end -}}
{{- with .root.Values.ca -}}
{{- if or .configMap .secret -}}
{{- $_ := set $settings (ternary "NODE_EXTRA_CA_CERTS" "NATS_CA_FILE" .everywhere) "/etc/gantry/ca/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{/* The name of the Secret of a process, or of `operator`. */}}
{{- define "gantry.secret" -}}
{{- .root.Values.secrets.name }}{{ if .root.Values.secrets.perProcess }}-{{ .name }}{{ end -}}
{{- end -}}

{{/* The secret settings of a process: { SETTING: { key of its Secret, optional } }. */}}
{{- define "gantry.secretSettings" -}}
{{- $keys := dict -}}
{{- range (index (include "gantry.deployment" . | fromJson).spec.template.spec.containers 0).env -}}
{{- $_ := set $keys .name (omit .valueFrom.secretKeyRef "name") -}}
{{- end -}}
{{- range (index .root.Values .name).secretSettings -}}
{{- $_ := set $keys . (dict "key" .) -}}
{{- end -}}
{{- if .root.Values.secrets.natsUsers -}}
{{- $_ := set $keys "NATS_PASSWORD" (dict "key" (printf "%s_NATS_PASSWORD" (upper .name))) -}}
{{- end -}}
{{- toJson $keys -}}
{{- end -}}

{{/* The secret settings of the Job: those of the services, without those of the administrator and of pushes of the audit log. */}}
{{- define "gantry.operatorSecretSettings" -}}
{{- $keys := dict -}}
{{- range $name := list "catalog" "identity" "media" "notifier" -}}
{{- $of := include "gantry.secretSettings" (dict "root" $ "name" $name) | fromJson -}}
{{- range $setting, $reference := $of -}}
{{- $isLeftOut := regexMatch (ternary "^(GANTRY_ADMIN|AUDIT_PUSH|AWS)_" "^$" (eq $name "identity")) $setting -}}
{{- if not $isLeftOut -}}
{{- $_ := set $keys $setting $reference -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.secrets.natsUsers -}}
{{- $_ := set $keys "NATS_PASSWORD" (dict "key" "OPERATOR_NATS_PASSWORD") -}}
{{- end -}}
{{- toJson $keys -}}
{{- end -}}

{{/* The environment of a container: { of: [...] } from root, name (of the Secret and of the user of NATS), secrets and settings. */}}
{{- define "gantry.env" -}}
{{- $env := list -}}
{{- $secret := include "gantry.secret" . -}}
{{- $settings := .settings -}}
{{- range $setting, $reference := .secrets -}}
{{- /* A value replaces an optional key. */ -}}
{{- if not (and $reference.optional (hasKey $settings $setting)) -}}
{{- $from := dict "secretKeyRef" (merge (dict "name" $secret) $reference) -}}
{{- $env = append $env (dict "name" $setting "valueFrom" $from) -}}
{{- end -}}
{{- end -}}
{{- if .root.Values.secrets.natsUsers -}}
{{- $env = append $env (dict "name" "NATS_USER" "value" .name) -}}
{{- end -}}
{{- range $setting, $value := .settings -}}
{{- /* Numbers of values are floating-point numbers, of which a large one would be written 1e+06. */ -}}
{{- $text := toString (ternary (int64 (ternary $value 0 (kindIs "float64" $value))) $value (kindIs "float64" $value)) -}}
{{- if $text -}}
{{- $env = append $env (dict "name" $setting "value" $text) -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "of" $env) -}}
{{- end -}}

{{- define "gantry.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Changes of every pod: image, users, volumes and scheduling. Input: { root, spec }. */}}
{{- define "gantry.podSpec" -}}
{{- $values := .root.Values -}}
{{- $spec := .spec -}}
{{- $mounts := list -}}
{{- range list "configMap" "secret" -}}
{{- $source := index $values.ca . -}}
{{- if $source -}}
{{- $items := list (dict "key" $values.ca.key "path" "ca.crt") -}}
{{- $volume := dict "name" "ca" . (dict (ternary "name" "secretName" (eq . "configMap")) $source "items" $items) -}}
{{- $_ := set $spec "volumes" (append $spec.volumes $volume) -}}
{{- $mounts = list (dict "name" "ca" "mountPath" "/etc/gantry/ca" "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- range $container := concat (default list $spec.initContainers) $spec.containers -}}
{{- $_ := set $container "image" (include "gantry.image" $.root) -}}
{{- $_ := set $container "volumeMounts" (concat $container.volumeMounts $mounts) -}}
{{- with $values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end -}}
{{- end -}}
{{- if $values.openshift -}}
{{- $_ := set $spec "securityContext" (omit $spec.securityContext "runAsUser" "runAsGroup" "fsGroup") -}}
{{- end -}}
{{- range $key := list "nodeSelector" "tolerations" "priorityClassName" -}}
{{- with index $values $key }}{{ $_ := set $spec $key . }}{{ end -}}
{{- end -}}
{{- with $values.image.pullSecrets -}}
{{- $references := list -}}
{{- range . }}{{ $references = append $references (dict "name" .) }}{{ end -}}
{{- $_ := set $spec "imagePullSecrets" $references -}}
{{- end -}}
{{- toJson $spec -}}
{{- end -}}

{{/* Labels of every resource, in addition to those that it has in the base. */}}
{{- define "gantry.labels" -}}
{{- toJson (dict
  "app.kubernetes.io/part-of" "gantry"
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/version" .Chart.AppVersion
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version)) -}}
{{- end -}}

{{/* A resource with namespace and labels. Input: { root, resource }. */}}
{{- define "gantry.resource" -}}
{{- $metadata := .resource.metadata -}}
{{- $labels := include "gantry.labels" .root | fromJson -}}
{{- $_ := set $metadata "namespace" .root.Release.Namespace -}}
{{- $_ := set $metadata "labels" (mergeOverwrite (default dict $metadata.labels) $labels) -}}
---
{{ toYaml .resource }}
{{ end -}}

{{/* A duration of settings, e.g. 5m, in seconds, rounded up. */}}
{{- define "gantry.seconds" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- $amount := regexFind "^[0-9]+" . | int64 -}}
{{- div (add (mul $amount (get $units (regexFind "[a-z]+$" .))) 999) 1000 -}}
{{- end -}}

{{/* The path of the gateway for clients, without a slash at the end. */}}
{{- define "gantry.basePath" -}}
{{- .Values.settings.BASE_PATH | default "" | trimSuffix "/" -}}
{{- end -}}
