/** Prompts at the terminal, on stderr, because stdout is for results. */
import type { CliEnvironment } from '../environment.ts'
import { Failure, misuse } from './failure.ts'
import { toTerminalLine } from './terminal-text.ts'

type Question = {
  message: string
  /** The hint shown if prompting is impossible, such as `Pass --username.` */
  instead: string
  validate?: (answer: string) => string | undefined
}

/** Prompts throw a usage error if prompting is impossible, and the failure `stopped` if the user cancels. */
export interface Asker {
  /** Whether prompting is possible. */
  readonly canAsk: boolean
  /** Resolves with a non-empty answer. */
  text(question: Question): Promise<string>
  /** Like `text`, but the input is hidden. */
  secret(question: Question): Promise<string>
  /** Resolves if the user answers yes, or immediately with `--yes`. Throws `stopped` if the user answers no. */
  confirm(message: string): Promise<void>
}

export function createAsker(
  { stdin, stderr, stopSignal }: CliEnvironment,
  { canAsk, yes }: { canAsk: boolean; yes: boolean },
): Asker {
  const streams = { input: stdin, output: stderr, signal: stopSignal, withGuide: false }
  const load = () => import('@clack/prompts')

  async function ask({ message, instead, validate }: Question, kind: 'text' | 'password') {
    if (!canAsk)
      throw misuse(
        `Cannot prompt for the ${message.toLowerCase()}: shoal is not running interactively.`,
        instead,
      )
    const clack = await load()
    const answer = await clack[kind]({
      ...streams,
      message: toTerminalLine(message),
      mask: '•',
      clearOnError: true, // of a secret, which cannot be corrected without seeing it
      validate: (typed = '') =>
        validate?.(typed) ?? (typed === '' ? 'This is required.' : undefined),
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
        throw misuse(
          `Confirmation is required, but shoal is not running interactively: ${message}`,
          'To answer yes, pass --yes.',
        )
      const clack = await load()
      const answer = await clack.confirm({
        ...streams,
        message: toTerminalLine(message),
        initialValue: false,
      })
      if (answer !== true) throw new Failure('stopped', 'Stopped. Nothing was changed.')
    },
  }
}

/** Reads a secret from the first line of stdin, without the line break that `echo` and password stores add. */
export async function readSecretFromStdin(
  { stdin }: CliEnvironment,
  what: string,
): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  const [secret = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1)
  if (secret === '') throw misuse(`No ${what} on stdin.`)
  return secret
}
