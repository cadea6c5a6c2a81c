import { expect, test } from 'vitest'
import { readRegistryConfig } from '../config.ts'
import { openPasswords } from './password.ts'

test('a registry hashes passwords with the parameters that OWASP recommends', async () => {
  const { passwordCost } = readRegistryConfig({})
  const passwords = openPasswords(passwordCost)
  const hash = await passwords.hash('a long password')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await passwords.matches('a long password', hash, 'first')).toBe(true)
  expect(await passwords.matches('another password', hash, 'first')).toBe(false)
  expect(await passwords.matches('a long password', null, 'first')).toBe(false)
})
