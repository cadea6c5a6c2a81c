import { Command, Option } from 'commander'
import { answerOnce } from '../chat/answer-once.ts'
import { chatLoop } from '../chat/chat-loop.ts'
import { type ChatSettings, type Conversation, settingNames } from '../chat/conversation.ts'
import { readPrompt } from '../chat/read-prompt.ts'
import { readyModel } from '../chat/ready-model.ts'
import type { Context, OpenContext } from '../context.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { openDaemon } from '../daemon/open-daemon.ts'
import { readReference } from '../models/reference.ts'
import { misuse } from '../terminal/failure.ts'

type RunOptions = InferenceOption & {
  system?: string
  temperature?: number
  topP?: number
  maxTokens?: number
  seed?: number
}

export function runCommand(open: OpenContext): Command {
  const { temperature, seed, 'top-p': topP, 'max-tokens': maxTokens } = settingNames
  return new Command('run')
    .description('ask a model, or talk with it; it is pulled where it is not here')
    .argument('<model[:quant]>', 'its name')
    .argument('[prompt...]', 'the question; what is piped in follows it. Without any: a chat')
    .option('--system <text>', 'what the model is told first')
    .addOption(
      new Option(
        '--temperature <number>',
        '0 for the likeliest answer, more for variety',
      ).argParser(temperature.accept),
    )
    .addOption(
      new Option('--top-p <number>', 'of the likely words only so much').argParser(topP.accept),
    )
    .addOption(new Option('--max-tokens <number>', 'at most so long').argParser(maxTokens.accept))
    .addOption(new Option('--seed <number>', 'the same answer each time').argParser(seed.accept))
    .addOption(inferenceOption())
    .action(async (reference: string, words: string[], options: RunOptions) => {
      const context = await open()
      readReference(reference)
      const prompt = await readPrompt(context.environment, words)
      if (prompt === undefined) requireChat(context)
      await using daemon = await openDaemon(context, options.inference)
      const { client } = daemon
      const model = await readyModel(context, client, reference)
      const conversation: Conversation = {
        system: options.system,
        turns: prompt === undefined ? [] : [{ role: 'user', content: prompt }],
        settings: toSettings(options),
      }
      if (prompt === undefined) {
        await chatLoop({ context, client, model, conversation, lastAnswer: undefined })
      } else {
        await answerOnce(context, { client, model, conversation })
      }
    })
}

/** A chat needs somebody who types, and a place to ask that is not among the results. */
function requireChat({ environment, options, printer }: Context) {
  const { stdin, stderr } = environment
  const canChat = stdin.isTTY === true && stderr.isTTY === true && options.input
  if (canChat && !printer.isJson && !printer.isForPrograms) return
  throw misuse('There is no prompt.', 'Write one behind the model, or pipe one in.')
}

function toSettings({ temperature, topP, maxTokens, seed }: RunOptions): ChatSettings {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  }
}
