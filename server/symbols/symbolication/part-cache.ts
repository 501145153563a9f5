/**
 * Parts of indexes in bounded memory, the least recently used ones are forgotten first. An organisation has a share, so that
 * its many files do not displace those of others.
 */
export class PartCache {
  readonly #maxBytes: number
  readonly #maxBytesPerOrg: number
  /** By organisation, then by key; the least recently used first. */
  readonly #orgs = new Map<string, { readonly entries: Map<string, Buffer>; bytes: number }>()
  #bytes = 0

  constructor({ maxBytes, maxBytesPerOrg }: { readonly maxBytes: number; readonly maxBytesPerOrg: number }) {
    this.#maxBytes = maxBytes
    this.#maxBytesPerOrg = maxBytesPerOrg
  }

  get(orgId: string, key: string): Buffer | undefined {
    const entries = this.#orgs.get(orgId)?.entries
    const bytes = entries?.get(key)
    if (entries === undefined || bytes === undefined) return undefined
    entries.delete(key)
    entries.set(key, bytes)
    return bytes
  }

  set(orgId: string, key: string, bytes: Buffer): void {
    const org = this.#orgs.get(orgId) ?? { entries: new Map<string, Buffer>(), bytes: 0 }
    this.#orgs.set(orgId, org)
    const known = org.entries.get(key)?.length ?? 0
    org.entries.delete(key)
    org.entries.set(key, bytes)
    org.bytes += bytes.length - known
    this.#bytes += bytes.length - known
    while (org.bytes > this.#maxBytesPerOrg && org.entries.size > 1) this.#forgetOldest(orgId)
    while (this.#bytes > this.#maxBytes && this.#orgs.size > 1) this.#forgetOldest(this.#largest())
  }

  #largest(): string {
    let [largest, most] = ['', -1]
    for (const [orgId, { bytes }] of this.#orgs) if (bytes > most) [largest, most] = [orgId, bytes]
    return largest
  }

  #forgetOldest(orgId: string): void {
    const org = this.#orgs.get(orgId)
    const oldest = org?.entries.entries().next().value
    if (org === undefined || oldest === undefined) return
    org.entries.delete(oldest[0])
    org.bytes -= oldest[1].length
    this.#bytes -= oldest[1].length
    if (org.entries.size === 0) this.#orgs.delete(orgId)
  }
}
