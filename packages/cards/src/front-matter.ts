/**
 * Matches a block between `---` lines at the start of the card. Unless the block is empty, its first line that is not a
 * comment must begin with a YAML key, so that text between two horizontal rules is not removed.
 */
const frontMatter =
  /^\uFEFF?---[ \t]*\r?\n(?:#.*\r?\n)*(?:[A-Za-z_][\w.-]*[ \t]*:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/

/** Removes front matter, the YAML metadata at the start of cards from Hugging Face. */
export function withoutFrontMatter(markdown: string): string {
  return markdown.replace(frontMatter, '')
}

/**
 * Returns the YAML text of the front matter without the `---` lines, or an empty string if there is no front matter.
 */
export function findFrontMatter(markdown: string): string {
  const [block = ''] = frontMatter.exec(markdown) ?? []
  return block.replace(/^\uFEFF?---[ \t]*\r?\n/, '').replace(/---[ \t]*(\r?\n)?$/, '')
}
