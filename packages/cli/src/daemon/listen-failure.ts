/** Why a daemon cannot listen where it was told to, and what to do about it. */
import { findPortHolder } from '../doctor/port-holder.ts'
import { isErrno } from '../terminal/errno.ts'
import { Failure, misuse } from '../terminal/failure.ts'

type ListenError = NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string }

const hostHint =
  '--host (or SHOAL_HOST) is an address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for all.'

/** Another error is given back as it is. `portOption` is where another port is asked for. */
export async function listenFailure(error: unknown, portOption: string): Promise<unknown> {
  const { port = 0, address = '', hostname = '' } = error as ListenError
  if (isErrno(error, 'EADDRINUSE')) return await portTaken(error, port, portOption)
  if (isErrno(error, 'ENOTFOUND') || isErrno(error, 'EAI_AGAIN')) {
    return misuse(`No machine is called “${hostname}”.`, hostHint)
  }
  if (isErrno(error, 'EADDRNOTAVAIL')) {
    const message = `${address} is no address of this machine.`
    return new Failure('failed', message, { hint: hostHint, cause: error })
  }
  if (isErrno(error, 'EACCES')) {
    return new Failure('failed', `You may not listen on port ${port}.`, {
      hint: `Ports below 1024 are the system's on most machines. Run ${portOption} 11434.`,
      cause: error,
    })
  }
  return error
}

async function portTaken(cause: Error, port: number, portOption: string) {
  const holder = await findPortHolder(port)
  const another = `${portOption} ${port + 1}`
  if (holder === 'shoal') {
    return new Failure('failed', `Port ${port} is taken by another shoal.`, {
      hint: `shoal ps shows what it has loaded, shoal stop ends it. Or run ${another}.`,
      cause,
    })
  }
  return new Failure('failed', `Port ${port} is taken by ${holder ?? 'another program'}.`, {
    hint: `Stop it, or run ${another}.`,
    cause,
  })
}
