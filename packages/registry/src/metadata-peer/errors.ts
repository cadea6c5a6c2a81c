/** The reasons for which the metadata peer ends a connection without sending the metadata. */

/** The peer broke a rule, or asked for something that does not exist. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** The peer has closed the connection. */
export class Departure extends Error {
  override name = 'Departure'
}
