import { type Bencoded, decodePayload } from './bencode.ts'
import { Refusal } from './errors.ts'
import { acceptEncryption, type Wire } from './mse.ts'
import type { MetadataSource, PublicTorrent } from './source.ts'

const protocol = Buffer.from('\x13BitTorrent protocol', 'latin1')
const extensionBit = 0x10 // in the sixth reserved byte (BEP 10)
const extendedMessage = 20
const extensionHandshake = 0
/**
 * The ID of the ut_metadata messages that peers send to the registry. The ID for the other direction is in each peer's
 * handshake.
 */
const utMetadata = 1
const blockBytes = 16 * 1024 // BEP 9

const request = 0
const data = 1
const reject = 2

/**
 * Maximum length of a message, such as a bitfield or an extension handshake. The messages that the registry needs are
 * far shorter.
 */
const maxMessageBytes = 16 * 1024
/** Maximum number of requests per block, on average. */
const requestsPerBlock = 3

export type MetadataSession = {
  source: MetadataSource
  /** The registry's peer ID, which is 20 bytes long. */
  peerId: Uint8Array
  /** Called on progress, so that the connection's timeout can be extended. */
  onProgress(): void
}

/**
 * Serves one connection: the handshake (BEP 3), plain or encrypted, and then the metadata (BEP 9). Resolves when the
 * peer needs nothing more, with `true` if the peer has received all of the metadata, or with `false` if it already had
 * the metadata.
 */
export async function giveMetadata(line: Wire, session: MetadataSession): Promise<boolean> {
  const { source, peerId, onProgress } = session
  const { wire, infoHash } = await shakeHands(line, source)
  const torrent = await source.find(infoHash)
  const size = (await torrent?.readInfo())?.length
  if (!torrent || size === undefined) throw new Refusal('no public torrent has this info hash')

  const reserved = Buffer.alloc(8)
  reserved[5] = extensionBit
  await wire.write(
    Buffer.concat([
      protocol,
      reserved,
      Buffer.from(infoHash, 'hex'),
      peerId,
      extended(
        extensionHandshake,
        `d1:md11:ut_metadatai${utMetadata}ee13:metadata_sizei${size}e1:v5:shoale`,
      ),
    ]),
  )
  onProgress()
  return giveBlocks(wire, { torrent, size, onProgress })
}

/**
 * Reads the peer's handshake. Returns the info hash of the torrent that the peer requests, and the connection on which
 * to continue.
 */
async function shakeHands(
  line: Wire,
  source: MetadataSource,
): Promise<{ wire: Wire; infoHash: string }> {
  const begun = await line.reader.read(protocol.length)
  if (begun.equals(protocol)) return { wire: line, infoHash: await readHandshake(line) }

  const wire = await acceptEncryption(line, begun, source.findInfoHash)
  const first = await wire.reader.read(protocol.length)
  if (!first.equals(protocol)) throw new Refusal('the peer does not use BitTorrent')
  const infoHash = await readHandshake(wire)
  if (infoHash !== wire.infoHash) throw new Refusal('the handshake is for another torrent')
  return { wire, infoHash }
}

async function readHandshake({ reader }: Wire): Promise<string> {
  const rest = await reader.read(8 + 20 + 20) // reserved, info hash, peer id
  if (((rest[5] ?? 0) & extensionBit) === 0)
    throw new Refusal('the peer does not support the extension protocol')
  return rest.toString('hex', 8, 28)
}

type Blocks = { torrent: PublicTorrent; size: number; onProgress(): void }

async function giveBlocks(wire: Wire, { torrent, size, onProgress }: Blocks): Promise<boolean> {
  const blocks = Math.ceil(size / blockBytes)
  const given = new Set<number>()
  let requestsLeft = blocks * requestsPerBlock
  let theirNumber: number | undefined

  while (given.size < blocks) {
    const message = await readExtendedMessage(wire)
    if (message.number === extensionHandshake) {
      const handshake = decodePayload(message.payload)
      // A peer that declares a metadata size already has the metadata, so there is nothing to send.
      if (findNumber(handshake, 'metadata_size')) return false
      theirNumber = findNumber(findEntry(handshake, 'm'), 'ut_metadata')
    }
    if (message.number !== utMetadata) continue

    const asked = decodePayload(message.payload)
    const block = findNumber(asked, 'piece')
    if (findNumber(asked, 'msg_type') !== request || block === undefined) continue
    if (!isByte(theirNumber))
      throw new Refusal('the peer sent a request without a message ID for the response')
    requestsLeft -= 1
    if (requestsLeft < 0) throw new Refusal('the peer sent too many requests')
    if (block < 0 || block >= blocks) {
      await wire.write(extended(theirNumber, `d8:msg_typei${reject}e5:piecei${block}ee`))
      continue
    }
    const info = await torrent.readInfo()
    if (!info) throw new Refusal('the file no longer exists')
    const header = `d8:msg_typei${data}e5:piecei${block}e10:total_sizei${size}ee`
    const bytes = info.subarray(block * blockBytes, (block + 1) * blockBytes)
    await wire.write(extended(theirNumber, header, bytes))
    given.add(block)
    onProgress()
  }
  return true
}

/** Reads the next message of the extension protocol. Skips all other messages, such as `have` and `request`. */
async function readExtendedMessage({ reader }: Wire): Promise<{ number: number; payload: Buffer }> {
  for (;;) {
    const length = (await reader.read(4)).readUInt32BE()
    if (length > maxMessageBytes) throw new Refusal(`a message of ${length} bytes is too long`)
    if (length === 0) continue // keep-alive
    const type = (await reader.read(1)).readUInt8()
    if (type !== extendedMessage || length < 2) {
      await reader.skip(length - 1)
      continue
    }
    const number = (await reader.read(1)).readUInt8()
    return { number, payload: await reader.read(length - 2) }
  }
}

function extended(
  number: number,
  dictionary: string,
  bytes: Uint8Array = new Uint8Array(),
): Buffer {
  const payload = Buffer.from(dictionary, 'latin1')
  const header = Buffer.alloc(6)
  header.writeUInt32BE(2 + payload.length + bytes.length)
  header[4] = extendedMessage
  header[5] = number
  return Buffer.concat([header, payload, bytes])
}

function findEntry(value: Bencoded | undefined, key: string): Bencoded | undefined {
  return value instanceof Map ? value.get(key) : undefined
}

function findNumber(value: Bencoded | undefined, key: string): number | undefined {
  const entry = findEntry(value, key)
  return typeof entry === 'number' ? entry : undefined
}

function isByte(number: number | undefined): number is number {
  return number !== undefined && number >= 1 && number <= 255
}
