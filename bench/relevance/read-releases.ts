import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogueModel } from './catalogue-model.ts'
import { chooseFor } from './choose.ts'
import { tagsFor } from './tags.ts'

/** Reads real models from `releases.tsv`. Each line is a release, with one model per size. */
export function readReleases(): CatalogueModel[] {
  const table = readFileSync(join(import.meta.dirname, 'releases.tsv'), 'utf8')
  return table.trimEnd().split('\n').slice(1).flatMap(readLine)
}

function readLine(text: string): CatalogueModel[] {
  const [name, displayName, family, version, line, kind, owner, ...more] = text.split('\t')
  const [architecture, license, variant, uses, sizes, description] = more
  if (!name || !displayName || !family || !version || line === undefined || !owner) throw bad(text)
  if (!architecture || !license || !variant || uses === undefined || !sizes) throw bad(text)
  if (kind !== 'official' && kind !== 'fine-tune') throw bad(text)
  const [lineName = '', edition = ''] = line.split(' ')
  return sizes.split(',').map((entry) => {
    // such as 8b=8.03@4600: the size in the name, billions of parameters, thousands of downloads
    const [, size, billions, thousands] = /^(.+)=(.+)@(.+)$/.exec(entry) ?? []
    if (!size) throw bad(text)
    const facts = {
      family,
      version,
      line: lineName,
      edition,
      size,
      variant,
      uses: uses === '' ? [] : uses.split(','),
      origin: kind,
      architecture,
      parameter_count: Math.round(Number(billions) * 1e9),
    } as const
    const fullName = name.replace('{s}', size)
    const choose = chooseFor(fullName)
    return {
      ...facts,
      name: fullName,
      display_name: displayName.replace('{S}', displaySize(size)),
      description: description || null,
      tags: tagsFor(facts, choose),
      owner,
      license,
      downloads: Number(thousands) * 1_000 + choose.below(1_000),
    }
  })
}

function displaySize(size: string): string {
  if (/^e?\d/.test(size)) return size.toUpperCase().replace('X', 'x')
  return size.charAt(0).toUpperCase() + size.slice(1)
}

function bad(text: string): Error {
  return new Error(`cannot read the release ${text}`)
}
