/** The `Link` header of a page (RFC 8288), or undefined when there is neither a next nor a previous one. */
export function pageLinks(
  url: string,
  { limit, offset }: { limit: number; offset: number },
  { total, isTotalExact, models }: { total: number; isTotalExact: boolean; models: unknown[] },
): string | undefined {
  const at = (start: number) => {
    const page = new URL(url)
    page.searchParams.set('offset', String(start))
    page.searchParams.set('limit', String(limit))
    return page.href
  }
  const hasNext = isTotalExact ? offset + models.length < total : models.length === limit
  const links = [
    models.length > 0 && hasNext && `<${at(offset + limit)}>; rel="next"`,
    offset > 0 && `<${at(Math.max(0, offset - limit))}>; rel="prev"`,
  ]
  return links.filter((link) => link !== false).join(', ') || undefined
}
