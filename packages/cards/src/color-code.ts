/** Adds syntax highlighting to code blocks. Each token gets a class, and the pages choose the colors. */
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import php from 'highlight.js/lib/languages/php'
import powershell from 'highlight.js/lib/languages/powershell'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { Element, ElementContent } from './syntax-tree.ts'

const lowlight = createLowlight({
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua },
  ...{ makefile, php, powershell, python, ruby, rust, shell, sql, swift, typescript, xml, yaml },
})
lowlight.registerAlias({ bash: ['zsh'], python: ['python3'], shell: ['terminal'] })

/**
 * Limits for one card, in characters and milliseconds. Coloring a block of the maximum length takes a few milliseconds,
 * unless the block was designed to be slow.
 */
const maxBlockLength = 10_000
const maxLength = 100_000
const maxCpuMs = 250
/** Maximum nesting depth of tokens, such as templates in templates. Blocks that exceed it are not colored. */
const maxDepth = 50

/** The class for each kind of token (https://highlightjs.readthedocs.io/en/latest/css-classes-reference.html). */
const classes = new Map(
  Object.entries({
    keyword: ['keyword', 'literal', 'selector-tag', 'selector-pseudo', 'doctag'],
    name: [
      'title',
      'section',
      'name',
      'tag',
      'built_in',
      'type',
      'attr',
      'attribute',
      'property',
      'selector-class',
      'selector-id',
      'selector-attr',
    ],
    string: ['string', 'regexp', 'char', 'link', 'code', 'addition'],
    number: ['number', 'symbol', 'bullet', 'variable', 'template-variable'],
    comment: ['comment', 'quote', 'meta'],
    deleted: ['deletion'],
  }).flatMap(([name, kinds]) => kinds.map((kind) => [kind, `card-${name}`] as const)),
)

/**
 * Returns a function that colors the code blocks of one card. Both the total size of the colored blocks and the total
 * processor time are limited.
 */
export function codePainter() {
  let charactersLeft = maxLength
  let cpuMsLeft = maxCpuMs

  /** Returns the parts of the text; undefined if the language is unknown or a limit was exceeded. */
  return (text: string, language: string): ElementContent[] | undefined => {
    const name = language.toLowerCase()
    if (text.length > maxBlockLength || text.length > charactersLeft || cpuMsLeft <= 0)
      return undefined
    if (!lowlight.registered(name)) return undefined
    const before = process.threadCpuUsage()
    const { children } = lowlight.highlight(name, text, { prefix: '' })
    const parts = collectParts(children as ElementContent[])
    charactersLeft -= text.length
    const { user, system } = process.threadCpuUsage(before) // in µs
    cpuMsLeft -= (user + system) / 1000
    return parts?.map(({ value, className }) =>
      className === undefined ? { type: 'text', value } : span(value, className),
    )
  }
}

type Part = { value: string; className: string | undefined }

/**
 * Splits the text into parts, each with the class of its innermost token. Returns undefined if tokens are nested too
 * deeply.
 */
function collectParts(nodes: ElementContent[]): Part[] | undefined {
  const parts: Part[] = []
  const isComplete = collect(nodes, undefined, 0)
  return isComplete ? parts : undefined

  function collect(
    children: ElementContent[],
    className: string | undefined,
    depth: number,
  ): boolean {
    if (depth > maxDepth) return false
    return children.every((node) => {
      if (node.type === 'text') add(node.value, className)
      if (node.type !== 'element') return true
      const [kind] = [node.properties.className].flat()
      return collect(node.children, classes.get(String(kind)), depth + 1)
    })
  }

  function add(value: string, className: string | undefined) {
    const last = parts.at(-1)
    if (last && last.className === className) last.value += value
    else parts.push({ value, className })
  }
}

const span = (value: string, className: string): Element => ({
  type: 'element',
  tagName: 'span',
  properties: { className: [className] },
  children: [{ type: 'text', value }],
})
