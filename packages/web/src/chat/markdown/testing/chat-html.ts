/** Renders Markdown as HTML like the chat, for tests. */
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from '../markdown.tsx'

export const chatHtml = (source: string): string =>
  renderToStaticMarkup(createElement(Markdown, { source }))
