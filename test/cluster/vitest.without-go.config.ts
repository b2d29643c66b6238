import { withoutGo } from '../../vitest.without-go.config.ts'

export default withoutGo(['cluster.test.ts', 'secured.test.ts'])
