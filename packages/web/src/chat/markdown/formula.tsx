import { Suspense, use, useMemo } from 'react'
import type { renderMath } from '../../math/render-math.ts'

type RenderMath = typeof renderMath

/**
 * Set when the first formula is shown, because most chats contain no formulas and the renderer is larger than the rest
 * of the page.
 */
let loading: Promise<RenderMath | undefined> | undefined

/** A TeX formula. Its source is shown while the renderer is loading, or if the formula cannot be rendered. */
export function Formula({ tex, isDisplay }: { tex: string; isDisplay: boolean }) {
  const source = <Source tex={tex} isDisplay={isDisplay} />
  return (
    <Suspense fallback={source}>
      <Rendered tex={tex} isDisplay={isDisplay} />
    </Suspense>
  )
}

function Rendered({ tex, isDisplay }: { tex: string; isDisplay: boolean }) {
  loading ??= import('../../math/render-math.ts').then(
    (module) => module.renderMath,
    () => undefined, // the daemon was stopped or updated: formulas are shown as text until the page is reloaded
  )
  const render = use(loading)
  const mathml = useMemo(() => render?.(tex, isDisplay), [render, tex, isDisplay])
  if (mathml === undefined) return <Source tex={tex} isDisplay={isDisplay} />
  if (!isDisplay) {
    // biome-ignore lint/security/noDangerouslySetInnerHtml: `renderMath` returns only known MathML elements
    return <span dangerouslySetInnerHTML={{ __html: mathml }} />
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and may not be in a paragraph
    <span
      // biome-ignore lint/a11y/noNoninteractiveTabindex: lets users scroll wide formulas with the keyboard
      tabIndex={0}
      role="group"
      aria-label="Formula"
      className="block overflow-x-auto py-1"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: `renderMath` returns only known MathML elements
      dangerouslySetInnerHTML={{ __html: mathml }}
    />
  )
}

function Source({ tex, isDisplay }: { tex: string; isDisplay: boolean }) {
  const look = isDisplay ? 'block overflow-x-auto whitespace-pre-wrap' : ''
  return <code className={`font-mono text-[0.9em] ${look}`}>{tex}</code>
}
