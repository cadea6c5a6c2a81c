import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { backendNames } from './backends.ts'

/**
 * Makes node-llama-cpp load backends from `directory`. By default, it imports them like its other dependencies.
 * @throws if a backend is installed but the running Node is older than 22.15 and therefore cannot load it
 */
export function useBackends(directory: string) {
  const folders = backendNames.map((name) => join(directory, name))
  // Not imported by name, because a release also runs on Node 22.13, which lacks this function.
  if (nodeModule.registerHooks === undefined) {
    if (folders.some((folder) => existsSync(join(folder, 'node_modules')))) {
      throw new Error(
        `GPU backends need Node 22.15 or newer; this is Node ${process.versions.node}`,
      )
    }
    return
  }
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const folder = specifier.startsWith('@node-llama-cpp/')
        ? folders.find((one) => existsSync(join(one, 'node_modules', specifier)))
        : undefined
      if (folder === undefined) return next(specifier, context)
      return next(specifier, { ...context, parentURL: pathToFileURL(join(folder, '_.js')).href })
    },
  })
}
