import { getPriority, setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread, so that requests go first. Only Linux has priorities of threads. This file
 * imports nothing else, because what threads import takes a part of their heap.
 */
export function lowerPriority(priority: number): void {
  if (process.platform === 'linux') setPriority(Math.max(priority, getPriority()))
}
