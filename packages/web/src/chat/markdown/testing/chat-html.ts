/** Renders Markdown as HTML in the same way as the chat page, for tests. */
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from '../markdown.tsx'

export const chatHtml = (source: string): string =>
  renderToStaticMarkup(createElement(Markdown, { source }))
