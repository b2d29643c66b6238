export { default } from '../../vitest.journeys.config.ts'
