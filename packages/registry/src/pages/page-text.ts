import { findRegistryLabel } from '@shoal/core/references'
import { escapeMarkup } from '@shoal/server/markup'
import type { PrintedPage } from '@shoal/web'

type About = {
  baseUrl: string
  /** The address of the local API for visitors on this machine (`Site.localApi`); undefined for other visitors. */
  daemon: string | undefined
}

/** Inserts a rendered page into the HTML frame, with metadata for search engines and link previews. */
export function pageText(frame: string, page: PrintedPage, { baseUrl, daemon }: About): string {
  const theme = page.theme ? ` data-theme="${page.theme}"` : ''
  const base = ` data-base-url="${escapeMarkup(baseUrl)}"`
  const label = findRegistryLabel(baseUrl)
  const registry = label === undefined ? '' : ` data-registry="${escapeMarkup(label)}"`
  const api = daemon === undefined ? '' : ` data-daemon="${escapeMarkup(daemon)}"`
  return frame
    .replace('<html lang="en">', () => `<html lang="en"${theme}${base}${registry}${api}>`)
    .replace('<!--head-->', () => headText(page.head, baseUrl))
    .replace('<!--page-->', () => page.html)
    .replace('<!--boot-->', () => dataBlock('boot', 'application/json', page.boot))
}

function headText(head: PrintedPage['head'], baseUrl: string): string {
  const { fullTitle, description, path, image, isHidden, data, feed } = head
  const meta = (name: string, content: string | undefined) =>
    content === undefined ? [] : [`<meta name="${name}" content="${escapeMarkup(content)}">`]
  const property = (name: string, content: string | undefined) =>
    content === undefined ? [] : [`<meta property="${name}" content="${escapeMarkup(content)}">`]
  const address = path === undefined ? undefined : baseUrl + path
  return [
    `<title>${escapeMarkup(fullTitle)}</title>`,
    ...meta('description', description),
    ...(isHidden ? ['<meta name="robots" content="noindex">'] : []),
    ...(address && !isHidden ? [`<link rel="canonical" href="${escapeMarkup(address)}">`] : []),
    ...(feed
      ? [`<link rel="alternate" type="application/atom+xml" href="${escapeMarkup(feed)}">`]
      : []),
    ...property('og:site_name', 'shoal'),
    ...property('og:type', 'website'),
    ...property('og:title', head.title),
    ...property('og:description', description),
    ...property('og:url', address),
    ...property('og:image', image && baseUrl + image),
    ...meta('twitter:card', image && 'summary_large_image'),
    ...(data ? [dataBlock(undefined, 'application/ld+json', JSON.stringify(data))] : []),
  ].join('\n    ')
}

/**
 * Creates a `script` element that contains data, which browsers do not execute. The data is escaped, so that it cannot
 * close the element.
 */
function dataBlock(id: string | undefined, type: string, json: string): string {
  const name = id ? ` id="${id}"` : ''
  return `<script${name} type="${type}">${json.replaceAll('<', '\\u003c')}</script>`
}
