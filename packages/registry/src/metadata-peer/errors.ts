/** Errors that end a connection to the metadata peer early. */

/** The peer violated the protocol or a limit, or requested something that does not exist. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** The peer has closed the connection, or the connection broke. */
export class Departure extends Error {
  override name = 'Departure'
}
