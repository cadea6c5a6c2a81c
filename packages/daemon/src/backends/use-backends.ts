import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { backendNames } from './backends.ts'

/** Makes node-llama-cpp load backends from `directory`. By default, it imports them like its other dependencies. */
export function useBackends(directory: string) {
  const folders = backendNames.map((name) => join(directory, name))
  registerHooks({
    resolve(specifier, context, next) {
      const folder = specifier.startsWith('@node-llama-cpp/')
        ? folders.find((one) => existsSync(join(one, 'node_modules', specifier)))
        : undefined
      if (folder === undefined) return next(specifier, context)
      return next(specifier, { ...context, parentURL: pathToFileURL(join(folder, '_.js')).href })
    },
  })
}
