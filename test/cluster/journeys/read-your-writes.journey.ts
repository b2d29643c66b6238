import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTopology, type Topology } from './support/topology.ts'

/** Pairs of a write and the reads after it; 10,000 were measured (docs/performance.md). */
const PAIRS = Number(process.env.PAIRS ?? 600)
const WRITERS = 6
