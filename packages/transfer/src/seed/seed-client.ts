/** Gives files to whoever asks for them, by webtorrent. Runs in a thread of its own, which `seed-thread.ts` is. */
import { closeSync, openSync } from 'node:fs'
import type { Notify } from '@shoal/core/rpc'
import { pieceLengthFor } from '@shoal/model-file'
import { openNetwork, useForFetch } from '@shoal/network/requests'
import type { Torrent } from 'webtorrent'
import { startLocalDiscovery } from '../peers/local-discovery/local-discovery.ts'
import { createPieceStoreClass } from '../peers/piece-store.ts'
import { destroyClient, torrentClient } from '../peers/torrent-client.ts'
import { createUploadQuota, type UploadQuota } from '../peers/upload-quota.ts'
import { checkTorrent, isSending } from '../peers/webtorrent-internals.ts'
import type { SeederEvents, SeederMethods, SeedSetup, SharedFile } from './seed-messages.ts'

const reportIntervalMs = 1000
/** What was sent last may still be on its way to a slow peer. */
const lingerMs = 60_000

type Shared = {
  file: SharedFile
  fd: number
  /** Undefined while it is not given. */
  torrent: Torrent | undefined
  /** Over all torrents that it had: each pause ends one. */
  quota: UploadQuota
  /** When its allowance was found to be used up. */
  usedUpAt: number | undefined
}

export function startSeeding(setup: SeedSetup, notify: Notify<SeederEvents>): SeederMethods {
  const shared = new Map<string, Shared>()
  /** By file, also of those that are not shared for now. */
  const quotas = new Map<string, UploadQuota>()
  let isPaused = false
  const { host, port, uploadLimit } = setup
  const network = openNetwork(setup.network)
  useForFetch(network) // by which webtorrent asks trackers
  const client = torrentClient({ host, port, uploadLimit, seedOutgoingConnections: true })
  client.on('error', (error) => notify('failed', String(error)))
  const reportTimer = setInterval(reportStatus, reportIntervalMs)
  const discovery = setup.isLocalDiscoveryOn
    ? startLocalDiscovery({
        host: setup.host,
        port: () => (client.listening ? client.torrentPort : undefined),
        torrents: openTorrents,
      })
    : undefined

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
    if (one.torrent || one.quota.isUsedUp()) return
    const torrent = client.add(one.file.torrent, settingsFor(one))
    torrent.on('error', (error: Error) => drop(one.file.path, error.message))
    torrent.on('wire', one.quota.watch)
    torrent.on('ready', () => {
      checkTorrent(torrent)
      discovery?.announceSoon()
    })
    one.torrent = torrent
  }

  /** Its peers are let go, and its tracker is told. */
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

  /** Once what was sent has arrived: whoever is cut off before that has been sent it in vain. */
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

    async close() {
      clearInterval(reportTimer)
      discovery?.close()
      reportStatus()
      await destroyClient(client)
      await network.destroy()
      for (const { fd } of shared.values()) closeSync(fd)
    },
  }
}

function settingsFor({ file: { fileSizeBytes }, fd }: Shared) {
  const pieceLength = pieceLengthFor(fileSizeBytes)
  return {
    store: createPieceStoreClass({ fd, pieceLength, fileSizeBytes }),
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
