import { CopyButton } from '../ui/copy-button.tsx'

const commands = [
  { text: 'shoal seed pause', says: 'gives nothing until shoal seed resume' },
  { text: 'shoal config set limit-upload 5MB', says: 'gives at most 5 MB a second' },
  { text: 'shoal config set peers off', says: 'pulls from the registry alone, and gives nothing' },
]

/** What is shared is decided on the machine that shares, so here it is only said how. */
export function SharingSection() {
  return (
    <div className="grid gap-5 text-[15px] text-ink-2">
      <p>
        While <code className="font-mono text-[14px]">shoal serve</code> runs, others pull from your
        machine what you have pulled. <strong className="text-ink">They see its IP address</strong>,
        and you see theirs. Private models are not shared.
      </p>
      <p>On that machine:</p>
      <ul>
        {commands.map(({ text, says }) => (
          <li key={text} className="flex items-center gap-3 border-line border-t py-2">
            <div className="min-w-0 flex-1">
              <code className="break-all font-mono text-[14px] text-ink">{text}</code>
              <p className="text-[14px] text-ink-3">{says}</p>
            </div>
            <CopyButton value={text} label={`Copy ${text}`} className="ctl-quiet" />
          </li>
        ))}
      </ul>
    </div>
  )
}
