/**
 * The receiving side of message stream encryption (MSE, also called PE). libtorrent, Transmission, qBittorrent and
 * webtorrent try MSE first, and some users allow only encrypted connections. MSE hides traffic from middleboxes; it is
 * not a security feature. https://wiki.vuze.com/w/Message_Stream_Encryption
 */
import {
  createDiffieHellman,
  createHash,
  type DiffieHellman,
  randomBytes,
  randomInt,
} from 'node:crypto'
import { Refusal } from './errors.ts'
import { type Cipher, rc4 } from './rc4.ts'
import { MetadataReader } from './reader.ts'

const prime =
  'ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a63a36210000000000090563'
const generator = 2
const keyBytes = 96
/** 160 random bits, as the specification suggests. */
const privateKeyBytes = 20
const maxPaddingBytes = 512
/**
 * Maximum size of the initial payload. The payload contains the handshake, which is 68 bytes long. A peer does not need
 * to send anything else before the response.
 */
const maxInitialPayloadBytes = 4_096

const plaintext = 1
const encrypted = 2

export type Wire = {
  reader: MetadataReader
  /** Resolves when the bytes have been sent. */
  write(bytes: Uint8Array): Promise<void>
}

/**
 * Exchanges keys with a peer. `begun` contains the peer's first bytes, which have already been read. The peer
 * identifies the torrent by SHA-1('req2' + info hash), from which `findInfoHash` finds the info hash. Returns the
 * connection on which to continue, and the info hash.
 */
export async function acceptEncryption(
  { reader, write }: Wire,
  begun: Buffer,
  findInfoHash: (req2Hash: string) => Promise<string | undefined>,
): Promise<Wire & { infoHash: string }> {
  const theirs = Buffer.concat([begun, await reader.read(keyBytes - begun.length)])
  const { publicKey, secret } = agree(theirs)
  await write(Buffer.concat([publicKey, randomBytes(randomInt(maxPaddingBytes + 1))]))

  await reader.skipPast(sha1('req1', secret), maxPaddingBytes)
  const req2Hash = xor(await reader.read(20), sha1('req3', secret)).toString('hex')
  const infoHash = await findInfoHash(req2Hash)
  if (infoHash === undefined) throw new Refusal('no public torrent has this hash')

  const shared = Buffer.from(infoHash, 'hex')
  const decrypt = rc4(sha1('keyA', secret, shared))
  const encrypt = rc4(sha1('keyB', secret, shared))
  const { offered, initialPayload } = await readOffer(reader, decrypt)
  const chosen = offered & plaintext || offered & encrypted
  if (chosen === 0) throw new Refusal('the peer offers no supported encryption')
  await write(encrypt(selection(chosen)))

  const isPlain = chosen === plaintext
  const payload = readPayload(reader, initialPayload, isPlain ? undefined : decrypt)
  return {
    infoHash,
    reader: new MetadataReader(payload),
    write: isPlain ? write : (bytes) => write(encrypt(bytes)),
  }
}

async function readOffer(reader: MetadataReader, decrypt: Cipher) {
  const header = decrypt(await reader.read(14))
  if (header.readBigUInt64BE(0) !== 0n) throw new Refusal('the keys do not match')
  const padding = header.readUInt16BE(12)
  if (padding > maxPaddingBytes) throw new Refusal(`${padding} bytes of padding are too many`)
  decrypt(await reader.read(padding))
  const size = decrypt(await reader.read(2)).readUInt16BE()
  if (size > maxInitialPayloadBytes) throw new Refusal(`${size} bytes of payload are too many`)
  return { offered: header.readUInt32BE(8), initialPayload: decrypt(await reader.read(size)) }
}

/**
 * Builds the response to the offer: eight zero bytes that mark the beginning, the chosen encryption, the length of the
 * padding, and the padding.
 */
function selection(chosen: number): Buffer {
  const padding = randomInt(maxPaddingBytes + 1)
  const bytes = Buffer.alloc(14 + padding)
  bytes.writeUInt32BE(chosen, 8)
  bytes.writeUInt16BE(padding, 12)
  return bytes
}

async function* readPayload(reader: MetadataReader, initial: Buffer, decrypt: Cipher | undefined) {
  yield initial
  for await (const piece of reader.rest()) yield decrypt ? decrypt(piece) : piece
}

let group: DiffieHellman | undefined

/**
 * Generates a public key and computes the shared secret. All connections use the same Diffie–Hellman group, because
 * checking the prime of a new group takes 15 ms, and clients may connect as often as they like.
 */
function agree(theirs: Buffer): { publicKey: Buffer; secret: Buffer } {
  group ??= createDiffieHellman(prime, 'hex', generator)
  group.setPrivateKey(randomBytes(privateKeyBytes))
  const publicKey = padded(group.generateKeys())
  try {
    return { publicKey, secret: padded(group.computeSecret(theirs)) }
  } catch (error) {
    throw new Refusal('the public key is outside the group', { cause: error })
  }
}

function padded(number: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(keyBytes - number.length), number])
}

function sha1(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
}
