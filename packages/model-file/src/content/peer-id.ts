/** Peer IDs of shoal's BitTorrent clients (BEP 3, BEP 20). */
import { randomBytes } from 'node:crypto'

/** Two letters for the program. */
const program = '-SH'
/** Four digits for the program's version. */
const version = '0100-'
const inHex = (text: string) => Buffer.from(text).toString('hex')
const programInHex = inHex(program)
const webtorrentInHex = inHex('-WW')

/** Creates a peer ID: 20 ASCII characters. */
export const newPeerId = (): string => `${program}${version}${randomBytes(6).toString('hex')}`

/** Whether a peer runs shoal, in any version. `peerId` is in hexadecimal digits. */
export const isShoal = (peerId = ''): boolean => peerId.startsWith(programInHex)

/**
 * Whether a client connects to several peers at the same address, as shoal does, which uses webtorrent. Other clients,
 * such as libtorrent and Transmission 3, store only one peer per address. `peerId` is in hexadecimal digits.
 */
export const usesSeveralPerAddress = (peerId: string): boolean =>
  isShoal(peerId) || peerId.startsWith(webtorrentInHex)
