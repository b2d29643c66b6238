const NETWORK = { ipBlock: { cidr: '10.20.1.0/24' } }

const WITH_ROUTES = {
  ingress: { enabled: true, host: 'example.com' },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
  monitoring: { enabled: true },
}

/** Sets of values that the chart accepts. */
export const CASES = {
  defaults: {},
  everything: {
    image: {
      repository: 'registry.example.com/team/gantry',
      digest: `sha256:${'0'.repeat(64)}`,
      pullPolicy: 'IfNotPresent',
      pullSecrets: ['registry'],
    },
    settings: {
      LOG_LEVEL: 'debug',
      PUBLIC_URL: 'https://gantry.example.com',
      BODY_MEMORY: '64MiB',
      SHUTDOWN_TIMEOUT: '2m',
    },
    gateway: { settings: { TRUST_PROXY: '10.0.0.0/8', RATE_LIMIT_PER_MINUTE: 600 } },
    catalog: {
      settings: { LOG_LEVEL: 'warn', MAX_VERSIONS_PER_API: 1_000_000, DEPLOYMENT_TIMEOUT: '2h' },
      minReplicas: 3,
      maxReplicas: 20,
      resources: { requests: { cpu: 1 }, limits: { memory: '1Gi' } },
    },
    identity: {
      settings: { AUDIT_PUSH_URL: 's3://bucket/prefix', AWS_REGION: 'eu-central-1' },
      secretSettings: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'USER_KEY_URL'],
      serviceAccountName: 'gantry-identity',
    },
    media: {
      settings: { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_S3: 'http://store.s3:9000' },
      secretSettings: ['BLOB_URL'],
    },
    notifier: { settings: { WEBHOOK_ALLOWED_CIDRS: '10.1.0.0/16, fd00::/8' } },
    externalSecret: { enabled: true, store: { name: 'vault' } },
    ca: { configMap: 'authorities' },
    ingress: {
      enabled: true,
      className: 'nginx',
      host: 'gantry.example.com',
      tlsSecret: 'gantry-tls',
      annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
    },
    httpRoute: {
      enabled: true,
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: ['gantry.example.com'],
    },
    monitoring: {
      enabled: true,
      namespace: 'prometheus',
      labels: { release: 'prometheus' },
      runbooks: 'https://wiki.example.com/gantry/',
      dashboard: true,
    },
    networkPolicies: {
      eventStore: [NETWORK],
      readModels: [{ ipBlock: { cidr: '10.20.2.0/24' } }],
      messaging: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'nats' } } }],
      blobs: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 's3' } } }],
    },
    keda: { enabled: true, prometheus: 'http://prometheus.prometheus:9090' },
    zoneSpread: 'DoNotSchedule',
    podAnnotations: { 'example.com/team': 'apis' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    priorityClassName: 'high',
  },
  openshift: { openshift: true },
  perProcess: {
    secrets: { perProcess: true, natsUsers: true },
    identity: { settings: { AWS_ENDPOINT_URL_S3: 'https://s3.example.com:8443' } },
    media: { secretSettings: ['BLOB_URL'] },
    externalSecret: { enabled: true, store: { kind: 'SecretStore', name: 'vault' } },
    ca: { secret: 'authorities', everywhere: true },
  },
  ipv6: { ipv6: true, ipFamilyPolicy: 'PreferDualStack', monitoring: { enabled: true } },
  fixedReplicas: {
    autoscaling: false,
    catalog: { minReplicas: 3 },
    servicesFirst: false,
    rebuild: { enabled: false },
    networkPolicies: { enabled: false },
    monitoring: { dashboard: true },
  },
  basePath: { ...WITH_ROUTES, settings: { BASE_PATH: '/manage' } },
  basePathWithSlash: { ...WITH_ROUTES, settings: { BASE_PATH: '/manage/' } },
} satisfies Record<string, object>

/** Wrong values, each with a part of the message that names it. */
export const REFUSED: readonly (readonly [named: string, values: object])[] = [
  ["'MAX_VERSION_PER_API' not allowed", { catalog: { settings: { MAX_VERSION_PER_API: 3 } } }],
  ["'WEBHOOK_TIMEOUT' not allowed", { catalog: { settings: { WEBHOOK_TIMEOUT: '5s' } } }],
  ['/notifier/settings/WEBHOOK_TIMEOUT', { notifier: { settings: { WEBHOOK_TIMEOUT: '5 seconds' } } }],
  ['/settings/BASE_PATH', { settings: { BASE_PATH: 'manage' } }],
  ['/settings/LOG_LEVEL', { settings: { LOG_LEVEL: 'verbose' } }],
  ["'ENCRYPTION_KEY' not allowed", { settings: { ENCRYPTION_KEY: '00' } }],
  ['/gateway/secretSettings/0', { gateway: { secretSettings: ['BLOB_URL'] } }],
  ["'PUBLIC_URL' not allowed", { gateway: { settings: { PUBLIC_URL: 'https://a.example' } } }],
  ["'replicaCount' not allowed", { replicaCount: 3 }],
  ['/ca', { ca: { configMap: 'a', secret: 'b' } }],
  ['/monitoring/runbooks', { monitoring: { runbooks: 'wiki' } }],
  ['/zoneSpread', { zoneSpread: 'Always' }],
  ['/image/digest', { image: { digest: 'latest' } }],
  ['ingress.host must be set', { ingress: { enabled: true } }],
  ['httpRoute.parentRefs must be set', { httpRoute: { enabled: true } }],
  ['externalSecret.store.name must be set', { externalSecret: { enabled: true } }],
  ['keda.prometheus must be set', { keda: { enabled: true } }],
  ['keda.enabled', { autoscaling: false, keda: { enabled: true, prometheus: 'http://prometheus:9090' } }],
  ['catalog.minReplicas', { catalog: { minReplicas: 30 } }],
  ['catalog.secretSettings', { secrets: { natsUsers: true }, catalog: { secretSettings: ['NATS_USER'] } }],
]
