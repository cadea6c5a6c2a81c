import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 64rem)')

const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Whether the list of chats fits next to the messages. */
export const useIsWide = () => useSyncExternalStore(subscribe, () => wide.matches)
