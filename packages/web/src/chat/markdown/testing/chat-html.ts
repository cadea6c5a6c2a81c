/** What the chat makes of Markdown, as HTML, for tests that compare. */
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from '../markdown.tsx'

export const chatHtml = (source: string): string =>
  renderToStaticMarkup(createElement(Markdown, { source }))
