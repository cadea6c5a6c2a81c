/** The reasons why the metadata peer ends a connection without sending the metadata. */

/** The peer violated the protocol or a limit, or requested something that does not exist. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** The peer has closed the connection. */
export class Departure extends Error {
  override name = 'Departure'
}
