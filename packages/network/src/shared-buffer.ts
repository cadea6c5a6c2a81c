import type { OnReadOpts, Socket } from 'node:net'

/** Large enough that few system calls are needed, and small enough that the bytes stay in the processor's cache. */
const bufferSize = 256 * 1024
/** Maximum size of a response's headers. undici accepts 16 KiB, not counting separators. */
const maxHeadSize = 32 * 1024

/**
 * Returns options that let all sockets of a connector read into one buffer. By default, each read allocates a buffer of
 * 64 KiB. In a fast download, allocating these buffers takes more time and memory than handling the bytes. The next
 * read of any socket overwrites the shared buffer, so undici's handler must use the bytes before it returns.
 */
export function sharedBuffer(): OnReadOpts {
  const responses = new WeakMap<Socket, { requestEnd: number; bytes: number }>()

  /**
   * Returns how many of the `size` bytes just read must be copied. These are the bytes that may belong to incomplete
   * headers, because undici still refers to such bytes after the next read.
   */
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
    socket.emit('readable') // makes undici read these bytes now, instead of after the next read
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
      return false // pauses the socket until undici reads from it again
    },
  }
}
