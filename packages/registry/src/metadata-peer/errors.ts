/** What a connection of the metadata peer ends with, other than with the metadata. */

/** The other side broke a rule, or asked for what there is not. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** The other side has gone. */
export class Departure extends Error {
  override name = 'Departure'
}
