import type { End } from './ends.ts'
import type { Arming } from './fault-proxy.ts'
import type { Lane, Transport } from './lane.ts'
import type { Column, Place } from './places.ts'

export type Harm = Arming['harm']

/**
 * How long a harm lasts: a harm that `goes away` affects a few requests to each place in a column, and a harm that
 * `stays` affects all requests to one place.
 */
export type Form = 'goes away' | 'stays'

/** A cell of the table: one command that is run under one harm, and how the command must end. */
export type Cell = {
  fault: NetworkFault
  column: Column
  form: Form
  /** The harmed place; undefined if the harm goes away, because such a harm affects every place of the column. */
  place: Place | undefined
  /** How the command must end. */
  end: End
}

/** A cell that does not apply, and the reason, which is printed as a footnote. */
export type Dash = { dash: string }

/** The ends in one column: a dash, or the ends for each form of harm. */
export type ColumnEnds =
  | Dash
  | {
      'goes away'?: End | Dash
      stays: Partial<Record<Place, End>> | Dash
    }

/** One way in which the network between the CLI and a registry fails. */
export type NetworkFault = {
  name: string
  /** A noun phrase, which is printed in the table. */
  summary: string
  /** How the CLI reaches the registry. Default: `http`. */
  over?: Transport
  /** Returns the harm to a place. Undefined if the fault consists only of `command`. */
  harm?: (place: Place, lane: Lane) => Harm | undefined
  /** How many requests to a place are harmed before the harm goes away. The default is 2. */
  times?: number
  /** Overrides of the command's address and environment. */
  command?: (
    lane: Lane,
    place: Place | undefined,
  ) => { address?: string; env?: Record<string, string> }
  ends: Record<Column, ColumnEnds>
}
