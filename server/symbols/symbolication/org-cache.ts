type Entry<T> = { readonly value: T; sizeBytes: number }
type Org<T> = { readonly entries: Map<string, Entry<T>>; bytes: number }

/**
 * Values in bounded memory, the least recently used ones are forgotten first. An organisation has a share, so that its many
 * files do not displace those of others.
 */
export class OrgCache<T> {
  readonly #maxBytes: number
  readonly #maxBytesPerOrg: number
  readonly #sizeOf: (value: T) => number
  /** By organisation, then by key; the least recently used first. */
  readonly #orgs = new Map<string, Org<T>>()
  #bytes = 0

  /** @param sizeOf bytes of a value. It may grow: its size is read again when it is used. */
  constructor({
    maxBytes,
    maxBytesPerOrg,
    sizeOf,
  }: {
    readonly maxBytes: number
    readonly maxBytesPerOrg: number
    readonly sizeOf: (value: T) => number
  }) {
    this.#maxBytes = maxBytes
    this.#maxBytesPerOrg = maxBytesPerOrg
    this.#sizeOf = sizeOf
  }

  get(orgId: string, key: string): T | undefined {
    const org = this.#orgs.get(orgId)
    const entry = org?.entries.get(key)
    if (org === undefined || entry === undefined) return undefined
    org.entries.delete(key)
    org.entries.set(key, entry)
    this.#measure(orgId, org, entry)
    return entry.value
  }

  set(orgId: string, key: string, value: T): void {
    const org = this.#orgs.get(orgId) ?? { entries: new Map<string, Entry<T>>(), bytes: 0 }
    this.#orgs.set(orgId, org)
    const entry = { value, sizeBytes: org.entries.get(key)?.sizeBytes ?? 0 }
    org.entries.delete(key)
    org.entries.set(key, entry)
    this.#measure(orgId, org, entry)
  }

  #measure(orgId: string, org: Org<T>, entry: Entry<T>): void {
    const sizeBytes = this.#sizeOf(entry.value)
    if (sizeBytes === entry.sizeBytes) return
    org.bytes += sizeBytes - entry.sizeBytes
    this.#bytes += sizeBytes - entry.sizeBytes
    entry.sizeBytes = sizeBytes
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
    org.bytes -= oldest[1].sizeBytes
    this.#bytes -= oldest[1].sizeBytes
    if (org.entries.size === 0) this.#orgs.delete(orgId)
  }
}
