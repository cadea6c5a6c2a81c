import { describe, expect, test } from 'vitest'
import { networkOf, packedAddress, plainAddress, reachOf } from './ip-address.ts'

const bytesOf = (address: string) => Buffer.from(packedAddress(address), 'latin1').toString('hex')

describe('an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['localhost', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s', (text, expected) => {
    expect(plainAddress(text)).toBe(expected)
  })

  test.each([
    ['127.0.0.1', '7f000001'],
    ['203.0.113.255', 'cb0071ff'],
    ['::', '00'.repeat(16)],
    ['::1', `${'00'.repeat(15)}01`],
    ['2001:db8::', `20010db8${'00'.repeat(12)}`],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['2001:db8::ff00:42:8329', '20010db8000000000000ff0000428329'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
  ])('%s has the bytes %s', (address, expected) => {
    expect(bytesOf(address)).toBe(expected)
  })

  test.each([
    ['127.8.8.8', 'loopback'],
    ['::1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.31.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.7', 'private'],
    ['100.100.1.1', 'private'],
    ['169.254.9.9', 'private'],
    ['fd12::1', 'private'],
    ['fe80::1', 'private'],
    ['203.0.113.7', 'public'],
    ['2001:db8::1', 'public'],
  ])('%s is %s', (address, expected) => {
    expect(reachOf(address)).toBe(expected)
  })

  test('of IPv6 counts with all of its network', () => {
    expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8:0:0:ffff::2'))
    expect(networkOf('2001:db8::1')).not.toBe(networkOf('2001:db8:0:1::1'))
    expect(networkOf('192.0.2.1')).not.toBe(networkOf('192.0.2.2'))
  })
})
