import type { CatalogueModel } from './catalogue-model.ts'
import { chooseFor } from './choose.ts'

type Habit = {
  owner: string
  /**
   * Appended to the original's name. A `_` at the beginning is not appended; it means that the copy's name begins with
   * the name of the original's owner.
   */
  suffix: string
  displaySuffix?: string
  isAbliterated?: boolean
  license?: string
}

// A few owners convert nearly all popular models, always in the same way.
const habits: readonly Habit[] = [
  { owner: 'quantworks', suffix: '-gguf', displaySuffix: ' GGUF' },
  { owner: 'dockside', suffix: '_-gguf' },
  { owner: 'bigmatrix', suffix: '-i1-gguf', displaySuffix: ' i1 GGUF' },
  {
    owner: 'fathomlabs',
    suffix: '-abliterated',
    displaySuffix: ' abliterated',
    isAbliterated: true,
  },
  { owner: 'slothworks', suffix: '-ud', displaySuffix: ' (dynamic quants)' },
  { owner: 'studio-community', suffix: '_' },
  { owner: 'unlocked', suffix: '-uncensored', displaySuffix: ' Uncensored', isAbliterated: true },
  { owner: 'one-click', suffix: '-q4_k_m-gguf' },
  { owner: 'mirror', suffix: '-mirror', displaySuffix: ' (mirror)' },
  { owner: 'heretics', suffix: '-heretic', displaySuffix: ' heretic', isAbliterated: true },
  { owner: 'one-click', suffix: '-q8_0-gguf' },
  { owner: 'tinycpu', suffix: '-q2_k', displaySuffix: ' Q2_K' },
]

/**
 * Makes conversions and abliterated copies of models, as other owners would publish them. Popular models have more
 * copies.
 */
export function publishAgain(originals: readonly CatalogueModel[]): CatalogueModel[] {
  return originals.flatMap((original) =>
    habits
      .slice(0, countCopies(original.downloads))
      .filter(({ isAbliterated }) => !isAbliterated || canRefuse(original))
      .map((habit, rank) => copy(original, habit, rank)),
  )
}

function countCopies(downloads: number): number {
  if (downloads >= 2_500_000) return 12
  if (downloads >= 1_000_000) return 9
  if (downloads >= 300_000) return 5
  if (downloads >= 120_000) return 3
  if (downloads >= 40_000) return 2
  return 1
}

function canRefuse({ variant, uses }: CatalogueModel): boolean {
  return ['chat', 'instruct', 'reasoning'].includes(variant) && !uses.includes('uncensored')
}

function copy(original: CatalogueModel, habit: Habit, rank: number): CatalogueModel {
  const hasOwner = habit.suffix.startsWith('_')
  const name = hasOwner
    ? `${original.owner}_${original.name}${habit.suffix.slice(1)}`
    : `${original.name}${habit.suffix}`
  const choose = chooseFor(name)
  const share = 0.3 / (rank + 1) ** 2
  const title = original.display_name ?? original.name
  const tags = choose.chance(0.7) ? [...original.tags] : ['gguf']
  if (choose.chance(0.5)) tags.push(`base_model:${original.name}`)
  if (habit.isAbliterated) tags.push('abliterated', 'uncensored')
  return {
    ...original,
    name,
    display_name: habit.displaySuffix ? `${title}${habit.displaySuffix}` : null,
    description: describe(habit, title, choose.chance(0.7)),
    tags,
    owner: habit.owner,
    uses: habit.isAbliterated ? [...original.uses, 'uncensored'] : original.uses,
    origin: habit.isAbliterated ? 'abliterated' : 'repack',
    downloads: Math.floor(original.downloads * share) + choose.below(300),
  }
}

function describe(habit: Habit, title: string, isDescribed: boolean): string | null {
  if (!isDescribed) return null
  if (habit.isAbliterated) return `${title} with refusals removed.`
  return `GGUF files of ${title}, converted with llama.cpp.`
}
