// Compiles the program that renders charts and writes the schemas of Kubernetes, before any test, see the file of the same
// name in test/engines. What cannot be installed is reported by the tests.
import { chartsProgram } from './charts.ts'
import { kubernetesSchemas } from './schemas.ts'

if (await chartsProgram()) await kubernetesSchemas().catch((error: Error) => console.error(error.message))
