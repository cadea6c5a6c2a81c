import { expect, test } from 'vitest'
import { readRegistryConfig } from '../config.ts'
import { checkNewPassword, openPasswords } from './password.ts'

test('a registry hashes passwords with the parameters that OWASP recommends', async () => {
  const { passwordCost } = readRegistryConfig({})
  const passwords = openPasswords(passwordCost)
  const hash = await passwords.hash('a long password')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await passwords.matches('a long password', hash, 'first')).toBe(true)
  expect(await passwords.matches('another password', hash, 'first')).toBe(false)
  expect(await passwords.matches('a long password', null, 'first')).toBe(false)
})

test.each([
  ['short', 'must have 8 to 1024 bytes'],
  ['Bea-of-sea', 'must not be the username'],
  ['🐟🐟🐟', 'must not be one character repeated'],
  ['Password1', 'must not be one of the 10,000 most common passwords'],
  ['12345678', 'must not be one of the 10,000 most common passwords'],
])('the password %s is refused', async (password, message) => {
  const check = checkNewPassword(password, 'bea-of-sea', '/password')
  await expect(check).rejects.toMatchObject({
    details: { errors: [{ path: '/password', message }] },
  })
})

test('other passwords are accepted', async () => {
  await checkNewPassword('a long password', 'bea', '/password')
})
