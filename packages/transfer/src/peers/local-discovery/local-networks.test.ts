import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  findLocalNetworks,
  type LocalNetwork,
  onLink,
  pickForAnnouncing,
  pickOnePerInterface,
} from './local-networks.ts'

const networks: LocalNetwork[] = [
  network('wlan0', '192.168.1.5/24'),
  network('wlan0', '10.1.0.9/16'),
  network('wlan0', 'fe80::5/64'),
  network('wlan0', '2001:db8:1::5/64'),
]

function network(name: string, cidr: string): LocalNetwork {
  const [address = ''] = cidr.split('/')
  const family = address.includes(':') ? 'IPv6' : 'IPv4'
  return { name, family, address, cidr, isReachable: true, speaksFrom: address }
}

test.each(['192.168.1.77', '10.1.200.3', 'fe80::9%wlan0', '2001:db8:1::77'])(
  '%s is on the link',
  (address) => expect(onLink(networks)(address)).toBe(true),
)

test.each([
  '192.168.2.77', // private, but on another network
  '10.2.0.1',
  '8.8.8.8',
  '127.0.0.1',
  '2001:db8:2::77',
  '::1',
])('%s is not on the link', (address) => expect(onLink(networks)(address)).toBe(false))

test('packets are received once for each interface and address family, and announcements are sent once', () => {
  const pick = (choose: typeof pickOnePerInterface) =>
    choose([...networks, network('tun0', 'fd00::5/64')]).map(({ address }) => address)
  expect(pick(pickOnePerInterface)).toEqual(['192.168.1.5', 'fe80::5', 'fd00::5'])
  expect(pick(pickForAnnouncing)).toEqual(['192.168.1.5', 'fd00::5'])
})

test('a client that listens on loopback has no network', () => {
  expect(findLocalNetworks('127.0.0.1')).toEqual([])
  expect(findLocalNetworks('::1')).toEqual([])
})

const external = Object.values(networkInterfaces())
  .flatMap((each = []) => each)
  .filter(({ internal }) => !internal)

test('a client that listens on one address sends from that address', () => {
  for (const { address } of external) {
    expect(findLocalNetworks(address)).toMatchObject([{ address, speaksFrom: address }])
  }
})

test('a client that listens on all IPv4 addresses is reachable only at these addresses', () => {
  const found = findLocalNetworks('0.0.0.0')
  expect(found.map(({ address }) => address)).toEqual(external.map(({ address }) => address))
  for (const { family, isReachable } of found) expect(isReachable).toBe(family === 'IPv4')
  for (const { isReachable } of findLocalNetworks('::')) expect(isReachable).toBe(true)
})

test('if the system does not list its networks, there are none', () => {
  const script = `
    const { openSync } = require('node:fs')
    const { findLocalNetworks } = require('${join(import.meta.dirname, 'local-networks.ts')}')
    try { for (;;) openSync('/dev/null') } catch { console.log(findLocalNetworks('0.0.0.0').length) }`
  const limited = ['-c', 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, script]
  expect(execFileSync('sh', limited, { encoding: 'utf8' })).toBe('0\n')
})
