import { join } from 'node:path'
import { testFrozenStreams } from '@gantry/event-sourcing/testing'
import { imageDecider } from './image/image.decide.ts'
import { projectImage } from './image/image.projection.ts'

const folder = join(import.meta.dirname, 'frozen')

testFrozenStreams({ folder, category: 'image', decider: imageDecider, project: projectImage })
