/** The database cannot be used. The message is one line that tells the operator what to do. */
export class DatabaseStartError extends Error {
  override name = 'DatabaseStartError'
}

/** The disk is full; a later start may succeed. */
export class DiskFullError extends DatabaseStartError {}
