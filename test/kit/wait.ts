/** A busy machine may need this long for anything; what must be fast is measured, not waited for. */
const PATIENCE_MS = 30_000

/** Polls until the condition returns a value that is not null, undefined or false. @throws Error that names `what` */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = PATIENCE_MS,
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value !== undefined && value !== null && value !== false) return value as Exclude<NonNullable<T>, false>
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
}
