import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** If a thread is terminated while it is loading a native addon, the whole process aborts. */
test('the BitTorrent library loads no native addon', () => {
  const library = new URL('./torrent-client.ts', import.meta.url).href
  const script = `
    const { dlopen } = process
    const loaded = []
    process.dlopen = function (module, file, ...more) {
      loaded.push(file)
      return dlopen.call(this, module, file, ...more)
    }
    await import(${JSON.stringify(library)})
    console.log(JSON.stringify(loaded))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script])
  expect(JSON.parse(output.toString())).toEqual([])
})
