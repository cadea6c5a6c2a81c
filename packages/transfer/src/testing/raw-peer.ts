/** Builds BitTorrent messages (BEP 3) without a library, for peers that behave as no real client would. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export const handshake = (infoHash: string) =>
  Buffer.concat([
    Buffer.from('\x13BitTorrent protocol'),
    Buffer.from([0, 0, 0, 0, 0, 0x10, 0, 0]), // supports the extension protocol (BEP 10)
    Buffer.from(infoHash, 'hex'),
    Buffer.from('-XX0000-123456789012'),
  ])

function uint32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function message(id: number, ...payload: (Uint8Array | number)[]) {
  const parts = payload.map((part) => (typeof part === 'number' ? uint32(part) : part))
  const body = Buffer.concat([Buffer.from([id]), ...parts])
  return Buffer.concat([uint32(body.length), body])
}

/** The largest length prefix of a message. `bittorrent-protocol` reads larger values as negative numbers. */
export const longLength = uint32(2 ** 31 - 1)
export const unchoke = message(1)
export const interested = message(2)
export const allPieces = (count: number) =>
  message(
    5,
    Buffer.from(Array.from({ length: Math.ceil(count / 8) }, (_, at) => bits(count - at * 8))),
  )
export const request = (piece: number, offset: number, length: number) =>
  message(6, piece, offset, length)
export const piece = (index: number, offset: number, bytes: Uint8Array) =>
  message(7, index, offset, bytes)
export const extended = (id: number, payload: string) =>
  message(20, Buffer.from([id]), Buffer.from(payload, 'latin1'))

/** Returns a byte with the first `count` bits set. */
const bits = (count: number) => (0xff << Math.max(0, 8 - count)) & 0xff

/** Connects to a port of this machine. */
export async function connectTo(port: number, { from = '127.0.0.1' } = {}) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => undefined) // being disconnected is expected
  await once(socket, 'connect')
  return socket
}

/** Writes `bytes` repeatedly until the socket is destroyed. */
export function pour(socket: Socket, bytes: Uint8Array) {
  const again = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', again)
  again()
}

/** A peer that listens and announces itself to the tracker. Calls `behave` for each connection. */
export async function listeningPeer(
  announce: string,
  infoHash: string,
  behave: (socket: Socket) => void,
) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined) // being disconnected is expected
    socket.once('data', () => behave(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const hash = infoHash.replace(/../g, '%$&')
  const query = `info_hash=${hash}&peer_id=-XX0000-123456789012&port=${port}&uploaded=0&downloaded=0`
  await fetch(`${announce}?${query}&left=0&compact=1&event=started`)
  return { sockets }
}
