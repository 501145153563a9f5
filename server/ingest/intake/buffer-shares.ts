/**
 * Memory of bodies that are being received or wait for their commit. Its first part, of each request the first 64 KiB,
 * is enough for events; the other is for large bodies. Of both, clients and projects have a share: who fills it is
 * refused, and no one else.
 */
export type BufferLimits = {
  /** Bytes of a request that count as its first ones. */
  readonly smallBytes: number
  readonly small: { readonly total: number; readonly share: number }
  /** One request may exceed a share that no other request uses. */
  readonly large: { readonly total: number; readonly share: number }
}

const MIB = 1024 * 1024

export const BUFFER_LIMITS: BufferLimits = {
  smallBytes: 64 * 1024,
  small: { total: 64 * MIB, share: 16 * MIB },
  large: { total: 192 * MIB, share: 64 * MIB },
}

/** The bytes that a request holds, and their owners: an address, a project key, an organisation. */
export type Held = { bytes: number; readonly owners: string[] }

type Account = { small: number; large: number }

export class BufferShares {
  readonly #limits: BufferLimits
  readonly #accounts = new Map<string, Account>()
  readonly #total: Account = { small: 0, large: 0 }

  constructor(limits: BufferLimits = BUFFER_LIMITS) {
    this.#limits = limits
  }

  /** Counts a request for one more owner, with what it holds. */
  own(held: Held, owner: string): void {
    held.owners.push(owner)
    this.#add(this.#accountOf(owner), this.#partsOf(held.bytes), 1)
  }

  /** Counts further bytes. @returns false when there is no room for them; then nothing is counted */
  take(held: Held, bytes: number): boolean {
    const before = this.#partsOf(held.bytes)
    const after = this.#partsOf(held.bytes + bytes)
    const added = { small: after.small - before.small, large: after.large - before.large }
    const { small, large } = this.#limits
    if (added.small > 0 && this.#total.small + added.small > small.total) return false
    if (added.large > 0 && this.#total.large + added.large > large.total) return false
    const accounts = held.owners.map((owner) => this.#accountOf(owner))
    for (const account of accounts) {
      if (added.small > 0 && account.small + added.small > small.share) return false
      if (added.large > 0 && account.large > before.large && account.large + added.large > large.share) return false
    }
    for (const account of [this.#total, ...accounts]) this.#add(account, added, 1)
    held.bytes += bytes
    return true
  }

  release(held: Held): void {
    const parts = this.#partsOf(held.bytes)
    this.#add(this.#total, parts, -1)
    for (const owner of held.owners.splice(0)) {
      const account = this.#accountOf(owner)
      this.#add(account, parts, -1)
      if (account.small === 0) this.#accounts.delete(owner)
    }
    held.bytes = 0
  }

  #partsOf(bytes: number): Account {
    const small = Math.min(bytes, this.#limits.smallBytes)
    return { small, large: bytes - small }
  }

  #add(account: Account, { small, large }: Account, sign: 1 | -1): void {
    account.small += sign * small
    account.large += sign * large
  }

  #accountOf(owner: string): Account {
    let account = this.#accounts.get(owner)
    if (account === undefined) this.#accounts.set(owner, (account = { small: 0, large: 0 }))
    return account
  }
}
