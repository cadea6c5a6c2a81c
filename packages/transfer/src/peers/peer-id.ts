import { randomBytes } from 'node:crypto'

/** BEP 20: two letters for the program, four digits for its version. */
const prefix = '-SH0100-'
const prefixInHex = Buffer.from(prefix).toString('hex')

/** Creates a peer ID: 20 ASCII characters. */
export const newPeerId = (): string => `${prefix}${randomBytes(6).toString('hex')}`

/** Whether a peer runs shoal, according to its peer ID (in hexadecimal digits). */
export const isShoal = (peerId = ''): boolean => peerId.startsWith(prefixInHex)
