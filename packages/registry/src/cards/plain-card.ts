import { escapeMarkup } from '../escape-markup.ts'
import { withoutFrontMatter } from '../models/front-matter.ts'

/** Why a card is shown as plain text. The pages load a busy card again, which they recognize by `data-state`. */
const notes = {
  busy: 'The registry is busy and has not formatted this card yet. This is its source. Try again in a few seconds.',
  failed: 'This card could not be formatted. This is its source.',
}

/** Returns HTML that shows a note and the source of a card that is not rendered. */
export const plainCard = (markdown: string, state: keyof typeof notes): string =>
  `<p class="card-note" data-state="${state}" role="status">${notes[state]}</p>` +
  `<pre class="card-plain" tabindex="0">\n${escapeMarkup(withoutFrontMatter(markdown))}</pre>`
