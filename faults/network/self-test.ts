/**
 * Proves that the checks work: each of these programs replaces the CLI and ends in a way that the checks must report as
 * a failure.
 */

import { fails, onRequests } from './declare.ts'
import * as harms from './harms.ts'
import type { Cell, NetworkFault } from './network-fault.ts'

export type Tampering = {
  summary: string
  failure: RegExp
  program: string
  /** How long the program may run before it counts as hanging. Undefined if it ends by itself. */
  hangTimeoutMs?: number
}

const intoFile = (bytes: string) => `
  const folder = process.env.SHOAL_HOME + '/data/models/large'
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(folder + '/large.gguf', ${bytes})`

const askFirst = `
  const fs = require('node:fs')
  const registry = process.argv[process.argv.indexOf('--registry') + 1]
  const asked = fetch(registry + '/v1/models/large').then((answer) => answer.text())`

function tampering(summary: string, failure: RegExp, then: string): Tampering {
  return { summary, failure, program: `${askFirst}\n  asked.finally(() => {${then}})` }
}

const say = (reported: string) => `console.log(JSON.stringify({ error: ${reported} }))`

export const tamperings: Tampering[] = [
  tampering('wrong bytes under the final name', /wrong bytes/, intoFile("'wrong'")),
  tampering('no file and exit 0', /exit 0 without the file/, ''),
  {
    ...tampering('no end', /no end within/, 'setInterval(() => {}, 1000)'),
    hangTimeoutMs: 8_000, // on a busy machine, the program needs seconds before it has sent its request
  },
  tampering('a crash', /terminated by SIGABRT/, 'process.abort()'),
  tampering('an uncaught error', /stack trace/, "throw new Error('thrown')"),
  tampering(
    'an unexpected error code',
    /unexpected error code/,
    `${say("{ code: 'failed', message: 'No.', hint: 'Try.' }")}; process.exitCode = 1`,
  ),
  tampering(
    'the wrong cause',
    /^unreachable \(dns\)$/,
    `${say("{ code: 'unreachable', reason: 'dns', message: 'No.', hint: 'Try.' }")}; process.exitCode = 6`,
  ),
  tampering(
    'credentials for another origin',
    /credentials sent to another origin/,
    `fetch(process.env.ELSEWHERE + '/v1/models', { headers: { authorization: 'Bearer x' } }).then(() => {})`,
  ),
  {
    summary: 'a command that sends no request',
    failure: /the fault affected no request/,
    program: 'process.exitCode = 6',
  },
]

const fault: NetworkFault = {
  name: 'self-test',
  summary: 'Page with 200',
  harm: () => harms.respondWithPage(200, 'Welcome'),
  command: ({ elsewhere }) => ({ env: { ELSEWHERE: elsewhere.origin } }),
  ends: onRequests(fails('not_a_registry', 'html')),
}

/** The cell in which these programs are run. */
export const tamperedCell: Cell = {
  fault,
  column: 'api',
  form: 'stays',
  place: 'api',
  end: fails('not_a_registry', 'html'),
}
