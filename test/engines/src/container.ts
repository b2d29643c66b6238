import { setTimeout } from 'node:timers/promises'
import { freePort } from '@gantry/service-kit/testing'
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import type { Engine } from './engine.ts'

const ANSWER_MS = 5_000

/** Whether a Docker engine, or one like it, answers here. */
export async function containersRun(): Promise<boolean> {
  const answered = getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
  return Promise.race([answered, setTimeout(ANSWER_MS, false, { ref: false })])
}

interface ContainerOptions {
  /** With its tag. */
  image: string
  /** The port in the container. */
  port: number
  command: readonly string[]
  url(port: number): string
  /** What it prints when it can be used. */
  ready: RegExp
}

/** Starts a container whose port is on the same port of this machine for as long as it lives. */
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
