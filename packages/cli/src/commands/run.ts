import { Command, Option } from 'commander'
import { answerOnce } from '../chat/answer-once.ts'
import { chatLoop } from '../chat/chat-loop.ts'
import { type ChatSettings, type Conversation, settingNames } from '../chat/conversation.ts'
import { readPrompt } from '../chat/read-prompt.ts'
import { readyModel } from '../chat/ready-model.ts'
import type { Context, OpenContext } from '../context.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { openDaemon } from '../daemon/open-daemon.ts'
import { importPath, isFilePath } from '../models/import-path.ts'
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
    .description('run a model, downloading it first if needed')
    .argument(
      '<model[:quant]>',
      'model name, optionally with a quantization, or the path of a GGUF file',
    )
    .argument('[prompt...]', 'prompt, to which any piped input is appended (default: start a chat)')
    .option('--system <text>', 'system prompt')
    .addOption(
      new Option(
        '--temperature <number>',
        'sampling temperature, from 0 (most predictable) to 2',
      ).argParser(temperature.accept),
    )
    .addOption(
      new Option(
        '--top-p <number>',
        'nucleus sampling: consider the most likely tokens up to this total probability (0–1)',
      ).argParser(topP.accept),
    )
    .addOption(
      new Option('--max-tokens <number>', 'maximum number of tokens to generate').argParser(
        maxTokens.accept,
      ),
    )
    .addOption(
      new Option('--seed <number>', 'random seed, for reproducible output').argParser(seed.accept),
    )
    .addOption(inferenceOption())
    .action(async (named: string, words: string[], options: RunOptions) => {
      const context = await open()
      const reference = isFilePath(named) ? await importPath(context, named) : named
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

/** Throws if no chat is possible. A chat needs a terminal on stderr, not stdout, because stdout is for results. */
function requireChat({ environment, options, printer }: Context) {
  const { stdin, stderr } = environment
  const canChat = stdin.isTTY === true && stderr.isTTY === true && options.input
  if (canChat && !printer.isJson && !printer.isForPrograms) return
  throw misuse('No prompt given.', 'Pass a prompt after the model name, or pipe one in.')
}

function toSettings({ temperature, topP, maxTokens, seed }: RunOptions): ChatSettings {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  }
}
