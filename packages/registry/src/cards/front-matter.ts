/** A block between lines of `---` at the very start, whose first line that is no comment gives a key (YAML). */
const frontMatter =
  /^\uFEFF?---[ \t]*\r?\n(?:#.*\r?\n)*(?:[A-Za-z_][\w.-]*[ \t]*:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/

/** The card without the facts for programs that cards on Hugging Face begin with. */
export function withoutFrontMatter(markdown: string): string {
  return markdown.replace(frontMatter, '')
}
