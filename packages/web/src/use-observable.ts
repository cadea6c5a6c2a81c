import { useSyncExternalStore } from 'react'
import type { Observable } from './observable.ts'

export const useObservable = <T>({ subscribe, get }: Pick<Observable<T>, 'get' | 'subscribe'>): T =>
  useSyncExternalStore(subscribe, get, get)
