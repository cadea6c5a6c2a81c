const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Characters that XML 1.0 (§2.2) cannot express, not even as a reference: a single one makes a whole feed unreadable.
 */
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const toReplace = new RegExp(`[&<>"']|${notXml.source}`, 'gu')

/** Escapes text for HTML and XML, between tags and in quotes. Characters that XML cannot express are left out. */
export const escapeMarkup = (text: string): string =>
  text.replace(toReplace, (character) => entities[character] ?? '')
