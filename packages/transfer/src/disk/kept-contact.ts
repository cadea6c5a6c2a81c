/**
 * The port and the peer ID of a BitTorrent client, saved while the client runs. The file of a client that was killed is
 * left behind, so that the next client takes over the port. It then replaces the killed one in its trackers' swarms,
 * where the killed one would otherwise remain until it times out, and could keep others from finding the new one: many
 * clients store only one peer per address.
 */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { isErrno, writeWhole } from '@shoal/files'
import { isSystemError } from '../system-error.ts'

export type KeptContact = {
  port: number
  /** 20 visible ASCII characters. */
  peerId: string
}

/** Saves the contact. Does nothing if the folder cannot be written to, because clients also work without it. */
export async function keepContact(path: string, contact: KeptContact): Promise<void> {
  await writeWhole(path, JSON.stringify(contact)).catch(ignoreSystemError)
}

/** Returns undefined if there is no contact, or if it cannot be read. */
export function readContact(path: string): KeptContact | undefined {
  try {
    const contact: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isContact(contact) ? contact : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) ignoreSystemError(error)
    return undefined
  }
}

/** Deletes the contact if it is still this one. Another client may have replaced it. */
export async function forgetContact(path: string, { port }: Pick<KeptContact, 'port'>) {
  if (readContact(path)?.port === port) await rm(path, { force: true }).catch(ignoreSystemError)
}

/** Whether another program uses a port, or the system does not allow its use. */
export const isPortTaken = (error: unknown): boolean => isErrno(error, 'EADDRINUSE', 'EACCES')

function ignoreSystemError(error: unknown) {
  if (!isSystemError(error)) throw error
}

function isContact(value: unknown): value is KeptContact {
  const { port, peerId } = (value ?? {}) as Partial<KeptContact>
  const isPort = Number.isInteger(port) && Number(port) >= 1024 && Number(port) < 65_535
  return isPort && typeof peerId === 'string' && /^[\x21-\x7e]{20}$/.test(peerId)
}
