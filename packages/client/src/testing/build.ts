import { buildPackage } from './build-package.ts'

buildPackage()
