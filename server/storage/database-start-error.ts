/** The database cannot be used; the message is the one line an operator sees, with what to do about it. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}
