import { constants } from 'node:os'

/**
 * The code of a system error, such as `ENOENT`; undefined for other errors. Node has no names for some codes, such as
 * `EDQUOT`, `ENOLCK` and `ESTALE`, and calls them `Unknown system error -122`.
 */
export function errnoOf(error: unknown): string | undefined {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown }
  if (typeof code !== 'string' || !code.startsWith('Unknown system error')) {
    return typeof code === 'string' ? code : undefined
  }
  const [name] = Object.entries(constants.errno).find(([, value]) => value === -Number(errno)) ?? []
  return name ?? code
}

/** Whether `error` is a system error with one of these codes, such as `ENOENT`. */
export function isErrno(
  error: unknown,
  ...codes: readonly string[]
): error is NodeJS.ErrnoException {
  return error instanceof Error && codes.some((code) => code === errnoOf(error))
}

/** Returns undefined if `error` means that there is no such file or folder, and throws it otherwise. */
export function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error
}

const notConnected = 'its network disk is not connected'
const notSupported = 'its file system does not support this'

/** The usual reasons why a file or folder cannot be used, as phrases. */
const reasons: { [code: string]: string } = {
  EACCES: 'permission denied',
  EBUSY: 'another program is using it',
  EDQUOT: "the user's disk quota is used up",
  EEXIST: 'a file with this name exists',
  EFBIG: 'it is too large for its file system',
  EHOSTDOWN: notConnected,
  EHOSTUNREACH: notConnected,
  EIO: 'the disk reported an error',
  EISDIR: 'it is a folder',
  ELOOP: 'it is part of a loop of links',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENETUNREACH: notConnected,
  ENFILE: 'too many files are open',
  ENODEV: 'its disk has been removed',
  ENOENT: 'it no longer exists',
  ENOLCK: 'its file system does not support locks',
  ENOSPC: 'the disk is full',
  ENOSYS: notSupported,
  ENOTCONN: notConnected,
  ENOTDIR: 'part of its path is not a folder',
  ENOTSUP: notSupported,
  ENXIO: 'its disk has been removed',
  EOPNOTSUPP: notSupported,
  EPERM: 'permission denied',
  EREMOTEIO: notConnected,
  EROFS: 'its file system is read-only',
  ESTALE: notConnected,
  ETIMEDOUT: notConnected,
}

/** Why a file or folder cannot be used, as a phrase such as `permission denied`. For unusual errors, their message. */
export function reasonOfErrno(error: NodeJS.ErrnoException): string {
  const known = error.syscall === undefined ? undefined : reasons[errnoOf(error) ?? '']
  return known ?? error.message
}
