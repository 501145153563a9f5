/** Polls until the condition gives something; fails naming what was waited for. */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000,
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
