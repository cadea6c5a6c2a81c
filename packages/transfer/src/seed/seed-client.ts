/** Gives files to whoever asks for them, by webtorrent. Runs in a thread of its own, which `seed-thread.ts` is. */
import { closeSync, openSync } from 'node:fs'
import { pieceLengthFor } from '@shoal/model-file'
import WebTorrent, { type Torrent } from 'webtorrent'
import { guardWires } from '../peers/guard-wires.ts'
import { startLocalDiscovery } from '../peers/local-discovery.ts'
import { pieceStoreOf } from '../peers/piece-store.ts'
import type { FromSeeder, SeedSetup, SharedFile, ToSeeder } from './seed-messages.ts'

const tellEveryMs = 1000

type Shared = { file: SharedFile; fd: number; torrent: Torrent; isDone: boolean }

export function startSeeding(setup: SeedSetup, tell: (message: FromSeeder) => void) {
  guardWires()
  const shared = new Map<string, Shared>()
  let isPaused = false
  const client = new WebTorrent({
    dht: false,
    lsd: false, // ours: local-discovery.ts
    natUpnp: false,
    natPmp: false,
    utp: false,
    secure: 1, // for those who connect to us: guard-wires.ts
    webSeeds: false,
    tracker: { wrtc: false },
    torrentPort: { port: setup.port, host: setup.host },
    uploadLimit: setup.uploadLimit ?? -1,
    seedOutgoingConnections: true,
  })
  client.on('error', (error) => tell({ event: 'failed', message: String(error) }))
  const telling = setInterval(look, tellEveryMs)
  const discovery = setup.isLocalDiscoveryOn
    ? startLocalDiscovery({
        host: setup.host,
        port: () => (client.listening ? client.torrentPort : undefined),
        torrents: givenNow,
      })
    : undefined

  function givenNow(): Torrent[] {
    if (isPaused) return []
    return [...shared.values()].filter(({ isDone }) => !isDone).map(({ torrent }) => torrent)
  }

  function share(file: SharedFile) {
    if (shared.has(file.path)) return
    try {
      const fd = openSync(file.path, 'r')
      const torrent = client.add(file.torrent, settingsFor(file, fd))
      shared.set(file.path, { file, fd, torrent, isDone: false })
      torrent.on('error', (error: Error) => drop(file.path, error.message))
      torrent.on('ready', () => discovery?.announceSoon())
    } catch (error) {
      tell({ event: 'dropped', path: file.path, message: String(error) })
    }
  }

  function drop(path: string, message: string) {
    unshare(path)
    tell({ event: 'dropped', path, message })
  }

  function unshare(path: string) {
    const one = shared.get(path)
    if (!one) return
    shared.delete(path)
    if (one.torrent.destroyed) closeSync(one.fd)
    else one.torrent.destroy({}, () => closeSync(one.fd))
  }

  function look() {
    for (const one of shared.values()) {
      const most = (setup.ratio ?? Number.POSITIVE_INFINITY) * one.file.fileSizeBytes
      if (one.isDone || one.torrent.uploaded < most) continue
      one.isDone = true
      one.torrent.pause()
      for (const wire of [...one.torrent.wires]) wire.destroy()
    }
    tell({
      event: 'standing',
      standing: {
        port: client.torrentPort,
        isPaused,
        bytesPerSecond: client.uploadSpeed,
        files: Array.from(shared, ([path, { torrent, isDone }]) => ({
          path,
          peers: torrent.wires.length,
          uploadedBytes: torrent.uploaded,
          isDone,
        })),
      },
    })
  }

  function setPaused(paused: boolean) {
    isPaused = paused
    for (const { torrent, isDone } of shared.values()) {
      if (isDone) continue
      if (!paused) torrent.resume()
      else {
        torrent.pause()
        for (const wire of [...torrent.wires]) wire.destroy()
      }
    }
    discovery?.announceSoon()
  }

  return {
    obey(message: Exclude<ToSeeder, { call: 'close' }>) {
      if (message.call === 'share') share(message.file)
      else if (message.call === 'unshare') unshare(message.path)
      else setPaused(message.call === 'pause')
    },
    /** Tells how things stood at the end, and trackers that nobody is here any more. */
    async close() {
      clearInterval(telling)
      discovery?.close()
      look()
      await new Promise<void>((resolve) => client.destroy(() => resolve()))
      for (const { fd } of shared.values()) closeSync(fd)
    },
  }
}

function settingsFor({ fileSizeBytes }: SharedFile, fd: number) {
  const pieceLength = pieceLengthFor(fileSizeBytes)
  return {
    store: pieceStoreOf({ fd, pieceLength, fileSizeBytes }),
    storeCacheSlots: 0, // the system's cache has them already
    bitfield: allBits(Math.ceil(fileSizeBytes / pieceLength)), // without it the whole file would be hashed
  }
}

/** The first `count` bits, the highest of each byte first; the rest of the last byte has to be zero (BEP 3). */
function allBits(count: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(count / 8)).fill(0xff)
  const spare = bits.length * 8 - count
  bits[bits.length - 1] = (0xff << spare) & 0xff
  return bits
}
