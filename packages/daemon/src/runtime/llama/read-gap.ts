/**
 * Writes prompts with a gap in the format of llama.cpp's server
 * (https://github.com/ggml-org/llama.cpp/tree/master/tools/server#post-infill-for-code-infilling). Other files come
 * first, in the format in which Qwen 2.5 Coder was trained (https://arxiv.org/abs/2409.12186), if the model has the
 * tokens for it.
 */
import type { LlamaModel, Token } from 'node-llama-cpp'
import type { Gap } from '../runtime.ts'
import { type Beginning, type Tokenize, withBeginning } from './tokenizer.ts'

/** The texts of the tokens before a repository's name and before a file's name, as llama.cpp recognizes them. */
const repositoryTexts = [...['<|fim_repo|>', '<|repo_name|>', '<fim-repo>', '<REPO>', '<reponame>']]
const fileTexts = ['<|file_sep|>']
/** Comes before other files if the model has no token for that. */
const separator = '\n\n--- snippet ---\n\n'

export const canFillGaps = ({ tokens: { infill } }: LlamaModel): boolean =>
  [infill.prefix, infill.suffix, infill.middle].every((token) => token !== null)

/** Returns a function that tokenizes a prompt with a gap. Texts with more than `most` tokens are cut off. */
export function gapReader(model: LlamaModel, tokenize: Tokenize) {
  const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens
  const find = (texts: readonly string[]) =>
    texts.map((text) => vocabulary.indexOf(text)).find((token) => token !== -1)
  const repository = find(repositoryTexts)
  const fileToken = find(fileTexts)

  function partsOf({ before, after, files, begun }: Gap): (string | number | null | undefined)[] {
    const { prefix, suffix, middle } = model.tokens.infill
    const others = files.flatMap(({ filename, text }) =>
      fileToken === undefined ? [separator, text] : [fileToken, `${filename}\n${text}`],
    )
    // The names of the repository and of the file with the gap are unknown. llama.cpp's server writes these words.
    const names = files.length > 0 && fileToken !== undefined && [fileToken, 'filename\n']
    const beginning = files.length > 0 && repository !== undefined && [repository, 'myproject\n']
    return [
      ...(beginning || []),
      ...others,
      ...(names || []),
      ...[prefix, before, suffix, after, middle, begun],
    ]
  }

  return async (gap: Gap, most: number): Promise<Beginning> => {
    const tokens: Token[] = []
    let [isWhole, totalTokens] = [true, 0]
    for (const part of partsOf(gap)) {
      if (typeof part === 'number') tokens.push(part as Token)
      if (typeof part !== 'string') continue
      const read = await tokenize({ text: part, addSpecial: false, parseSpecial: false }, most)
      tokens.push(...read.tokens)
      isWhole &&= read.isWhole
      totalTokens += read.totalTokens - read.tokens.length
    }
    const all = withBeginning(model, tokens)
    return { tokens: all, isWhole, totalTokens: totalTokens + all.length }
  }
}
