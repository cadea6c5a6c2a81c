import { CopyButton } from '../ui/copy-button.tsx'

const commands = [
  {
    text: 'shoal seed pause',
    says: 'stops uploads until you run shoal seed resume or restart shoal serve',
  },
  { text: 'shoal config set limit-upload 5MB', says: 'limits uploads to 5 MB per second' },
  {
    text: 'shoal config set peers off',
    says: 'downloads only from the registry, and uploads nothing to peers',
  },
]

/** Sharing is configured on the machine that shares models, so this page only lists the commands. */
export function SharingSection() {
  return (
    <div className="grid gap-5 text-[15px] text-ink-2">
      <p>
        While <code className="font-mono text-[14px]">shoal serve</code> is running on your machine,
        others can download the public models that you have pulled.{' '}
        <strong className="text-ink">They can see your IP address</strong>, and you can see theirs.
        Private models are not shared.
      </p>
      <p>
        You can run these commands on that machine. After a{' '}
        <code className="font-mono text-[14px]">shoal config</code> command, restart{' '}
        <code className="font-mono text-[14px]">shoal serve</code>.
      </p>
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
