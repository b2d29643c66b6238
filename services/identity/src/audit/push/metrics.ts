import { Counter, Gauge, type Registry } from 'prom-client'

export interface PushMetrics {
  /** A push that began at a time has succeeded. */
  succeeded(begunAt: Date): void
  failed(): void
}

/** @param everyMs interval of the pushes; 0 when the audit log is not pushed */
export function pushMetrics(registry: Registry, everyMs: number): PushMetrics {
  const registers = [registry]
  new Gauge({
    name: 'gantry_audit_push_interval_seconds',
    help: 'Interval of the pushes of the audit log (AUDIT_PUSH_EVERY); 0 when it is not pushed',
    registers,
  }).set(everyMs / 1_000)
  const lastSuccess = new Gauge({
    name: 'gantry_audit_push_last_success_timestamp_seconds',
    help: 'When the last successful push began; 0 in processes that do not push, and until a push has succeeded',
    registers,
  })
  const failures = new Counter({
    name: 'gantry_audit_push_failures_total',
    help: 'Attempts to push the audit log that failed',
    registers,
  })
  return {
    succeeded: begunAt => lastSuccess.set(begunAt.getTime() / 1_000),
    failed: () => failures.inc(),
  }
}
