import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isErrno } from '@shoal/files'
import { linkLeftAlone } from '../errors.ts'

/** Throws `is_link` if `path` is a link, because writing to it would change a file that is not shoal's. */
export function refuseLink(path: string): void {
  const target = findLinkTarget(path)
  if (target !== undefined) throw linkLeftAlone(path, target)
}

/**
 * The target of the link at `path`, as an absolute path; undefined if `path` is not a link or does
 * not exist.
 */
export function findLinkTarget(path: string): string | undefined {
  return isLink(path) ? resolve(dirname(path), readlinkSync(path)) : undefined
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}
