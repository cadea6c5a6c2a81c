import { join, relative, sep } from 'node:path'

/** The folder of the release that this package belongs to. Undefined in a clone and in the npm package. */
export const ownProgramFolder = findProgramFolder(join(import.meta.dirname, '..'))

/** In a release, this package is in `program/node_modules`, next to `bin` and `node`. */
export function findProgramFolder(here: string): string | undefined {
  const folder = join(here, '../../../../..')
  const place = ['program', 'node_modules', '@shoal', 'releases', 'src'].join(sep)
  return relative(folder, here) === place ? folder : undefined
}
