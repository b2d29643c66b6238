import { withoutGo } from '../../vitest.without-go.config.ts'

export default withoutGo(['webhook-receivers.test.ts'])
