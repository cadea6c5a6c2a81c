/** Pulls a file in a separate process, and prints the events and the result as lines of JSON. SIGINT stops the pull. */
import { registryClient } from '@shoal/protocol/client'
import { pullFile } from '../pull/pull-file.ts'
import { quickTuning } from './quick-tuning.ts'

const [baseUrl = '', path = '', fileJson = '{}'] = process.argv.slice(2)
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)

const abort = new AbortController()
process.once('SIGINT', () => abort.abort(new Error('stopped by SIGINT')))

await pullFile({
  client: registryClient({ baseUrl }),
  modelName: 'tiny',
  file: JSON.parse(fileJson),
  path,
  tuning: quickTuning,
  signal: abort.signal,
  onEvent: print,
}).then(
  (result) => print({ type: 'result', result }),
  (error) => print({ type: 'failed', message: error.message }),
)
// No `process.exit`: the process ends once nothing keeps it running.
