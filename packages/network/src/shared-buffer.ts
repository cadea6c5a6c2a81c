import type { OnReadOpts, Socket } from 'node:net'

/** Large enough that the system is rarely called, and small enough that the bytes stay in the processor's cache. */
const bufferSize = 256 * 1024
/** The headers of a response end within this many bytes. undici accepts 16 KiB, not counting separators. */
const maxHeadSize = 32 * 1024

/**
 * Options that let all sockets of a connector read into one buffer. By default, each read leaves a buffer of 64 KiB
 * behind, and in a fast download, these buffers cost more time and memory than the bytes in them. The next read, of any
 * socket, overwrites the buffer, so undici's handler must have used the bytes when it returns.
 */
export function sharedBuffer(): OnReadOpts {
  const responses = new WeakMap<Socket, { requestEnd: number; bytes: number }>()

  /** How many of the next `size` bytes undici may refer to later, as it does until a response's headers are complete. */
  function countHead(socket: Socket, size: number): number {
    const { bytesWritten } = socket
    const known = responses.get(socket)
    const response =
      known?.requestEnd === bytesWritten ? known : { requestEnd: bytesWritten, bytes: 0 }
    responses.set(socket, response)
    const head = Math.max(0, maxHeadSize - response.bytes)
    response.bytes += size
    return Math.min(head, size)
  }

  /** Returns whether undici has read the bytes. It does not read while a response is paused. */
  function deliver(socket: Socket, bytes: Uint8Array): boolean {
    socket.push(bytes)
    socket.emit('readable') // lets undici read now, instead of after the next read
    return socket.readableLength === 0
  }

  return {
    buffer: Buffer.allocUnsafeSlow(bufferSize),
    callback(this: Socket, size: number, buffer: Uint8Array) {
      const headSize = countHead(this, size)
      if (headSize > 0) deliver(this, Buffer.from(buffer.subarray(0, headSize)))
      if (headSize === size || deliver(this, buffer.subarray(headSize, size))) return true
      const rest: Buffer | null = this.read()
      if (rest) this.unshift(Buffer.from(rest))
      return false // until undici reads from the socket again
    },
  }
}
