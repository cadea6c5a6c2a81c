/** All settings of a registry, for the help text and the documentation. */
export { s3Settings } from './s3-settings.ts'
export { registrySettings } from './settings.ts'
