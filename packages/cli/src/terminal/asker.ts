/** Questions to the person at the terminal. They are asked on stderr: stdout is for results. */
import type { CliEnvironment } from '../environment.ts'
import { Failure, misuse } from './failure.ts'

type Question = {
  message: string
  /** What to write instead where nobody can be asked, such as `--username`. */
  instead: string
  validate?: (answer: string) => string | undefined
}

/** Each question ends the command with a `Failure`: a usage error if nobody can be asked, `stopped` if the person gives up. */
export interface Asker {
  /** Whether there is a person at a terminal. */
  readonly canAsk: boolean
  /** Resolves with an answer that is not empty. */
  text(question: Question): Promise<string>
  /** The same; what is typed is not shown. */
  secret(question: Question): Promise<string>
  /** Resolves if the answer is yes, at once under `--yes`; a no ends the command as `stopped`. */
  confirm(message: string): Promise<void>
}

export function createAsker(
  { stdin, stderr, stopSignal }: CliEnvironment,
  { canAsk, yes }: { canAsk: boolean; yes: boolean },
): Asker {
  const streams = { input: stdin, output: stderr, signal: stopSignal, withGuide: false }
  const load = () => import('@clack/prompts')

  async function ask({ message, instead, validate }: Question, kind: 'text' | 'password') {
    if (!canAsk) throw misuse(`Nobody can be asked for the ${message.toLowerCase()} here.`, instead)
    const clack = await load()
    const answer = await clack[kind]({
      ...streams,
      message,
      mask: '•',
      validate: (typed = '') => validate?.(typed) ?? (typed === '' ? 'This is needed.' : undefined),
    })
    if (clack.isCancel(answer)) throw new Failure('stopped', 'Stopped. Nothing was changed.')
    return answer
  }

  return {
    canAsk,
    text: (question) => ask(question, 'text'),
    secret: (question) => ask(question, 'password'),
    async confirm(message) {
      if (yes) return
      if (!canAsk)
        throw misuse(`Nobody can be asked here: ${message}`, 'Say yes beforehand with --yes.')
      const clack = await load()
      const answer = await clack.confirm({ ...streams, message, initialValue: false })
      if (answer !== true) throw new Failure('stopped', 'Stopped. Nothing was changed.')
    },
  }
}

/** A secret handed over on stdin: its first line, as `echo` and password stores end it. */
export async function readSecretFromStdin(
  { stdin }: CliEnvironment,
  what: string,
): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  const [secret = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1)
  if (secret === '') throw misuse(`There is no ${what} on stdin.`)
  return secret
}
