/** Peer IDs of shoal's BitTorrent clients (BEP 3, BEP 20). */
import { randomBytes } from 'node:crypto'

/** Two letters for the program. */
const program = '-SH'
/** Four digits for the program's version. */
const version = '0100-'
const programInHex = Buffer.from(program).toString('hex')

/** Creates a peer ID: 20 ASCII characters. */
export const newPeerId = (): string => `${program}${version}${randomBytes(6).toString('hex')}`

/** Whether a peer runs shoal, in any version. `peerId` is in hexadecimal digits. */
export const isShoal = (peerId = ''): boolean => peerId.startsWith(programInHex)
