export type ImageSize = { width: number; height: number }

/** Reads the size of a PNG, GIF, WebP or JPEG image, in pixels, from the beginning of the file. */
export function readImageSize(bytes: Buffer): ImageSize | undefined {
  const file = Buffer.concat([bytes, Buffer.alloc(headerBytes)]) // the zeros after a header that is cut off are no size
  const text = file.toString('latin1', 0, 16)
  const size = text.startsWith('\x89PNG\r\n')
    ? { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
    : /^GIF8[79]a/.test(text)
      ? { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
      : /^RIFF.{4}WEBP/s.test(text)
        ? sizeOfWebp(file, text.slice(12))
        : sizeOfJpeg(file)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

const headerBytes = 32

/** https://developers.google.com/speed/webp/docs/riff_container */
function sizeOfWebp(file: Buffer, format: string): ImageSize | undefined {
  if (format === 'VP8 ') {
    return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff }
  }
  if (format === 'VP8L') {
    const bits = file.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
  }
  if (format !== 'VP8X') return undefined
  return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 }
}

/** Skips the segments before the frame header (ITU-T T.81, B.1.1.4 and B.2.2). */
function sizeOfJpeg(file: Buffer): ImageSize | undefined {
  if (file.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) }
    at += 2 + file.readUInt16BE(at + 2)
  }
  return undefined
}
