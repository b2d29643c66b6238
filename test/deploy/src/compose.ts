import { z } from 'zod'
import { yamlOf } from './files.ts'

const Strings = z.array(z.string())

/** The part of the Compose specification that the file uses. Other keys are refused. */
const Service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  cap_drop: Strings.optional(),
  command: Strings.optional(),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
      }),
    )
    .default({}),
  entrypoint: Strings.optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal('CMD')], z.string()),
      interval: z.string().regex(/^\d+s$/),
      timeout: z.string().regex(/^\d+s$/),
      retries: z.int(),
      start_period: z
        .string()
        .regex(/^\d+s$/)
        .optional(),
      start_interval: z
        .string()
        .regex(/^\d+s$/)
        .optional(),
    })
    .optional(),
  logging: z
    .strictObject({
      driver: z.literal('local'),
      options: z.strictObject({
        'max-size': z.string().regex(/^\d+m$/),
        'max-file': z.string().regex(/^\d+$/),
      }),
    })
    .optional(),
  network_mode: z.literal('none').optional(),
  networks: Strings.optional(),
  ports: Strings.default([]),
  read_only: z.boolean().optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  security_opt: Strings.optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  tmpfs: Strings.optional(),
  volumes: Strings.default([]),
})
export type ComposeService = z.infer<typeof Service>

const Compose = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.null()),
})

/** @throws ZodError when the file does not match the specification */
export function readCompose(path: string) {
  const file = yamlOf(path) as Record<string, unknown>
  return Compose.parse(Object.fromEntries(Object.entries(file).filter(([key]) => !key.startsWith('x-'))))
}

/** Replaces variables with their defaults. @throws Error without a default, which `docker compose up` alone needs */
export function withDefaults(text: string): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, value?: string) => {
    if (value === undefined) throw new Error(`${name} has no default`)
    return value
  })
}
