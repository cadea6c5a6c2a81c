import { Link } from '@tanstack/react-router'
import { useCommands } from '../api/use-commands.ts'
import { CommandLine } from '../ui/command-line.tsx'

export function NothingFound() {
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">No models found</p>
      <p className="mt-2 text-ink-2">Remove a filter, or search by architecture or tag.</p>
      <Link to="/" className="ctl mt-5">
        Clear all
      </Link>
    </div>
  )
}

export function EmptyRegistry() {
  const { registryOption } = useCommands()
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">No models yet</p>
      <p className="mt-2 text-ink-2">
        <Link to="/publish" className="link">
          Publish one
        </Link>{' '}
        here or with the CLI:
      </p>
      <CommandLine
        text={`shoal push ./model.gguf --name my-model${registryOption}`}
        className="mt-4 max-w-xl"
      />
    </div>
  )
}
