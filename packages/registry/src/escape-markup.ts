const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** What XML 1.0 (§2.2) has no way to write, not even as a reference: one such character makes a whole feed unreadable. */
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const toReplace = new RegExp(`[&<>"']|${notXml.source}`, 'gu')

/** Text as it may stand in HTML and XML, between tags and in quotes. Characters that XML cannot hold are left out. */
export const escapeMarkup = (text: string): string =>
  text.replace(toReplace, (character) => entities[character] ?? '')
