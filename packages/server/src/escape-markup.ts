const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Characters that XML 1.0 (§2.2) does not allow, even as character references. A single one makes an entire feed
 * unreadable.
 */
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const toReplace = new RegExp(`[&<>"']|${notXml.source}`, 'gu')

/**
 * Escapes text for use in HTML and XML, between tags and in quoted attributes. Omits characters that XML does not
 * allow.
 */
export const escapeMarkup = (text: string): string =>
  text.replace(toReplace, (character) => entities[character] ?? '')
