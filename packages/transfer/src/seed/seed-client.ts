/** Seeds files with WebTorrent. Runs in its own thread (`seed-thread.ts`). */
import { closeSync, openSync } from 'node:fs'
import type { Notify } from '@shoal/core/rpc'
import { pieceLengthFor } from '@shoal/model-file'
import { openNetwork, useForFetch } from '@shoal/network/requests'
import type WebTorrent from 'webtorrent'
import type { Torrent } from 'webtorrent'
import {
  forgetContact,
  isPortTaken,
  type KeptContact,
  keepContact,
  readContact,
} from '../disk/kept-contact.ts'
import { startLocalDiscovery } from '../peers/local-discovery/local-discovery.ts'
import { createPieceStoreClass } from '../peers/piece-store.ts'
import { destroyClient, torrentClient } from '../peers/torrent-client.ts'
import { createUploadQuota, type UploadQuota } from '../peers/upload-quota.ts'
import { checkTorrent, isSending } from '../peers/webtorrent-internals.ts'
import type { SeederEvents, SeederMethods, SeedSetup, SharedFile } from './seed-messages.ts'

const reportIntervalMs = 1000
/** How long the last bytes may take to reach a slow peer once the quota is used up. */
const lingerMs = 60_000

type Shared = {
  file: SharedFile
  fd: number
  /** Undefined while the file is not being seeded. */
  torrent: Torrent | undefined
  /**
   * The quota applies to all torrents of the file together: each pause ends a torrent, and resuming starts a new one.
   */
  quota: UploadQuota
  /** The time at which the quota was first found to be used up. */
  usedUpAt: number | undefined
}

export function startSeeding(setup: SeedSetup, notify: Notify<SeederEvents>): SeederMethods {
  const shared = new Map<string, Shared>()
  /** The quota of each file, including files that are not shared at the moment. */
  const quotas = new Map<string, UploadQuota>()
  let isPaused = false
  const { host, port, uploadLimit } = setup
  const contactPath = port === 0 ? setup.contactPath : undefined
  const network = openNetwork(setup.network)
  const endFetchUse = useForFetch(network) // WebTorrent contacts trackers with `fetch`
  const former = contactPath === undefined ? undefined : readContact(contactPath)
  let saving = Promise.resolve()
  let client = openClient(former)
  const reportTimer = setInterval(reportStatus, reportIntervalMs)
  const discovery = setup.isLocalDiscoveryOn
    ? startLocalDiscovery({
        host: setup.host,
        port: () => (client.listening ? client.torrentPort : undefined),
        torrents: openTorrents,
      })
    : undefined

  function openClient(contact: KeptContact | undefined): WebTorrent {
    const opened = torrentClient({
      host,
      port: contact?.port ?? port,
      uploadLimit,
      seedOutgoingConnections: true,
      ...(contact && { peerId: Buffer.from(contact.peerId).toString('hex') }),
    })
    opened.on('listening', () => {
      const peerId = Buffer.from(opened.peerId, 'hex').toString()
      if (contactPath) saving = keepContact(contactPath, { port: opened.torrentPort, peerId })
    })
    opened.on('error', (error: NodeJS.ErrnoException | string) => {
      if (contact && isPortTaken(error)) return openAgain()
      const code = typeof error === 'string' ? undefined : error.code
      notify('failed', { message: String(error), code })
    })
    return opened
  }

  /** Uses any free port and a new peer ID instead of the former ones. */
  function openAgain() {
    client = openClient(undefined)
    for (const one of shared.values()) {
      one.torrent = undefined
      if (!isPaused) give(one)
    }
  }

  function openTorrents(): Torrent[] {
    return [...shared.values()].flatMap(({ file, torrent }) => (file.isOpen && torrent) || [])
  }

  function getQuota({ path, fileSizeBytes }: SharedFile): UploadQuota {
    const name = `${fileSizeBytes} ${path}`
    const quota = quotas.get(name) ?? createUploadQuota((setup.ratio ?? Infinity) * fileSizeBytes)
    quotas.set(name, quota)
    return quota
  }

  function share(file: SharedFile) {
    if (shared.has(file.path)) return
    try {
      const fd = openSync(file.path, 'r')
      const quota = getQuota(file)
      const one: Shared = { file, fd, torrent: undefined, quota, usedUpAt: undefined }
      shared.set(file.path, one)
      if (!isPaused) give(one)
    } catch (error) {
      drop(file.path, String(error))
    }
  }

  function give(one: Shared) {
    // If the client has failed because its port is in use, `openAgain` follows.
    if (one.torrent || one.quota.isUsedUp() || client.destroyed) return
    const torrent = client.add(one.file.torrent, settingsFor(one))
    torrent.on('error', (error: Error) => drop(one.file.path, error.message))
    torrent.on('wire', one.quota.watch)
    torrent.on('ready', () => {
      checkTorrent(torrent)
      discovery?.announceSoon()
    })
    one.torrent = torrent
  }

  /** Disconnects the file's peers and notifies its tracker. */
  function hold(one: Shared, whenHeld?: () => void) {
    const { torrent } = one
    one.torrent = undefined
    if (torrent && !torrent.destroyed) torrent.destroy({}, whenHeld)
    else whenHeld?.()
  }

  function drop(path: string, message: string) {
    unshare(path)
    notify('dropped', { path, message })
  }

  function unshare(path: string) {
    const one = shared.get(path)
    if (!one) return
    shared.delete(path)
    hold(one, () => closeSync(one.fd))
  }

  function setPaused(paused: boolean) {
    isPaused = paused
    for (const one of shared.values()) paused ? hold(one) : give(one)
    reportStatus()
  }

  /**
   * Stops seeding once all waiting bytes have been sent, or after `lingerMs`. Disconnecting peers earlier would waste
   * bytes. Must be called regularly.
   */
  function holdSoon(one: Shared, torrent: Torrent) {
    for (const wire of torrent.wires) wire.choke()
    const now = performance.now()
    const isOverdue = now - (one.usedUpAt ?? now) > lingerMs
    if (isOverdue || (one.usedUpAt !== undefined && !isSending(torrent))) hold(one)
    one.usedUpAt ??= now
  }

  function reportStatus() {
    for (const one of shared.values()) {
      if (one.torrent && one.quota.isUsedUp()) holdSoon(one, one.torrent)
    }
    const files = Array.from(shared, ([path, one]) => ({
      path,
      peers: one.torrent?.wires.length ?? 0,
      uploadedBytes: one.quota.sentBytes(),
      isDone: one.quota.isUsedUp(),
    }))
    const { torrentPort: port, uploadSpeed: bytesPerSecond } = client
    notify('status', { port, isPaused, bytesPerSecond, files })
  }

  return {
    share,
    unshare,
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    limit: (bytesPerSecond = -1) => client.throttleUpload(bytesPerSecond),

    async close() {
      clearInterval(reportTimer)
      discovery?.close()
      reportStatus()
      await destroyClient(client)
      await saving
      if (contactPath) await forgetContact(contactPath, { port: client.torrentPort })
      endFetchUse()
      await network.destroy()
      for (const { fd } of shared.values()) closeSync(fd)
    },
  }
}

function settingsFor({ file: { fileSizeBytes }, fd }: Shared) {
  const pieceLength = pieceLengthFor(fileSizeBytes)
  return {
    store: createPieceStoreClass({ fd, pieceLength, fileSizeBytes }),
    storeCacheSlots: 0, // the operating system already caches the file
    bitfield: allBits(Math.ceil(fileSizeBytes / pieceLength)), // otherwise WebTorrent would hash the whole file
  }
}

/**
 * Returns a bitfield with `count` bits set, starting with the highest bit of each byte. The spare bits of the last byte
 * must be zero (BEP 3).
 */
function allBits(count: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(count / 8)).fill(0xff)
  const spare = bits.length * 8 - count
  bits[bits.length - 1] = (0xff << spare) & 0xff
  return bits
}
