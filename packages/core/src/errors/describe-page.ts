/**
 * Describes a response that is not in the expected format: its status, and the title or heading of a web page, or the
 * code and message of an S3 store. Example: `status 413 “Request Entity Too Large”`.
 */
export function describePage(status: number, text: string): string {
  const [, title = ''] = /<(?:title|h1|Code)[^>]*>\s*([^<]{1,100})/i.exec(text) ?? []
  const [, message = ''] = /<Message>([^<]{1,200})/.exec(text) ?? []
  const words = [title.replace(new RegExp(`^${status}\\s+`), '').trim(), message.trim()]
  const said = words.filter((part) => part !== '').join(': ')
  return `status ${status}${said && ` “${said}”`}`
}
