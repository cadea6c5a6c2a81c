/** For the tests of other packages that start a registry. */
export { testConfig } from './test-config.ts'
