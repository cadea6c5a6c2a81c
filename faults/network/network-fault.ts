import type { End } from './ends.ts'
import type { Arming } from './fault-proxy.ts'
import type { Lane, Transport } from './lane.ts'
import type { Column, Place } from './places.ts'

export type Harm = Arming['harm']

/** How long a harm lasts: `goes away` is done to some requests of each place in a column, `stays` to all requests of one place. */
export type Form = 'goes away' | 'stays'

/** One command under one harm, and how it must end. */
export type Cell = {
  fault: NetworkFault
  column: Column
  form: Form
  /** The one harmed place; undefined if the harm goes away and is done to every place of the column. */
  place: Place | undefined
  /** One of these. There are several only if the end depends on which request is harmed first. */
  ends: readonly End[]
}

/** Why a cell does not apply: the text of its footnote. */
export type Dash = { dash: string }

/** The ends in one column: a dash, or how the command ends in each form. */
export type ColumnEnds =
  | Dash
  | {
      'goes away'?: End | Dash
      stays: Partial<Record<Place, End | readonly End[]>> | Dash
    }

/** One way in which the network between the command line and a registry fails. */
export type NetworkFault = {
  name: string
  /** A noun phrase for the table. */
  summary: string
  /** Default `http`. */
  over?: Transport
  /** The harm to a place. Undefined if the fault is only in `command`. */
  harm?: (place: Place, lane: Lane) => Harm | undefined
  /** How many requests of a place are harmed before the harm goes away. Default 2. */
  times?: number
  /** Overrides of the command's address and environment. */
  command?: (
    lane: Lane,
    place: Place | undefined,
  ) => { address?: string; env?: Record<string, string> }
  ends: Record<Column, ColumnEnds>
}
