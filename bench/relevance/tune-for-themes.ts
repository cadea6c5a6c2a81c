import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogueModel } from './catalogue-model.ts'
import { type Choose, chooseFor } from './choose.ts'
import { tagsFor } from './tags.ts'

const count = 2_600

/** The purposes of hobbyists' fine-tunes, most common first, with words for the models' names and descriptions. */
const themes = readFileSync(join(import.meta.dirname, 'themes.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [use = '', names = '', titles = '', topic = ''] = line.split('\t')
    return { use, names: names.split(','), titles: titles.split(','), topic }
  })

/** Those who publish most come first. */
const owners =
  `mergeking loraforge nightlab openwave tinytuner deltaworks kleinlabor finetunes redpanda-ml
llm-hobbyist atelier-ia sakuralab hanbyte medlm lexlabs quietharbor basement-gpu student42 aifarm papaya
grumpycat zed julienlab nordlicht tokyo-nlp datawrangler kiwi raspberry omega3 fjord oldserver thesis-2025
weekend-projects bytebakery gradient-surfer lowrank epochs neuralnick polyglot test-account`.split(
    /\s/,
  )
const adjectives =
  `silver midnight velvet crimson mystic neural cosmic gentle feral lunar amber hollow electric
frozen golden wandering quantum obsidian spicy ancient violet broken radiant chaos`.split(/\s/)
const nouns =
  `raven maid unicorn dream whisper fox kitsune chronicle scribe siren wizard lotus dagger moon poet
mythos storm garden oracle muse kraken bard comet tavern`.split(/\s/)

/**
 * Makes fine-tunes and merges that resemble those of hobbyists. Most are hardly ever downloaded, and many have odd
 * names.
 */
export function tuneForThemes(releases: readonly CatalogueModel[]): CatalogueModel[] {
  const bases = releases
    .filter(({ origin, line, uses, parameter_count }) => {
      const isText = !uses.some((use) => ['vision', 'audio', 'embedding', 'rerank'].includes(use))
      const hasLine = !['', 'coder', 'small', 'nemo', 'mini'].includes(line)
      return origin === 'official' && isText && !hasLine && parameter_count < 35e9
    })
    .sort((one, other) => other.downloads - one.downloads)
    .slice(0, 60)
  return Array.from({ length: count }, (_, index) => {
    const choose = chooseFor(`theme ${index}`)
    const base = choose.pickSkewed(bases)
    return index % 5 === 4 ? makeMerge(base, index, choose) : makeFineTune(base, index, choose)
  })
}

function makeFineTune(base: CatalogueModel, index: number, choose: Choose): CatalogueModel {
  const theme = choose.pickSkewed(themes)
  const owner = choose.pickSkewed(owners)
  const uses = [theme.use]
  const title = `${base.display_name} ${choose.pick(theme.titles)}`
  return {
    ...base,
    line: 'community',
    edition: '',
    uses,
    origin: 'community',
    variant: 'instruct',
    name: nameFineTune(misspell(base.name, choose), choose.pick(theme.names), owner, index, choose),
    display_name: choose.chance(0.5) ? title : null,
    description: choose.chance(0.6) ? describe(theme.topic, base, choose) : null,
    tags: choose.chance(0.75) ? tagsFor({ ...base, uses, variant: 'instruct' }, choose) : [],
    owner,
    downloads: drawDownloads(choose),
  }
}

function makeMerge(base: CatalogueModel, index: number, choose: Choose): CatalogueModel {
  const coined = `${choose.pick(adjectives)}-${choose.pick(nouns)}`
  const uses = choose.pick([
    ['roleplay'],
    ['story'],
    ['roleplay', 'story'],
    ['roleplay', 'uncensored'],
  ])
  const method = choose.pick(['', '-slerp', '-ties', '-v2', '-model_stock', '-della', '-dpo'])
  return {
    ...base,
    line: 'community',
    edition: '',
    uses,
    origin: 'community',
    variant: 'chat',
    name: `${coined}-${base.size}${method}${choose.chance(0.3) ? `-${index}` : ''}`,
    display_name: choose.chance(0.5) ? `${capital(coined)} ${base.size.toUpperCase()}` : null,
    description: choose.chance(0.6) ? `A merge of ${base.display_name} fine-tunes.` : null,
    tags: [
      'gguf',
      'merge',
      'mergekit',
      ...tagsFor({ ...base, uses, variant: 'chat' }, choose).slice(1),
    ],
    owner: choose.pickSkewed(owners),
    downloads: drawDownloads(choose),
  }
}

function nameFineTune(base: string, theme: string, owner: string, index: number, choose: Choose) {
  const short = base.replace(/^meta-/, '').replace(/-(instruct|it|chat)\b/, '')
  const name = choose.pick([
    `${base}-${theme}`,
    `${short}-${theme}`,
    `${theme}-${short}`,
    `${short}-${theme}-v${1 + choose.below(4)}`,
    `${short}-${theme}-lora-merged`,
    `${owner}-${short}-${theme}`,
    `${short}-ft-${theme}-${index}`,
    `my-${short}-${theme}-test`,
    `${theme}_${short}_final`,
  ])
  return name.slice(0, 96).replace(/[^a-z0-9]+$/, '')
}

/** Writes a name as people do: usually correctly, sometimes without dots or dashes, and occasionally with a typo. */
function misspell(name: string, choose: Choose): string {
  if (choose.chance(0.75)) return name
  return choose.pick([
    name.replaceAll('.', '-'),
    name.replace(/(\d)\.(\d)/, '$1$2'),
    name.replace(/-(?=\d)/, ''),
    name.replaceAll('-', '_'),
    name.replace('llama', 'lama').replace('mistral', 'mistarl').replace('qwen', 'qwenn'),
  ])
}

function describe(topic: string, base: CatalogueModel, choose: Choose): string {
  return choose.pick([
    `${base.display_name} fine-tuned for ${topic}.`,
    `A fine-tune of ${base.name} on a data set for ${topic}.`,
    `Experimental model for ${topic}. Feedback is welcome!`,
    `Trained for three epochs with QLoRA: ${topic}.`,
  ])
}

function drawDownloads(choose: Choose): number {
  if (choose.chance(0.03)) return 5_000 + choose.below(40_000)
  if (choose.chance(0.2)) return 300 + choose.below(3_000)
  return choose.below(300)
}

function capital(text: string): string {
  return text.replace(
    /(^|-)([a-z])/g,
    (_, dash, letter) => (dash ? ' ' : '') + letter.toUpperCase(),
  )
}
