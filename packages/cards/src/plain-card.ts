import { escapeMarkup } from '@shoal/server/markup'
import { withoutFrontMatter } from './front-matter.ts'

/**
 * Notes that explain why a card is shown as plain text. If `data-state` is `busy`, the pages request the card again.
 */
const notes = {
  busy: 'The registry is busy and has not formatted this card yet. Its Markdown source is shown below. Try again in a few seconds.',
  failed: 'This card could not be formatted. Its Markdown source is shown below.',
}

/** Returns HTML that shows a note and the source of a card that is not rendered. */
export const plainCard = (markdown: string, state: keyof typeof notes): string =>
  `<p class="card-note" data-state="${state}" role="status">${notes[state]}</p>` +
  `<pre class="card-plain" tabindex="0">\n${escapeMarkup(withoutFrontMatter(markdown))}</pre>`
