import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { findProgram, isExecutable } from '../programs.ts'

/** Returns the paths of BitTorrent clients for the tests; undefined for those that are not installed. */
export function findTorrentClients() {
  return {
    aria2: findProgram('aria2c'),
    Transmission: findProgram('transmission-cli'),
    libtorrent: findPython('libtorrent'),
    qBittorrent: findProgram('qbittorrent-nox'),
  }
}

/**
 * Returns an address of this machine other than loopback, because Transmission does not connect to peers on loopback.
 */
export function findOwnAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const isUsable = ({ family, internal, address }: (typeof addresses)[number]) =>
    family === 'IPv4' && !internal && !address.startsWith('169.254.')
  return addresses.find(isUsable)?.address
}

/**
 * Returns the path of Debian's Python if it has the module; otherwise undefined. The PATH is not searched, because it
 * may begin with another Python, which does not have Debian's modules.
 */
function findPython(module: string): string | undefined {
  const python = '/usr/bin/python3'
  if (!isExecutable(python)) return undefined
  const found = execFileSync(python, [
    '-c',
    `import importlib.util as util; print(util.find_spec("${module}") is not None)`,
  ])
  return String(found).trim() === 'True' ? python : undefined
}
