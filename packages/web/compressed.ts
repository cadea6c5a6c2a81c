import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const isText = /\.(js|css|html|svg|json|txt)$/

/**
 * Writes `.br` and `.gz` files next to compressible files, so that the servers do not have to compress each response.
 */
export function compressed(): Plugin {
  let folder = ''
  return {
    name: 'compressed',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir)
    },
    async closeBundle() {
      const names = await readdir(folder, { recursive: true })
      await Promise.all(
        names
          .filter((name) => isText.test(name))
          .map(async (name) => {
            const path = join(folder, name)
            const bytes = await readFile(path)
            await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes))
            await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
          }),
      )
    },
  }
}
