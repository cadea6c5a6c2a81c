import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { packedAddress, plainAddress } from '@shoal/core/addresses'
import { ignoreMissing } from '@shoal/files'

/**
 * Returns the number of bytes on a TCP connection that the operating system has accepted but the client has not
 * acknowledged, or undefined if this is not known.
 */
export type UnsentBytes = (socket: Socket) => number | undefined

const tables = ['/proc/net/tcp', '/proc/net/tcp6']

/**
 * Reads the operating system's table of connections, and returns a function that looks up a connection in the table.
 * The table shows a slow client's progress even while the connection's send buffer, which may hold megabytes, is full.
 * Returns undefined on systems other than Linux.
 */
export async function readUnsentBytes(): Promise<UnsentBytes | undefined> {
  const unsent = new Map<string, number>()
  let isKnown = false
  for (const table of tables) {
    const text = await readFile(table, 'latin1').catch(ignoreMissing)
    if (text === undefined) continue
    isKnown = true
    // sl local_address rem_address st tx_queue:rx_queue …
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/)
      const localPort = local.slice(local.indexOf(':') + 1)
      unsent.set(`${localPort} ${remote}`, Number.parseInt(queues, 16))
    }
  }
  if (!isKnown) return undefined
  return ({ localPort, remoteAddress, remotePort, remoteFamily }) => {
    if (localPort === undefined || remotePort === undefined || !remoteAddress) return undefined
    const address = hexAddress(remoteAddress, remoteFamily === 'IPv6')
    return unsent.get(`${hexPort(localPort)} ${address}:${hexPort(remotePort)}`)
  }
}

const hexPort = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')

/** Formats an address as in the table: words of four bytes, each in little-endian order. */
function hexAddress(address: string, isIpv6: boolean): string {
  const packed = Buffer.from(packedAddress(plainAddress(address) ?? '0.0.0.0'), 'latin1')
  const isMapped = isIpv6 && packed.length === 4
  const bytes = isMapped
    ? Buffer.concat([Buffer.from('00000000000000000000ffff', 'hex'), packed])
    : packed
  return bytes.swap32().toString('hex').toUpperCase()
}
