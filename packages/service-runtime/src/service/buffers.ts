import { Gauge, type Registry } from 'prom-client'

/** Memory for payloads: bodies being received, responses as `ResponseMemory` counts them, and data on its way to others. */
type BufferName = 'request-bodies' | 'responses' | 'event-tail' | 'bus-messages' | 'webhook-payloads'

const NAME = 'gantry_buffered_bytes'

const buffers = new WeakMap<Gauge, Map<BufferName, (() => number)[]>>()

/** Adds a buffer, or a part of it, to the gauge of the process. @param bytes measures it, at each scrape */
export function measureBuffer(registry: Registry, name: BufferName, bytes: () => number): void {
  const gauge = (registry.getSingleMetric(NAME) as Gauge<'buffer'> | undefined) ?? bufferGauge(registry)
  const all = buffers.get(gauge)
  all?.set(name, [...(all.get(name) ?? []), bytes])
}

function bufferGauge(registry: Registry): Gauge<'buffer'> {
  const gauge: Gauge<'buffer'> = new Gauge({
    name: NAME,
    help: 'Bytes that count against the memory for payloads, in the process and in send buffers of the kernel',
    labelNames: ['buffer'],
    registers: [registry],
    collect() {
      for (const [buffer, parts] of buffers.get(gauge) ?? [])
        this.set(
          { buffer },
          parts.reduce((sum, bytes) => sum + bytes(), 0),
        )
    },
  })
  buffers.set(gauge, new Map())
  return gauge
}
