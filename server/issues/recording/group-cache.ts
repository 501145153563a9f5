import type { KnownGroup, SameFingerprint } from './occurrence.ts'

/**
 * The groups of fingerprints, as a digester last read them. An entry is valid for one generation of its project's
 * relation, see `issues/rows/groups.queries.ts`.
 */
export class GroupCache {
  readonly #entries = new Map<string, Entry>()

  /** @param generations by project id, as locked by the transaction */
  begin(generations: ReadonlyMap<string, string>): GroupCacheStep {
    const added = new Map<string, Entry>()
    return {
      get: ({ key, projectId }) => {
        const entry = added.get(key) ?? this.#entries.get(key)
        return entry?.generation === generations.get(projectId) ? entry?.group : undefined
      },
      add: ({ key, projectId }, group) => {
        const generation = generations.get(projectId)
        if (generation !== undefined) added.set(key, { group, generation })
      },
      commit: () => {
        for (const [key, entry] of added) {
          this.#entries.delete(key)
          this.#entries.set(key, entry)
        }
        for (const key of this.#entries.keys()) {
          if (this.#entries.size <= MAX_ENTRIES) break
          this.#entries.delete(key)
        }
      },
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** Reads and additions of one transaction; other transactions see the additions after {@link commit}. */
export type GroupCacheStep = {
  get(fingerprint: Pick<SameFingerprint, 'key' | 'projectId'>): KnownGroup | undefined
  add(fingerprint: Pick<SameFingerprint, 'key' | 'projectId'>, group: KnownGroup): void
  commit(): void
}

type Entry = { readonly group: KnownGroup; readonly generation: string }

/** Entries of one shard: about 8 MB. */
const MAX_ENTRIES = 30_000
