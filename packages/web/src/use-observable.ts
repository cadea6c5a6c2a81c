import { useSyncExternalStore } from 'react'
import type { Observable } from './observable.ts'

export const useObservable = <T>({ subscribe, get }: Observable<T>): T =>
  useSyncExternalStore(subscribe, get, get)
