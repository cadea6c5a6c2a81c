import { escapeMarkup } from '../escape-markup.ts'
import { withoutFrontMatter } from './front-matter.ts'

/** The card as its author typed it: for those that cannot be rendered. */
export const plainCard = (markdown: string): string =>
  `<pre class="card-plain" tabindex="0">\n${escapeMarkup(withoutFrontMatter(markdown))}</pre>`
