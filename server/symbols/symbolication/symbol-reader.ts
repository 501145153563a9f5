import type { App } from '../../platform/context/app.ts'
import { SYMBOLS_TOPIC } from '../files/announce-symbols.ts'
import {
  findByDebugId,
  findByName,
  findByUrl,
  findMapping,
  type FoundFile,
  hasFiles,
  readDirectory,
  readParts,
  type ReleaseKey,
} from '../files/indexes.queries.ts'
import type { PartReader } from '../index-file/built-index.ts'
import { OpenIndex } from './open-index.ts'

/** A file with an index. */
export type ReadyFile = FoundFile & { readonly indexId: string }

/** Files of symbols and the parts of their indexes, cached in this process or thread. */
export type SymbolReader = SymbolLookUp & {
  /** Whether the project is known to have no file. */
  knowsNone(projectId: string): boolean
  /** Whether a project has any file. */
  hasAny(projectId: string): Promise<boolean>
  close(): void
}

/** The look-ups with which events are made readable. */
export type SymbolLookUp = {
  byDebugId(projectId: string, debugIds: readonly string[]): Promise<(FoundFile | null)[]>
  /** Obfuscation maps of Dart, by the debug id of the app's image. */
  dartMaps(projectId: string, debugIds: readonly string[]): Promise<(FoundFile | null)[]>
  byUrl(projectId: string, release: ReleaseKey, urls: readonly string[]): Promise<(FoundFile | null)[]>
  /** Debug files of any build. */
  byName(projectId: string, names: readonly string[]): Promise<(FoundFile | null)[]>
  mappingOf(projectId: string, release: string): Promise<FoundFile | null>
  /** The directory of an index and what is known of it; null when it is gone. */
  open(orgId: string, file: ReadyFile): Promise<OpenIndex | null>
  /** Loads parts, which the result then reads; a part that is gone is empty. */
  load(orgId: string, file: ReadyFile, parts: readonly number[]): Promise<PartReader>
}

/** A file that was found, or not found, is looked up again after this time; a change of the project's files ends it at once. */
const FRESH_MS = 60_000
const MAX_KNOWN_FILES = 2_000
const MAX_BYTES = 128 * 1024 * 1024
const MAX_BYTES_PER_ORG = 48 * 1024 * 1024

type Known<T> = { readonly value: T; readonly readAtMs: number }

/** Looks files up, and remembers them for a minute. */
export function createSymbolReader(app: Pick<App, 'db' | 'bus' | 'clock'>): SymbolReader {
  const projects = new Map<string, Map<string, Known<FoundFile | null>>>()
  const any = new Map<string, Known<boolean>>()
  const cache = new OrgCache<OpenIndex | Buffer>({
    maxBytes: MAX_BYTES,
    maxBytesPerOrg: MAX_BYTES_PER_ORG,
    sizeOf: (value) => (value instanceof OpenIndex ? value.sizeBytes : value.length),
  })
  /** Number of changes received: what was read before one of them is returned, but not remembered. */
  let changes = 0
  const forgetAll = (): void => {
    changes++
    projects.clear()
    any.clear()
  }
  const stops = [
    app.bus.on(SYMBOLS_TOPIC, (payload) => {
      const id = typeof payload === 'object' && payload !== null && 'project_id' in payload ? payload.project_id : null
      if (typeof id !== 'string') return forgetAll()
      changes++
      projects.delete(id)
      any.delete(id)
    }),
    app.bus.onGap(forgetAll),
  ]
  const isFresh = ({ readAtMs }: Known<unknown>): boolean => app.clock.monotonicMs() - readAtMs < FRESH_MS

  async function remembered(
    projectId: string,
    keys: readonly string[],
    find: (missing: readonly number[]) => Promise<(FoundFile | null)[]>,
  ): Promise<(FoundFile | null)[]> {
    const known = projects.get(projectId)
    const found = keys.map((key) => {
      const one = known?.get(key)
      return one !== undefined && isFresh(one) ? one : null
    })
    const missing = found.flatMap((one, n) => (one === null ? [n] : []))
    if (missing.length === 0) return found.map((one) => one?.value ?? null)
    const changesBefore = changes
    const looked = await find(missing)
    const byPlace = new Map(missing.map((n, index) => [n, looked[index] ?? null]))
    if (changes === changesBefore) {
      if (projects.size >= MAX_KNOWN_FILES) projects.clear()
      let ofProject = projects.get(projectId)
      if (ofProject === undefined || ofProject.size >= MAX_KNOWN_FILES)
        projects.set(projectId, (ofProject = new Map<string, Known<FoundFile | null>>()))
      for (const [n, value] of byPlace) ofProject.set(keys[n] ?? '', { value, readAtMs: app.clock.monotonicMs() })
    }
    return found.map((one, n) => (one === null ? (byPlace.get(n) ?? null) : one.value))
  }

  return {
    knowsNone(projectId) {
      const known = any.get(projectId)
      return known !== undefined && isFresh(known) && !known.value
    },
    async hasAny(projectId) {
      const known = any.get(projectId)
      if (known !== undefined && isFresh(known)) return known.value
      const changesBefore = changes
      const value = await hasFiles(app.db, projectId)
      if (any.size >= MAX_KNOWN_FILES) any.clear()
      if (changes === changesBefore) any.set(projectId, { value, readAtMs: app.clock.monotonicMs() })
      return value
    },
    byDebugId: (projectId, debugIds) =>
      remembered(projectId, debugIds, (missing) =>
        findByDebugId(
          app.db,
          projectId,
          missing.map((n) => debugIds[n] ?? ''),
        ),
      ),
    dartMaps: (projectId, debugIds) =>
      remembered(
        projectId,
        debugIds.map((id) => `dart\n${id}`),
        (missing) =>
          findByDebugId(
            app.db,
            projectId,
            missing.map((n) => debugIds[n] ?? ''),
            'dart_symbol_map',
          ),
      ),
    byUrl: (projectId, release, urls) =>
      remembered(
        projectId,
        urls.map((url) => `${release.release}\n${release.dist ?? ''}\n${url}`),
        (missing) =>
          findByUrl(
            app.db,
            projectId,
            release,
            missing.map((n) => urls[n] ?? ''),
          ),
      ),
    byName: (projectId, names) =>
      remembered(
        projectId,
        names.map((name) => `name\n${name}`),
        (missing) =>
          findByName(
            app.db,
            projectId,
            missing.map((n) => names[n] ?? ''),
          ),
      ),
    mappingOf: async (projectId, release) =>
      (
        await remembered(projectId, [`mapping of ${release}`], async () => [
          await findMapping(app.db, projectId, release),
        ])
      )[0] ?? null,
    async open(orgId, { indexId }) {
      const known = cache.get(orgId, indexId)
      if (known instanceof OpenIndex) return known
      const directory = await readDirectory(app.db, indexId)
      if (directory === null) return null
      const index = new OpenIndex(directory)
      cache.set(orgId, indexId, index)
      return index
    },
    async load(orgId, { indexId }, wanted) {
      const loaded = new Map<number, Buffer>()
      const missing: number[] = []
      for (const part of new Set(wanted)) {
        const bytes = cache.get(orgId, `${indexId}/${part}`)
        if (Buffer.isBuffer(bytes)) loaded.set(part, bytes)
        else missing.push(part)
      }
      if (missing.length > 0)
        for (const [part, bytes] of await readParts(app.db, indexId, missing)) {
          cache.set(orgId, `${indexId}/${part}`, bytes)
          loaded.set(part, bytes)
        }
      return (part) => loaded.get(part) ?? EMPTY
    },
    close() {
      for (const stop of stops) stop()
    },
  }
}

const EMPTY = Buffer.alloc(0)

/** Whether a file can be read now. */
export const isReady = (file: FoundFile | null): file is ReadyFile =>
  file !== null && file.state === 'ready' && file.indexId !== null

type Entry<T> = { readonly value: T; sizeBytes: number }
type Org<T> = { readonly entries: Map<string, Entry<T>>; bytes: number }

/**
 * Values in bounded memory, the least recently used ones are forgotten first. An organisation has a share, so that its many
 * files do not displace those of others.
 */
class OrgCache<T> {
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
