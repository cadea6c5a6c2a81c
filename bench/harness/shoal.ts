import { join } from 'node:path'
import { runTool } from './tool.ts'

/** The path of the program that users run. */
export const shoalProgram = join(import.meta.dirname, '../../packages/cli/bin/shoal.js')

/** Runs a `shoal` command with all its files under `home`. */
export function runShoal(
  words: string[],
  { home, registry }: { home: string; registry: { url: string; token: string } },
) {
  return runTool(process.execPath, [shoalProgram, ...words], {
    SHOAL_HOME: home,
    SHOAL_REGISTRY: registry.url,
    SHOAL_TOKEN: registry.token,
  })
}
