import { setTimeout } from 'node:timers/promises'
import { freePort } from '@gantry/service-runtime/testing'
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import type { Engine } from './engine.ts'

const ANSWER_MS = 5_000

/** Whether Docker, or a compatible runtime, is available. */
export async function containersRun(): Promise<boolean> {
  const answered = getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, setTimeout(ANSWER_MS, false, { ref: false })])
}

interface ContainerOptions {
  /** Image name with its tag. */
  image: string
  /** Port in the container. */
  port: number
  command: readonly string[]
  url(port: number): string
  /** Matches the line that the server prints when it is ready. */
  ready: RegExp
}

/** Starts a container and publishes its port on a free port of this machine. */
export async function startContainer({
  image,
  port,
  command,
  url,
  ready,
}: ContainerOptions): Promise<Engine> {
  const host = await freePort()
  const started = await new GenericContainer(image)
    .withExposedPorts({ container: port, host })
    .withCommand([...command])
    .withWaitStrategy(Wait.forLogMessage(ready))
    .start()
  const container = (await getContainerRuntimeClient()).container.getById(started.getId())
  return {
    url: url(host),
    stop: async () => void (await started.stop()),
    faults: {
      kill: () => container.kill(),
      restart: () => container.start(),
      pause: () => container.pause(),
      resume: () => container.unpause(),
    },
  }
}
