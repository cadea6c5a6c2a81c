import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { linkLeftAlone } from '../errors.ts'

/** Throws `is_link` where `path` is a link: what is written there would go to somebody else's file. */
export function refuseLink(path: string): void {
  const target = findLinkTarget(path)
  if (target !== undefined) throw linkLeftAlone(path, target)
}

/** Where the link at `path` points to, as an absolute path; undefined where it is no link, or nothing is there. */
export function findLinkTarget(path: string): string | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  return isLink ? resolve(dirname(path), readlinkSync(path)) : undefined
}
