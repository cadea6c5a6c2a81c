import type { Options } from 'rehype-sanitize'

/** The prefix of all footnote IDs. Any other IDs set by authors are removed. */
export const footnotePrefix = 'card-note-'

const text = /^[\s\S]{0,2048}$/ // limited because a single link definition can be used thousands of times
const side = /^(left|center|right)$/
const span = /^\d{1,2}$/ // limited because browsers are slow to render cells that span a thousand rows and columns
const length = /^\d{1,4}%?$/

const each = <T>(names: string[], rule: T) => Object.fromEntries(names.map((name) => [name, rule]))

/**
 * The elements and attributes that sanitized cards may contain. None of them can set styles or positions or run code,
 * and `shape-card.ts` removes images unless they are requested.
 */
export const cardSchema: Options = {
  tagNames: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'section', 'blockquote', 'pre', 'hr', 'br'],
    ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'details', 'summary', 'figure', 'figcaption'],
    ...['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
    ...['a', 'img', 'input', 'code', 'kbd', 'samp', 'var', 'tt', 'sub', 'sup', 'small', 'span'],
    ...['b', 'strong', 'i', 'em', 'u', 's', 'strike', 'del', 'ins', 'mark', 'q', 'cite', 'dfn'],
    ...['abbr', 'ruby', 'rb', 'rp', 'rt', 'wbr'],
  ],
  /**
   * Elements that are removed together with their content. Elements in neither list lose their tags but keep their
   * content.
   */
  strip: [
    ...['script', 'style', 'title', 'template', 'svg', 'math', 'iframe', 'textarea', 'select'],
    ...['noembed', 'noframes', 'noscript', 'xmp', 'plaintext', 'head'],
  ],
  attributes: {
    '*': [
      ['dir', /^(ltr|rtl|auto)$/],
      ['lang', /^[A-Za-z0-9-]{1,35}$/],
    ],
    ...each(['p', 'div', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'tr'], [['align', side]]),
    ...each(
      ['th', 'td'],
      [
        ['align', side],
        ['colSpan', span],
        ['rowSpan', span],
      ],
    ),
    a: [
      ['href', text],
      ['title', text],
      ['id', new RegExp(`^${footnotePrefix}fnref-`)],
      'dataFootnoteRef',
      'dataFootnoteBackref',
    ],
    abbr: [['title', text]],
    code: [['className', /^language-./]],
    details: ['open'],
    img: [
      ['src', text],
      ['alt', text],
      ['title', text],
      ['width', length],
      ['height', length],
      ['align', side],
    ],
    input: [['type', 'checkbox'], ['disabled', true], 'checked'],
    li: [['id', new RegExp(`^${footnotePrefix}fn-`)]],
    ol: [['start', /^\d{1,9}$/], 'reversed'],
    section: ['dataFootnotes'],
  },
  protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
  ancestors: {
    ...each(['caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'], ['table']),
    summary: ['details'],
    input: ['li'],
  },
  required: { input: { type: 'checkbox', disabled: true } },
  clobber: [], // no prefix needs to be added, because only IDs that begin with `footnotePrefix` are allowed
}
