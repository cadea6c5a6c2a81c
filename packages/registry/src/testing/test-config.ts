import { type RegistryConfig, readRegistryConfig } from '../config.ts'

/** The settings of a registry for tests. It listens on a port that the operating system chooses, and logs nothing. */
export const testConfig = (dataDirectory: string): RegistryConfig => ({
  ...readRegistryConfig({}, { port: '0', data: dataDirectory }),
  rateLimits: undefined,
  ballastBytes: 0, // otherwise, hundreds of test registries would each write a ballast file
  passwordCost: cheapPasswords,
  log: 'silent',
})

/** The minimum of Argon2id. At the recommended cost, a test would spend 50 ms on each account and sign-in. */
const cheapPasswords = { memoryKib: 8, passes: 1 }
