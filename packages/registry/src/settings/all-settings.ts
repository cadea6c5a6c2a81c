/** Every setting of a registry, for help and docs. */
export { s3Settings } from './s3-settings.ts'
export { registrySettings } from './settings.ts'
