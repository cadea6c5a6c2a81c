/** Builds the bytes of a BitTorrent peer's messages (BEP 3, 9, 10), including messages that no library would send. */

export function handshake(infoHash: string, reserved = '0000000000100000'): Buffer {
  return Buffer.concat([
    Buffer.from('\x13BitTorrent protocol', 'latin1'),
    Buffer.from(reserved + infoHash, 'hex'),
    Buffer.from('-XX0000-abcdefghijkl'),
  ])
}

export function message(type: number, payload = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(1 + payload.length)
  header[4] = type
  return Buffer.concat([header, payload])
}

export function extended(number: number, payload: string): Buffer {
  return message(20, Buffer.concat([Buffer.of(number), Buffer.from(payload, 'latin1')]))
}

/** Declares message ID 3 for ut_metadata messages to this client. */
export const extensionHandshake = extended(0, 'd1:md11:ut_metadatai3eee')

/** Requests a block of metadata, with the message ID 1, which the registry's peer declares for ut_metadata. */
export function askFor(block: number | string): Buffer {
  return extended(1, `d8:msg_typei0e5:piecei${block}ee`)
}
