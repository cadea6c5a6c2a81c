import type { End } from './ends.ts'
import type { Arming } from './fault-proxy.ts'
import type { Lane, Transport } from './lane.ts'
import type { Column, Place } from './places.ts'

export type Harm = Arming['harm']

/** How long a harm lasts: `goes away` is done to some requests of each place in a column, `stays` to all requests of one place. */
export type Form = 'goes away' | 'stays'

/** One command under one harm, and how it has to end. */
export type Cell = {
  fault: NetworkFault
  column: Column
  form: Form
  /** The one harmed place; undefined where the harm goes away and every place of the column is met. */
  place: Place | undefined
  /** One of these. More than one only where the end depends on which request is met first. */
  ends: readonly End[]
}

/** Why a cell makes no sense, as a footnote says it. */
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
  /** What is done, where: to the place, or the first place of the column. Undefined where only the command is told something wrong. */
  harm?: (place: Place, lane: Lane) => Harm | undefined
  /** How many requests of a place are harmed where the harm goes away. Default 2. */
  times?: number
  /** What the command is told differently. */
  command?: (
    lane: Lane,
    place: Place | undefined,
  ) => { address?: string; env?: Record<string, string> }
  ends: Record<Column, ColumnEnds>
}
