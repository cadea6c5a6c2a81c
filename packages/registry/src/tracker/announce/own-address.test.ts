import { expect, test } from 'vitest'
import { ownAddress } from './own-address.ts'

const log = {
  warnings: 0,
  warn() {
    this.warnings += 1
  },
}

function ownAddressAt(addresses: string[] | Error, baseUrl = 'https://models.example.org') {
  const asked: string[] = []
  const own = ownAddress({
    baseUrl: () => baseUrl,
    log,
    async resolve(name) {
      asked.push(name)
      if (addresses instanceof Error) throw addresses
      return addresses
    },
  })
  return { asked, for: own.for }
}

test('our address is the one that the client reached, and no hostname is looked up', async () => {
  const own = ownAddressAt(['203.0.113.5'])
  expect(await own.for('127.0.0.1', '127.0.0.1')).toBe('127.0.0.1')
  expect(await own.for('192.168.1.7', '192.168.1.5')).toBe('192.168.1.5')
  expect(await own.for('198.51.100.9', '203.0.113.5')).toBe('203.0.113.5')
  expect(own.asked).toEqual([])
})

test('behind a router, in a cloud or behind a proxy, our address is that of the base URL’s hostname', async () => {
  const own = ownAddressAt(['2001:db8::5', '203.0.113.5'])
  expect(await own.for('198.51.100.9', '10.0.0.5')).toBe('203.0.113.5')
  expect(await own.for('2001:db8:7::9', undefined)).toBe('2001:db8::5')
  expect(await own.for('192.168.1.7', '127.0.0.1')).toBe('203.0.113.5')
  expect(own.asked).toEqual(['models.example.org'])
})

test('an address of the other family is returned if there is none of the client’s family', async () => {
  expect(await ownAddressAt(['203.0.113.5']).for('2001:db8:7::9', undefined)).toBe('203.0.113.5')
})

test('an address at which the client would not reach this machine is never returned', async () => {
  const own = ownAddressAt(['127.0.0.1', '192.168.1.5'], 'http://localhost:8000')
  expect(await own.for('198.51.100.9', '192.168.1.5')).toBeUndefined()
  expect(await own.for('192.168.1.7', '127.0.0.1')).toBe('192.168.1.5')
})

test('a base URL whose hostname cannot be resolved is logged, and is not looked up for each client', async () => {
  const own = ownAddressAt(new Error('no such name'))
  expect(await own.for('198.51.100.9', '10.0.0.5')).toBeUndefined()
  expect(await own.for('198.51.100.9', '10.0.0.5')).toBeUndefined()
  expect(own.asked).toHaveLength(1)
  expect(log.warnings).toBe(1)
})
