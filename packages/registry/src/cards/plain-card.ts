import { escapeMarkup } from '../escape-markup.ts'
import { withoutFrontMatter } from '../models/front-matter.ts'

/** Returns HTML that shows the source of a card that cannot be rendered. */
export const plainCard = (markdown: string): string =>
  `<pre class="card-plain" tabindex="0">\n${escapeMarkup(withoutFrontMatter(markdown))}</pre>`
