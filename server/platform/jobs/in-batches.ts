/**
 * Repeats a deletion of at most `max` rows until none is left, each time in a transaction of its own: small ones keep the
 * waits of digestion short.
 * @param signal ends it after the current batch, with an error
 * @returns number of rows deleted
 */
export async function inBatches(
  max: number,
  signal: AbortSignal | undefined,
  deleteBatch: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await deleteBatch()
    total += deleted
    if (deleted < max) return total
  }
}
