import { afterAll } from 'vitest'
import { deleteLeftovers } from './src/gantry.ts'

afterAll(deleteLeftovers)
