import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net'
import { describe, expect, test } from 'vitest'
import { randomFrom } from '../testing/random.ts'
import {
  classifyAddress,
  getNetwork,
  ipVersion,
  packedAddress,
  plainAddress,
} from './ip-address.ts'

const packToHex = (address: string) => Buffer.from(packedAddress(address), 'latin1').toString('hex')

describe('an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['::ffff:0:192.0.2.1', '::ffff:0:192.0.2.1'],
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
    expect(packToHex(address)).toBe(expected)
  })

  test.each([
    ['127.8.8.8', 'loopback'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7fff:ffff', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
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
    expect(classifyAddress(address)).toBe(expected)
  })

  test('an IPv6 address belongs to its /64 network', () => {
    expect(getNetwork('2001:db8::1')).toBe(getNetwork('2001:db8:0:0:ffff::2'))
    expect(getNetwork('2001:db8::1')).not.toBe(getNetwork('2001:db8:0:1::1'))
    expect(getNetwork('192.0.2.1')).not.toBe(getNetwork('192.0.2.2'))
  })

  test('is parsed as Node parses it', () => {
    const random = randomFrom(3)
    for (let count = 0; count < 20_000; count += 1) {
      const text = anyAddress(random)
      expect(ipVersion(text) ?? 0, text).toBe(isIP(text))
    }
  })

  test('has the same bytes in every notation', () => {
    const random = randomFrom(4)
    const texts = Array.from({ length: 20_000 }, () => anyAddress(random)).filter(isIPv6)
    expect(texts.length).toBeGreaterThan(1_000)
    for (const text of texts) {
      const { address } = new SocketAddress({ address: text, family: 'ipv6' })
      expect(packToHex(text), text).toBe(packToHex(address))
    }
  })

  test('is classified as Node’s BlockList classifies it', () => {
    const random = randomFrom(5)
    const [loopback, privateNetworks] = lists()
    for (let count = 0; count < 20_000; count += 1) {
      const text = anyAddress(random)
      if (isIP(text) === 0) continue
      const family = isIPv6(text) ? 'ipv6' : 'ipv4'
      const isPrivate = privateNetworks.check(text, family)
      const expected = loopback.check(text, family) ? 'loopback' : isPrivate ? 'private' : 'public'
      expect(classifyAddress(plainAddress(text) ?? ''), text).toBe(expected)
    }
  })
})

/** Generates valid addresses, and addresses that are almost valid. */
function anyAddress({ between, oneOf, text }: ReturnType<typeof randomFrom>): string {
  const byte = () => String(oneOf([0, 1, 10, 127, 128, 169, 192, 255, between(0, 300)]))
  const ipv4 = () => Array.from({ length: oneOf([3, 4, 4, 4, 4, 4, 5]) }, byte).join('.')
  const group = () =>
    oneOf(['0', '1', 'ffff', 'fe80', 'FD12', '7f00', text('0123456789abcdefg', 0, 5)])
  const groups = (least: number, most: number) => {
    return Array.from({ length: between(least, most) }, group).join(':')
  }
  const ipv6 = oneOf([
    () => groups(7, 9),
    () => `${groups(0, 5)}::${groups(0, 4)}`,
    () => `::ffff:${ipv4()}`,
    () => `${groups(0, 4)}::${ipv4()}`,
    () => `${groups(6, 6)}:${ipv4()}`,
    () => `${groups(0, 3)}::${groups(0, 3)}::`,
  ])
  return oneOf([ipv4, ipv6, ipv6])()
}

function lists(): [loopback: BlockList, privateNetworks: BlockList] {
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)
  loopback.addAddress('::1', 'ipv6')
  const privateNetworks = new BlockList()
  for (const [network, prefix] of [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['100.64.0.0', 10],
    ['169.254.0.0', 16],
  ] as const) {
    privateNetworks.addSubnet(network, prefix)
  }
  privateNetworks.addSubnet('fc00::', 7, 'ipv6')
  privateNetworks.addSubnet('fe80::', 10, 'ipv6')
  return [loopback, privateNetworks]
}
