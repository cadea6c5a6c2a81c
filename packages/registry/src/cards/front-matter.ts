/** A block between `---` lines at the very start, whose first line that is not a comment is a YAML key. */
const frontMatter =
  /^\uFEFF?---[ \t]*\r?\n(?:#.*\r?\n)*(?:[A-Za-z_][\w.-]*[ \t]*:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/

/** Removes the metadata (front matter) that cards on Hugging Face begin with. */
export function withoutFrontMatter(markdown: string): string {
  return markdown.replace(frontMatter, '')
}
