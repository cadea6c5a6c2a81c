/** Errors for a daemon or registry that cannot listen at its address, with advice. */

import { isErrno } from '@shoal/files'
import { Failure, misuse } from '../terminal/failure.ts'
import { findPortHolder, holderName } from './port-holder.ts'
import type { DaemonState } from './state-file.ts'

type ListenError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string }

const hostHint =
  '--host (or SHOAL_HOST) must be an address of this machine, such as 127.0.0.1 for local access only, or 0.0.0.0 to listen on all IPv4 addresses.'

/**
 * Turns a listen error into a failure, and returns all other errors unchanged. `portOption` is the option that sets the
 * port; `own` is the user's running daemon.
 */
export async function listenFailure(
  error: unknown,
  portOption: string,
  own: DaemonState | undefined,
): Promise<unknown> {
  const { port = 0, address = '', hostname = '' } = error as ListenError
  if (isErrno(error, 'EADDRINUSE')) {
    if (port === own?.port) return ownHasPort(error, own, portOption)
    return await portTaken(error, port, portOption)
  }
  if (isErrno(error, 'ENOTFOUND', 'EAI_AGAIN')) {
    return misuse(`The host “${hostname}” was not found.`, hostHint)
  }
  if (isErrno(error, 'EADDRNOTAVAIL')) {
    const message = `${address} is not an address of this machine.`
    return new Failure('failed', message, { hint: hostHint, cause: error })
  }
  if (isErrno(error, 'EACCES')) {
    return new Failure('failed', `No permission to listen on port ${port}.`, {
      hint: `Most systems reserve ports below 1024. Use another port: ${portOption} ${port + 8000}`,
      cause: error,
    })
  }
  return error
}

function ownHasPort(cause: Error, { port, pid }: DaemonState, portOption: string) {
  return new Failure('failed', `Port ${port} is in use by your daemon (process ${pid}).`, {
    hint: `To list its models: shoal ps. To stop it: shoal stop. To use another port: ${portOption} ${port + 1}`,
    cause,
  })
}

async function portTaken(cause: Error, port: number, portOption: string) {
  const holder = (await findPortHolder(port)) ?? 'other'
  return new Failure('failed', `Port ${port} is in use by ${holderName[holder]}.`, {
    hint: `Stop that program, or use another port: ${portOption} ${port + 1}`,
    cause,
  })
}
