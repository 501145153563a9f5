/** A map in bounded memory: it forgets all of its entries before it exceeds a limit. */
export class BoundedCache<K, V> {
  readonly #maxEntries: number
  readonly #maxBytes: number
  readonly #bytesOf: (value: V) => number
  readonly #entries = new Map<K, { readonly value: V; readonly bytes: number }>()
  #bytes = 0

  /** `bytesOf`: about as many as a value takes. */
  constructor(options: {
    readonly maxEntries: number
    readonly maxBytes: number
    readonly bytesOf: (value: V) => number
  }) {
    this.#maxEntries = options.maxEntries
    this.#maxBytes = options.maxBytes
    this.#bytesOf = options.bytesOf
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: K, value: V): void {
    const bytes = this.#bytesOf(value)
    const known = this.#entries.get(key)
    this.#bytes += bytes - (known?.bytes ?? 0)
    if ((known === undefined && this.#entries.size >= this.#maxEntries) || this.#bytes > this.#maxBytes) {
      this.clear()
      this.#bytes = bytes
    }
    this.#entries.set(key, { value, bytes })
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
