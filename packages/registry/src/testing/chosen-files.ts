/** Files that a test chooses on the publish page. */
import { mebibyte } from '@shoal/core/units'
import { makeGguf } from '@shoal/model-file/testing'
import type { Page } from '../../../../testing/browser.ts'

/** A file that the page creates itself. */
export type Synthetic = { name: string; header: string; seed: number; mebibytes: number }

/**
 * Makes a file with this number of chunks, of which the last is small. The page creates its own copy from the header and
 * the seed, so that the bytes do not have to be sent to the browser.
 */
export function makeChosenFile(
  name: string,
  seed: number,
  chunks: number,
): Synthetic & { bytes: Uint8Array } {
  const mebibytes = (chunks - 1) * 16 + 1
  const bytes = makeGguf({
    metadata: {
      'general.architecture': 'llama',
      'general.name': 'Tide 7B',
      'general.file_type': 7,
      'llama.context_length': 32_768,
    },
    tensors: [{ name: 'token_embd.weight', shape: [(mebibytes * mebibyte) / 4], type: 'F32' }],
    fill(data) {
      for (let index = 0; index < mebibytes; index += 1) {
        data.fill(index + seed, index * mebibyte, (index + 1) * mebibyte)
      }
    },
  })
  const header = bytes.subarray(0, bytes.length - mebibytes * mebibyte)
  return { name, header: Buffer.from(header).toString('base64'), seed, mebibytes, bytes }
}

/** Returns a script that creates the files in the page, as if they came from a disk. */
const makeTransferScript = (files: readonly Synthetic[]) => `(() => {
  const transfer = new DataTransfer()
  for (const { name, header, seed, mebibytes } of ${JSON.stringify(
    files.map(({ name, header, seed, mebibytes }) => ({ name, header, seed, mebibytes })),
  )}) {
    const start = Uint8Array.from(atob(header), (one) => one.charCodeAt(0))
    const rest = Array.from({ length: mebibytes }, (_, index) =>
      new Uint8Array(${mebibyte}).fill(index + seed))
    transfer.items.add(new File([start, ...rest], name, { lastModified: 1700000000000 }))
  }
  return transfer
})()`

/** Drops files on the publish page, as if they came from a disk. */
export async function drop(page: Page, files: readonly Synthetic[]) {
  const dataTransfer = await page.evaluateHandle(makeTransferScript(files))
  await page.locator('[data-drop]').dispatchEvent('drop', { dataTransfer })
}

/** Chooses files in order to resume an unfinished upload. */
export async function pick(page: Page, files: readonly Synthetic[]) {
  await page.evaluate(`{
    const labels = [...document.querySelectorAll('label')]
    const input = labels.find(({ textContent }) => textContent === 'Choose and resume').control
    input.files = ${makeTransferScript(files)}.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
  }`)
}
