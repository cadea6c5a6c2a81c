import { type ComponentProps, useImperativeHandle, useLayoutEffect, useRef } from 'react'

/** A text area that grows with its text. */
export function AutoTextarea({ ref, ...props }: ComponentProps<'textarea'>) {
  const area = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(ref, () => area.current as HTMLTextAreaElement)

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the text changes
  useLayoutEffect(() => {
    const { current } = area
    if (!current) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight}px`
  }, [props.value])

  return <textarea dir="auto" rows={1} {...props} ref={area} />
}
