type Page = { limit: number; offset: number }
type Query = Page & Record<string, unknown>
type Listed = {
  total: number
  isTotalExact: boolean
  models: unknown[]
  cursor: string | undefined
}

/**
 * Returns the `Link` header of a page (RFC 8288), or undefined if there is neither a next nor a previous page.
 * @param query - the validated query; the links repeat its parameters, except for `offset` and `cursor`
 */
export function pageLinks(
  address: string,
  query: Query,
  { total, isTotalExact, models, cursor }: Listed,
): string | undefined {
  const { limit, offset, cursor: _, ...others } = query
  const at = (start: number, position?: { cursor: string | undefined }) => {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...others, offset: start, limit, ...position })) {
      for (const one of [value].flat()) parameters.append(name, String(one))
    }
    return `${address}?${parameters}`
  }
  const hasNext = isTotalExact ? offset + models.length < total : models.length === limit
  const links = [
    models.length > 0 && hasNext && `<${at(offset + limit, { cursor })}>; rel="next"`,
    offset > 0 && `<${at(Math.max(0, offset - limit))}>; rel="prev"`,
  ]
  return links.filter((link) => link !== false).join(', ') || undefined
}
