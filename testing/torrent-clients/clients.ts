import type { ProvidedContext } from 'vitest'
import { startAria2 } from './aria2.ts'
import type { Client } from './download.ts'
import { startLibtorrent } from './libtorrent.ts'
import { startQbittorrent } from './qbittorrent.ts'
import { startTransmission } from './transmission.ts'
import { startWebtorrent } from './webtorrent.ts'

/** Returns common BitTorrent clients and the functions that start them. */
export function torrentClients(installed: ProvidedContext['torrentClients']) {
  return {
    aria2: { name: 'aria2', program: installed.aria2, start: startAria2 },
    transmission: {
      name: 'Transmission',
      program: installed.Transmission,
      start: startTransmission,
    },
    libtorrent: { name: 'libtorrent', program: installed.libtorrent, start: startLibtorrent },
    qbittorrent: { name: 'qBittorrent', program: installed.qBittorrent, start: startQbittorrent },
    /** A library for Node.js and browsers, which is one of our npm dependencies. */
    webtorrent: { name: 'webtorrent', program: 'a library', start: startWebtorrent },
  } satisfies Record<string, Client>
}
