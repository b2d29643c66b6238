import { withoutGo } from '../../vitest.without-go.config.ts'

export default withoutGo([
  'used.test.ts',
  'mongo.test.ts',
  'mongo-lists.test.ts',
  'encrypted.test.ts',
  'nats-cluster.test.ts',
])
