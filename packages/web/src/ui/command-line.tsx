import { CopyButton } from './copy-button.tsx'
import { Name } from './name.tsx'

type Props = { text: string; label?: string; className?: string }

/** A line to copy, for example into a terminal. It breaks only between words, so that names are not split. */
export function CommandLine({ text, label = 'Copy the command', className = '' }: Props) {
  return (
    <div
      className={`flex items-center justify-between gap-3 rounded-xl bg-sunken py-1 pr-1 pl-4 text-ink ${className}`}
    >
      <code className="min-w-0 whitespace-pre-wrap py-1.5 font-mono text-[14px] leading-5">
        <Words text={text} />
      </code>
      <CopyButton value={text} label={label} className="ctl-quiet shrink-0" />
    </div>
  )
}

/** Renders text so that lines break only between words, and not at hyphens. */
export function Words({ text }: { text: string }) {
  return text.split(' ').map((word, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: words have no other key
    <span key={index}>
      {index > 0 && ' '}
      <span className="inline-block max-w-full break-all align-top">
        <Name text={word} />
      </span>
    </span>
  ))
}
