/** Reads a model's details from the front matter of its card, in the format of Hugging Face's model cards. */

import { findFrontMatter } from '@shoal/cards/front-matter'
import { isName } from '@shoal/protocol'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

export type CardDetails = { license: string | null; tags: string[] }

/**
 * Maximum length of the YAML text to parse, which is usually shorter than 1 kB. Longer text is ignored, because parsing
 * it would take too long.
 */
const maxLength = 4 * 1024
const maxLicenseLength = 100
const maxTagLength = 64
const maxTags = 64

/**
 * Returns the license and the tags that a card states. As on Hugging Face, the card's languages and base models also
 * become tags, such as `en` and `base_model:tideline/tide-7b`. Values that a model cannot have are left out.
 */
export function readCardDetails(readme: string | null): CardDetails {
  const read = readKeys(findFrontMatter(readme ?? ''))
  const tags = [
    ...read('tags'),
    ...read('language'),
    ...read('base_model').map((name) => `base_model:${name}`),
  ]
  const [license = null] = read('license')
  const [otherLicense = license] = license === 'other' ? read('license_name') : []
  return {
    license: otherLicense !== null && isShort(otherLicense, maxLicenseLength) ? otherLicense : null,
    tags: [...new Set(tags)].filter((tag) => isShort(tag, maxTagLength)).slice(0, maxTags),
  }
}

const isShort = (text: string, maxLength: number) => text.length <= maxLength && isName(text)

const keys = ['license', 'license_name', 'tags', 'language', 'base_model'] as const
type Key = (typeof keys)[number]

/** Returns a function that finds the values of a key. A single value is returned as a list. */
function readKeys(frontMatter: string): (key: Key) => string[] {
  const root = parse(pickKeys(frontMatter))
  return (key) => {
    const value = isMap(root) ? root.get(key, true) : undefined
    const items = isSeq(value) ? value.items : [value]
    return items.flatMap((item) =>
      isScalar(item) && typeof item.value === 'string' && !isNothing.test(item.value)
        ? item.value.trim()
        : [],
    )
  }
}

const isNothing = /^\s*(null|~)?\s*$/i

/** Returns only the lines that belong to `keys`. Other keys, such as evaluation results, may have hundreds of lines. */
function pickKeys(yaml: string): string {
  let isPicked = false
  const lines = yaml.split('\n').filter((line) => {
    const [, key] = /^([A-Za-z_][\w.-]*)[ \t]*:/.exec(line) ?? []
    if (key !== undefined) isPicked = keys.some((one) => one === key)
    return isPicked
  })
  return lines.join('\n')
}

/**
 * Returns the root of a YAML document without resolving aliases, or undefined if the document is invalid or too long.
 */
function parse(yaml: string) {
  if (yaml.length > maxLength) return undefined
  const { contents, errors } = parseDocument(yaml, {
    schema: 'failsafe', // every value is text, so that the license `1.0` does not become the number 1
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  return errors.length > 0 ? undefined : contents
}
