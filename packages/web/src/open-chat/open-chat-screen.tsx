import { Link } from '@tanstack/react-router'
import { useCommands } from '../api/use-commands.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { usePrefs } from '../app/use-prefs.ts'
import { CommandLine } from '../ui/command-line.tsx'

/**
 * Links to the chat page, which the daemon serves. This page does not check whether the daemon is running: browsers ask
 * the visitor before they let a page access the local machine, and the registry's content security policy forbids
 * requests to the daemon.
 */
export function OpenChatScreen() {
  const { daemon } = usePrefs()
  return (
    <div className="page max-w-[680px] pt-12">
      <PageHead
        title="Chat"
        description="Chat with a model that your own daemon runs."
        path="/chat"
      />
      <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Chat</ScreenTitle>
      <p className="mt-2 text-[17px] text-ink-2">
        Your daemon runs the models and serves the chat page. Your messages are not sent to this
        registry.
      </p>
      {daemon === undefined ? <NoDaemon /> : <OpenChat daemon={daemon} />}
      <p className="mt-5 text-[15px] text-ink-2">
        Is the daemon running at another address?{' '}
        <Link to="/settings/{-$section}" params={{ section: 'machine' }} className="link">
          Set its address
        </Link>
      </p>
    </div>
  )
}

function OpenChat({ daemon }: { daemon: string }) {
  const { registryOption } = useCommands()
  return (
    <>
      <p className="mt-6 flex flex-wrap items-center gap-x-4 gap-y-3">
        <a href={`${daemon}/`} className="ctl-ink">
          Open the chat
        </a>
        <span className="break-all font-mono text-[14px] text-ink-3">{daemon}</span>
      </p>
      <h2 className="mt-12 font-semibold text-[19px]">If the chat does not open</h2>
      <p className="mt-2 text-[15px] text-ink-2">
        The daemon is probably not running. Start it on your machine:
      </p>
      <CommandLine text={`shoal serve${registryOption}`} className="mt-3" />
    </>
  )
}

/**
 * Shown to visitors on the registry's machine if the registry could not start a daemon there. The visitor can start one
 * on another port.
 */
function NoDaemon() {
  const { registryOption } = useCommands()
  return (
    <>
      <p className="mt-6 text-[15px] text-ink-2">
        This registry could not start a daemon on this machine. To start one on another port, run
        this command, then set the daemon’s address below:
      </p>
      <CommandLine text={`shoal serve --port 11500${registryOption}`} className="mt-3" />
    </>
  )
}
