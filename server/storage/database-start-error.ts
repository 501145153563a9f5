/** The database cannot be used; the message is the one line an operator sees, with what to do about it. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}

/** …because the disk is full; may go well later. */
export class DiskFullError extends DatabaseStartError {}
